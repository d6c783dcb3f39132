// SPDX-License-Identifier: GPL-2.0
/*
 * Errors of perf that reach user space by another door than perf's own calls:
 * fork, ptrace, the memory calls, BPF maps and links, sysctl and sysfs.
 * Whoever stands at that door must get the plain errno.
 *
 * No reason buffer is needed: the errnos are those of an unpatched kernel,
 * and this runs there too.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <linux/bpf.h>
#include <linux/hw_breakpoint.h>

#include "kselftest.h"

#include "perf_exterr.h"

#define PAGE	4096UL

static long watched __attribute__((aligned(16)));

/* What a test returns when it cannot be made here; errnos are positive */
#define SKIPPED	-1
#define BROKEN	-2

static int open_attr(const struct perf_event_attr *attr)
{
	union perf_exterr_attr a;
	static char reason[PAGE];

	memset(&a, 0, sizeof(a));
	a.attr = *attr;
	a.attr.disabled = 1;
	a.attr.size = PERF_PLAIN_ATTR_SIZE;
	/* asked for, so that there is a reason which could stay behind */
	if (perf_exterr_supported())
		perf_exterr_attach(&a, reason, sizeof(reason));
	return perf_exterr_open(&a, 0, -1, -1, 0);
}

static int open_task_clock(void)
{
	return open_attr(&(struct perf_event_attr) {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = 1000000,
	});
}

static int result(long ret)
{
	return ret < 0 ? errno : 0;
}

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY), err;

	if (fd < 0)
		return SKIPPED;
	err = result(write(fd, text, strlen(text)));
	close(fd);
	return err;
}

static unsigned int read_number(const char *path)
{
	unsigned int n = 0;
	FILE *f = fopen(path, "r");

	if (!f)
		return 0;
	if (fscanf(f, "%u", &n) != 1)
		n = 0;
	fclose(f);
	return n;
}

/* fork: the child's event is refused, so the fork fails */
static int fork_inherits_uprobe(void)
{
	struct perf_event_attr attr = {
		.type = read_number("/sys/bus/event_source/devices/uprobe/type"),
		.uprobe_path = (uintptr_t)"/proc/self/exe",
		.probe_offset = 0x1000,
		.inherit = 1,
	};
	pid_t pid;

	if (!attr.type)
		return SKIPPED;
	if (open_attr(&attr) < 0)
		return BROKEN;
	if (setgid(65534) || setuid(65534))
		return BROKEN;
	pid = fork();
	if (!pid)
		_exit(0);
	return result(pid);
}

/* ptrace: debug registers are perf events made inside the kernel */
static pid_t tracee(int breakpoints)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		struct perf_event_attr attr = {
			.type = PERF_TYPE_BREAKPOINT,
			.bp_type = HW_BREAKPOINT_W,
			.bp_addr = (uintptr_t)&watched,
			.bp_len = 8,
		};

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (breakpoints--) {
			if (open_attr(&attr) < 0)
				_exit(1);
		}
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return -1;
	return pid;
}

static int poke_dr(pid_t pid, int n, unsigned long value)
{
	return result(ptrace(PTRACE_POKEUSER, pid,
			     offsetof(struct user, u_debugreg[0]) + n * 8,
			     value));
}

static int ptrace_kernel_address(void)
{
	pid_t pid = tracee(0);

	return pid < 0 ? BROKEN : poke_dr(pid, 0, 0xffffffff81000000);
}

static int ptrace_unaligned(void)
{
	pid_t pid = tracee(0);

	if (pid < 0 || poke_dr(pid, 0, (uintptr_t)&watched + 1))
		return BROKEN;
	/* DR0 on for writes of 4 bytes */
	return poke_dr(pid, 7, 0xd0001);
}

static int ptrace_no_slot(void)
{
	pid_t pid = tracee(4);

	return pid < 0 ? BROKEN : poke_dr(pid, 0, (uintptr_t)&watched);
}

/* Memory calls on a part of the ring ask perf whether it may be split */
static char *ring(void)
{
	char *p = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
		       open_task_clock(), 0);

	return p == MAP_FAILED ? NULL : p;
}

static int munmap_part(void)
{
	char *p = ring();

	return p ? result(munmap(p, PAGE)) : BROKEN;
}

static int mprotect_part(void)
{
	char *p = ring();

	return p ? result(mprotect(p + PAGE, PAGE, PROT_READ)) : BROKEN;
}

static int mremap_part(void)
{
	char *p = ring();

	return p ? result((long)mremap(p, 3 * PAGE, PAGE, 0)) : BROKEN;
}

static int madvise_part(void)
{
	char *p = ring();

	return p ? result(madvise(p, PAGE, MADV_RANDOM)) : BROKEN;
}

static int mmap_over_part(void)
{
	char *p = ring();

	if (!p)
		return BROKEN;
	p = mmap(p, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		 -1, 0);
	return p == MAP_FAILED ? errno : 0;
}

/* Other calls on the descriptor */
static int readv_short(void)
{
	char count[4];
	struct iovec iov = { count, sizeof(count) };

	return result(readv(open_task_clock(), &iov, 1));
}

static int pread_at_0(void)
{
	char count[8];

	return result(pread(open_task_clock(), count, sizeof(count), 0));
}

static int write_count(void)
{
	return result(write(open_task_clock(), "12345678", 8));
}

static int ioctl_not_of_perf(void)
{
	return result(ioctl(open_task_clock(), FIOQSIZE, &watched));
}

/* BPF */
static int bpf(int cmd, union bpf_attr *attr)
{
	return syscall(__NR_bpf, cmd, attr, sizeof(*attr));
}

static int perf_event_array_set(int fd)
{
	union bpf_attr map, elem;
	__u32 key = 0, value = fd;
	int map_fd;

	memset(&map, 0, sizeof(map));
	map.map_type = BPF_MAP_TYPE_PERF_EVENT_ARRAY;
	map.key_size = sizeof(key);
	map.value_size = sizeof(value);
	map.max_entries = 1;
	map_fd = bpf(BPF_MAP_CREATE, &map);
	if (map_fd < 0)
		return SKIPPED;

	memset(&elem, 0, sizeof(elem));
	elem.map_fd = map_fd;
	elem.key = (uintptr_t)&key;
	elem.value = (uintptr_t)&value;
	return result(bpf(BPF_MAP_UPDATE_ELEM, &elem));
}

static int map_of_no_event(void)
{
	return perf_event_array_set(1);
}

/* The map compares perf's answer with an errno */
static int map_of_inherited_event(void)
{
	return perf_event_array_set(open_attr(&(struct perf_event_attr) {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.inherit = 1,
	}));
}

static int link_to(int fd, enum bpf_prog_type type)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;
	int prog;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = type;
	attr.insns = (uintptr_t)insns;
	attr.insn_cnt = ARRAY_SIZE(insns);
	attr.license = (uintptr_t)"GPL";
	prog = bpf(BPF_PROG_LOAD, &attr);
	if (prog < 0)
		return SKIPPED;

	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = prog;
	attr.link_create.target_fd = fd;
	attr.link_create.attach_type = BPF_PERF_EVENT;
	return result(bpf(BPF_LINK_CREATE, &attr));
}

static int link_to_no_event(void)
{
	return link_to(1, BPF_PROG_TYPE_PERF_EVENT);
}

static int link_of_wrong_type(void)
{
	return link_to(open_task_clock(), BPF_PROG_TYPE_KPROBE);
}

/* sysctl and sysfs */
static int sysctl_sample_rate(void)
{
	return write_text("/proc/sys/kernel/perf_event_max_sample_rate", "0\n");
}

static int sysctl_cpu_time(void)
{
	return write_text("/proc/sys/kernel/perf_cpu_time_max_percent",
			  "101\n");
}

static int sysctl_max_stack_in_use(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = 1000000,
		.sample_type = PERF_SAMPLE_CALLCHAIN,
	};

	if (open_attr(&attr) < 0)
		return BROKEN;
	return write_text("/proc/sys/kernel/perf_event_max_stack", "126\n");
}

static int sysfs_mux_interval(void)
{
	return write_text("/sys/bus/event_source/devices/msr/perf_event_mux_interval_ms",
			  "0\n");
}

static const struct {
	const char *name;
	int (*run)(void);
	int err;
} tests[] = {
	{ "fork, an inherited uprobe is refused", fork_inherits_uprobe, EACCES },
	{ "ptrace, debug register in the kernel", ptrace_kernel_address, EINVAL },
	{ "ptrace, unaligned debug register", ptrace_unaligned, EINVAL },
	{ "ptrace, no breakpoint slot", ptrace_no_slot, ENOSPC },
	{ "munmap of a part of the ring", munmap_part, EINVAL },
	{ "mprotect of a part of the ring", mprotect_part, EINVAL },
	{ "mremap of the ring to a part", mremap_part, EINVAL },
	{ "madvise of a part of the ring", madvise_part, EINVAL },
	{ "mmap over a part of the ring", mmap_over_part, EINVAL },
	{ "readv into a short buffer", readv_short, ENOSPC },
	{ "pread", pread_at_0, ESPIPE },
	{ "write", write_count, EINVAL },
	{ "ioctl that is not perf's", ioctl_not_of_perf, ENOTTY },
	{ "BPF map, no perf event", map_of_no_event, EBADF },
	{ "BPF map, inherited event", map_of_inherited_event, EOPNOTSUPP },
	{ "BPF link, no perf event", link_to_no_event, EBADF },
	{ "BPF link, program of another type", link_of_wrong_type, EINVAL },
	{ "sysctl, sample rate", sysctl_sample_rate, EINVAL },
	{ "sysctl, CPU time", sysctl_cpu_time, EINVAL },
	{ "sysctl, stack depth in use", sysctl_max_stack_in_use, EBUSY },
	{ "sysfs, multiplex interval", sysfs_mux_interval, EINVAL },
};

/* Returns what the test returned, from a process of its own */
static int run_test(int (*run)(void), int *shared)
{
	int status;
	pid_t pid;

	*shared = BROKEN;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(30);
		*shared = run();
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return BROKEN;
	return *shared;
}

int main(void)
{
	int *shared, err;
	size_t i;

	ksft_print_header();
	if (geteuid())
		ksft_exit_skip("needs root\n");
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		ksft_exit_fail_perror("mmap");

	ksft_set_plan(ARRAY_SIZE(tests));
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		err = run_test(tests[i].run, shared);
		if (err == SKIPPED) {
			ksft_test_result_skip("%s\n", tests[i].name);
			continue;
		}
		if (err != tests[i].err)
			ksft_print_msg("errno %d (%s), not %d (%s)\n", err,
				       err < 0 ? "test is broken" :
				       strerror(err), tests[i].err,
				       strerror(tests[i].err));
		ksft_test_result(err == tests[i].err, "%s\n", tests[i].name);
	}
	ksft_finished();
}
