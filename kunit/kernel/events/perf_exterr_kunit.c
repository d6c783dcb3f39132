// SPDX-License-Identifier: GPL-2.0
/*
 * Test cases for the extended errnos of perf:
 *	./tools/testing/kunit/kunit.py run --arch x86_64 'perf_exterr*'
 *
 * The test thread has user memory of its own and enters perf_event_open(2)
 * where the system call does, so that it sees the report, as a program would.
 */
#include <kunit/test.h>
#include <linux/anon_inodes.h>
#include <linux/exterr.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hw_breakpoint.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

long __x64_sys_perf_event_open(const struct pt_regs *regs);

#define TEST_ATTR_SIZE	160
#define TEST_BUF_SIZE	2048
#define TEST_POISON	0x5a

/* What an attr is laid over; the rest of the pages is there to fault or not. */
struct test_user {
	struct perf_event_attr __user *attr;
	char __user *buf;
	char *report;		/* what was in buf */
};

/* The event that a row's group_fd or file descriptor is of. */
enum test_fd {
	FD_NONE,		/* -1 */
	FD_CLOSED,
	FD_OTHER,		/* open, but no event */
	FD_TASK,		/* counts, on the test's thread */
	FD_MEMBER,		/* a member of the group of FD_TASK */
	FD_CPU,			/* counts, on CPU 0 */
	FD_SAMPLING,		/* samples, on the test's thread */
	FD_NR,
};

#define TEST_CLOSED_FD	1000

/* What the report has to say; @offset is -1 for bitfields and arguments. */
struct test_reason {
	int err;
	const char *field;
	const char *kind;
	int offset;
	const char *message[3];
	const char *cause;
};

#define NO_FIELD		.offset = -1
#define MEMBER(name, at)	.field = #name, .kind = "member", .offset = (at)
#define BITFIELD(name)		.field = #name, .kind = "member", .offset = -1
#define ARGUMENT(name)		.field = #name, .kind = "argument", .offset = -1

struct test_open {
	const char *name;
	struct perf_event_attr attr;
	pid_t pid;
	int cpu;
	enum test_fd group;
	unsigned long flags;
	struct test_reason why;
	bool in_kernel;		/* refused as a kernel counter by the same site */
};

/* Events that are valid but for what comes after. */
#define SOFTWARE	.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY
#define BREAKPOINT	.type = PERF_TYPE_BREAKPOINT, .bp_type = HW_BREAKPOINT_W
#define ON_TASK		.pid = 0, .cpu = -1
#define ON_CPU		.pid = -1, .cpu = 0

static const struct test_open open_rows[] = {
	/* The system call's arguments */
	{
		"flags", { SOFTWARE }, ON_TASK, .flags = 1UL << 8,
		.why = { -EINVAL, ARGUMENT(flags), { "flags 0x100 ", "unknown bits 0x100," } },
	}, {
		"cgroup without one", { SOFTWARE }, ON_CPU, .flags = PERF_FLAG_PID_CGROUP,
		.why = { -EINVAL, ARGUMENT(pid), { "pid -1", "PERF_FLAG_PID_CGROUP" } },
	}, {
		"cgroup on all CPUs", { SOFTWARE }, .pid = 1, .cpu = -1,
		.flags = PERF_FLAG_PID_CGROUP,
		.why = { -EINVAL, ARGUMENT(cpu), { "cpu -1", "PERF_FLAG_PID_CGROUP" } },
	}, {
		"no such task", { SOFTWARE }, .pid = INT_MAX, .cpu = -1,
		.why = { -ESRCH, ARGUMENT(pid), { "pid 2147483647" } },
	}, {
		"no such cpu", { SOFTWARE }, .pid = -1, .cpu = 99999,
		.why = { -EINVAL, ARGUMENT(cpu), { "cpu 99999", "nr_cpu_ids" } },
		.in_kernel = true,
	}, {
		"neither task nor cpu", { SOFTWARE }, .pid = -1, .cpu = -1,
		.why = { -EINVAL, ARGUMENT(cpu), { "pid=-1 with cpu=-1" } },
		.in_kernel = true,
	}, {
		"group_fd not open", { SOFTWARE }, ON_TASK, .group = FD_CLOSED,
		.why = { -EBADF, ARGUMENT(group_fd), { "group_fd 1000 " },
			 "1000 is not an open file descriptor" },
	}, {
		"group_fd no event", { SOFTWARE }, ON_TASK, .group = FD_OTHER,
		.why = { -EBADF, ARGUMENT(group_fd),
			 { "is not the file descriptor of a perf event" },
			 "is open, but not a perf event" },
	},

	/* What the attr alone tells */
	{
		"size over a page", { SOFTWARE, .size = PAGE_SIZE + 8 }, ON_TASK,
		.why = { -E2BIG, MEMBER(size, 4),
			 { "size 4104 ", "PERF_ATTR_SIZE_VER0", "knows 160" } },
	}, {
		"config4", { SOFTWARE, .config4 = 0x77 }, ON_TASK,
		.why = { -E2BIG, MEMBER(config4, 136), { "config4 0x77" } },
	}, {
		"__reserved_4", { SOFTWARE, .__reserved_4 = 5 }, ON_TASK,
		.why = { -EINVAL, MEMBER(__reserved_4, 148), { "__reserved_4 0x5 must be 0" } },
	}, {
		"__reserved_1", { SOFTWARE, .__reserved_1 = 1 }, ON_TASK,
		.why = { -EINVAL, BITFIELD(__reserved_1),
			 { "flags 0x4000000000,", "__reserved_1" } },
	}, {
		"__reserved_2", { SOFTWARE, .__reserved_2 = 3 }, ON_TASK,
		.why = { -EINVAL, MEMBER(__reserved_2, 110), { "__reserved_2 0x3 must be 0" } },
	}, {
		"aux_action unknown", { SOFTWARE, .aux_action = 0x18 }, ON_TASK,
		.why = { -EINVAL, MEMBER(aux_action, 116),
			 { "aux_action 0x18 ", "unknown bits 0x18," } },
	}, {
		"sample_type", { SOFTWARE, .sample_type = 1ULL << 60 | PERF_SAMPLE_IP }, ON_TASK,
		.why = { -EINVAL, MEMBER(sample_type, 24),
			 { "sample_type 0x1000000000000001 ",
			   "unknown bits 0x1000000000000000," } },
	}, {
		"read_format", { SOFTWARE, .read_format = 1ULL << 40 }, ON_TASK,
		.why = { -EINVAL, MEMBER(read_format, 32),
			 { "read_format 0x10000000000 ", "unknown bits 0x10000000000," } },
	}, {
		"branch_sample_type",
		{
			SOFTWARE, .sample_type = PERF_SAMPLE_BRANCH_STACK,
			.branch_sample_type = 1ULL << 50,
		},
		ON_TASK,
		.why = { -EINVAL, MEMBER(branch_sample_type, 72),
			 { "unknown bits 0x4000000000000," } },
	}, {
		"branches of no kind",
		{
			SOFTWARE, .sample_type = PERF_SAMPLE_BRANCH_STACK,
			.branch_sample_type = PERF_SAMPLE_BRANCH_USER,
		},
		ON_TASK,
		.why = { -EINVAL, MEMBER(branch_sample_type, 72),
			 { "branch_sample_type 0x1 ", "PERF_SAMPLE_BRANCH_ANY" } },
	}, {
		"no user registers", { SOFTWARE, .sample_type = PERF_SAMPLE_REGS_USER }, ON_TASK,
		.why = { -EINVAL, MEMBER(sample_regs_user, 80), { "sample_regs_user is 0" } },
	}, {
		"unknown user registers",
		{ SOFTWARE, .sample_type = PERF_SAMPLE_REGS_USER, .sample_regs_user = ~0ULL },
		ON_TASK,
		.why = { -EINVAL, MEMBER(sample_regs_user, 80),
			 { "sample_regs_user 0xffffffffffffffff" } },
	}, {
		"stack too big",
		{ SOFTWARE, .sample_type = PERF_SAMPLE_STACK_USER, .sample_stack_user = 65535 },
		ON_TASK,
		.why = { -EINVAL, MEMBER(sample_stack_user, 88),
			 { "sample_stack_user 65535 must be below 65535" } },
	}, {
		"stack not aligned",
		{ SOFTWARE, .sample_type = PERF_SAMPLE_STACK_USER, .sample_stack_user = 12 },
		ON_TASK,
		.why = { -EINVAL, MEMBER(sample_stack_user, 88),
			 { "sample_stack_user 12 ", "multiple of 8" } },
	}, {
		"no interrupt registers", { SOFTWARE, .sample_type = PERF_SAMPLE_REGS_INTR },
		ON_TASK,
		.why = { -EINVAL, MEMBER(sample_regs_intr, 96), { "sample_regs_intr is 0" } },
	}, {
		"unknown interrupt registers",
		{ SOFTWARE, .sample_type = PERF_SAMPLE_REGS_INTR, .sample_regs_intr = ~0ULL },
		ON_TASK,
		.why = { -EINVAL, MEMBER(sample_regs_intr, 96),
			 { "sample_regs_intr 0xffffffffffffffff" } },
	}, {
		"both weights",
		{ SOFTWARE, .sample_type = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT },
		ON_TASK,
		.why = { -EINVAL, MEMBER(sample_type, 24),
			 { "PERF_SAMPLE_WEIGHT and PERF_SAMPLE_WEIGHT_STRUCT" } },
	}, {
		"inherit_thread", { SOFTWARE, .inherit_thread = 1 }, ON_TASK,
		.why = { -EINVAL, BITFIELD(inherit_thread),
			 { "inherit_thread=1 needs inherit=1" } },
	}, {
		"remove_on_exec", { SOFTWARE, .remove_on_exec = 1, .enable_on_exec = 1 }, ON_TASK,
		.why = { -EINVAL, BITFIELD(remove_on_exec),
			 { "remove_on_exec=1 and enable_on_exec=1" } },
	}, {
		"sigtrap", { SOFTWARE, .sigtrap = 1 }, ON_TASK,
		.why = { -EINVAL, BITFIELD(sigtrap), { "sigtrap=1 needs remove_on_exec=1" } },
	}, {
		"sample_freq", { SOFTWARE, .freq = 1, .sample_freq = 12345678901ULL }, ON_TASK,
		.why = { -EINVAL, MEMBER(sample_freq, 16),
			 { "sample_freq 12345678901 ", "kernel.perf_event_max_sample_rate" } },
	}, {
		"sample_period", { SOFTWARE, .sample_period = 1ULL << 63 }, ON_TASK,
		.why = { -EINVAL, MEMBER(sample_period, 16),
			 { "sample_period 0x8000000000000000 ", "bit 63" } },
	},

	/* What the event's target and PMU tell */
	{
		"sigtrap on a cpu", { SOFTWARE, .sigtrap = 1, .remove_on_exec = 1 }, ON_CPU,
		.why = { -EINVAL, BITFIELD(sigtrap), { "sigtrap=1 needs a task" } },
		.in_kernel = true,
	}, {
		"no such pmu", { .type = 0x7ffffff0 }, ON_TASK,
		.why = { -ENOENT, MEMBER(type, 0),
			 { "type 2147483632:", "/sys/bus/event_source/devices" } },
		.in_kernel = true,
	}, {
		"no such software event", { .type = PERF_TYPE_SOFTWARE, .config = 99 }, ON_TASK,
		.why = { -ENOENT, MEMBER(config, 8), { "config 99 is no software event" } },
		.in_kernel = true,
	}, {
		"no such tracepoint", { .type = PERF_TYPE_TRACEPOINT, .config = 0x7fffffff },
		ON_TASK,
		.why = { -EINVAL, MEMBER(config, 8), { "config 2147483647" } },
		.in_kernel = true,
	}, {
		"branches of software",
		{
			SOFTWARE, .sample_type = PERF_SAMPLE_BRANCH_STACK,
			.branch_sample_type = PERF_SAMPLE_BRANCH_ANY,
		},
		ON_TASK,
		.why = { -EOPNOTSUPP, MEMBER(sample_type, 24),
			 { "PERF_SAMPLE_BRANCH_STACK", "software events" } },
		.in_kernel = true,
	}, {
		"inherited values",
		{ SOFTWARE, .inherit = 1, .sample_type = PERF_SAMPLE_READ }, ON_TASK,
		.why = { -EINVAL, MEMBER(sample_type, 24), { "PERF_SAMPLE_TID" } },
		.in_kernel = true,
	}, {
		"aux_output", { SOFTWARE, .aux_output = 1 }, ON_TASK,
		.why = { -EOPNOTSUPP, BITFIELD(aux_output), { "aux_output=1: PMU " } },
	}, {
		"pause and resume", { SOFTWARE, .aux_action = 6 }, ON_TASK,
		.why = { -EINVAL, MEMBER(aux_action, 116),
			 { "aux_action 0x6:", "aux_pause and aux_resume" } },
	}, {
		"start paused", { SOFTWARE, .aux_action = 1 }, ON_TASK,
		.why = { -EOPNOTSUPP, MEMBER(aux_action, 116),
			 { "aux_action 0x1:", "aux_start_paused" } },
	}, {
		"pause of nothing", { SOFTWARE, .aux_action = 2 }, ON_TASK,
		.why = { -EINVAL, MEMBER(aux_action, 116),
			 { "aux_action 0x2 needs a group leader" } },
	}, {
		"aux_sample_size", { SOFTWARE, .aux_sample_size = 64 }, ON_TASK,
		.why = { -EINVAL, MEMBER(aux_sample_size, 112),
			 { "aux_sample_size 64 needs a group leader" } },
	}, {
		"sample_max_stack",
		{ SOFTWARE, .sample_type = PERF_SAMPLE_CALLCHAIN, .sample_max_stack = 65535 },
		ON_TASK,
		.why = { -EOVERFLOW, MEMBER(sample_max_stack, 108),
			 { "sample_max_stack 65535 ", "kernel.perf_event_max_stack" } },
		.in_kernel = true,
	}, {
		"clockid", { SOFTWARE, .use_clockid = 1, .clockid = 99 }, ON_TASK,
		.why = { -EINVAL, MEMBER(clockid, 92), { "clockid 99 " } },
	}, {
		"no such cgroup", { SOFTWARE }, .pid = TEST_CLOSED_FD, .cpu = 0,
		.flags = PERF_FLAG_PID_CGROUP,
		.why = { -EBADF, ARGUMENT(pid), { "pid 1000 " } },
	},

	/* Breakpoints */
	{
		"bp_len 0", { BREAKPOINT, .bp_addr = 0x1000 }, ON_TASK,
		.why = { -EINVAL, MEMBER(bp_len, 64), { "bp_len 0:" } },
		.in_kernel = true,
	}, {
		"bp_len", { BREAKPOINT, .bp_addr = 0x1000, .bp_len = 3 }, ON_TASK,
		.why = { -EINVAL, MEMBER(bp_len, 64), { "bp_len 3 ", "1, 2, 4, 8" } },
		.in_kernel = true,
	}, {
		"bp_addr", { BREAKPOINT, .bp_addr = 0x1001, .bp_len = 4 }, ON_TASK,
		.why = { -EINVAL, MEMBER(bp_addr, 56), { "bp_addr 0x1001 ", "bp_len 4" } },
		.in_kernel = true,
	}, {
		"bp_type",
		{
			.type = PERF_TYPE_BREAKPOINT, .bp_type = HW_BREAKPOINT_R,
			.bp_addr = 0x1000, .bp_len = 4,
		},
		ON_TASK,
		.why = { -EINVAL, MEMBER(bp_type, 52), { "bp_type 1:" } },
		.in_kernel = true,
	}, {
		"breakpoint in the kernel",
		{ BREAKPOINT, .bp_addr = -0x1000ULL, .bp_len = 4, .exclude_kernel = 1 }, ON_TASK,
		.why = { -EINVAL, MEMBER(bp_addr, 56), { "exclude_kernel=1" } },
		.in_kernel = true,
	},

	/* Group rules */
	{
		"inherit", { SOFTWARE, .inherit = 1 }, ON_TASK, .group = FD_TASK,
		.why = { -EINVAL, BITFIELD(inherit), { "inherit=1 differs from inherit=0" } },
	}, {
		"no leader", { SOFTWARE }, ON_TASK, .group = FD_MEMBER,
		.why = { -EINVAL, ARGUMENT(group_fd), { "not the group leader" } },
	}, {
		"clock of the group",
		{ SOFTWARE, .use_clockid = 1, .clockid = CLOCK_MONOTONIC },
		ON_TASK, .group = FD_TASK,
		.why = { -EINVAL, MEMBER(clockid, 92),
			 { "use_clockid=1 clockid=1 ", "use_clockid=0" } },
	}, {
		"cpu of the group", { SOFTWARE }, .pid = 0, .cpu = 0, .group = FD_TASK,
		.why = { -EINVAL, ARGUMENT(cpu), { "cpu 0 differs from cpu -1 " } },
	}, {
		"task of the group", { SOFTWARE }, .pid = 0, .cpu = 0, .group = FD_CPU,
		.why = { -EINVAL, ARGUMENT(pid), { "pid 0 is another task" } },
	}, {
		"exclusive member", { SOFTWARE, .exclusive = 1 }, ON_TASK, .group = FD_TASK,
		.why = { -EINVAL, BITFIELD(exclusive), { "exclusive=1 on a group member" } },
	}, {
		"pinned member", { SOFTWARE, .pinned = 1 }, ON_TASK, .group = FD_TASK,
		.why = { -EINVAL, BITFIELD(pinned), { "pinned=1 on a group member" } },
	}, {
		"output of the group",
		{ SOFTWARE }, ON_TASK, .group = FD_TASK, .flags = PERF_FLAG_FD_OUTPUT,
		.why = { -EINVAL, ARGUMENT(group_fd), { "PERF_FLAG_FD_OUTPUT" },
			 "the output has no buffer, it is not mapped yet" },
	},
};

static void open_row_desc(const struct test_open *row, char *desc)
{
	strscpy(desc, row->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(open_row, open_rows, open_row_desc);

/* The next row that @wanted is true for. */
static const void *next_row(const struct test_open *row, char *desc,
			    bool (*wanted)(const struct test_open *row))
{
	do {
		row = open_row_gen_params(row, desc);
	} while (row && !wanted(row));
	return row;
}

static bool row_is_old(const struct test_open *row)
{
	return !row->attr.size && !row->attr.config4 && !row->attr.__reserved_4;
}

static const void *old_row_gen_params(const void *prev, char *desc)
{
	return next_row(prev, desc, row_is_old);
}

static bool row_is_in_kernel(const struct test_open *row)
{
	return row->in_kernel;
}

static const void *kernel_row_gen_params(const void *prev, char *desc)
{
	return next_row(prev, desc, row_is_in_kernel);
}

static long sys_perf_event_open(struct perf_event_attr __user *attr, pid_t pid,
				int cpu, int group_fd, unsigned long flags)
{
	struct pt_regs regs = {
		.di = (unsigned long)attr,
		.si = pid,
		.dx = cpu,
		.r10 = group_fd,
		.r8 = flags,
	};

	return __x64_sys_perf_event_open(&regs);
}

/* Two pages for the attr, of which a test may unmap one, then the buffer. */
static int perf_exterr_init(struct kunit *test)
{
	struct test_user *user = kunit_kzalloc(test, sizeof(*user), GFP_KERNEL);
	unsigned long addr;

	KUNIT_ASSERT_NOT_NULL(test, user);
	user->report = kunit_kzalloc(test, TEST_BUF_SIZE + 1, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, user->report);

	addr = kunit_vm_mmap(test, NULL, 0, 3 * PAGE_SIZE, PROT_READ | PROT_WRITE,
			     MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE(test, addr, 0);
	KUNIT_ASSERT_LT(test, addr, TASK_SIZE);
	user->attr = (void __user *)addr;
	user->buf = (void __user *)(addr + 2 * PAGE_SIZE);
	test->priv = user;
	return 0;
}

static void poison(struct kunit *test)
{
	struct test_user *user = test->priv;

	memset(user->report, TEST_POISON, TEST_BUF_SIZE);
	KUNIT_ASSERT_EQ(test, copy_to_user(user->buf, user->report, TEST_BUF_SIZE), 0);
}

/* Nothing from byte @from on has been written since poison(). */
static bool untouched(struct kunit *test, size_t from)
{
	struct test_user *user = test->priv;

	KUNIT_ASSERT_EQ(test, copy_from_user(user->report, user->buf, TEST_BUF_SIZE), 0);
	return !memchr_inv(user->report + from, TEST_POISON, TEST_BUF_SIZE - from);
}

/* The report, as text of one line; a bare NUL is the empty string. */
static const char *get_report(struct kunit *test)
{
	struct test_user *user = test->priv;
	size_t len;

	KUNIT_ASSERT_EQ(test, copy_from_user(user->report, user->buf, TEST_BUF_SIZE), 0);
	len = strnlen(user->report, TEST_BUF_SIZE);
	KUNIT_ASSERT_LT(test, len, TEST_BUF_SIZE);
	KUNIT_EXPECT_TRUE_MSG(test, untouched(test, len + 1),
			      "bytes after the report were written");
	return user->report;
}

/*
 * Member @name of the object @depth levels deep, or NULL. Each has a line of
 * its own, with one tab more for each level, and text in it has no newline.
 */
static char *get_member(struct kunit *test, const char *report,
			unsigned int depth, const char *name)
{
	const char *value, *end;
	char *copy, start[32];

	snprintf(start, sizeof(start), "\n%.*s\"%s\": ", depth + 1, "\t\t", name);
	value = strstr(report, start);
	if (!value)
		return NULL;
	value += strlen(start);
	end = strchrnul(value, '\n');
	if (end > value && end[-1] == ',')
		end--;

	copy = kunit_kzalloc(test, end - value + 1, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, copy);
	return memcpy(copy, value, end - value);
}

static bool is_quoted(const char *value, const char *text)
{
	size_t len = strlen(text);

	return value && value[0] == '"' && !strncmp(value + 1, text, len) &&
	       !strcmp(value + 1 + len, "\"");
}

static void expect_reason(struct kunit *test, const struct test_reason *why)
{
	const char *report = get_report(test);
	const char *message, *field, *kind;
	char *code, *offset;
	int i, num;

	code = get_member(test, report, 0, "code");
	if (!code) {
		KUNIT_FAIL(test, "no report: '%s'", report);
		return;
	}
	KUNIT_ASSERT_EQ(test, kstrtoint(code, 10, &num), 0);
	KUNIT_EXPECT_EQ(test, num, why->err);
	KUNIT_EXPECT_TRUE(test, is_quoted(get_member(test, report, 0, "domain"), "perf"));
	KUNIT_EXPECT_TRUE(test, is_quoted(get_member(test, report, 0, "module"), "perf"));

	message = get_member(test, report, 0, "message");
	KUNIT_ASSERT_NOT_NULL(test, message);
	for (i = 0; i < ARRAY_SIZE(why->message) && why->message[i]; i++)
		KUNIT_EXPECT_TRUE_MSG(test, strstr(message, why->message[i]),
				      "'%s' is not in %s", why->message[i], message);
	KUNIT_EXPECT_NULL_MSG(test, strchr(message, '%'), "%s", message);

	field = get_member(test, report, 0, "field");
	kind = get_member(test, report, 0, "kind");
	offset = get_member(test, report, 0, "offset");
	if (why->field) {
		KUNIT_EXPECT_TRUE_MSG(test, is_quoted(field, why->field),
				      "field is %s", field);
		KUNIT_EXPECT_TRUE_MSG(test, is_quoted(kind, why->kind),
				      "kind is %s", kind);
	} else {
		KUNIT_EXPECT_NULL(test, field);
		KUNIT_EXPECT_NULL(test, kind);
	}
	if (why->offset >= 0) {
		KUNIT_ASSERT_NOT_NULL(test, offset);
		KUNIT_ASSERT_EQ(test, kstrtoint(offset, 10, &num), 0);
		KUNIT_EXPECT_EQ(test, num, why->offset);
	} else {
		KUNIT_EXPECT_NULL(test, offset);
	}

	message = get_member(test, report, 1, "message");
	if (why->cause) {
		KUNIT_ASSERT_NOT_NULL(test, message);
		KUNIT_EXPECT_TRUE_MSG(test, strstr(message, why->cause),
				      "'%s' is not in the cause %s", why->cause, message);
	} else {
		KUNIT_EXPECT_NULL_MSG(test, message, "a cause nobody expects: %s", message);
	}
}

/* Open what @attr says, asking for the reason if its size has room for that. */
static long open_attr(struct kunit *test, const struct perf_event_attr *attr,
		      pid_t pid, int cpu, int group_fd, unsigned long flags)
{
	struct test_user *user = test->priv;
	struct perf_event_attr copy = *attr;

	if (!copy.size)
		copy.size = TEST_ATTR_SIZE;
	copy.perf_err = (unsigned long)user->buf;
	copy.perf_err_size = TEST_BUF_SIZE;
	KUNIT_ASSERT_EQ(test, copy_to_user(user->attr, &copy, sizeof(copy)), 0);
	poison(test);
	return sys_perf_event_open(user->attr, pid, cpu, group_fd, flags);
}

static void test_close(void *fd)
{
	close_fd((unsigned long)fd);
	/* A kernel thread's files are released by a work, which is late. */
	flush_delayed_fput();
}

static int keep_fd(struct kunit *test, long fd)
{
	KUNIT_ASSERT_GE(test, fd, 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, test_close, (void *)fd), 0);
	return fd;
}

static int open_valid(struct kunit *test, const struct perf_event_attr *attr,
		      pid_t pid, int cpu, int group_fd)
{
	int fd = keep_fd(test, open_attr(test, attr, pid, cpu, group_fd, 0));

	KUNIT_EXPECT_TRUE_MSG(test, untouched(test, 0), "success wrote to the buffer");
	return fd;
}

static const struct file_operations no_event_fops = {
	.owner = THIS_MODULE,
};

static int get_fd(struct kunit *test, enum test_fd which)
{
	static const struct perf_event_attr counting = { SOFTWARE, .disabled = 1 };
	static const struct perf_event_attr sampling = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CONTEXT_SWITCHES,
		.sample_period = 1000000,
		.disabled = 1,
	};

	switch (which) {
	case FD_CLOSED:
		return TEST_CLOSED_FD;
	case FD_OTHER:
		return keep_fd(test, anon_inode_getfd("[perf_exterr]", &no_event_fops, NULL, 0));
	case FD_TASK:
		return open_valid(test, &counting, 0, -1, -1);
	case FD_MEMBER:
		return open_valid(test, &counting, 0, -1, get_fd(test, FD_TASK));
	case FD_CPU:
		return open_valid(test, &counting, -1, 0, -1);
	case FD_SAMPLING:
		return open_valid(test, &sampling, 0, -1, -1);
	default:
		return -1;
	}
}

/* A failing perf_event_open(2) says why. */
static void perf_exterr_open_test(struct kunit *test)
{
	const struct test_open *row = test->param_value;
	int group_fd = get_fd(test, row->group);
	long ret;

	ret = open_attr(test, &row->attr, row->pid, row->cpu, group_fd, row->flags);
	if (ret >= 0)
		keep_fd(test, ret);
	KUNIT_ASSERT_EQ(test, ret, row->why.err);
	expect_reason(test, &row->why);
}

/* Nobody asks, and the errno is the same, also for programs of old headers. */
static void perf_exterr_open_silent_test(struct kunit *test)
{
	const struct test_open *row = test->param_value;
	struct test_user *user = test->priv;
	struct perf_event_attr attr = row->attr;
	int group_fd = get_fd(test, row->group);
	long ret;

	attr.size = PERF_ATTR_SIZE_VER8;
	ret = open_attr(test, &attr, row->pid, row->cpu, group_fd, row->flags);
	KUNIT_EXPECT_EQ(test, ret, row->why.err);
	KUNIT_EXPECT_TRUE(test, untouched(test, 0));

	/* perf_err 0 is the way not to ask. */
	attr.size = TEST_ATTR_SIZE;
	KUNIT_ASSERT_EQ(test, copy_to_user(user->attr, &attr, sizeof(attr)), 0);
	ret = sys_perf_event_open(user->attr, row->pid, row->cpu, group_fd, row->flags);
	KUNIT_EXPECT_EQ(test, ret, row->why.err);
	KUNIT_EXPECT_TRUE(test, untouched(test, 0));
}

/* In-kernel callers get the plain errno of what has a reason inside. */
static void perf_exterr_kernel_counter_test(struct kunit *test)
{
	const struct test_open *row = test->param_value;
	struct perf_event_attr attr = row->attr;
	struct perf_event *event;

	attr.size = sizeof(attr);
	event = perf_event_create_kernel_counter(&attr, row->cpu,
						 row->pid < 0 ? NULL : current,
						 NULL, NULL);
	if (!IS_ERR(event))
		perf_event_release_kernel(event);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(event), row->why.err);
}

/* Attrs whose memory is the problem. */
static void perf_exterr_attr_memory_test(struct kunit *test)
{
	static const struct test_reason too_long = {
		-E2BIG, MEMBER(size, 4), { "size 168 ", "beyond the 160" },
	};
	static const struct test_reason faulting = {
		-EFAULT, ARGUMENT(attr), { "the 256 bytes of attr" },
	};
	struct test_user *user = test->priv;
	struct perf_event_attr attr = { SOFTWARE, .size = TEST_ATTR_SIZE + 8 };
	char __user *end = (char __user *)user->attr + PAGE_SIZE;
	u32 size;

	/* A longer attr of zeros is one of a newer program that asks for nothing new. */
	keep_fd(test, open_attr(test, &attr, 0, -1, -1, 0));
	KUNIT_EXPECT_TRUE(test, untouched(test, 0));

	KUNIT_ASSERT_EQ(test, put_user(1, (char __user *)user->attr + TEST_ATTR_SIZE + 3), 0);
	KUNIT_EXPECT_EQ(test, open_attr(test, &attr, 0, -1, -1, 0), -E2BIG);
	expect_reason(test, &too_long);
	KUNIT_ASSERT_EQ(test, get_user(size, &user->attr->size), 0);
	KUNIT_EXPECT_EQ(test, size, TEST_ATTR_SIZE);

	/* The last page is gone: the attr is not, what its size says is. */
	KUNIT_ASSERT_EQ(test, vm_munmap((unsigned long)end, PAGE_SIZE), 0);
	user->attr = (void __user *)(end - TEST_ATTR_SIZE);
	attr.size = 256;
	KUNIT_EXPECT_EQ(test, open_attr(test, &attr, 0, -1, -1, 0), -EFAULT);
	expect_reason(test, &faulting);

	/* No attr, no address of a buffer. */
	poison(test);
	KUNIT_EXPECT_EQ(test, sys_perf_event_open((void __user *)end, 0, -1, -1, 0), -EFAULT);
	KUNIT_EXPECT_TRUE(test, untouched(test, 0));
}

/* Programs of all headers open events; only those who can ask are answered. */
static void perf_exterr_attr_size_test(struct kunit *test)
{
	struct perf_event_attr attr = { SOFTWARE, .disabled = 1 };
	u32 size;
	long ret;

	for (size = 0; size <= 256; size += 8) {
		if (size && size < PERF_ATTR_SIZE_VER0)
			continue;

		attr.read_format = 0;
		attr.size = size ?: 1;
		if (size) {
			ret = open_attr(test, &attr, 0, -1, -1, 0);
			KUNIT_EXPECT_GE_MSG(test, ret, 0, "size %u", size);
			if (ret >= 0)
				test_close((void *)ret);
			KUNIT_EXPECT_TRUE_MSG(test, untouched(test, 0), "size %u", size);
		}

		attr.read_format = 1ULL << 40;
		KUNIT_EXPECT_EQ_MSG(test, open_attr(test, &attr, 0, -1, -1, 0),
				    size ? -EINVAL : -E2BIG, "size %u", size);
		KUNIT_EXPECT_EQ_MSG(test, untouched(test, 0), size < TEST_ATTR_SIZE,
				    "size %u", size);
	}
}

/* The ABI, in numbers. */
static void perf_exterr_abi_test(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, sizeof(struct perf_event_attr), TEST_ATTR_SIZE);
	KUNIT_EXPECT_EQ(test, PERF_ATTR_SIZE_VER9, 144);
	KUNIT_EXPECT_EQ(test, PERF_ATTR_SIZE_VER10, TEST_ATTR_SIZE);
	KUNIT_EXPECT_EQ(test, offsetof(struct perf_event_attr, config4), 136);
	KUNIT_EXPECT_EQ(test, offsetof(struct perf_event_attr, perf_err_size), 144);
	KUNIT_EXPECT_EQ(test, offsetof(struct perf_event_attr, __reserved_4), 148);
	KUNIT_EXPECT_EQ(test, offsetof(struct perf_event_attr, perf_err), 152);
}

/* Calls on the file descriptor. An ioctl number of 0 stands for read(2). */
struct test_call {
	const char *name;
	enum test_fd fd;
	unsigned int cmd;
	unsigned long arg;
	struct test_reason why;
};

/* An argument that is a pointer: to a u64 of that value, in user memory. */
#define POINTER_TO(value)	((value) | 1UL << 63)

static const struct test_call call_rows[] = {
	{
		"read too little", FD_TASK, 0, 4,
		{ -ENOSPC, ARGUMENT(count), { "count 4 ", "8 bytes" } },
	}, {
		"PERIOD of a counter", FD_TASK, PERF_EVENT_IOC_PERIOD, POINTER_TO(1000),
		{ -EINVAL, MEMBER(sample_period, 16), { "sample_period 0" } },
	}, {
		"PERIOD 0", FD_SAMPLING, PERF_EVENT_IOC_PERIOD, POINTER_TO(0),
		{ -EINVAL, ARGUMENT(arg), { "period 0" } },
	}, {
		"PERIOD at nowhere", FD_SAMPLING, PERF_EVENT_IOC_PERIOD, 16,
		{ -EFAULT, ARGUMENT(arg), { "0x10 cannot be read" } },
	}, {
		"REFRESH of a counter", FD_TASK, PERF_EVENT_IOC_REFRESH, 1,
		{ -EINVAL, MEMBER(sample_period, 16), { "REFRESH" } },
	}, {
		"ID to nowhere", FD_TASK, PERF_EVENT_IOC_ID, 16,
		{ -EFAULT, ARGUMENT(arg), { "0x10 cannot be written" } },
	}, {
		"SET_OUTPUT to nothing", FD_TASK, PERF_EVENT_IOC_SET_OUTPUT, TEST_CLOSED_FD,
		{ -EBADF, ARGUMENT(arg), { "output 1000 " }, "not an open file descriptor" },
	}, {
		"SET_FILTER", FD_TASK, PERF_EVENT_IOC_SET_FILTER, POINTER_TO(0x31),
		{ -EINVAL, MEMBER(type, 0), { "type 1:", "filter" } },
	}, {
		"PAUSE_OUTPUT", FD_TASK, PERF_EVENT_IOC_PAUSE_OUTPUT, 1,
		{ -EINVAL, NO_FIELD, { "no buffer" } },
	}, {
		"unknown ioctl", FD_TASK, _IO('$', 77), 0,
		{ -ENOTTY, ARGUMENT(cmd), { "ioctl number 77 " } },
	},
};

static void call_row_desc(const struct test_call *row, char *desc)
{
	strscpy(desc, row->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(call_row, call_rows, call_row_desc);

/* Later calls write to the buffer of the open, too. */
static void perf_exterr_call_test(struct kunit *test)
{
	const struct test_call *row = test->param_value;
	u64 __user *value = (void __user *)((struct test_user *)test->priv)->attr;
	unsigned long arg = row->arg;
	struct file *file;
	loff_t pos = 0;
	long ret;

	file = fget(get_fd(test, row->fd));
	KUNIT_ASSERT_NOT_NULL(test, file);
	if (arg & POINTER_TO(0)) {
		KUNIT_EXPECT_EQ(test, put_user(arg & ~POINTER_TO(0), value), 0);
		arg = (unsigned long)value;
	}
	if (row->cmd)
		ret = file->f_op->unlocked_ioctl(file, row->cmd, arg);
	else
		ret = file->f_op->read(file, (char __user *)value, arg, &pos);
	fput(file);

	KUNIT_ASSERT_EQ(test, ret, row->why.err);
	expect_reason(test, &row->why);
}

static void perf_exterr_mmap_test(struct kunit *test)
{
	struct file *file = fget(get_fd(test, FD_TASK));
	long ret;

	KUNIT_ASSERT_NOT_NULL(test, file);
	/* Three data pages, then a private mapping. */
	ret = vm_mmap(file, 0, 4 * PAGE_SIZE, PROT_READ, MAP_SHARED, 0);
	KUNIT_EXPECT_EQ(test, ret, -EINVAL);
	ret = vm_mmap(file, 0, PAGE_SIZE, PROT_READ, MAP_PRIVATE, 0);
	KUNIT_EXPECT_EQ(test, ret, -EINVAL);
	/* The report waits for the way out to user space; mmap_lock is held here. */
	KUNIT_EXPECT_TRUE(test, untouched(test, 0));
	fput(file);
}

static void release_event(void *event)
{
	perf_event_release_kernel(event);
}

static struct perf_event *create_counter(struct kunit *test, const struct perf_event_attr *attr)
{
	struct perf_event_attr copy = *attr;
	struct perf_event *event;

	copy.size = sizeof(copy);
	event = perf_event_create_kernel_counter(&copy, -1, current, NULL, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(event));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, release_event, event), 0);
	return event;
}

/* Helpers that other parts of the kernel call give plain errnos. */
static void perf_exterr_helpers_test(struct kunit *test)
{
	static const struct perf_event_attr counting = { SOFTWARE, .disabled = 1 };
	static const struct perf_event_attr sampling = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CONTEXT_SWITCHES,
		.sample_period = 1000000,
		.disabled = 1,
	};
	struct perf_event *event;

	event = create_counter(test, &counting);
	KUNIT_EXPECT_EQ(test, perf_event_period(event, 1000), -EINVAL);
	KUNIT_EXPECT_EQ(test, perf_event_refresh(event, 1), -EINVAL);

	event = create_counter(test, &sampling);
	KUNIT_EXPECT_EQ(test, perf_event_period(event, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, perf_event_period(event, 1ULL << 63), -EINVAL);
	KUNIT_EXPECT_EQ(test, perf_event_period(event, 2000000), 0);
}

static void unregister_breakpoint(void *event)
{
	unregister_hw_breakpoint(event);
}

/* ptrace and KGDB make their breakpoints this way. */
static void perf_exterr_breakpoint_test(struct kunit *test)
{
	int slots = hw_breakpoint_slots(TYPE_DATA);
	struct perf_event * __percpu *wide;
	struct perf_event_attr attr, other;
	struct perf_event *event;
	int i, ret;

	hw_breakpoint_init(&attr);
	attr.bp_addr = 0x1001;
	attr.bp_len = HW_BREAKPOINT_LEN_4;
	attr.bp_type = HW_BREAKPOINT_W;
	event = register_user_hw_breakpoint(&attr, NULL, NULL, current);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(event), -EINVAL);
	wide = register_wide_hw_breakpoint(&attr, NULL, NULL);
	KUNIT_EXPECT_TRUE(test, wide == (void __percpu __force *)ERR_PTR(-EINVAL));

	attr.bp_addr = 0x1000;
	for (i = 0; i < slots; i++) {
		event = register_user_hw_breakpoint(&attr, NULL, NULL, current);
		KUNIT_ASSERT_FALSE(test, IS_ERR(event));
		ret = kunit_add_action_or_reset(test, unregister_breakpoint, event);
		KUNIT_ASSERT_EQ(test, ret, 0);
	}

	other = attr;
	other.bp_addr = 0x1002;
	KUNIT_EXPECT_EQ(test, modify_user_hw_breakpoint(event, &other), -EINVAL);

	event = register_user_hw_breakpoint(&attr, NULL, NULL, current);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(event), -ENOSPC);
}

static struct kunit_case perf_exterr_cases[] = {
	KUNIT_CASE(perf_exterr_abi_test),
	KUNIT_CASE_PARAM(perf_exterr_open_test, open_row_gen_params),
	KUNIT_CASE_PARAM(perf_exterr_open_silent_test, old_row_gen_params),
	KUNIT_CASE_PARAM(perf_exterr_kernel_counter_test, kernel_row_gen_params),
	KUNIT_CASE(perf_exterr_attr_memory_test),
	KUNIT_CASE(perf_exterr_attr_size_test),
	KUNIT_CASE_PARAM(perf_exterr_call_test, call_row_gen_params),
	KUNIT_CASE(perf_exterr_mmap_test),
	KUNIT_CASE(perf_exterr_helpers_test),
	KUNIT_CASE(perf_exterr_breakpoint_test),
	{}
};

static struct kunit_suite perf_exterr_suite = {
	.name = "perf_exterr",
	.init = perf_exterr_init,
	.test_cases = perf_exterr_cases,
};

kunit_test_suite(perf_exterr_suite);

MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
MODULE_DESCRIPTION("KUnit tests for the extended errnos of perf");
MODULE_LICENSE("GPL");
