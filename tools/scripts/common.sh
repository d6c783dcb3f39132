# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Sourced by the scripts here. Says where things are, and promises that a
# long step shows that it lives and leaves its whole output in build/log/.

# shellcheck disable=SC2034  # for those who source this
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
out=$top/build/out
log=$top/build/log
tree=$top/build/linux-6.12
baseline=$top/build/baseline
jobs=${JOBS:-$(nproc)}

# The same words give the same objects: ccache hits, outputs compare.
export KBUILD_BUILD_TIMESTAMP='1970-01-01 00:00:00 UTC'
export KBUILD_BUILD_USER=exterr KBUILD_BUILD_HOST=exterr
export CCACHE_NOHASHDIR=1
export LC_ALL=C
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES KBUILD_OUTPUT ARCH CROSS_COMPILE

cc=gcc
if command -v ccache >/dev/null; then
	cc="ccache gcc"
fi

say() { printf '%s\n' "$*" >&2; }
die() { say "${0##*/}: $*"; exit 1; }

# need_cmd COMMAND...: stop with one line that tells what to do
need_cmd() {
	local c missing=()
	for c; do
		command -v "$c" >/dev/null || missing+=("$c")
	done
	[ ${#missing[@]} -eq 0 ] || die "missing: ${missing[*]} (make deps installs it)"
}

# logged NAME COMMAND...: output to build/log/NAME.log, a line of progress
# every few seconds, the end of the log if the command fails
logged() {
	local name=$1 file=$log/$1.log start=$SECONDS next=5 status=0 pid objects
	shift
	mkdir -p "$log"
	"$@" >"$file" 2>&1 </dev/null &
	pid=$!
	# shellcheck disable=SC2064  # this pid, not a later one
	trap "kill $pid 2>/dev/null || true; exit 130" INT TERM
	while kill -0 "$pid" 2>/dev/null; do
		sleep 0.2
		if [ $((SECONDS - start)) -ge $next ]; then
			next=$((SECONDS - start + 10))
			objects=$(grep -Ec '^ +(CC|AS|HOSTCC|LD|AR) ' "$file") || objects=
			say "  $name: $((SECONDS - start)) s${objects:+, $objects objects}"
		fi
	done
	wait "$pid" || status=$?
	trap - INT TERM
	if [ "$status" -ne 0 ]; then
		grep -nE 'error:|Error [0-9]+|\*\*\*' "$file" | head -20 >&2 || true
		say "--- end of build/log/$name.log"
		tail -n 25 "$file" >&2
	fi
	return "$status"
}

# outdir NAME TREE: make build/out/NAME, a link to a folder inside the tree.
# Only there does Kbuild name the sources by a relative path, so that ccache
# serves another clone, and the unpatched tree, from the same entries.
outdir() {
	local real
	real=$2/.out-$1
	mkdir -p "$real" "$out"
	ln -sfn "$(realpath --relative-to="$out" "$real")" "$out/$1"
}

# touched [DIFF-FILTER]: .c files that our commits and edits change or add, as
# far as the image has them built
touched() {
	local file
	git -C "$tree" diff --name-only --diff-filter="${1:-AM}" pristine -- '*.c' | while read -r file; do
		[ ! -e "$out/vm/${file%.c}.o" ] || echo "$file"
	done
}

# ok NUMBER STATUS TEXT [FILE]: a TAP line, with FILE as what there is to say
ok() {
	[ -z "${4:-}" ] || sed 's/^/# /' "$4"
	if [ "$2" -eq 0 ]; then
		echo "ok $1 $3"
	else
		echo "not ok $1 $3"
	fi
}

# uncommitted TREE: the changes that no commit has, sources that a .gitignore
# hides included (Debian's tells git to ignore whatever is new)
uncommitted() {
	git -C "$1" status --porcelain
	git -C "$1" ls-files -o -i --exclude-standard -- \
		'*.[chS]' '*.rst' '*.kunitconfig' '*Kconfig*' '*Makefile' ':!.out-*' |
		sed 's/^/!! /'
}
