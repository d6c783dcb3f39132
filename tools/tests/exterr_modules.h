/* SPDX-License-Identifier: GPL-2.0 */
/* The test modules of exterr: load, unload, and what debugfs says meanwhile. */
#ifndef EXTERR_MODULES_H
#define EXTERR_MODULES_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#define MODULE_PMU	"exterr_test_pmu"
#define MODULE_HOLD	"exterr_test_hold"
#define HOLD_FILE	"/sys/kernel/debug/exterr_test/hold"
#define LEAK_FILE	"/sys/kernel/debug/exterr_test/leak"
#define SITES_FILE	"/sys/kernel/debug/exterr/sites"
#define CODES_FILE	"/sys/kernel/debug/exterr/codes"
#define PMU_TYPE_FILE	"/sys/bus/event_source/devices/exterr_test/type"

/* 0, or a positive errno */
static inline int module_load(const char *name, const char *params)
{
	char path[PATH_MAX];
	struct utsname u;
	int fd, err = 0;

	uname(&u);
	snprintf(path, sizeof(path), "/lib/modules/%s/kernel/drivers/perf/%s.ko",
		 u.release, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	if (syscall(__NR_finit_module, fd, params, 0))
		err = errno;
	close(fd);
	return err;
}

/* Waits for users who are about to go. 0, or a positive errno */
static inline int module_unload(const char *name)
{
	int i, err = 0;

	for (i = 0; i < 10000; i++) {
		err = syscall(__NR_delete_module, name, O_NONBLOCK) ? errno : 0;
		if (err != EAGAIN && err != EBUSY)
			break;
		usleep(1000);
	}
	return err;
}

/* The first number in the file, or -1 */
static inline long file_number(const char *path, const char *format)
{
	FILE *f = fopen(path, "re");
	long n;

	if (!f)
		return -1;
	if (fscanf(f, format, &n) != 1)
		n = -1;
	fclose(f);
	return n;
}

static inline long pmu_type(void)
{
	return file_number(PMU_TYPE_FILE, "%ld");
}

static inline long codes_used(void)
{
	return file_number(CODES_FILE, "# %ld of");
}

static inline long codes_lost(void)
{
	return file_number(CODES_FILE, "# %*d of %*d codes in use, %ld");
}

/* Lines of the file that have @text, or -1 */
static inline int count_lines(const char *path, const char *text)
{
	char line[4096];
	FILE *f = fopen(path, "re");
	int n = 0;

	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		n += !!strstr(line, text);
	fclose(f);
	return n;
}

#endif /* EXTERR_MODULES_H */
