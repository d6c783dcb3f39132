# SPDX-License-Identifier: GPL-2.0
# Every target is a script in tools/scripts, with its options in its header.
# Variables may be given as make VAR=value or in the environment.

export KDIR RUN ARGS FILES KERNEL JOBS TIMEOUT ALLOW APPEND QEMU_ARGS SMP MEM EXTERR_ACCEL BUILD STEPS FORCE

s := tools/scripts/
.DEFAULT_GOAL := help
.NOTPARALLEL:

help:		## this list
	@sed -n 's/^\([a-z]*\):[^#]*## /\1\t/p' Makefile | expand -t 12
	@echo
	@echo 'KDIR=dir    a kernel tree to copy, instead of the source package of Debian'
	@echo 'RUN=file    program for make vm, with ARGS="..." and FILES="more files"'
	@echo 'KERNEL=     vm (ours, the default), baseline (without us), lockdep'
	@echo 'JOBS=n      compilers at a time; more options in the headers of $(s)*'

demo: deps	## build it all, boot it, show failing perf calls and the reason of each
	@$(s)demo

check: deps	## every test; ends with "N passed, N failed, N skipped"
	@$(s)check

kunit: deps	## only KUnit: on um, and on x86_64 under QEMU with lockdep
	@$(s)kunit

vm: deps	## boot the kernel; run RUN=file there, or a shell
	@$(s)vm --build

lint: deps	## checkpatch --strict, sparse and W=1 on what we add
	@STEPS=lint $(s)check

coverage: deps	## every errno of perf's files: annotated, or listed why not
	@$(s)tree --keep
	@tools/audit/coverage

cost: deps	## instructions of perf calls, with and without us
	@$(s)cost

tree: deps	## make build/linux-6.12, the kernel with our commits
	@$(s)tree

refresh:	## write the commits of build/linux-6.12 back into the chapters
	@$(s)refresh

series: deps	## build/series, patches for git am (BUILD=1 compiles each)
	@$(s)series

deps:		## install what is missing (apt), or say what is
	@$(s)deps

clean:		## remove build/ (refuses if work there is in no chapter)
	@$(s)clean

.PHONY: help demo check kunit vm lint coverage cost tree refresh series deps clean
