// SPDX-License-Identifier: GPL-2.0
/*
 * The leak detector warns, once for each code, when a code that is bound
 * reaches user space, and never about a number that only looks like one.
 *
 * Needs CONFIG_EXTERR_DEBUG, the modules exterr_test_pmu and exterr_test_hold,
 * and a log check that expects one warning: perf_exterr_leak.allow.
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#include "kselftest.h"

#include "exterr_modules.h"

#define EXTERR_BASE	1536

static int kmsg;

/* Warnings of the detector since the last look; the last one's text */
static int warnings(char *last, size_t size)
{
	char line[8192];
	int count = 0;
	ssize_t n;

	while ((n = read(kmsg, line, sizeof(line) - 1)) > 0 || errno == EPIPE) {
		if (n <= 0)
			continue;
		line[n] = '\0';
		if (strstr(line, " leaks to user space:")) {
			count++;
			snprintf(last, size, "%.*s", (int)strcspn(line, "\n"), line);
		}
	}
	return count;
}

/* The errno of a read of the leak, which should be a code */
static int leak(void)
{
	int fd = open(LEAK_FILE, O_RDONLY | O_CLOEXEC), err;
	char c;

	if (fd < 0)
		return 0;
	err = read(fd, &c, 1) < 0 ? errno : 0;
	close(fd);
	return err;
}

/* A system call that seccomp answers with @err: what is its errno? */
static int seccomp_says(int err)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | err),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { ARRAY_SIZE(filter), filter };
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
			_exit(2);
		_exit(syscall(__NR_getppid) != -1 || errno != err);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status))
		return 0;
	return err;
}

int main(void)
{
	char text[1000] = "(none)", expected[200];
	int err, code, n;
	bool good = true;

	ksft_print_header();
	err = module_load(MODULE_HOLD, "") ?: module_load(MODULE_PMU, "");
	if (err)
		ksft_exit_skip("no modules: %s\n", strerror(err));
	if (access("/sys/module/exterr/parameters/leak_check", F_OK))
		ksft_exit_skip("no CONFIG_EXTERR_DEBUG\n");
	kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (kmsg < 0)
		ksft_exit_fail_msg("/dev/kmsg: %s\n", strerror(errno));
	lseek(kmsg, 0, SEEK_END);
	ksft_set_plan(4);

	/* bind them, a few at least, before somebody pretends */
	close(open(HOLD_FILE, O_RDONLY | O_CLOEXEC));
	for (code = EXTERR_BASE; code < EXTERR_BASE + codes_used(); code++)
		good = good && seccomp_says(code) == code;
	ksft_test_result(good && code > EXTERR_BASE && !warnings(text, sizeof(text)),
			 "seccomp answers with all bound codes: no warning\n");

	code = leak();
	n = warnings(text, sizeof(text));
	ksft_print_msg("errno %d, %d warnings: %s\n", code, n, text);
	ksft_test_result(code >= EXTERR_BASE && n == 1, "a code that leaks: one warning\n");

	snprintf(expected, sizeof(expected), "exterr: code -%d of domain perf leaks", code);
	ksft_test_result(strstr(text, expected) && strstr(text, "exterr_test_pmu.c:") &&
			 strstr(text, "%s keeps this code"), "it names code, domain and site\n");

	code = leak();
	n = warnings(text, sizeof(text));
	ksft_test_result(code >= EXTERR_BASE && !n, "the same code again: no warning\n");

	module_unload(MODULE_PMU);
	module_unload(MODULE_HOLD);
	ksft_finished();
}
