// SPDX-License-Identifier: GPL-2.0
/*
 * Runs one case in a process of its own, so that what it does to its
 * privileges, limits, mounts, filters and descriptors ends with it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "cases.h"

#define PARANOID	"/proc/sys/kernel/perf_event_paranoid"
#define TIME_LIMIT	60	/* seconds; an emulated machine is slow */

void broken(struct run *r, const char *what)
{
	snprintf(r->res->why, sizeof(r->res->why), "%s: %s", what,
		 strerror(errno));
	r->res->state = BROKEN;
	_exit(0);
}

void skip(struct run *r, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(r->res->why, sizeof(r->res->why), fmt, args);
	va_end(args);
	r->res->state = SKIPPED;
	_exit(0);
}

static void become_nobody(struct run *r)
{
	if (setgroups(0, NULL) || setgid(65534) || setuid(65534))
		broken(r, "cannot drop privileges");
}

static void run_in_child(struct run *r)
{
	const struct perf_case *c = r->c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(TIME_LIMIT);
	if (!unshare(CLONE_NEWNS))
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);

	r->attr.attr = c->attr;
	r->attr.attr.disabled = 1;
	r->attr.attr.size = PERF_PLAIN_ATTR_SIZE;
	memset(r->reason, POISON, sizeof(r->reason));
	if (!r->old_kernel)
		perf_exterr_attach(&r->attr, r->reason, sizeof(r->reason));
	r->attr_ptr = &r->attr;
	r->pid = c->pid;
	r->cpu = c->cpu;
	r->group_fd = c->group_fd;
	r->flags = c->flags;
	r->arg = (unsigned long)c->arg;

	if (c->setup)
		c->setup(r);
	if (c->nobody)
		become_nobody(r);
	if (c->on_event) {
		r->fd = perf_exterr_open(r->attr_ptr, r->pid, r->cpu,
					 r->group_fd, r->flags);
		if (r->fd < 0)
			broken(r, "the event itself does not open");
	}
	if (c->prepare)
		c->prepare(r);

	r->res->err = c->act ? c->act(r) : act_open(r);
	memcpy(r->res->reason, r->reason, sizeof(r->reason));
	r->res->state = RAN;
	_exit(0);
}

static int swap_paranoid(int level)
{
	int fd = open(PARANOID, O_RDWR);
	char text[16] = "";
	int old, n;

	if (fd < 0)
		return level;
	n = read(fd, text, sizeof(text) - 1);
	old = n > 0 ? atoi(text) : level;
	n = snprintf(text, sizeof(text), "%d\n", level);
	if (pwrite(fd, text, n, 0) != n)
		old = level;
	close(fd);
	return old;
}

/**
 * run_case - run one case
 * @c:		the case
 * @old_kernel:	the kernel has no reason buffer
 * @res:	result, in memory shared with children
 */
void run_case(const struct perf_case *c, bool old_kernel, struct result *res)
{
	struct run r = { .c = c, .res = res, .old_kernel = old_kernel };
	int paranoid = 0, status;
	pid_t pid;

	memset(res, 0, sizeof(*res));
	if (c->paranoid)
		paranoid = swap_paranoid(c->paranoid);

	fflush(stdout);
	pid = fork();
	if (!pid)
		run_in_child(&r);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		snprintf(res->why, sizeof(res->why), "fork: %s",
			 strerror(errno));
	else if (WIFSIGNALED(status))
		snprintf(res->why, sizeof(res->why), "died of signal %d%s",
			 WTERMSIG(status),
			 WTERMSIG(status) == SIGALRM ? " (time limit)" : "");

	if (c->paranoid)
		swap_paranoid(paranoid);
}
