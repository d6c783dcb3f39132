// SPDX-License-Identifier: GPL-2.0
/*
 * The rules of the reason buffer as user space sees them: sizes, memory that
 * faults or is not there, other address spaces, old text, attr sizes.
 *
 * Every test runs in a process of its own and may fail, crash or hang there.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include <jansson.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>

#include "kselftest.h"

#include "perf_exterr.h"

#define PAGE		4096UL
#define BUF_SIZE	8192
#define POISON		0xaa
#define TIME_LIMIT	60	/* seconds for one test */

/* Where nothing else is mapped, in this program and after its exec */
#define FIXED_ADDR	((void *)0x100000000000UL)

static char buf[BUF_SIZE];

#define CHECK(cond, fmt, ...) do {					\
	if (!(cond)) {							\
		ksft_print_msg("%s:%d: !(%s) " fmt "\n", __func__,	\
			       __LINE__, #cond, ##__VA_ARGS__);		\
		_exit(KSFT_FAIL);					\
	}								\
} while (0)

#define SKIP(fmt, ...) do {						\
	ksft_print_msg(fmt "\n", ##__VA_ARGS__);			\
	_exit(KSFT_SKIP);						\
} while (0)

static void poison(void *p, size_t size)
{
	memset(p, POISON, size);
}

static bool untouched(const void *p, size_t size)
{
	const unsigned char *c = p;
	size_t i;

	for (i = 0; i < size; i++) {
		if (c[i] != POISON)
			return false;
	}
	return true;
}

/* @text on one line, for diagnostics: it may be anything */
static const char *show(const char *text)
{
	static __thread char line[400];
	size_t i;

	if ((unsigned char)*text == POISON)
		return "(not written)";
	for (i = 0; i < sizeof(line) - 1 && text[i]; i++)
		line[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : ' ';
	line[i] = '\0';
	return line;
}

/* A report that says @err, as JSON; NULL if it is anything else */
static json_t *report(const char *text, size_t size, int err)
{
	size_t len = strnlen(text, size);
	json_t *obj;

	if (len == size)
		return NULL;
	obj = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	if (obj && json_integer_value(json_object_get(obj, "code")) == -err &&
	    json_string_length(json_object_get(obj, "message")))
		return obj;
	json_decref(obj);
	return NULL;
}

static bool says(const char *text, size_t size, int err)
{
	json_t *obj = report(text, size, err);

	json_decref(obj);
	return obj;
}

static bool names(const char *text, size_t size, int err, const char *field)
{
	json_t *obj = report(text, size, err), *at;
	bool found = false;

	for (at = obj; at && !found; at = json_object_get(at, "cause")) {
		const char *s = json_string_value(json_object_get(at, "field"));

		found = s && !strcmp(s, field);
	}
	json_decref(obj);
	return found;
}

/* Events */

static union perf_exterr_attr valid_attr(void *p, size_t size)
{
	union perf_exterr_attr a;

	memset(&a, 0, sizeof(a));
	a.attr.type = PERF_TYPE_SOFTWARE;
	a.attr.config = PERF_COUNT_SW_TASK_CLOCK;
	a.attr.disabled = 1;
	perf_exterr_attach(&a, p, size);
	return a;
}

static union perf_exterr_attr bad_attr(void *p, size_t size)
{
	union perf_exterr_attr a = valid_attr(p, size);

	a.attr.sample_type = 1ULL << 60;
	return a;
}

static int open_self(const void *attr)
{
	return perf_exterr_open(attr, 0, -1, -1, 0);
}

static int open_event(void *p, size_t size)
{
	union perf_exterr_attr a = valid_attr(p, size);
	int fd = open_self(&a);

	CHECK(fd >= 0, "%s", strerror(errno));
	return fd;
}

/*
 * Calls on a counting event that fail for a reason.  Each returns what errno
 * is, 0 if it did not fail.
 */
static int fail_ioctl(int fd)
{
	__u64 period = 1000;

	return ioctl(fd, PERF_EVENT_IOC_PERIOD, &period) ? errno : 0;
}

static int fail_mmap(int fd)
{
	void *p = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		       0);

	return p == MAP_FAILED ? errno : 0;
}

static int fail_read(int fd)
{
	char count[4];

	return read(fd, count, sizeof(count)) < 0 ? errno : 0;
}

static const struct {
	const char *name;
	int (*fail)(int fd);
	int err;
} ops[] = {
	{ "ioctl", fail_ioctl, EINVAL },
	{ "mmap", fail_mmap, EINVAL },
	{ "read", fail_read, ENOSPC },
};

static void *pages(size_t n, int prot)
{
	void *p = mmap(NULL, n * PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);

	CHECK(p != MAP_FAILED, "%s", strerror(errno));
	return p;
}

/* A failing open and every failing call on an event report into @p */
static void check_all_deliver(char *p, size_t size)
{
	union perf_exterr_attr a = bad_attr(p, size);
	size_t i;
	int fd;

	CHECK(open_self(&a) < 0 && errno == EINVAL, "%s", strerror(errno));
	CHECK(names(p, size, EINVAL, "sample_type"), "%s", show(p));

	fd = open_event(p, size);
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		*p = 0;
		CHECK(ops[i].fail(fd) == ops[i].err, "%s", ops[i].name);
		CHECK(says(p, size, ops[i].err), "%s: %s", ops[i].name, show(p));
	}
	close(fd);
}

/* They fail with the same errnos, and no text arrives */
static void check_errnos_only(void *p, size_t size)
{
	union perf_exterr_attr a = bad_attr(p, size);
	size_t i;
	int fd;

	CHECK(open_self(&a) < 0 && errno == EINVAL, "%s", strerror(errno));
	fd = open_event(p, size);
	for (i = 0; i < ARRAY_SIZE(ops); i++)
		CHECK(ops[i].fail(fd) == ops[i].err, "%s", ops[i].name);
	close(fd);
}

/* Sizes */

static size_t members(json_t *obj)
{
	return json_object_size(obj) - !!json_object_get(obj, "truncated");
}

static void every_size(void)
{
	size_t full, size, len, n, text;
	size_t last_n = 0, last_text = 0;
	union perf_exterr_attr a;
	char whole[BUF_SIZE];
	bool cut, seen = false;
	json_t *obj;

	a = bad_attr(buf, sizeof(buf));
	CHECK(open_self(&a) < 0 && errno == EINVAL, "%s", strerror(errno));
	CHECK(says(buf, sizeof(buf), EINVAL), "%s", show(buf));
	strcpy(whole, buf);
	full = strlen(whole);

	for (size = 1; size <= full + 64; size++) {
		poison(buf, sizeof(buf));
		a = bad_attr(buf, size);
		CHECK(open_self(&a) < 0 && errno == EINVAL, "size %zu", size);

		len = strnlen(buf, size);
		CHECK(len < size, "size %zu: no NUL", size);
		CHECK(untouched(buf + len + 1, sizeof(buf) - len - 1),
		      "size %zu: written after the NUL at %zu", size, len);
		CHECK(len || !seen, "size %zu: empty, smaller ones were not",
		      size);
		if (!len)
			continue;

		seen = true;
		obj = report(buf, size, EINVAL);
		CHECK(obj, "size %zu: %s", size, show(buf));
		cut = json_is_true(json_object_get(obj, "truncated"));
		n = members(obj);
		text = json_string_length(json_object_get(obj, "message"));
		CHECK(n >= last_n && text >= last_text,
		      "size %zu: tells less than size %zu", size, size - 1);
		CHECK(!cut || size <= full, "size %zu: truncated", size);
		CHECK((size > full) == !strcmp(buf, whole),
		      "size %zu of %zu: %s", size, full + 1, show(buf));
		last_n = n;
		last_text = text;
		json_decref(obj);
	}
	CHECK(seen, "never a report");
}

/* No report of one call is longer than the buffer, whatever the buffer */
static void every_size_of_fd_calls(void)
{
	size_t i, size, len;
	int fd;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		for (size = 1; size < 700; size += 3) {
			poison(buf, sizeof(buf));
			fd = open_event(buf, size);
			CHECK(ops[i].fail(fd) == ops[i].err, "%s",
			      ops[i].name);
			len = strnlen(buf, size);
			CHECK(len < size, "%s, size %zu", ops[i].name, size);
			CHECK(untouched(buf + len + 1, sizeof(buf) - len - 1),
			      "%s, size %zu", ops[i].name, size);
			CHECK(!len || says(buf, size, ops[i].err),
			      "%s, size %zu: %s", ops[i].name, size, show(buf));
			close(fd);
		}
	}
}

static void huge_size(void)
{
	check_all_deliver(buf, 0xffffffff);
	check_all_deliver(buf, 0x80000000);
}

static void size_or_pointer_alone(void)
{
	poison(buf, sizeof(buf));
	check_errnos_only(NULL, sizeof(buf));
	check_errnos_only(buf, 0);
	check_errnos_only(NULL, 0);
	CHECK(untouched(buf, sizeof(buf)), "%s", show(buf));
}

static void odd_addresses(void)
{
	int i;

	for (i = 1; i < 8; i++)
		check_all_deliver(buf + i, sizeof(buf) - i);
}

/* Memory */

static void end_of_page(void)
{
	union perf_exterr_attr a = bad_attr(buf, sizeof(buf));
	char *p = pages(2, PROT_READ | PROT_WRITE);
	size_t full, room;

	CHECK(open_self(&a) < 0 && errno == EINVAL, "%s", strerror(errno));
	full = strlen(buf);
	CHECK(!munmap(p + PAGE, PAGE), "munmap");

	/* fits to the byte, whatever the size claims */
	a = bad_attr(p + PAGE - full - 1, PAGE);
	CHECK(open_self(&a) < 0 && errno == EINVAL, "%s", strerror(errno));
	CHECK(!strcmp(p + PAGE - full - 1, buf), "%s", show(p + PAGE - full - 1));

	/* the report runs into what is not there: no half of it may stay */
	for (room = 1; room <= full; room++) {
		char *at = p + PAGE - room;

		poison(p, PAGE);
		a = bad_attr(at, PAGE);
		CHECK(open_self(&a) < 0 && errno == EINVAL, "room %zu: %s",
		      room, strerror(errno));
		CHECK(!*at || untouched(at, 1), "room %zu: starts with 0x%x",
		      room, (unsigned char)*at);
		CHECK(untouched(p, PAGE - room), "room %zu", room);
	}
}

static void read_only_page(void)
{
	char *p = pages(1, PROT_READ | PROT_WRITE);

	poison(p, PAGE);
	CHECK(!mprotect(p, PAGE, PROT_READ), "mprotect");
	check_errnos_only(p, PAGE);
	CHECK(untouched(p, PAGE), "%s", show(p));

	CHECK(!mprotect(p, PAGE, PROT_NONE), "mprotect");
	check_errnos_only(p, PAGE);
	CHECK(!mprotect(p, PAGE, PROT_READ), "mprotect");
	CHECK(untouched(p, PAGE), "%s", show(p));
}

static void unmapped_address(void)
{
	char *p = pages(1, PROT_READ | PROT_WRITE);

	CHECK(!munmap(p, PAGE), "munmap");
	check_errnos_only(p, PAGE);
	check_errnos_only((void *)8, PAGE);
}

static void kernel_address(void)
{
	static const unsigned long addr[] = {
		0x00007ffffffff000, 0x0000800000000000, 0x1234567812345678,
		0xffff888000000000, 0xffffffff81000000, 0xfffffffffffffff8,
		~0UL,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(addr); i++) {
		check_errnos_only((void *)addr[i], 1);
		check_errnos_only((void *)addr[i], PAGE);
		check_errnos_only((void *)addr[i], 0xffffffff);
	}
}

static void unmapped_after_open(void)
{
	char *p = pages(1, PROT_READ | PROT_WRITE);
	int fd = open_event(p, PAGE);
	size_t i;

	CHECK(!munmap(p, PAGE), "munmap");
	for (i = 0; i < ARRAY_SIZE(ops); i++)
		CHECK(ops[i].fail(fd) == ops[i].err, "%s", ops[i].name);
}

/* What brings a page of memory into the state that @i stands for */
static char *absent_page(int i)
{
	char *p;
	int fd;

	switch (i) {
	case 0:			/* never touched */
		return pages(2, PROT_READ | PROT_WRITE);
	case 1:			/* dropped */
		p = pages(2, PROT_READ | PROT_WRITE);
		poison(p, 2 * PAGE);
		CHECK(!madvise(p, 2 * PAGE, MADV_DONTNEED), "madvise");
		return p;
	case 2:			/* the zero page: there, but not to be written */
		p = pages(2, PROT_READ | PROT_WRITE);
		CHECK(!*(volatile char *)p, "not zero");
		return p;
	default:		/* of a file */
		fd = memfd_create("reason", 0);
		CHECK(fd >= 0 && !ftruncate(fd, 2 * PAGE), "memfd");
		p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
			 fd, 0);
		CHECK(p != MAP_FAILED, "%s", strerror(errno));
		close(fd);
		return p;
	}
}

static void absent_pages(void)
{
	union perf_exterr_attr a;
	size_t i, op;
	char *p;
	int fd;

	for (i = 0; i < 4; i++) {
		p = absent_page(i) + PAGE - 5; /* two pages at once */
		a = bad_attr(p, PAGE);
		CHECK(open_self(&a) < 0 && errno == EINVAL, "%zu", i);
		CHECK(says(p, PAGE, EINVAL), "%zu: %s", i, show(p));

		for (op = 0; op < ARRAY_SIZE(ops); op++) {
			p = absent_page(i) + PAGE - 5;
			fd = open_event(p, PAGE);
			CHECK(ops[op].fail(fd) == ops[op].err, "%s, %zu",
			      ops[op].name, i);
			CHECK(says(p, PAGE, ops[op].err), "%s, %zu: %s",
			      ops[op].name, i, show(p));
			close(fd);
		}
	}
}

/*
 * A page whose fault is answered by a thread, after it has changed the
 * address space itself: nobody may wait for the page with mmap_lock held.
 */
struct uffd {
	int fd;
	char *page;
	pthread_t thread;
};

static void *answer_fault(void *arg)
{
	struct uffd *u = arg;
	struct uffd_msg msg;
	struct uffdio_copy copy = { .len = PAGE };
	char *src = pages(1, PROT_READ | PROT_WRITE);

	CHECK(read(u->fd, &msg, sizeof(msg)) == sizeof(msg), "%s",
	      strerror(errno));
	CHECK(msg.event == UFFD_EVENT_PAGEFAULT, "event %u", msg.event);
	CHECK(!munmap(pages(1, PROT_READ), PAGE), "munmap");

	copy.dst = (uintptr_t)u->page;
	copy.src = (uintptr_t)src;
	CHECK(!ioctl(u->fd, UFFDIO_COPY, &copy), "%s", strerror(errno));
	return src;
}

static void uffd_page(struct uffd *u)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = {
		.range.len = PAGE, .mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	u->fd = syscall(__NR_userfaultfd, O_CLOEXEC);
	if (u->fd < 0)
		SKIP("no userfaultfd: %s", strerror(errno));
	u->page = pages(1, PROT_READ | PROT_WRITE);
	reg.range.start = (uintptr_t)u->page;
	CHECK(!ioctl(u->fd, UFFDIO_API, &api), "%s", strerror(errno));
	CHECK(!ioctl(u->fd, UFFDIO_REGISTER, &reg), "%s", strerror(errno));
	CHECK(!pthread_create(&u->thread, NULL, answer_fault, u), "thread");
}

static void uffd_done(struct uffd *u, int err, const char *what)
{
	/* reads the page first: a report that has not come would hang here */
	CHECK(says(u->page, PAGE, err), "%s: %s", what, show(u->page));
	pthread_join(u->thread, NULL);
	close(u->fd);
}

static void userfaultfd_page(void)
{
	union perf_exterr_attr a;
	struct uffd u;
	size_t i;
	int fd;

	uffd_page(&u);
	a = bad_attr(u.page, PAGE);
	CHECK(open_self(&a) < 0 && errno == EINVAL, "%s", strerror(errno));
	uffd_done(&u, EINVAL, "open");

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		uffd_page(&u);
		fd = open_event(u.page, PAGE);
		CHECK(ops[i].fail(fd) == ops[i].err, "%s", ops[i].name);
		uffd_done(&u, ops[i].err, ops[i].name);
		close(fd);
	}
}

/* The mapping that fails was to replace the buffer's own page */
static void mmap_over_buffer(void)
{
	char *p = pages(4, PROT_READ | PROT_WRITE);
	int fd = open_event(p, 4 * PAGE);

	CHECK(mmap(p, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		   fd, 0) == MAP_FAILED && errno == EINVAL,
	      "%s", strerror(errno));
}

/* Address spaces */

static void wait_for_success(pid_t pid)
{
	int status;

	CHECK(pid > 0, "%s", strerror(errno));
	CHECK(waitpid(pid, &status, 0) == pid, "%s", strerror(errno));
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status), "status 0x%x",
	      status);
}

/* All calls on @fd fail as always, and @p stays as it is */
static void check_silent(int fd, const char *p)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		CHECK(ops[i].fail(fd) == ops[i].err, "%s", ops[i].name);
		CHECK(untouched(p, PAGE), "%s: %s", ops[i].name, show(p));
	}
}

static void after_fork(void)
{
	char *shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int fd = open_event(buf, PAGE), fd_shared;
	pid_t pid;

	CHECK(shared != MAP_FAILED, "%s", strerror(errno));
	fd_shared = open_event(shared, PAGE);
	poison(buf, sizeof(buf));
	poison(shared, PAGE);

	pid = fork();
	if (!pid) {
		check_silent(fd, buf);
		check_silent(fd_shared, shared);
		_exit(0);
	}
	wait_for_success(pid);
	CHECK(untouched(buf, sizeof(buf)), "%s", show(buf));

	/* and the opener still has its reports */
	CHECK(fail_ioctl(fd) == EINVAL && says(buf, PAGE, EINVAL), "%s", show(buf));
}

static int after_exec_main(int fd)
{
	char *p = mmap(FIXED_ADDR, PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
		       0);

	CHECK(p == FIXED_ADDR, "%s", strerror(errno));
	poison(p, PAGE);
	check_silent(fd, p);
	return 0;
}

static void after_exec(void)
{
	char *p = mmap(FIXED_ADDR, PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
		       0);
	char arg[16];
	int fd;

	CHECK(p == FIXED_ADDR, "%s", strerror(errno));
	fd = open_event(p, PAGE);
	CHECK(fail_ioctl(fd) == EINVAL && says(p, PAGE, EINVAL), "%s", show(p));

	snprintf(arg, sizeof(arg), "%d", fd);
	execl("/proc/self/exe", "perf_exterr_abi", "--after-exec", arg, NULL);
	CHECK(0, "exec: %s", strerror(errno));
}

static void send_fd(int sock, int fd)
{
	char data = 0, ctl[CMSG_SPACE(sizeof(fd))] = { };
	struct iovec iov = { &data, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = ctl, .msg_controllen = sizeof(ctl),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	CHECK(sendmsg(sock, &msg, 0) == 1, "%s", strerror(errno));
}

static int receive_fd(int sock)
{
	char data, ctl[CMSG_SPACE(sizeof(int))];
	struct iovec iov = { &data, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = ctl, .msg_controllen = sizeof(ctl),
	};
	int fd;

	CHECK(recvmsg(sock, &msg, 0) == 1 && CMSG_FIRSTHDR(&msg), "%s",
	      strerror(errno));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}

static void over_socket(void)
{
	int sock[2], fd;
	pid_t pid;

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, sock), "%s",
	      strerror(errno));
	pid = fork();
	if (!pid) {
		poison(buf, sizeof(buf));
		check_silent(receive_fd(sock[1]), buf);
		_exit(0);
	}
	fd = open_event(buf, PAGE);
	poison(buf, sizeof(buf));
	send_fd(sock[0], fd);
	wait_for_success(pid);
	CHECK(untouched(buf, sizeof(buf)), "%s", show(buf));
}

/*
 * The opener is gone and its mm with it; one that takes its place, at the
 * same address in the kernel perhaps, must not be taken for it.
 */
static void opener_gone(void)
{
	int sock[2], fd, i;
	pid_t pid;

	poison(buf, sizeof(buf));
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, sock), "%s",
	      strerror(errno));
	pid = fork();
	if (!pid) {
		send_fd(sock[1], open_event(buf, PAGE));
		_exit(0);
	}
	fd = receive_fd(sock[0]);
	wait_for_success(pid);

	check_silent(fd, buf);
	for (i = 0; i < 64; i++) {
		pid = fork();
		if (!pid) {
			check_silent(fd, buf);
			_exit(0);
		}
		wait_for_success(pid);
	}
}

static int fail_all_and_look(void *arg)
{
	int fd = *(int *)arg;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		poison(buf, sizeof(buf));
		if (ops[i].fail(fd) != ops[i].err ||
		    !says(buf, sizeof(buf), ops[i].err))
			return 1 + i;
	}
	return 0;
}

static void clone_same_mm(int flags)
{
	static char stack[64 * 1024] __attribute__((aligned(16)));
	int fd = open_event(buf, sizeof(buf));

	wait_for_success(clone(fail_all_and_look, stack + sizeof(stack),
			       flags | CLONE_VM | SIGCHLD, &fd));
}

static void clone_vm(void)
{
	clone_same_mm(0);
}

static void clone_vfork(void)
{
	clone_same_mm(CLONE_VFORK);
}

static void *thread_fail_all(void *arg)
{
	return (void *)(long)fail_all_and_look(arg);
}

static void threads(void)
{
	int fd = open_event(buf, sizeof(buf));
	pthread_t thread;
	void *ret;

	CHECK(!pthread_create(&thread, NULL, thread_fail_all, &fd), "thread");
	CHECK(!pthread_join(thread, &ret), "join");
	CHECK(!ret, "%ld", (long)ret);
}

/* Reports of calls at the same time do not mix */
static void *fail_in_a_loop(void *arg)
{
	long bit = 50 + (long)arg;
	char own[BUF_SIZE], value[2][32];
	union perf_exterr_attr a;
	int i;

	snprintf(value[0], sizeof(value[0]), "%#llx", 1ULL << bit);
	snprintf(value[1], sizeof(value[1]), "%ld", bit);
	for (i = 0; i < 300; i++) {
		a = valid_attr(own, sizeof(own));
		a.attr.sample_type = 1ULL << bit;
		poison(own, sizeof(own));
		CHECK(open_self(&a) < 0 && errno == EINVAL, "%s",
		      strerror(errno));
		CHECK(names(own, sizeof(own), EINVAL, "sample_type"), "%s",
		      show(own));
		CHECK(strstr(own, value[0]) || strstr(own, value[1]),
		      "not bit %ld: %s", bit, show(own));
	}
	return NULL;
}

static void at_the_same_time(void)
{
	pthread_t thread[4];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(thread); i++)
		CHECK(!pthread_create(&thread[i], NULL, fail_in_a_loop,
				      (void *)i), "thread");
	for (i = 0; i < ARRAY_SIZE(thread); i++)
		pthread_join(thread[i], NULL);
}

/* Old text */

static void success_writes_nothing(void)
{
	union perf_exterr_attr a = valid_attr(buf, sizeof(buf));
	__u64 id, count;
	void *ring;
	int fd;

	poison(buf, sizeof(buf));
	a.attr.sample_period = 1000000;
	fd = open_self(&a);
	CHECK(fd >= 0, "%s", strerror(errno));
	CHECK(!ioctl(fd, PERF_EVENT_IOC_ID, &id), "ioctl");
	CHECK(!ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), "ioctl");
	CHECK(read(fd, &count, sizeof(count)) == sizeof(count), "read");
	ring = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(ring != MAP_FAILED, "mmap");
	CHECK(!munmap(ring, 3 * PAGE), "munmap");
	/* fasync */
	CHECK(!fcntl(fd, F_SETFL, O_ASYNC), "F_SETFL");
	CHECK(!fcntl(fd, F_SETFL, 0), "F_SETFL");
	close(fd);
	CHECK(untouched(buf, sizeof(buf)), "%s", show(buf));
}

/* What another call has left is gone, even if there is nothing new to say */
static void no_stale_text(void)
{
	static const struct {
		unsigned long cmd, arg;
		int err;
	} calls[] = {
		{ _IO('$', 77), 0, ENOTTY },
		{ PERF_EVENT_IOC_PAUSE_OUTPUT, 0, EINVAL },
		{ PERF_EVENT_IOC_ID, 8, EFAULT },
		{ PERF_EVENT_IOC_SET_BPF, 9999, EBADF },
		{ PERF_EVENT_IOC_SET_OUTPUT, 9999, EBADF },
	};
	union perf_exterr_attr a = valid_attr(buf, sizeof(buf));
	int fd = open_event(buf, sizeof(buf));
	size_t i;

	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		strcpy(buf, "old");
		CHECK(ioctl(fd, calls[i].cmd, calls[i].arg) < 0 &&
		      errno == calls[i].err, "%zu: %s", i, strerror(errno));
		CHECK(!*buf || says(buf, sizeof(buf), calls[i].err),
		      "%zu: %s", i, show(buf));
	}

	strcpy(buf, "old");
	CHECK(perf_exterr_open(&a, 4194303, -1, -1, 0) < 0 && errno == ESRCH,
	      "%s", strerror(errno));
	CHECK(!*buf || says(buf, sizeof(buf), ESRCH), "%s", show(buf));
}

static void shorter_text(void)
{
	union perf_exterr_attr a;

	memset(buf, 'x', sizeof(buf));
	a = bad_attr(buf, sizeof(buf));
	CHECK(open_self(&a) < 0 && errno == EINVAL, "%s", strerror(errno));
	CHECK(says(buf, sizeof(buf), EINVAL), "%s", show(buf));
}

static void refuse_open(int err)
{
	struct sock_filter insns[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | err),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { ARRAY_SIZE(insns), insns };

	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "%s", strerror(errno));
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		SKIP("no seccomp filters: %s", strerror(errno));
}

static void refused_before_perf(void)
{
	union perf_exterr_attr a = bad_attr(buf, sizeof(buf));

	poison(buf, sizeof(buf));
	refuse_open(EPERM);
	CHECK(open_self(&a) < 0 && errno == EPERM, "%s", strerror(errno));
	CHECK(untouched(buf, sizeof(buf)), "%s", show(buf));
}

/*
 * A number that may be the code of a failure just seen, but comes from a
 * filter: it is the filter's errno, and no leak.
 */
static void foreign_value(void)
{
	union perf_exterr_attr a = bad_attr(buf, sizeof(buf));

	CHECK(open_self(&a) < 0 && errno == EINVAL, "%s", strerror(errno));
	poison(buf, sizeof(buf));
	refuse_open(1536);
	CHECK(open_self(&a) < 0 && errno == 1536, "%d", errno);
	CHECK(untouched(buf, sizeof(buf)), "%s", show(buf));
}

/* attr */

/* An attr with more behind it than any kernel knows */
struct big_attr {
	union perf_exterr_attr a;
	__u8 tail[2 * PAGE];
};

static struct big_attr big;

static int open_sized(size_t size, bool bad)
{
	int fd;

	big.a.attr.sample_type = bad ? 1ULL << 60 : 0;
	big.a.attr.size = size;
	fd = open_self(&big);
	if (fd < 0)
		return -errno;
	return fd;
}

static void old_attr_sizes(void)
{
	static const size_t sizes[] = {
		0, 64, 72, 80, 96, 104, 112, 120, 128, 136, 144,
	};
	size_t i;
	int fd;

	poison(buf, sizeof(buf));
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		big.a = valid_attr(buf, sizeof(buf));
		fd = open_sized(sizes[i], false);
		CHECK(fd >= 0, "size %zu: %d", sizes[i], fd);
		CHECK(fail_ioctl(fd) == EINVAL, "size %zu", sizes[i]);
		close(fd);
		fd = open_sized(sizes[i], true);
		CHECK(fd == -EINVAL, "size %zu: %d", sizes[i], fd);
	}
	CHECK(untouched(buf, sizeof(buf)), "%s", show(buf));
}

/*
 * A size in the middle of the new members gives no buffer.  The low half of
 * this pointer is the whole of it: half a pointer must not be followed.
 */
static void attr_too_small_for_buffer(void)
{
	char *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	size_t size;
	int fd;

	CHECK(p != MAP_FAILED, "%s", strerror(errno));
	poison(p, PAGE);
	for (size = 145; size < PERF_EXTERR_ATTR_SIZE; size++) {
		big.a = valid_attr(p, PAGE);
		fd = open_sized(size, false);
		CHECK(fd >= 0, "size %zu: %d", size, fd);
		CHECK(fail_ioctl(fd) == EINVAL, "size %zu", size);
		close(fd);
		fd = open_sized(size, true);
		CHECK(fd == -EINVAL, "size %zu: %d", size, fd);
		CHECK(untouched(p, PAGE), "size %zu: %s", size, show(p));
	}
}

static void larger_attr(void)
{
	static const size_t sizes[] = { 160, 161, 168, 1024, PAGE };
	size_t i;
	int fd;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		big.a = valid_attr(buf, sizeof(buf));
		fd = open_sized(sizes[i], false);
		CHECK(fd >= 0, "size %zu: %d", sizes[i], fd);
		poison(buf, sizeof(buf));
		CHECK(fail_ioctl(fd) == EINVAL, "size %zu", sizes[i]);
		CHECK(says(buf, sizeof(buf), EINVAL), "size %zu: %s",
		      sizes[i], show(buf));
		close(fd);
		poison(buf, sizeof(buf));
		CHECK(open_sized(sizes[i], true) == -EINVAL, "size %zu",
		      sizes[i]);
		CHECK(names(buf, sizeof(buf), EINVAL, "sample_type"),
		      "size %zu: %s", sizes[i], show(buf));
	}
}

static void attr_with_unknown_tail(void)
{
	static const size_t sizes[] = { 161, 168, PAGE, PAGE + 1, ~0U };
	size_t i;

	big.tail[0] = 1;
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		poison(buf, sizeof(buf));
		big.a = valid_attr(buf, sizeof(buf));
		CHECK(open_sized(sizes[i], false) == -E2BIG, "size %zu",
		      sizes[i]);
		CHECK(big.a.attr.size == PERF_EXTERR_ATTR_SIZE,
		      "size %zu: told to use %u", sizes[i], big.a.attr.size);
		CHECK(names(buf, sizeof(buf), E2BIG, "size"), "size %zu: %s",
		      sizes[i], show(buf));
	}
}

static void members_that_must_be_zero(void)
{
	union perf_exterr_attr a = valid_attr(buf, sizeof(buf));

	a.reserved_4 = 1;
	CHECK(open_self(&a) < 0 && errno == EINVAL, "%s", strerror(errno));
	CHECK(names(buf, sizeof(buf), EINVAL, "__reserved_4"), "%s", show(buf));

	a = valid_attr(buf, sizeof(buf));
	a.config4 = 1;
	CHECK(open_self(&a) < 0 && errno == E2BIG, "%s", strerror(errno));
	CHECK(names(buf, sizeof(buf), E2BIG, "config4"), "%s", show(buf));

	/* also where no buffer is given */
	a = valid_attr(NULL, 0);
	a.attr.size = 144;
	a.config4 = 1;
	CHECK(open_self(&a) < 0 && errno == E2BIG, "%s", strerror(errno));
}

/* Descriptors */

static void first_keys_and_field(void)
{
	static const char head[] =
		"{\n\t\"code\": -22,\n\t\"module\": \"perf\",\n\t\"message\": \"";
	union perf_exterr_attr a = bad_attr(buf, sizeof(buf));
	json_t *obj;

	CHECK(open_self(&a) < 0 && errno == EINVAL, "%s", strerror(errno));
	obj = report(buf, sizeof(buf), EINVAL);
	CHECK(json_integer_value(json_object_get(obj, "offset")) ==
	      offsetof(struct perf_event_attr, sample_type), "%s", show(buf));
	CHECK(!strcmp(json_string_value(json_object_get(obj, "kind")) ?: "",
		      "member"), "%s", show(buf));
	CHECK(!strncmp(buf, head, sizeof(head) - 1), "%s", show(buf));

	a = valid_attr(buf, sizeof(buf));
	CHECK(perf_exterr_open(&a, 0, -1, -1, 0x400) < 0 && errno == EINVAL,
	      "%s", strerror(errno));
	obj = report(buf, sizeof(buf), EINVAL);
	CHECK(!json_object_get(obj, "offset"), "%s", show(buf));
	CHECK(!strcmp(json_string_value(json_object_get(obj, "kind")) ?: "",
		      "argument"), "%s", show(buf));
}

static void buffer_of_open(void)
{
	check_all_deliver(buf, sizeof(buf));
}

static void attr_changed_after_open(void)
{
	union perf_exterr_attr a = valid_attr(buf, sizeof(buf));
	static char other[PAGE];
	int fd = open_self(&a);

	CHECK(fd >= 0, "%s", strerror(errno));
	poison(other, sizeof(other));
	a.perf_err = (uintptr_t)other;
	CHECK(fail_ioctl(fd) == EINVAL, "ioctl");
	CHECK(says(buf, sizeof(buf), EINVAL), "%s", show(buf));
	CHECK(untouched(other, sizeof(other)), "%s", show(other));
}

static void one_buffer_for_two_events(void)
{
	int a = open_event(buf, sizeof(buf)), b = open_event(buf, sizeof(buf));

	CHECK(fail_read(a) == ENOSPC, "read");
	CHECK(says(buf, sizeof(buf), ENOSPC), "%s", show(buf));
	CHECK(fail_ioctl(b) == EINVAL, "ioctl");
	CHECK(says(buf, sizeof(buf), EINVAL), "%s", show(buf));
	close(b);
	CHECK(fail_read(a) == ENOSPC, "read");
	CHECK(says(buf, sizeof(buf), ENOSPC), "%s", show(buf));
}

static void own_buffer_for_each_event(void)
{
	static char other[PAGE];
	int a = open_event(buf, sizeof(buf));
	int b = open_event(other, sizeof(other));

	poison(buf, sizeof(buf));
	CHECK(fail_ioctl(b) == EINVAL, "ioctl");
	CHECK(says(other, sizeof(other), EINVAL), "%s", show(other));
	CHECK(untouched(buf, sizeof(buf)), "%s", show(buf));
	poison(other, sizeof(other));
	CHECK(fail_read(a) == ENOSPC, "read");
	CHECK(says(buf, sizeof(buf), ENOSPC), "%s", show(buf));
	CHECK(untouched(other, sizeof(other)), "%s", show(other));
}

static void dup_of_descriptor(void)
{
	int fd = open_event(buf, sizeof(buf)), copy = dup(fd);

	close(fd);
	CHECK(!fail_all_and_look(&copy), "%s", show(buf));
}

/* Event without a buffer: nothing to write to, nothing written */
static void no_buffer(void)
{
	poison(buf, sizeof(buf));
	check_errnos_only(NULL, 0);
	CHECK(untouched(buf, sizeof(buf)), "%s", show(buf));
}

#define TEST(_name) { #_name, _name }

static const struct {
	const char *name;
	void (*run)(void);
} tests[] = {
	TEST(buffer_of_open),
	TEST(first_keys_and_field),
	TEST(every_size),
	TEST(every_size_of_fd_calls),
	TEST(huge_size),
	TEST(size_or_pointer_alone),
	TEST(odd_addresses),
	TEST(no_buffer),
	TEST(end_of_page),
	TEST(read_only_page),
	TEST(unmapped_address),
	TEST(kernel_address),
	TEST(unmapped_after_open),
	TEST(absent_pages),
	TEST(userfaultfd_page),
	TEST(mmap_over_buffer),
	TEST(after_fork),
	TEST(after_exec),
	TEST(over_socket),
	TEST(opener_gone),
	TEST(clone_vm),
	TEST(clone_vfork),
	TEST(threads),
	TEST(at_the_same_time),
	TEST(success_writes_nothing),
	TEST(no_stale_text),
	TEST(shorter_text),
	TEST(refused_before_perf),
	TEST(foreign_value),
	TEST(old_attr_sizes),
	TEST(attr_too_small_for_buffer),
	TEST(larger_attr),
	TEST(attr_with_unknown_tail),
	TEST(members_that_must_be_zero),
	TEST(attr_changed_after_open),
	TEST(one_buffer_for_two_events),
	TEST(own_buffer_for_each_event),
	TEST(dup_of_descriptor),
};

/* A task that hangs in the kernel cannot be killed: do not wait for it */
static int wait_limited(pid_t pid, int *status)
{
	const struct timespec tick = { .tv_nsec = 10 * 1000 * 1000 };
	time_t end = time(NULL) + TIME_LIMIT;

	while (time(NULL) < end) {
		if (waitpid(pid, status, WNOHANG) == pid)
			return 0;
		nanosleep(&tick, NULL);
	}
	kill(pid, SIGKILL);
	return -1;
}

static int run_test(void (*run)(void))
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run();
		_exit(KSFT_PASS);
	}
	if (pid < 0 || wait_limited(pid, &status)) {
		ksft_print_msg("not done after %d s\n", TIME_LIMIT);
		return KSFT_FAIL;
	}
	if (WIFSIGNALED(status)) {
		ksft_print_msg("died of signal %d\n", WTERMSIG(status));
		return KSFT_FAIL;
	}
	return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 3 && !strcmp(argv[1], "--after-exec"))
		return after_exec_main(atoi(argv[2]));

	ksft_print_header();
	if (!perf_exterr_supported())
		ksft_exit_skip("this kernel takes no reason buffer\n");
	ksft_set_plan(ARRAY_SIZE(tests));
	for (i = 0; i < ARRAY_SIZE(tests); i++)
		ksft_test_result_report(run_test(tests[i].run), "%s\n",
					tests[i].name);
	ksft_finished();
}
