// SPDX-License-Identifier: GPL-2.0
/*
 * Instructions of perf calls, to the digit: under QEMU's -icount shift=0 the
 * TSC counts what the guest has executed. Prints, for each call, the least of
 * many runs, and how many of them took just that; calls that this kernel does
 * not have are "-". A timer interrupt now and then explains the rest.
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "../tests/perf_exterr.h"

#define WARM_UP		50
#define RUNS		200
#define PAGE		4096UL
#define GROUP		8

enum { OPEN = 1, READ, IOCTL, MMAP };

struct call {
	const char *name;
	long (*run)(void);
	void (*after)(long ret);
	bool exterr;		/* needs a kernel that can say why */
	long expected;		/* what the call returns; 1: any success */
};

static union perf_exterr_attr attr;
static char reason[4096];
static uint64_t values[3 + GROUP];
static int single, asking, group;
static unsigned long flags;
static int group_fd;

static inline long call6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 asm("r10") = d;
	register long r8 asm("r8") = e;
	register long r9 asm("r9") = f;
	long ret;

	asm volatile("syscall" : "=a" (ret)
		     : "a" (nr), "D" (a), "S" (b), "d" (c), "r" (r10), "r" (r8), "r" (r9)
		     : "rcx", "r11", "memory");
	return ret;
}

/* lfence is one instruction, and there to keep the order on a real CPU too */
static inline uint64_t now(void)
{
	uint32_t lo, hi;

	asm volatile("lfence; rdtsc" : "=a" (lo), "=d" (hi) : : "memory");
	return (uint64_t)hi << 32 | lo;
}

static long run_nothing(void)
{
	return 1;
}

/* 2001 instructions */
static long run_loop(void)
{
	long n = 1000;

	asm volatile("1: dec %0; jnz 1b" : "+r" (n));
	return 1;
}

static long run_getppid(void)
{
	return call6(SYS_getppid, 0, 0, 0, 0, 0, 0) >= 0;
}

static long run_open(void)
{
	return call6(SYS_perf_event_open, (long)&attr, 0, -1, group_fd, flags, 0);
}

static void close_it(long fd)
{
	close(fd);
}

static long run_read(void)
{
	return call6(SYS_read, single, (long)values, 8, 0, 0, 0);
}

static long run_read_group(void)
{
	return call6(SYS_read, group, (long)values, sizeof(uint64_t) * (1 + GROUP), 0, 0, 0);
}

static long run_enable(void)
{
	return call6(SYS_ioctl, single, PERF_EVENT_IOC_ENABLE, 0, 0, 0, 0);
}

static void disable(long ret)
{
	(void)ret;
	ioctl(single, PERF_EVENT_IOC_DISABLE, 0);
}

static long run_disable(void)
{
	return call6(SYS_ioctl, single, PERF_EVENT_IOC_DISABLE, 0, 0, 0, 0);
}

static void enable(long ret)
{
	(void)ret;
	ioctl(single, PERF_EVENT_IOC_ENABLE, 0);
}

static long run_mmap(void)
{
	long p = call6(SYS_mmap, 0, PAGE, PROT_READ, MAP_SHARED, single, 0);

	if (p < 0)
		return p;
	return call6(SYS_munmap, p, PAGE, 0, 0, 0, 0);
}

static long fail_read(int fd)
{
	return call6(SYS_read, fd, (long)values, 4, 0, 0, 0);
}

static long fail_ioctl(int fd)
{
	return call6(SYS_ioctl, fd, _IO('$', 77), 0, 0, 0, 0);
}

static long fail_mmap(int fd)
{
	return call6(SYS_mmap, 0, 4 * PAGE, PROT_READ, MAP_SHARED, fd, 0);
}

static long run_read_fails(void)
{
	return fail_read(single);
}

static long run_read_says(void)
{
	return fail_read(asking);
}

static long run_ioctl_fails(void)
{
	return fail_ioctl(single);
}

static long run_ioctl_says(void)
{
	return fail_ioctl(asking);
}

static long run_mmap_fails(void)
{
	return fail_mmap(single);
}

static long run_mmap_says(void)
{
	return fail_mmap(asking);
}

/* A valid event of the oldest size that both kernels know */
static void valid(void)
{
	memset(&attr, 0, sizeof(attr));
	attr.attr.size = PERF_PLAIN_ATTR_SIZE;
	attr.attr.type = PERF_TYPE_SOFTWARE;
	attr.attr.config = PERF_COUNT_SW_TASK_CLOCK;
	flags = 0;
	group_fd = -1;
}

static void sized(void)
{
	attr.attr.size = PERF_EXTERR_ATTR_SIZE;
}

static void asks(void)
{
	perf_exterr_attach(&attr, reason, sizeof(reason));
}

static long overhead, least;

static void measure(const struct call *c)
{
	long ticks, same = 0, most = 0, ret = 0;
	uint64_t begin, end;
	int i;

	least = -1;
	if (c->exterr && !perf_exterr_supported()) {
		printf("%s\t-\t-\t-\n", c->name);
		return;
	}
	for (i = 0; i < WARM_UP + RUNS; i++) {
		begin = now();
		ret = c->run();
		end = now();
		if (c->after)
			c->after(ret);
		if (c->expected == 1 ? ret < 0 : ret != c->expected) {
			fprintf(stderr, "cost: %s: returned %ld\n", c->name, ret);
			exit(1);
		}
		if (i < WARM_UP)
			continue;
		ticks = end - begin - overhead;
		if (least < 0 || ticks < least) {
			least = ticks;
			same = 0;
		}
		same += ticks == least;
		most = ticks > most ? ticks : most;
	}
	if (overhead)
		printf("%s\t%ld\t%ld\t%ld\n", c->name, least, same, most);
}

#define CALL(name, run, after, exterr, expected) \
	measure(&(struct call) { name, run, after, exterr, expected })

/* One failure three ways: by an old program, by a new one, and asking */
static void failing_open(const char *name, int err)
{
	char text[100];

	snprintf(text, sizeof(text), "open fails: %s, attr of 136 bytes", name);
	CALL(text, run_open, NULL, false, -err);
	sized();
	snprintf(text, sizeof(text), "open fails: %s, 160 bytes, nobody asks", name);
	CALL(text, run_open, NULL, false, -err);
	asks();
	snprintf(text, sizeof(text), "open fails: %s, JSON", name);
	CALL(text, run_open, NULL, true, -err);
}

static void failing_opens(void)
{
	valid();
	flags = 1 << 8;
	failing_open("flags (3 values)", EINVAL);

	valid();
	attr.attr.remove_on_exec = 1;
	attr.attr.enable_on_exec = 1;
	failing_open("remove_on_exec (no value)", EINVAL);

	valid();
	attr.attr.sample_type = PERF_SAMPLE_STACK_USER;
	attr.attr.sample_stack_user = 12;
	failing_open("sample_stack_user (1 value)", EINVAL);

	valid();
	attr.attr.freq = 1;
	attr.attr.sample_freq = 12345678901ULL;
	failing_open("sample_freq (2 values)", EINVAL);

	valid();
	group_fd = 999;
	failing_open("group_fd (chain of 2, 1 value each)", EBADF);
}

static long measure_close(void)
{
	long best = -1, ticks;
	uint64_t begin, end;
	int i, fd;

	for (i = 0; i < WARM_UP + RUNS; i++) {
		fd = run_open();
		begin = now();
		call6(SYS_close, fd, 0, 0, 0, 0, 0);
		end = now();
		ticks = end - begin - overhead;
		if (i >= WARM_UP && (best < 0 || ticks < best))
			best = ticks;
	}
	return best;
}

static void successes(void)
{
	valid();
	CALL("open succeeds, 136 bytes", run_open, close_it, false, 1);
	printf("close of it\t%ld\t-\t-\n", measure_close());
	sized();
	CALL("open succeeds, 160 bytes, nobody asks", run_open, close_it, false, 1);
	asks();
	CALL("open succeeds, asking", run_open, close_it, true, 1);

	CALL("read of one event", run_read, NULL, false, 8);
	CALL("read of a group of 8", run_read_group, NULL, false, 8 * (1 + GROUP));
	CALL("ioctl ENABLE", run_enable, disable, false, 0);
	enable(0);
	CALL("ioctl DISABLE", run_disable, enable, false, 0);
	CALL("mmap and munmap of a mapped buffer", run_mmap, NULL, false, 0);
}

static void failing_calls(void)
{
	CALL("read fails, nobody asks", run_read_fails, NULL, false, -ENOSPC);
	CALL("read fails, JSON (3 values)", run_read_says, NULL, true, -ENOSPC);
	CALL("ioctl fails, nobody asks", run_ioctl_fails, NULL, false, -ENOTTY);
	CALL("ioctl fails, JSON (2 values)", run_ioctl_says, NULL, true, -ENOTTY);
	CALL("mmap fails, nobody asks", run_mmap_fails, NULL, false, -EINVAL);
	CALL("mmap fails, JSON (1 value)", run_mmap_says, NULL, true, -EINVAL);
}

int main(void)
{
	int i;

	valid();
	single = run_open();
	/* on both kernels: each event of the task is work for the calls on one */
	if (perf_exterr_supported())
		asks();
	asking = run_open();
	valid();
	attr.attr.read_format = PERF_FORMAT_GROUP;
	group = run_open();
	for (i = 1, group_fd = group; i < GROUP; i++)
		run_open();
	/* the first to come and the last to go wait for RCU */
	if (mmap(NULL, PAGE, PROT_READ, MAP_SHARED, single, 0) == MAP_FAILED)
		return 1;

	CALL("nothing", run_nothing, NULL, false, 1);
	overhead = least;
	CALL("loop of 2001", run_loop, NULL, false, 1);
	if (least != 2001) {
		fprintf(stderr, "cost: 2001 instructions took %ld ticks, no -icount shift=0?\n",
			least);
		return 1;
	}
	CALL("getppid", run_getppid, NULL, false, 1);
	failing_opens();
	successes();
	failing_calls();
	return 0;
}
