#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# kunit-modules.sh CYCLES: the KUnit suites as modules, inserted and removed
# again and again. The results go to the kernel log; what is told here, as
# TAP, is that modules come and go and that they do not eat the codes.
#
# The first time and the last all suites run; between, those of the framework
# that deal with modules, as the others take a second.
cycles=${1:-200}
dir=/lib/modules/$(uname -r)/kernel
codes=/sys/kernel/debug/exterr/codes
filter=/sys/module/kunit/parameters/filter_glob
n=0

used() {
	sed -n '1s/^# \([0-9]*\) of.*/\1/p' $codes
}

# once FILE: insert, which runs its suites, and remove
once() {
	insmod "$1" && rmmod "$(basename "$1" .ko)"
}

# result TEXT: of the command before
result() {
	[ $? -eq 0 ] || printf 'not '
	n=$((n + 1))
	echo "ok $n $1"
}

echo "TAP version 13"
insmod "$dir/lib/kunit/kunit.ko" || { echo "1..0 # SKIP no kunit.ko"; exit 4; }
echo 1..4
for module in "$dir/lib/exterr_kunit.ko" "$dir/kernel/events/perf_exterr_kunit.ko"; do
	once "$module"
	first=$(used)
	printf %s 'exterr_modules*' >$filter
	i=2
	while [ $i -lt "$cycles" ] && once "$module"; do
		i=$((i + 1))
	done
	printf %s '*' >$filter
	once "$module" && [ $i -eq "$cycles" ]
	result "$(basename "$module"): inserted and removed $cycles times"
	last=$(used)
	echo "# $first codes after the first time, $last after the last"
	[ "$first" = "$last" ]
	result "$(basename "$module"): no code is eaten"
done
