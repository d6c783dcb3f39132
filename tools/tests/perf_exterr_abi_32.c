// SPDX-License-Identifier: GPL-2.0
/*
 * The reason buffer of a 32-bit program: the same attr, pointers of half the
 * size, ioctls by the compat entry.
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "kselftest.h"

#include "perf_exterr.h"

#define PAGE	4096
#define POISON	0xaa

/* Above 2 GiB: taken for a signed number, it would not be this address */
#define HIGH_ADDR	((void *)0xe0000000)

_Static_assert(sizeof(void *) == 4, "to be built with -m32");

static char low_buf[PAGE];

static bool says(const char *buf, int err)
{
	size_t len = strnlen(buf, PAGE);
	char head[32];

	snprintf(head, sizeof(head), "{\n\t\"code\": -%d,\n", err);
	return len < PAGE && !strncmp(buf, head, strlen(head)) &&
	       strstr(buf, "\"message\": \"") && strrchr(buf, '}');
}

static void show(const char *buf, const char *what)
{
	ksft_print_msg("%s: %d (%s): %.*s\n", what, errno, strerror(errno),
		       (int)strnlen(buf, 200), buf);
}

static union perf_exterr_attr valid_attr(char *buf)
{
	union perf_exterr_attr a;

	memset(&a, 0, sizeof(a));
	memset(buf, POISON, PAGE);
	a.attr.type = PERF_TYPE_SOFTWARE;
	a.attr.config = PERF_COUNT_SW_TASK_CLOCK;
	a.attr.disabled = 1;
	perf_exterr_attach(&a, buf, PAGE);
	return a;
}

static void test_delivery(const char *where, char *buf)
{
	union perf_exterr_attr a = valid_attr(buf);
	__u64 period = 1000;
	char count[4];
	bool ok;
	void *p;
	int fd;

	a.attr.sample_type = 1ULL << 60;
	ok = perf_exterr_open(&a, 0, -1, -1, 0) < 0 && errno == EINVAL &&
	     says(buf, EINVAL) && strstr(buf, "sample_type");
	if (!ok)
		show(buf, "open");
	ksft_test_result(ok, "open, %s buffer\n", where);

	a = valid_attr(buf);
	fd = perf_exterr_open(&a, 0, -1, -1, 0);
	ok = fd >= 0 && (unsigned char)buf[0] == POISON;
	if (!ok)
		show(buf, "open");
	ksft_test_result(ok, "open that succeeds, %s buffer\n", where);

	ok = ioctl(fd, PERF_EVENT_IOC_PERIOD, &period) < 0 &&
	     errno == EINVAL && says(buf, EINVAL);
	if (!ok)
		show(buf, "ioctl");
	ksft_test_result(ok, "ioctl, %s buffer\n", where);

	/* its number has the size of a pointer in it, which compat corrects */
	memset(buf, POISON, PAGE);
	ok = ioctl(fd, PERF_EVENT_IOC_SET_FILTER, "common_pid == 1") < 0 &&
	     errno == EINVAL && (!*buf || says(buf, EINVAL));
	if (!ok)
		show(buf, "ioctl");
	ksft_test_result(ok, "ioctl with a translated number, %s buffer\n",
			 where);

	memset(buf, POISON, PAGE);
	p = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ok = p == MAP_FAILED && errno == EINVAL && says(buf, EINVAL);
	if (!ok)
		show(buf, "mmap");
	ksft_test_result(ok, "mmap, %s buffer\n", where);

	ok = read(fd, count, sizeof(count)) < 0 && errno == ENOSPC &&
	     says(buf, ENOSPC);
	if (!ok)
		show(buf, "read");
	ksft_test_result(ok, "read, %s buffer\n", where);
	close(fd);
}

/* A pointer that is too long for the program leads nowhere */
static void test_long_pointer(void)
{
	union perf_exterr_attr a = valid_attr(low_buf);
	bool ok;

	a.attr.sample_type = 1ULL << 60;
	a.perf_err |= 0xffffffff00000000ULL;
	ok = perf_exterr_open(&a, 0, -1, -1, 0) < 0 && errno == EINVAL;
	if (!ok)
		show(low_buf, "open");
	ksft_test_result(ok, "pointer of more than 32 bits\n");
}

int main(void)
{
	char *high;

	ksft_print_header();
	if (!perf_exterr_supported())
		ksft_exit_skip("this kernel takes no reason buffer\n");
	ksft_set_plan(2 * 6 + 1);

	test_delivery("low", low_buf);

	high = mmap(HIGH_ADDR, PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (high == HIGH_ADDR) {
		test_delivery("high", high);
	} else {
		int i;

		for (i = 0; i < 6; i++)
			ksft_test_result_skip("no memory at %p\n", HIGH_ADDR);
	}

	test_long_pointer();
	ksft_finished();
}
