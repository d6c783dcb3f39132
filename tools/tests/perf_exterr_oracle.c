// SPDX-License-Identifier: GPL-2.0
/*
 * A reason tells nobody what the errno alone would not have told: to a task
 * without privileges, all breakpoints on kernel addresses are refused in the
 * same words, whatever lies there.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <jansson.h>
#include <linux/hw_breakpoint.h>

#include "kselftest.h"

#include "perf_exterr.h"

static uint64_t symbol(const char *name)
{
	char line[256], found[128];
	unsigned long long addr;
	uint64_t ret = 0;
	FILE *f;

	f = fopen("/proc/kallsyms", "r");
	while (f && !ret && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx %*c %127s", &addr, found) == 2 &&
		    !strcmp(found, name))
			ret = addr;
	}
	if (f)
		fclose(f);
	return ret;
}

static struct {
	const char *name;
	uint64_t addr;
	uint64_t len;
	uint32_t type;
} spots[] = {
	{ "data",		0xffffffff82000000, 8, HW_BREAKPOINT_W },
	{ "unmapped",		0xffff800000000000, 8, HW_BREAKPOINT_W },
	{ "text",		0, 8, HW_BREAKPOINT_X },
	{ "entry code",		0, 8, HW_BREAKPOINT_X },
	{ "cpu entry area",	0xfffffe0000001000, 8, HW_BREAKPOINT_W },
	{ "misaligned",		0xffffffff82000001, 8, HW_BREAKPOINT_W },
	{ "no such length",	0xffffffff82000000, 3, HW_BREAKPOINT_W },
	{ "wrapping",		0xfffffffffffffffc, 8, HW_BREAKPOINT_W },
};

/* The template of the reason for spot @i, in @text. */
static int ask(unsigned int i, char *text, size_t size)
{
	static char report[4096];
	union perf_exterr_attr a;
	int fd, err;
	json_t *obj;

	memset(&a, 0, sizeof(a));
	a.attr.type = PERF_TYPE_BREAKPOINT;
	a.attr.disabled = 1;
	a.attr.exclude_kernel = 1;
	a.attr.bp_type = spots[i].type;
	a.attr.bp_addr = spots[i].addr;
	a.attr.bp_len = spots[i].len;
	report[0] = 0;
	perf_exterr_attach(&a, report, sizeof(report));
	fd = perf_exterr_open(&a, 0, -1, -1, 0);
	if (fd >= 0) {
		close(fd);
		return 0;
	}
	err = errno;
	obj = json_loads(report, 0, NULL);
	snprintf(text, size, "%d %s%s", err,
		 obj ? json_string_value(json_object_get(obj, "template")) :
		       "no JSON",
		 obj && json_object_get(obj, "cause") ? " with a cause" : "");
	json_decref(obj);
	return err;
}

int main(void)
{
	char first[1024], text[1024];
	unsigned int i;

	ksft_print_header();
	if (!perf_exterr_supported())
		ksft_exit_skip("this kernel hands out no reasons\n");
	ksft_set_plan(ARRAY_SIZE(spots));

	spots[2].addr = symbol("vfs_read");
	spots[3].addr = symbol("entry_SYSCALL_64");
	if (!spots[2].addr || !spots[3].addr)
		ksft_exit_fail_msg("no kallsyms\n");
	if (setgid(65534) || setuid(65534))
		ksft_exit_fail_msg("setuid: %s\n", strerror(errno));

	ask(0, first, sizeof(first));
	for (i = 0; i < ARRAY_SIZE(spots); i++) {
		if (!ask(i, text, sizeof(text)))
			strcpy(text, "opened");
		if (strcmp(text, first))
			ksft_print_msg("%s: %s\n", spots[i].name, text);
		ksft_test_result(!strcmp(text, first), "%s\n", spots[i].name);
	}
	ksft_finished();
}
