/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The reason buffer of perf_event_open(2), for programs that are built with
 * headers which do not know it yet.
 */
#ifndef PERF_EXTERR_H
#define PERF_EXTERR_H

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/perf_event.h>

/* PERF_ATTR_SIZE_VER10: the first size that has room for perf_err */
#define PERF_EXTERR_ATTR_SIZE	160

/* PERF_ATTR_SIZE_VER8: what an unpatched 6.12 knows */
#define PERF_PLAIN_ATTR_SIZE	136

union perf_exterr_attr {
	struct perf_event_attr attr;
	struct {
		__u8	up_to_config2[128];
		__u64	config3;
		__u64	config4;
		__u32	perf_err_size;
		__u32	reserved_4;
		__u64	perf_err;
	};
	__u8 bytes[PERF_EXTERR_ATTR_SIZE];
};

static inline void perf_exterr_attach(union perf_exterr_attr *a, void *buf,
				      __u32 size)
{
	a->attr.size = PERF_EXTERR_ATTR_SIZE;
	a->perf_err_size = size;
	a->perf_err = (uintptr_t)buf;
}

static inline int perf_exterr_open(const void *attr, int pid, int cpu,
				   int group_fd, unsigned long flags)
{
	return syscall(__NR_perf_event_open, attr, pid, cpu, group_fd, flags);
}

/* Does this kernel take a reason buffer?  Found by trial, with a valid event. */
static inline int perf_exterr_supported(void)
{
	union perf_exterr_attr a;
	char buf[8];
	int fd;

	memset(&a, 0, sizeof(a));
	a.attr.type = PERF_TYPE_SOFTWARE;
	a.attr.config = PERF_COUNT_SW_DUMMY;
	a.attr.exclude_kernel = 1;
	perf_exterr_attach(&a, buf, sizeof(buf));

	fd = perf_exterr_open(&a, 0, -1, -1, 0);
	if (fd < 0)
		return errno != E2BIG;
	close(fd);
	return 1;
}

#endif /* PERF_EXTERR_H */
