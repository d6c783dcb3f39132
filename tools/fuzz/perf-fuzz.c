// SPDX-License-Identifier: GPL-2.0
/*
 * perf-fuzz [OPENS [SEED [trace]]]: perf calls with attrs that are nearly right.
 *
 * Members of valid attrs are flipped, the same ones for the same seed, and what
 * opens is read, mapped and ioctl'ed. Prints a digest of all errnos, which must
 * be that of a kernel without extended errnos. On a kernel with them every
 * failure must have a reason that is about this errno.
 *
 * Nothing here depends on time, on addresses or on what else is in the kernel.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <linux/hw_breakpoint.h>

#include "../tests/perf_exterr.h"

#define PAGE		4096UL
#define COUNT(a)	(sizeof(a) / sizeof(*(a)))

static uint64_t state;
static uint64_t digest = 0xcbf29ce484222325;
static unsigned long calls, failures, silent, wrong;
static bool supported, asked, privileged, tracing;
static char reason[4096];
static int pmu_msr, pmu_kprobe, pmu_uprobe;
static char watched[64] __attribute__((aligned(64)));

static uint64_t rnd(void)
{
	/* xorshift64* */
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1d;
}

#define pick(list)	((list)[rnd() % COUNT(list)])

static int pmu_type(const char *name)
{
	char path[128];
	int type = -1;
	FILE *f;

	snprintf(path, sizeof(path),
		 "/sys/bus/event_source/devices/%s/type", name);
	f = fopen(path, "r");
	if (f) {
		if (fscanf(f, "%d", &type) != 1)
			type = -1;
		fclose(f);
	}
	return type;
}

/* One call has returned @ret; take its errno down and look at its reason. */
static void seen(const char *call, long ret)
{
	int err = ret < 0 ? errno : 0;
	char start[32];

	calls++;
	if (tracing)
		printf("%lu %s %d\n", calls, call, err);
	digest = (digest ^ (uint64_t)err) * 0x100000001b3;
	if (!err)
		return;

	failures++;
	if (!asked)
		return;
	snprintf(start, sizeof(start), "{\n\t\"code\": %d,", -err);
	if (!reason[0]) {
		if (silent++ < 20)
			printf("# no reason: %s: %s\n", call, strerror(err));
	} else if (strncmp(reason, start, strlen(start))) {
		if (wrong++ < 20)
			printf("# reason of another errno: %s: %s: %s\n", call,
			       strerror(err), reason);
	}
	reason[0] = 0;
}

static void base(union perf_exterr_attr *a)
{
	static const uint64_t sw[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
	static const uint32_t bp_types[] = { 1, 2, 3, 4 };
	static const uint64_t bp_lens[] = { 1, 2, 4, 8 };

	memset(a, 0, sizeof(*a));
	a->attr.size = supported ? PERF_EXTERR_ATTR_SIZE : PERF_PLAIN_ATTR_SIZE;
	a->attr.disabled = 1;
	a->attr.exclude_kernel = !privileged;

	switch (rnd() % 8) {
	case 0:
		a->attr.type = PERF_TYPE_BREAKPOINT;
		a->attr.bp_type = pick(bp_types);
		a->attr.bp_addr = (uintptr_t)watched;
		a->attr.bp_len = pick(bp_lens);
		break;
	case 1:
		a->attr.type = PERF_TYPE_TRACEPOINT;
		a->attr.config = 5;	/* ftrace:print */
		break;
	case 2:
		a->attr.type = pmu_msr;
		break;
	case 3:
		if (rnd() % 8)
			goto software;
		a->attr.type = rnd() % 2 ? pmu_kprobe : pmu_uprobe;
		a->attr.config1 = (uintptr_t)"/no/such/function";
		break;
	default:
software:
		a->attr.type = PERF_TYPE_SOFTWARE;
		a->attr.config = pick(sw);
	}
}

static void flip(union perf_exterr_attr *a)
{
	static const uint32_t types[] = { 0, 1, 2, 3, 4, 5, 77, 0x7fffffff };
	static const uint64_t configs[] = { 0, 1, 11, 12, 65635, 1ULL << 32,
					    0xffffff, 999999, ~0ULL };
	static const uint64_t periods[] = { 0, 1ULL << 40, 1ULL << 63, ~0ULL };
	static const uint64_t freqs[] = { 1, 100000, 100001, 1ULL << 40 };
	static const uint32_t sizes[] = { 0, 1, 63, 64, 72, 80, 96, 104, 112,
					  120, 128, 136, 4097, 1U << 31 };
	static const uint32_t stacks[] = { 0, 8, 1001, 65528, 65535, 1U << 31 };
	static const int clocks[] = { 0, 1, 2, 4, 7, 11, -1, 99 };

	switch (rnd() % 24) {
	case 0:
		a->attr.type = pick(types);
		break;
	case 1:
		a->attr.config = pick(configs);
		break;
	case 2:
		/* size 0 to 136 cannot hold a buffer: rarely */
		if (rnd() % 8 == 0)
			a->attr.size = pick(sizes);
		break;
	case 3:
		a->attr.sample_period = pick(periods);
		break;
	case 4:
		a->attr.freq = 1;
		a->attr.sample_freq = pick(freqs);
		break;
	case 5:
	case 6:
		a->attr.sample_type ^= 1ULL << rnd() % 26;
		break;
	case 7:
		a->attr.sample_type ^= 1ULL << rnd() % 64;
		break;
	case 8:
		a->attr.read_format ^= 1ULL << rnd() % 6;
		break;
	case 9:
	case 10:
	case 11:
	case 12:
		/* the flags, from inherit on: disabled stays as it is */
		((uint64_t *)a->bytes)[5] ^= 2ULL << rnd() % 37;
		break;
	case 13:
		((uint64_t *)a->bytes)[5] ^= 2ULL << rnd() % 63;
		break;
	case 14:
		a->attr.bp_type = rnd() % 9;
		break;
	case 15:
		a->attr.config1 += rnd() % 9;
		break;
	case 16:
		a->attr.config2 = rnd() % 2 ? rnd() % 20 : ~0ULL;
		break;
	case 17:
		a->attr.branch_sample_type ^= 1ULL << rnd() % 20;
		break;
	case 18:
		a->attr.sample_regs_user ^= 1ULL << rnd() % 64;
		break;
	case 19:
		a->attr.sample_stack_user = pick(stacks);
		break;
	case 20:
		a->attr.use_clockid = 1;
		a->attr.clockid = pick(clocks);
		break;
	case 21:
		a->attr.sample_regs_intr ^= 1ULL << rnd() % 64;
		break;
	case 22:
		a->attr.sample_max_stack = rnd() % 2 ? rnd() % 200 : 0xffff;
		break;
	case 23:
		/* aux_sample_size, aux_action, reserved bits between them */
		((uint32_t *)a->bytes)[27 + rnd() % 3] ^= 1U << rnd() % 32;
		break;
	}
}

static void use(int fd, int other)
{
	static const unsigned long lengths[] = { 0, 1, 2, 3, 4, 5, 9, 17 };
	static const unsigned long offsets[] = { 0, 0, 0, 1, 16 };
	static const unsigned long cmds[] = {
		PERF_EVENT_IOC_DISABLE, PERF_EVENT_IOC_RESET,
		PERF_EVENT_IOC_PERIOD, PERF_EVENT_IOC_SET_OUTPUT,
		PERF_EVENT_IOC_SET_FILTER, PERF_EVENT_IOC_ID,
		PERF_EVENT_IOC_SET_BPF, PERF_EVENT_IOC_PAUSE_OUTPUT,
		PERF_EVENT_IOC_QUERY_BPF, PERF_EVENT_IOC_MODIFY_ATTRIBUTES,
		_IO('$', 77),
	};
	static const uint64_t periods[] = { 0, 1ULL << 40, 1ULL << 63 };
	static const char *const filters[] = {
		"common_pid == 1", "no_such == 1", "(", "common_pid ==", "",
	};
	union perf_exterr_attr a;
	uint64_t period, out[512];
	unsigned long cmd, arg;
	int prot, flags, i;
	size_t length;
	void *m;

	seen("read", read(fd, out, rnd() % 4 ? sizeof(out) : rnd() % 9));

	for (i = rnd() % 4; i; i--) {
		cmd = pick(cmds);
		arg = rnd() % 3 ? (uintptr_t)out : rnd() % 20;
		switch (cmd) {
		case PERF_EVENT_IOC_PERIOD:
			period = pick(periods);
			if (arg > 20)
				arg = (uintptr_t)&period;
			break;
		case PERF_EVENT_IOC_SET_OUTPUT:
			arg = rnd() % 2 ? (unsigned long)other : 9999;
			break;
		case PERF_EVENT_IOC_SET_FILTER:
			if (arg > 20)
				arg = (uintptr_t)pick(filters);
			break;
		case PERF_EVENT_IOC_SET_BPF:
			arg = rnd() % 2 ? 1 : 9999;
			break;
		case PERF_EVENT_IOC_QUERY_BPF:
			out[0] = rnd() % 80;
			break;
		case PERF_EVENT_IOC_MODIFY_ATTRIBUTES:
			base(&a);
			flip(&a);
			if (arg > 20)
				arg = (uintptr_t)&a;
			break;
		}
		seen("ioctl", ioctl(fd, cmd, arg));
	}

	length = pick(lengths) * PAGE;
	prot = rnd() % 2 ? PROT_READ : PROT_READ | PROT_WRITE;
	flags = rnd() % 8 ? MAP_SHARED : MAP_PRIVATE;
	arg = pick(offsets) * PAGE;
	if (!length)
		return;
	m = mmap(NULL, length, prot, flags, fd, arg);
	seen("mmap", m == MAP_FAILED ? -1 : 0);
	if (m == MAP_FAILED)
		return;
	if (length > PAGE && rnd() % 4 == 0)
		seen("munmap", munmap(m, PAGE));
	munmap(m, length);
}

static void one(int leader, int mapped)
{
	static const int pids[] = { 0, 0, 0, 0, 0, -1, 4194303 };
	static const int cpus[] = { -1, -1, -1, 0, 1, 2, 9999, -2 };
	static const unsigned long bits[] = { 1, 2, 4, 8, 16, 1UL << 40 };
	int group = -1, pid, cpu, fd, i;
	union perf_exterr_attr a;
	unsigned long flags = 0;
	unsigned int size;
	int old;

	base(&a);
	size = a.attr.size;
	for (i = rnd() % 4; i; i--)
		flip(&a);
	pid = pick(pids);
	cpu = pick(cpus);
	if (rnd() % 4 == 0)
		group = rnd() % 8 ? leader : 9999;
	if (rnd() % 8 == 0)
		flags = pick(bits);
	if (flags & PERF_FLAG_PID_CGROUP)
		pid = 9999;

	reason[0] = 0;
	old = a.attr.size == size ? -1 : (int)a.attr.size;
	if (supported)
		perf_exterr_attach(&a, reason, sizeof(reason));
	/* an old program now and then, which gets no reason */
	if (rnd() % 64 == 0)
		old = 72;
	if (old != -1)
		a.attr.size = old;
	asked = supported && a.attr.size >= PERF_EXTERR_ATTR_SIZE;
	fd = perf_exterr_open(&a, pid, cpu, group, flags);
	if (tracing)
		printf("type %u size %u config %#llx %#llx %#llx bp_type %u sample_type %#llx flags %#llx pid %d cpu %d group %d flags %#lx\n",
		       a.attr.type, a.attr.size, a.attr.config, a.attr.config1,
		       a.attr.config2, a.attr.bp_type, a.attr.sample_type,
		       ((unsigned long long *)a.bytes)[5], pid, cpu, group,
		       flags);
	seen("perf_event_open", fd);
	if (fd < 0)
		return;
	use(fd, rnd() % 2 ? mapped : leader);
	close(fd);
}

static int plain_event(void)
{
	union perf_exterr_attr a;

	memset(&a, 0, sizeof(a));
	a.attr.size = PERF_PLAIN_ATTR_SIZE;
	a.attr.type = PERF_TYPE_SOFTWARE;
	a.attr.config = PERF_COUNT_SW_DUMMY;
	a.attr.disabled = 1;
	a.attr.exclude_kernel = 1;
	return perf_exterr_open(&a, 0, -1, -1, 0);
}

static void setting(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		printf("# %s: %s\n", path, strerror(errno));
	close(fd);
}

static int run(unsigned long count, uint64_t seed, bool root)
{
	int leader, mapped;
	unsigned long i;

	state = seed;
	privileged = root;
	if (!root && (setgid(65534) || setuid(65534)))
		return 1;
	leader = plain_event();
	mapped = plain_event();
	if (leader < 0 || mapped < 0 ||
	    mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, mapped,
		 0) == MAP_FAILED)
		return 1;

	for (i = 0; i < count; i++)
		one(leader, mapped);
	printf("%s: %lu opens, %lu calls, %lu failed, digest %016llx\n",
	       root ? "root" : "nobody", count, calls, failures,
	       (unsigned long long)digest);
	if (supported)
		printf("# %lu failures without a reason, %lu with another's\n",
		       silent, wrong);
	return silent || wrong;
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 0) : 20000;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	int i, status, failed = 0;

	tracing = argc > 3;
	signal(SIGTRAP, SIG_IGN);
	signal(SIGIO, SIG_IGN);
	/* or the kernel lowers the limit of sample_freq as it sees fit */
	setting("/proc/sys/kernel/perf_cpu_time_max_percent", "0");
	setting("/proc/sys/kernel/perf_event_paranoid", "2");
	supported = perf_exterr_supported();
	pmu_msr = pmu_type("msr");
	pmu_kprobe = pmu_type("kprobe");
	pmu_uprobe = pmu_type("uprobe");

	printf("1..2\n");
	for (i = 0; i < 2; i++) {
		fflush(stdout);
		if (!fork()) {
			status = run(i ? count / 10 : count, seed, !i);
			fflush(stdout);
			_exit(status);
		}
		wait(&status);
		printf("%sok %d - %s\n", status ? "not " : "", i + 1,
		       i ? "nobody" : "root");
		failed |= status;
	}
	return failed ? 1 : 0;
}
