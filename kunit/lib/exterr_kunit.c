// SPDX-License-Identifier: GPL-2.0
/*
 * Test cases for extended errnos, see Documentation/core-api/exterr.rst:
 *	./tools/testing/kunit/kunit.py run 'exterr*'
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/ctype.h>
#include <linux/errname.h>
#include <linux/exterr.h>
#include <linux/hardirq.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/kthread.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/panic.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/task_work.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>
#include <trace/events/exterr.h>
#include "exterr.h"

/*
 * Codes are never given back, and this suite may be loaded hundreds of times.
 * So every site here is either static, and gets its codes back with the module,
 * or belongs to a faked module that looks the same each time it is made. For
 * the same reason no test may count on a pair being new: a test that wants to
 * know how many codes something took counts the codes that name its site.
 */

DECLARE_EXTERR_DOMAIN(exterr_test_a);
DEFINE_EXTERR_DOMAIN(exterr_test_a);
DECLARE_EXTERR_DOMAIN(exterr_test_b);
DEFINE_EXTERR_DOMAIN(exterr_test_b);

/* A site that is not in a section, for tests that need it by name. */
#define TEST_SITE(text)					\
{							\
	.fmt = text,					\
	.unit = &__exterr_unit_exterr_test_a,		\
	.line = __LINE__,				\
}

/* A code that nobody has been given, as seccomp or BPF may make one up. */
#define TEST_UNBOUND	(-MAX_ERRNO)

/* The second allocation of a message, private to exterr_report.c. */
#define TEST_TEXT_MAX	1024

#define TEST_CANARY	0x5a

/* Where every build, in the tree or not, has to say that this file is. */
#define TEST_FILE	"lib/" KBUILD_MODNAME ".c"

struct test_abi {
	u32 type;
	u32 size;
	u64 exclusive : 1;
	u64 inherit : 1;
	u64 depth;
};

static noinline int fail_plain(int err)
{
	return exterr(exterr_test_a, err, "the device is gone");
}

static noinline int fail_value(int err, unsigned int value)
{
	return exterr(exterr_test_a, err, "value %u is odd", value);
}

static noinline int fail_text(const char *text)
{
	return exterr(exterr_test_a, -EINVAL, "%s", text);
}

static noinline int fail_inner(int err, unsigned int value)
{
	return exterr(exterr_test_a, err, "inner value %u", value);
}

static noinline int fail_middle(int err)
{
	return exterr(exterr_test_a, err, "middle text");
}

static noinline int fail_outer(int err, unsigned int value)
{
	return exterr_arg(exterr_test_b, flags, err, "outer value %u", value);
}

static noinline int fail_foreign(int err)
{
	return exterr_foreign(exterr_test_a, err, "a hook said no");
}

static noinline int fail_other_domain(int err)
{
	return exterr(exterr_test_b, err, "the device is gone");
}

/* Only ever called when no code is left. */
static noinline int fail_never(int err)
{
	return exterr(exterr_test_a, err, "this is never bound");
}

static noinline int fail_never_other_domain(int err)
{
	return exterr(exterr_test_b, err, "this is never bound");
}

/* The place that @code stands for, or NULL if nobody has been given it. */
static struct exterr_site *code_site(int code)
{
	struct exterr_code *bound = exterr_lookup(code);

	return bound ? rcu_access_pointer(bound->site) : NULL;
}

/* How many codes stand for @site. */
static unsigned int codes_of(const struct exterr_site *site)
{
	unsigned int i, n = 0;

	for (i = 0; i < exterr_used(); i++) {
		if (code_site(exterr_index_to_code(i)) == site)
			n++;
	}
	return n;
}

/* Had a site with this domain and template a code before, loaded or not? */
static bool was_bound(const struct exterr_site *site)
{
	u64 id = exterr_id(site);
	unsigned int i;

	for (i = 0; i < exterr_used(); i++) {
		if (exterr_lookup(exterr_index_to_code(i))->id == id)
			return true;
	}
	return false;
}

static void restore_limit(void *limit)
{
	exterr_set_limit((unsigned long)limit);
}

/* No new code until restore_limit() or the end of the test. */
static void *use_up_codes(struct kunit *test)
{
	void *limit = (void *)(unsigned long)exterr_set_limit(0);

	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, restore_limit, limit), 0);
	return limit;
}

/*
 * A strict JSON reader, which also knows what a report may hold: its members,
 * their order, and that every object has the first three.
 */
static const char *const report_members[] = {
	"code", "module", "message", "truncated", "errno", "domain", "field",
	"kind", "offset", "template", "id", "file", "line", "cause",
};

#define REPORT_MANDATORY	3

struct report {
	const char *pos;
	const char *message;		/* of the outermost object, as written */
	size_t message_len;
	unsigned int objects;
	unsigned int members;
	unsigned int truncated;
};

static bool json_next(struct report *r, char c)
{
	while (*r->pos == ' ' || *r->pos == '\t' || *r->pos == '\n')
		r->pos++;
	if (*r->pos != c)
		return false;
	r->pos++;
	return true;
}

/* Bytes of the character at @s, by its code point; 0 if that is not UTF-8. */
static unsigned int utf8_char(const char *s)
{
	static const u32 least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned int i, len;
	u32 point = (u8)*s;

	if (point < 0x80)
		return 1;
	if (point < 0xc0 || point > 0xf7)
		return 0;
	len = point < 0xe0 ? 2 : point < 0xf0 ? 3 : 4;
	point &= 0x7f >> len;
	for (i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		point = point << 6 | (s[i] & 0x3f);
	}
	if (point < least[len] || point > 0x10ffff || (point & ~0x7ff) == 0xd800)
		return 0;
	return len;
}

static bool json_string(struct report *r, const char **start, size_t *len)
{
	unsigned int n;

	if (!json_next(r, '"'))
		return false;
	*start = r->pos;
	while (*r->pos != '"') {
		if ((u8)*r->pos < 0x20)
			return false;
		if (*r->pos == '\\') {
			r->pos++;
			if (*r->pos == 'u') {
				for (n = 1; n <= 4; n++) {
					if (!isxdigit(r->pos[n]))
						return false;
				}
				r->pos += 5;
			} else if (*r->pos && strchr("\"\\/bfnrt", *r->pos)) {
				r->pos++;
			} else {
				return false;
			}
			continue;
		}
		n = utf8_char(r->pos);
		if (!n)
			return false;
		r->pos += n;
	}
	*len = r->pos++ - *start;
	return true;
}

static bool json_number(struct report *r)
{
	const char *digits;

	json_next(r, '-');
	digits = r->pos;
	while (isdigit(*r->pos))
		r->pos++;
	return r->pos > digits && (*digits != '0' || r->pos == digits + 1);
}

static bool json_object(struct report *r, unsigned int depth)
{
	const char *name, *value;
	size_t len, value_len;
	unsigned int i, n;
	bool ok;

	if (depth > EXTERR_DEPTH_MAX || !json_next(r, '{'))
		return false;
	r->objects++;

	for (i = 0, n = 0;; i++, n++) {
		if (!json_string(r, &name, &len) || !json_next(r, ':'))
			return false;
		for (; i < ARRAY_SIZE(report_members); i++) {
			if (strlen(report_members[i]) == len &&
			    !memcmp(report_members[i], name, len))
				break;
		}
		if (i == ARRAY_SIZE(report_members) ||
		    (n < REPORT_MANDATORY && i != n))
			return false;
		r->members++;
		json_next(r, ' ');

		switch (*r->pos) {
		case '{':
			ok = json_object(r, depth + 1);
			break;
		case '"':
			ok = json_string(r, &value, &value_len);
			if (ok && !depth && n == 2) {
				r->message = value;
				r->message_len = value_len;
			}
			break;
		case 't':
			ok = !strncmp(r->pos, "true", 4);
			r->pos += ok ? 4 : 0;
			r->truncated += ok;
			break;
		default:
			ok = json_number(r);
		}
		if (!ok)
			return false;
		if (json_next(r, '}'))
			return n + 1 >= REPORT_MANDATORY;
		if (!json_next(r, ','))
			return false;
	}
}

static bool read_report(struct report *r, const char *text)
{
	*r = (struct report){ .pos = text };
	return json_object(r, 0) && !*r->pos;
}

static char *report_buffer(struct kunit *test)
{
	char *buf = kunit_kzalloc(test, EXTERR_REPORT_MAX, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, buf);
	return buf;
}

/* The report of @code shows @message, which needs no escapes. */
static void expect_message(struct kunit *test, struct exterr_ctx *ctx, int code,
			   const char *message)
{
	char *buf = kunit_kzalloc(test, EXTERR_REPORT_MAX, GFP_KERNEL);
	struct report r;

	/* No assertions: the caller's context must be taken down. */
	KUNIT_EXPECT_NOT_NULL(test, buf);
	if (!buf)
		return;
	exterr_format(ctx, code, buf, EXTERR_REPORT_MAX);
	if (read_report(&r, buf))
		buf[r.message + r.message_len - buf] = '\0';
	else
		KUNIT_FAIL(test, "not JSON: %s", buf);
	KUNIT_EXPECT_STREQ(test, r.message ?: "", message);
	kunit_kfree(test, buf);
}

/* Messages are wanted from here to quiet(). */
static void listen(struct exterr_ctx *ctx)
{
	exterr_begin(ctx, true);
}

static void quiet(struct exterr_ctx *ctx)
{
	exterr_report(ctx, 0, NULL, 0);
}

/*
 * Codes
 */

/* Fault: base 512 collides with -ERESTARTSYS and its kin. */
static void exterr_base_test(struct kunit *test)
{
	int err;

	for (err = 0; err < EXTERR_BASE; err++) {
		KUNIT_EXPECT_FALSE_MSG(test, exterr_is(-err), "%d", -err);
		KUNIT_EXPECT_EQ(test, exterr_errno(-err), -err);
	}
	for (err = EXTERR_BASE; err <= MAX_ERRNO; err++) {
		KUNIT_EXPECT_NULL_MSG(test, errname(err), "%d", err);
		KUNIT_EXPECT_TRUE_MSG(test, exterr_is(-err), "%d", -err);
	}
}

/* Fault: index arithmetic has its signs wrong. */
static void exterr_mapping_test(struct kunit *test)
{
	unsigned int i;
	int code;

	for (i = 0; i < EXTERR_NR_CODES; i++) {
		code = exterr_index_to_code(i);
		KUNIT_EXPECT_EQ(test, code, -EXTERR_BASE - (int)i);
		KUNIT_EXPECT_EQ(test, exterr_code_to_index(code), i);
		KUNIT_EXPECT_TRUE(test, exterr_is(code));
		KUNIT_EXPECT_TRUE(test, IS_ERR_VALUE((long)code));
	}
	KUNIT_EXPECT_EQ(test, exterr_index_to_code(EXTERR_NR_CODES - 1), -MAX_ERRNO);
}

static void exterr_is_test(struct kunit *test)
{
	static const struct {
		long err;
		bool is;
	} cases[] = {
		{ 0, false },
		{ 1, false },
		{ EXTERR_BASE, false },
		{ MAX_ERRNO, false },
		{ INT_MAX, false },
		{ LONG_MAX, false },
		{ -1, false },
		{ -EXTERR_BASE + 1, false },
		{ -EXTERR_BASE, true },
		{ -EXTERR_BASE - 1, true },
		{ -MAX_ERRNO, true },
		{ -MAX_ERRNO - 1, false },
		{ INT_MIN, false },
		{ LONG_MIN, false },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		KUNIT_EXPECT_EQ_MSG(test, exterr_is(cases[i].err), cases[i].is,
				    "%ld", cases[i].err);
	}
}

static const struct exterr_domain *const section_cases[] = {
	&exterr_domain_exterr_test_a,
	&exterr_domain_exterr_test_b,
};

static void section_desc(const struct exterr_domain *const *domain, char *desc)
{
	strscpy(desc, (*domain)->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(section, section_cases, section_desc);

/* A hole in the array would be a record of zeroes, or a record askew. */
static void exterr_section_test(struct kunit *test)
{
	const struct exterr_domain *const *param = test->param_value;
	const struct exterr_domain *domain = *param;
	const struct exterr_site *site;
	size_t bytes;

	if (IS_ENABLED(CONFIG_64BIT))
		KUNIT_EXPECT_EQ(test, sizeof(struct exterr_site), 32);

	bytes = (char *)domain->end - (char *)domain->start;
	KUNIT_EXPECT_EQ(test, bytes % sizeof(*site), 0);
	KUNIT_EXPECT_GE(test, bytes / sizeof(*site), 3);

	for (site = domain->start; site < domain->end; site++) {
		KUNIT_EXPECT_NOT_NULL(test, site->fmt);
		KUNIT_ASSERT_NOT_NULL(test, site->unit);
		KUNIT_EXPECT_PTR_EQ(test, site->unit->domain, domain);
		KUNIT_EXPECT_STREQ(test, site->unit->module, "exterr_kunit");
		KUNIT_EXPECT_STREQ(test, site->unit->file, TEST_FILE);
		KUNIT_EXPECT_NE(test, (u32)site->line, 0);
		KUNIT_EXPECT_EQ(test, !site->field,
				site->kind == EXTERR_FIELD_NONE);
	}
}

/* The linker has put each record of the source into the array, once. */
static void exterr_section_index_test(struct kunit *test)
{
	const struct exterr_domain *domain = &exterr_domain_exterr_test_b;
	const char *const texts[] = {
		"outer value %u", "the device is gone", "this is never bound",
	};
	const struct exterr_site *site;
	unsigned int i, n;

	KUNIT_EXPECT_EQ(test, domain->end - domain->start, ARRAY_SIZE(texts));
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		for (n = 0, site = domain->start; site < domain->end; site++)
			n += !strcmp(site->fmt, texts[i]);
		KUNIT_EXPECT_EQ_MSG(test, n, 1, "%s", texts[i]);
	}

	site = code_site(fail_other_domain(-EIO));
	KUNIT_EXPECT_GE(test, site - domain->start, 0);
	KUNIT_EXPECT_LT(test, site - domain->start, ARRAY_SIZE(texts));
}

/* Fault: two domains overlap, one decodes the other's sites. */
static void exterr_domains_test(struct kunit *test)
{
	const struct exterr_domain *a = &exterr_domain_exterr_test_a;
	const struct exterr_domain *b = &exterr_domain_exterr_test_b;
	int in_a = fail_plain(-ENODEV), in_b = fail_other_domain(-ENODEV);

	KUNIT_EXPECT_TRUE(test, a->end <= b->start || b->end <= a->start);
	KUNIT_EXPECT_NE(test, in_a, in_b);
	KUNIT_ASSERT_NOT_NULL(test, code_site(in_a));
	KUNIT_ASSERT_NOT_NULL(test, code_site(in_b));
	KUNIT_EXPECT_TRUE(test, code_site(in_a) >= a->start && code_site(in_a) < a->end);
	KUNIT_EXPECT_TRUE(test, code_site(in_b) >= b->start && code_site(in_b) < b->end);
	KUNIT_EXPECT_STREQ(test, code_site(in_a)->unit->domain->name, "exterr_test_a");
	KUNIT_EXPECT_STREQ(test, code_site(in_b)->unit->domain->name, "exterr_test_b");

	/* The same text in two domains is not the same message. */
	KUNIT_EXPECT_STREQ(test, code_site(in_a)->fmt, code_site(in_b)->fmt);
	KUNIT_EXPECT_NE(test, exterr_lookup(in_a)->id, exterr_lookup(in_b)->id);
}

static void exterr_site_test(struct kunit *test)
{
	const struct exterr_site *site;
	unsigned int line;
	int code;

	line = __LINE__ + 1;
	code = exterr_member(exterr_test_a, struct test_abi, depth, -ERANGE, "too deep");
	site = code_site(code);
	KUNIT_ASSERT_NOT_NULL(test, site);
	KUNIT_EXPECT_EQ(test, (u32)site->line, line);
	KUNIT_EXPECT_EQ(test, (u32)site->kind, EXTERR_FIELD_MEMBER);
	KUNIT_EXPECT_EQ(test, (u32)site->offset, offsetof(struct test_abi, depth));
	KUNIT_EXPECT_STREQ(test, site->field, "depth");
	KUNIT_EXPECT_EQ(test, site->err, -ERANGE);
	KUNIT_EXPECT_FALSE(test, site->foreign);
	KUNIT_EXPECT_EQ(test, exterr_lookup(code)->cause, -ERANGE);
	KUNIT_EXPECT_EQ(test, exterr_lookup(code)->errno, -ERANGE);
}

static void exterr_same_site_test(struct kunit *test)
{
	int code = fail_plain(-ENODEV);
	unsigned int used = exterr_used();

	KUNIT_EXPECT_TRUE(test, exterr_is(code));
	KUNIT_EXPECT_EQ(test, exterr_errno(code), -ENODEV);
	KUNIT_EXPECT_EQ(test, fail_plain(-ENODEV), code);
	KUNIT_EXPECT_EQ(test, fail_plain(-ENODEV), code);
	KUNIT_EXPECT_EQ(test, exterr_used(), used);
}

static void exterr_many_causes_test(struct kunit *test)
{
	static struct exterr_site site = TEST_SITE("one site, many causes");
	int codes[64], i, j;

	for (i = 0; i < ARRAY_SIZE(codes); i++)
		codes[i] = exterr_fold(&site, -1 - i);
	for (i = 0; i < ARRAY_SIZE(codes); i++) {
		KUNIT_EXPECT_TRUE(test, exterr_is(codes[i]));
		KUNIT_EXPECT_EQ(test, exterr_errno(codes[i]), -1 - i);
		KUNIT_EXPECT_EQ(test, exterr_fold(&site, -1 - i), codes[i]);
		KUNIT_EXPECT_PTR_EQ(test, code_site(codes[i]), &site);
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_NE(test, codes[i], codes[j]);
	}
	KUNIT_EXPECT_EQ(test, codes_of(&site), ARRAY_SIZE(codes));
}

/* Fault: an errno that is known only at run time becomes 0. */
static void exterr_run_time_errno_test(struct kunit *test)
{
	static const int errs[] = { -EPERM, -EBADF, -ENOMEM };
	unsigned int i;
	int code;

	for (i = 0; i < ARRAY_SIZE(errs); i++) {
		code = fail_middle(READ_ONCE(errs[i]));
		KUNIT_EXPECT_TRUE(test, exterr_is(code));
		KUNIT_EXPECT_EQ(test, exterr_errno(code), errs[i]);
		KUNIT_ASSERT_NOT_NULL(test, code_site(code));
		KUNIT_EXPECT_EQ(test, code_site(code)->err, 0);
	}
}

/* Success must pass through, and so must what cannot be an errno. */
static void exterr_unchanged_test(struct kunit *test)
{
	static const int values[] = {
		0, 1, EXTERR_BASE, MAX_ERRNO, INT_MAX,
		-MAX_ERRNO - 1, -65536 - EINVAL, INT_MIN,
	};
	unsigned int i, lost = exterr_lost(), used = exterr_used();

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		KUNIT_EXPECT_EQ(test, fail_plain(values[i]), values[i]);
		KUNIT_EXPECT_EQ(test, fail_value(values[i], 1), values[i]);
		KUNIT_EXPECT_EQ(test, fail_foreign(values[i]), values[i]);
		KUNIT_EXPECT_EQ(test, exterr_errno(values[i]), values[i]);
	}
	KUNIT_EXPECT_EQ(test, exterr_used(), used);
	KUNIT_EXPECT_EQ(test, exterr_lost(), lost);
}

static void exterr_chain_test(struct kunit *test)
{
	int inner = fail_inner(-EDOM, 1);
	int middle = fail_middle(inner);
	int outer = fail_outer(middle, 2);

	KUNIT_EXPECT_TRUE(test, exterr_is(inner));
	KUNIT_EXPECT_TRUE(test, exterr_is(middle));
	KUNIT_EXPECT_TRUE(test, exterr_is(outer));
	KUNIT_EXPECT_NE(test, inner, middle);
	KUNIT_EXPECT_NE(test, middle, outer);

	KUNIT_EXPECT_EQ(test, exterr_errno(inner), -EDOM);
	KUNIT_EXPECT_EQ(test, exterr_errno(middle), -EDOM);
	KUNIT_EXPECT_EQ(test, exterr_errno(outer), -EDOM);
	KUNIT_ASSERT_NOT_NULL(test, exterr_lookup(outer));
	KUNIT_EXPECT_EQ(test, exterr_lookup(outer)->cause, middle);
	KUNIT_EXPECT_EQ(test, exterr_lookup(middle)->cause, inner);
	KUNIT_EXPECT_EQ(test, exterr_lookup(inner)->cause, -EDOM);

	/* Another errno at the bottom is another chain. */
	KUNIT_EXPECT_NE(test, fail_middle(fail_inner(-ENOSPC, 1)), middle);
	KUNIT_EXPECT_EQ(test, fail_outer(fail_middle(fail_inner(-EDOM, 3)), 4), outer);
}

/* Fault: a search through the chain loops. */
static void exterr_chain_loop_test(struct kunit *test)
{
	int inner = fail_inner(-EDOM, 1);
	int middle = fail_middle(inner);
	int outer = fail_outer(middle, 2);
	unsigned int used = exterr_used(), lost = exterr_lost();

	KUNIT_EXPECT_EQ(test, fail_inner(inner, 1), inner);
	KUNIT_EXPECT_EQ(test, fail_inner(middle, 1), middle);
	KUNIT_EXPECT_EQ(test, fail_inner(outer, 1), outer);
	KUNIT_EXPECT_EQ(test, fail_middle(outer), outer);
	KUNIT_EXPECT_EQ(test, fail_outer(outer, 2), outer);
	KUNIT_EXPECT_EQ(test, exterr_used(), used);
	KUNIT_EXPECT_EQ(test, exterr_lost(), lost);
}

static void exterr_retry_test(struct kunit *test)
{
	static struct exterr_site ping = TEST_SITE("ping"), pong = TEST_SITE("pong");
	unsigned int i;
	int err = -EAGAIN;

	for (i = 0; i < 1000; i++) {
		err = exterr_fold(&ping, err);
		err = exterr_fold(&pong, err);
	}
	KUNIT_EXPECT_EQ(test, exterr_errno(err), -EAGAIN);
	KUNIT_EXPECT_EQ(test, codes_of(&ping), 1);
	KUNIT_EXPECT_EQ(test, codes_of(&pong), 1);
}

/*
 * Fault: anybody can trigger a warning with an unknown code. The taint is how a
 * warning can be seen from here.
 */
static void exterr_unknown_code_test(struct kunit *test)
{
	char *buf = report_buffer(test);
	int tainted = test_taint(TAINT_WARN);
	unsigned int used = exterr_used(), lost = exterr_lost();
	struct exterr_ctx ctx;
	int code;

	KUNIT_ASSERT_LT_MSG(test, used, EXTERR_NR_CODES, "no unknown code left");
	for (code = exterr_index_to_code(used); code >= -MAX_ERRNO; code--) {
		KUNIT_EXPECT_NULL(test, exterr_lookup(code));
		KUNIT_EXPECT_EQ(test, exterr_errno(code), code);
		KUNIT_EXPECT_EQ(test, fail_plain(code), code);

		KUNIT_EXPECT_EQ(test, exterr_format(NULL, code, buf, EXTERR_REPORT_MAX), 1);
		KUNIT_EXPECT_EQ(test, buf[0], 0);

		listen(&ctx);
		KUNIT_EXPECT_EQ(test, exterr_report(&ctx, code, NULL, 0), code);
		exterr_begin(&ctx, false);
		KUNIT_EXPECT_EQ(test, exterr_report(&ctx, code, NULL, 0), code);
	}
	KUNIT_EXPECT_EQ(test, exterr_used(), used);
	KUNIT_EXPECT_EQ(test, exterr_lost(), lost);
	KUNIT_EXPECT_EQ(test, test_taint(TAINT_WARN), tainted);
}

/* A hook's number that happens to be somebody's code is not decoded as that. */
static void exterr_foreign_test(struct kunit *test)
{
	char *buf = report_buffer(test);
	int causes[] = { -EACCES, fail_plain(-ENODEV), TEST_UNBOUND };
	unsigned int i;
	int code, outer;

	for (i = 0; i < ARRAY_SIZE(causes); i++) {
		code = fail_foreign(causes[i]);
		KUNIT_EXPECT_TRUE(test, exterr_is(code));
		KUNIT_EXPECT_NE(test, code, causes[i]);
		KUNIT_EXPECT_EQ(test, exterr_errno(code), causes[i]);
		KUNIT_EXPECT_EQ(test, fail_foreign(causes[i]), code);

		exterr_format(NULL, code, buf, EXTERR_REPORT_MAX);
		KUNIT_EXPECT_NOT_NULL(test, strstr(buf, "a hook said no"));
		KUNIT_EXPECT_NULL(test, strstr(buf, "the device is gone"));
		KUNIT_EXPECT_NULL(test, strstr(buf, "\"cause\""));

		/* Nor when it is at the bottom of a chain. */
		outer = fail_middle(code);
		KUNIT_EXPECT_EQ(test, exterr_errno(outer), causes[i]);
		exterr_format(NULL, outer, buf, EXTERR_REPORT_MAX);
		KUNIT_EXPECT_NOT_NULL(test, strstr(buf, "a hook said no"));
		KUNIT_EXPECT_NULL(test, strstr(buf, "the device is gone"));
	}
}

/* Fault: an overflow of the code space is only warned about. */
static void exterr_exhaustion_test(struct kunit *test)
{
	static struct exterr_site late = TEST_SITE("there was no code left");
	int known = fail_plain(-ENODEV), code;
	unsigned int lost, used = exterr_used();
	bool bound = was_bound(&late);
	void *limit = use_up_codes(test);

	lost = exterr_lost();
	KUNIT_EXPECT_EQ(test, fail_never(-EIO), -EIO);
	KUNIT_EXPECT_EQ(test, exterr_lost(), lost + 1);
	KUNIT_EXPECT_EQ(test, fail_never(-EIO), -EIO);
	KUNIT_EXPECT_EQ(test, exterr_lost(), lost + 2);

	/* In the middle of a chain the reasons below are kept. */
	code = fail_never(known);
	KUNIT_EXPECT_EQ(test, code, known);
	KUNIT_EXPECT_EQ(test, exterr_errno(code), -ENODEV);

	/* What has a code already keeps it. */
	lost = exterr_lost();
	KUNIT_EXPECT_EQ(test, fail_plain(-ENODEV), known);
	KUNIT_EXPECT_EQ(test, exterr_lost(), lost);

	code = exterr_fold(&late, -EIO);
	if (bound)
		KUNIT_EXPECT_EQ(test, exterr_errno(code), -EIO);
	else
		KUNIT_EXPECT_EQ(test, code, -EIO);
	KUNIT_EXPECT_EQ(test, exterr_used(), used);

	kunit_release_action(test, restore_limit, limit);
	lost = exterr_lost();
	code = exterr_fold(&late, -EIO);
	KUNIT_EXPECT_TRUE(test, exterr_is(code));
	KUNIT_EXPECT_EQ(test, exterr_errno(code), -EIO);
	KUNIT_EXPECT_EQ(test, exterr_lost(), lost);
}

/* Fault: two domains overlap when the range is exhausted. */
static void exterr_exhausted_domains_test(struct kunit *test)
{
	int a = fail_plain(-ENODEV), b = fail_other_domain(-ENODEV);

	use_up_codes(test);
	KUNIT_EXPECT_EQ(test, fail_never(-EIO), -EIO);
	KUNIT_EXPECT_EQ(test, fail_never_other_domain(-EIO), -EIO);
	KUNIT_EXPECT_EQ(test, fail_plain(-ENODEV), a);
	KUNIT_EXPECT_EQ(test, fail_other_domain(-ENODEV), b);
	KUNIT_EXPECT_STREQ(test, code_site(a)->unit->domain->name, "exterr_test_a");
	KUNIT_EXPECT_STREQ(test, code_site(b)->unit->domain->name, "exterr_test_b");
}

static void exterr_ptr_test(struct kunit *test)
{
	void *ptr = exterr_ptr(exterr_test_a, -ENXIO, "nothing to point at");

	KUNIT_ASSERT_TRUE(test, IS_ERR(ptr));
	KUNIT_EXPECT_TRUE(test, IS_ERR_OR_NULL(ptr));
	KUNIT_EXPECT_TRUE(test, exterr_is(PTR_ERR(ptr)));
	KUNIT_EXPECT_EQ(test, exterr_errno(PTR_ERR(ptr)), -ENXIO);
	KUNIT_EXPECT_EQ(test, exterr_errno(PTR_ERR_OR_ZERO(ptr)), -ENXIO);
}

#define RACE_THREADS	4
#define RACE_ROUNDS	16

struct race {
	struct exterr_site *sites;
	atomic_t arrived[RACE_ROUNDS];
	struct completion done;
	struct race_thread {
		struct race *race;
		int codes[RACE_ROUNDS];
	} threads[RACE_THREADS];
};

static int race_thread(void *data)
{
	struct race_thread *thread = data;
	struct race *race = thread->race;
	unsigned int i;

	for (i = 0; i < RACE_ROUNDS; i++) {
		atomic_inc(&race->arrived[i]);
		while (atomic_read(&race->arrived[i]) < RACE_THREADS &&
		       !kthread_should_stop())
			cond_resched();
		thread->codes[i] = exterr_fold(&race->sites[i], -EBUSY);
	}
	complete(&race->done);

	set_current_state(TASK_INTERRUPTIBLE);
	while (!kthread_should_stop()) {
		schedule();
		set_current_state(TASK_INTERRUPTIBLE);
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

KUNIT_DEFINE_ACTION_WRAPPER(stop_thread, kthread_stop, struct task_struct *);

static void exterr_concurrent_test(struct kunit *test)
{
	static struct exterr_site sites[RACE_ROUNDS] = {
		[0 ... RACE_ROUNDS - 1] = TEST_SITE("first use in several threads"),
	};
	struct task_struct *task;
	struct race *race;
	unsigned int i, j;

	race = kunit_kzalloc(test, sizeof(*race), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, race);
	race->sites = sites;
	init_completion(&race->done);
	for (i = 0; i < RACE_THREADS; i++) {
		race->threads[i].race = race;
		task = kthread_run(race_thread, &race->threads[i], "exterr_race/%u", i);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
		KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, stop_thread, task), 0);
	}
	for (i = 0; i < RACE_THREADS; i++)
		KUNIT_ASSERT_NE(test, wait_for_completion_timeout(&race->done, 20 * HZ), 0);

	for (i = 0; i < RACE_ROUNDS; i++) {
		KUNIT_EXPECT_EQ(test, exterr_errno(race->threads[0].codes[i]), -EBUSY);
		for (j = 0; j < RACE_THREADS; j++) {
			KUNIT_EXPECT_TRUE(test, exterr_is(race->threads[j].codes[i]));
			KUNIT_EXPECT_EQ(test, race->threads[j].codes[i],
					race->threads[0].codes[i]);
		}
		KUNIT_EXPECT_EQ(test, codes_of(&sites[i]), 1);
	}
}

static struct kunit_case exterr_code_cases[] = {
	KUNIT_CASE(exterr_base_test),
	KUNIT_CASE(exterr_mapping_test),
	KUNIT_CASE(exterr_is_test),
	KUNIT_CASE_PARAM(exterr_section_test, section_gen_params),
	KUNIT_CASE(exterr_section_index_test),
	KUNIT_CASE(exterr_domains_test),
	KUNIT_CASE(exterr_site_test),
	KUNIT_CASE(exterr_same_site_test),
	KUNIT_CASE(exterr_many_causes_test),
	KUNIT_CASE(exterr_run_time_errno_test),
	KUNIT_CASE(exterr_unchanged_test),
	KUNIT_CASE(exterr_chain_test),
	KUNIT_CASE(exterr_chain_loop_test),
	KUNIT_CASE(exterr_retry_test),
	KUNIT_CASE(exterr_unknown_code_test),
	KUNIT_CASE(exterr_foreign_test),
	KUNIT_CASE(exterr_exhaustion_test),
	KUNIT_CASE(exterr_exhausted_domains_test),
	KUNIT_CASE(exterr_ptr_test),
	KUNIT_CASE(exterr_concurrent_test),
	{}
};

static struct kunit_suite exterr_code_suite = {
	.name = "exterr_codes",
	.test_cases = exterr_code_cases,
};

/*
 * Messages and contexts
 */

static void exterr_message_test(struct kunit *test)
{
	struct exterr_ctx ctx;
	int code;

	listen(&ctx);
	KUNIT_EXPECT_PTR_EQ(test, current->exterr_ctx, &ctx);
	code = fail_value(-EINVAL, 7);
	expect_message(test, &ctx, code, "value 7 is odd");

	/* A message without values is its template, and needs no memory. */
	expect_message(test, &ctx, fail_plain(-ENODEV), "the device is gone");
	quiet(&ctx);
	KUNIT_EXPECT_NULL(test, current->exterr_ctx);

	expect_message(test, NULL, code, "value %u is odd");
}

static void exterr_nobody_listens_test(struct kunit *test)
{
	struct exterr_ctx ctx = {};

	exterr_begin(&ctx, false);
	KUNIT_EXPECT_FALSE(test, ctx.on);
	KUNIT_EXPECT_NULL(test, current->exterr_ctx);
	fail_value(-EINVAL, 7);
	KUNIT_EXPECT_NULL(test, ctx.msgs);
	KUNIT_EXPECT_EQ(test, exterr_report(&ctx, fail_value(-EINVAL, 7), NULL, 0), -EINVAL);
}

static void exterr_success_says_nothing_test(struct kunit *test)
{
	struct exterr_ctx ctx;

	listen(&ctx);
	fail_value(0, 7);
	fail_value(1, 7);
	fail_value(-MAX_ERRNO - 1, 7);
	KUNIT_EXPECT_NULL(test, ctx.msgs);
	quiet(&ctx);
}

static void exterr_nested_test(struct kunit *test)
{
	struct exterr_ctx outer, inner, off;
	int a, b, c;

	listen(&outer);
	a = fail_value(-EINVAL, 1);

	listen(&inner);
	b = fail_inner(-EINVAL, 2);
	expect_message(test, &inner, a, "value %u is odd");
	expect_message(test, &inner, b, "inner value 2");
	KUNIT_EXPECT_EQ(test, exterr_report(&inner, b, NULL, 0), -EINVAL);
	KUNIT_EXPECT_PTR_EQ(test, current->exterr_ctx, &outer);

	/* Who does not listen is no obstacle to who does. */
	exterr_begin(&off, false);
	c = fail_outer(-EINVAL, 3);
	KUNIT_EXPECT_EQ(test, exterr_report(&off, c, NULL, 0), -EINVAL);

	expect_message(test, &outer, a, "value 1 is odd");
	expect_message(test, &outer, b, "inner value %u");
	expect_message(test, &outer, c, "outer value 3");
	quiet(&outer);
	KUNIT_EXPECT_NULL(test, current->exterr_ctx);
}

static void exterr_latest_values_test(struct kunit *test)
{
	struct exterr_ctx ctx;
	int code, other;

	listen(&ctx);
	code = fail_value(-EINVAL, 1);
	other = fail_inner(-EINVAL, 2);
	KUNIT_EXPECT_EQ(test, fail_value(-EINVAL, 3), code);
	expect_message(test, &ctx, code, "value 3 is odd");
	expect_message(test, &ctx, other, "inner value 2");
	KUNIT_EXPECT_EQ(test, fail_inner(-EINVAL, 4), other);
	expect_message(test, &ctx, code, "value 3 is odd");
	expect_message(test, &ctx, other, "inner value 4");
	quiet(&ctx);
}

/* Fault: stale records, an earlier call's values show up in a later report. */
static void exterr_stale_test(struct kunit *test)
{
	struct exterr_ctx ctx;
	int code;

	listen(&ctx);
	code = fail_value(-EINVAL, 1);
	KUNIT_EXPECT_EQ(test, exterr_report(&ctx, code, NULL, 0), -EINVAL);

	listen(&ctx);
	KUNIT_EXPECT_NULL(test, ctx.msgs);
	expect_message(test, &ctx, code, "value %u is odd");
	quiet(&ctx);
}

/* Each link of a chain has its own message. */
static void exterr_chain_messages_test(struct kunit *test)
{
	struct exterr_ctx ctx;
	int inner, outer;

	listen(&ctx);
	inner = fail_inner(-EDOM, 1);
	outer = fail_outer(inner, 2);
	expect_message(test, &ctx, inner, "inner value 1");
	expect_message(test, &ctx, outer, "outer value 2");
	quiet(&ctx);
}

static const struct message_length {
	unsigned int len;
	unsigned int shown;
} message_lengths[] = {
	{ 0, 0 },
	{ 1, 1 },
	{ 238, 238 },
	{ 239, 239 },
	{ 240, 240 },
	{ 241, 241 },
	{ 255, 255 },
	{ 256, 256 },
	{ TEST_TEXT_MAX - 2, TEST_TEXT_MAX - 2 },
	{ TEST_TEXT_MAX - 1, TEST_TEXT_MAX - 1 },
	{ TEST_TEXT_MAX, TEST_TEXT_MAX - 1 },
	{ TEST_TEXT_MAX + 1, TEST_TEXT_MAX - 1 },
	{ 3000, TEST_TEXT_MAX - 1 },
};

static void exterr_message_length_test(struct kunit *test)
{
	const struct message_length *c;
	char *buf = report_buffer(test);
	char *text = report_buffer(test);
	struct exterr_ctx ctx;
	struct report r;
	unsigned int i;
	int code;

	for (c = message_lengths; c < message_lengths + ARRAY_SIZE(message_lengths); c++) {
		for (i = 0; i < c->len; i++)
			text[i] = 'a' + i % 26;
		text[c->len] = '\0';

		listen(&ctx);
		code = fail_text(text);
		exterr_format(&ctx, code, buf, EXTERR_REPORT_MAX);
		quiet(&ctx);

		KUNIT_ASSERT_TRUE_MSG(test, read_report(&r, buf), "%u: %s", c->len, buf);
		KUNIT_EXPECT_EQ(test, r.message_len, c->shown);
		KUNIT_EXPECT_MEMEQ(test, r.message, text, c->shown);
		KUNIT_EXPECT_EQ(test, r.truncated, c->shown < c->len);
	}
}

/*
 * Places that are not process context. The count of each nesting is what every
 * in_*() test looks at, so adding to it makes this task one of them, on every
 * architecture and at a point of our choice, with our own context on current.
 */
static struct context_case {
	const char *name;
	unsigned long count;
	struct exterr_site site;
} context_cases[] = {
	{ "softirq", SOFTIRQ_OFFSET, TEST_SITE("softirq %d") },
	{ "hardirq", HARDIRQ_OFFSET, TEST_SITE("hardirq %d") },
	{ "nmi", NMI_OFFSET + HARDIRQ_OFFSET, TEST_SITE("nmi %d") },
};

KUNIT_ARRAY_PARAM_DESC(context, context_cases, name);

static void exterr_context_test(struct kunit *test)
{
	/* KUnit hands parameters out as const; a site is written to. */
	struct context_case *c = (struct context_case *)test->param_value;
	struct exterr_msg *said;
	struct exterr_ctx ctx;
	unsigned long flags;
	int code, again;
	bool task;

	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		kunit_skip(test, "PREEMPT_RT does not count softirqs there");

	listen(&ctx);
	local_irq_save(flags);
	/* It would see that no interrupt has happened. */
	lockdep_off();
	__preempt_count_add(c->count);
	task = in_task();
	code = exterr_foldf(&c->site, -EBUSY, 5);
	again = exterr_foldf(&c->site, -EBUSY, 5);
	said = ctx.msgs;
	__preempt_count_sub(c->count);
	lockdep_on();
	local_irq_restore(flags);

	KUNIT_EXPECT_FALSE(test, task);
	KUNIT_EXPECT_TRUE(test, exterr_is(code));
	KUNIT_EXPECT_EQ(test, exterr_errno(code), -EBUSY);
	KUNIT_EXPECT_EQ(test, again, code);
	KUNIT_EXPECT_EQ(test, codes_of(&c->site), 1);
	KUNIT_EXPECT_NULL_MSG(test, said, "formatted outside process context");

	/* The same call in process context does say something. */
	KUNIT_EXPECT_EQ(test, exterr_foldf(&c->site, -EBUSY, 5), code);
	KUNIT_EXPECT_NOT_NULL(test, ctx.msgs);
	quiet(&ctx);
}

/* The real ones, which lockdep watches. */
struct elsewhere {
	struct hrtimer timer;
	struct tasklet_struct tasklet;
	struct completion done;
	struct exterr_site *site;
	bool there;
	bool said;
	int code;
};

static void fold_elsewhere(struct elsewhere *e)
{
	struct exterr_ctx ctx;

	/* On whatever task was interrupted. */
	listen(&ctx);
	e->code = exterr_foldf(e->site, -EBUSY, 5);
	e->said = ctx.msgs;
	quiet(&ctx);
	complete(&e->done);
}

static void expect_elsewhere(struct kunit *test, struct elsewhere *e)
{
	KUNIT_ASSERT_NE(test, wait_for_completion_timeout(&e->done, 20 * HZ), 0);
	KUNIT_EXPECT_TRUE(test, e->there);
	KUNIT_EXPECT_FALSE_MSG(test, e->said, "formatted outside process context");
	KUNIT_EXPECT_TRUE(test, exterr_is(e->code));
	KUNIT_EXPECT_EQ(test, exterr_errno(e->code), -EBUSY);
	KUNIT_EXPECT_EQ(test, codes_of(e->site), 1);
	KUNIT_EXPECT_EQ(test, exterr_fold(e->site, -EBUSY), e->code);
}

static struct elsewhere *new_elsewhere(struct kunit *test, struct exterr_site *site)
{
	struct elsewhere *e = kunit_kzalloc(test, sizeof(*e), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, e);
	e->site = site;
	init_completion(&e->done);
	return e;
}

static enum hrtimer_restart fold_in_hrtimer(struct hrtimer *timer)
{
	struct elsewhere *e = container_of(timer, struct elsewhere, timer);

	e->there = in_hardirq();
	fold_elsewhere(e);
	return HRTIMER_NORESTART;
}

KUNIT_DEFINE_ACTION_WRAPPER(cancel_timer, hrtimer_cancel, struct hrtimer *);

static void exterr_hrtimer_test(struct kunit *test)
{
	static struct exterr_site site = TEST_SITE("hrtimer %d");
	struct elsewhere *e = new_elsewhere(test, &site);

	hrtimer_init(&e->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	e->timer.function = fold_in_hrtimer;
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, cancel_timer, &e->timer), 0);
	hrtimer_start(&e->timer, 0, HRTIMER_MODE_REL_HARD);
	expect_elsewhere(test, e);
}

static void fold_in_tasklet(struct tasklet_struct *tasklet)
{
	struct elsewhere *e = container_of(tasklet, struct elsewhere, tasklet);

	e->there = in_serving_softirq();
	fold_elsewhere(e);
}

KUNIT_DEFINE_ACTION_WRAPPER(kill_tasklet, tasklet_kill, struct tasklet_struct *);

static void exterr_tasklet_test(struct kunit *test)
{
	static struct exterr_site site = TEST_SITE("tasklet %d");
	struct elsewhere *e = new_elsewhere(test, &site);

	tasklet_setup(&e->tasklet, fold_in_tasklet);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, kill_tasklet, &e->tasklet), 0);
	tasklet_schedule(&e->tasklet);
	expect_elsewhere(test, e);
}

/* Process context that may not sleep: the values are kept if that is possible. */
static void exterr_atomic_test(struct kunit *test)
{
	static DEFINE_RAW_SPINLOCK(raw_lock);
	bool may_keep = !(IS_ENABLED(CONFIG_PREEMPT_RT) ||
			  IS_ENABLED(CONFIG_PROVE_RAW_LOCK_NESTING));
	struct exterr_ctx ctx;
	unsigned long flags;
	int code;

	listen(&ctx);
	raw_spin_lock_irqsave(&raw_lock, flags);
	code = fail_value(-EINVAL, 9);
	raw_spin_unlock_irqrestore(&raw_lock, flags);
	KUNIT_EXPECT_EQ(test, exterr_errno(code), -EINVAL);
	expect_message(test, &ctx, code, may_keep ? "value 9 is odd" : "value %u is odd");
	quiet(&ctx);
}

#define TRACED_MAX	4

struct traced {
	struct task_struct *task;
	unsigned int nr;
	struct {
		int err;
		u64 id;
		unsigned int depth;
		char message[32];
	} events[TRACED_MAX];
};

static void trace_probe(void *data, const struct exterr_site *site, int err, u64 id,
			const char *message, unsigned int depth)
{
	struct traced *traced = data;

	if (current != traced->task || traced->nr == TRACED_MAX)
		return;
	traced->events[traced->nr].err = err;
	traced->events[traced->nr].id = id;
	traced->events[traced->nr].depth = depth;
	strscpy(traced->events[traced->nr].message, message);
	traced->nr++;
}

static void stop_tracing(void *traced)
{
	unregister_trace_exterr_report(trace_probe, traced);
	tracepoint_synchronize_unregister();
}

/* Who traces is told everything, although the program did not ask. */
static void exterr_trace_test(struct kunit *test)
{
	static const char *const messages[] = {
		"outer value 2", "middle text", "inner value 1",
	};
	struct traced *traced;
	struct exterr_ctx ctx;
	unsigned int i, reported;
	int code;

	if (!IS_ENABLED(CONFIG_TRACEPOINTS))
		kunit_skip(test, "needs CONFIG_TRACEPOINTS");

	traced = kunit_kzalloc(test, sizeof(*traced), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, traced);
	traced->task = current;
	KUNIT_ASSERT_EQ(test, register_trace_exterr_report(trace_probe, traced), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, stop_tracing, traced), 0);

	exterr_begin(&ctx, false);
	code = fail_outer(fail_middle(fail_inner(-EDOM, 1)), 2);
	reported = atomic_read(&exterr_lookup(code)->reported);
	KUNIT_EXPECT_EQ(test, exterr_report(&ctx, code, NULL, 0), -EDOM);
	KUNIT_EXPECT_EQ(test, atomic_read(&exterr_lookup(code)->reported), reported + 1);

	KUNIT_ASSERT_EQ(test, traced->nr, ARRAY_SIZE(messages));
	for (i = 0; i < traced->nr; i++) {
		KUNIT_EXPECT_EQ(test, traced->events[i].err, -EDOM);
		KUNIT_EXPECT_EQ(test, traced->events[i].depth, i);
		KUNIT_EXPECT_EQ(test, traced->events[i].id, exterr_lookup(code)->id);
		KUNIT_EXPECT_STREQ(test, traced->events[i].message, messages[i]);
		code = exterr_lookup(code)->cause;
	}

	/* Only what has a reason is an event, and only what fails. */
	exterr_begin(&ctx, false);
	KUNIT_EXPECT_EQ(test, exterr_report(&ctx, -EDOM, NULL, 0), -EDOM);
	exterr_begin(&ctx, false);
	KUNIT_EXPECT_EQ(test, exterr_report(&ctx, 3, NULL, 0), 3);
	KUNIT_EXPECT_EQ(test, traced->nr, ARRAY_SIZE(messages));
}

static struct kunit_case exterr_message_cases[] = {
	KUNIT_CASE(exterr_message_test),
	KUNIT_CASE(exterr_nobody_listens_test),
	KUNIT_CASE(exterr_success_says_nothing_test),
	KUNIT_CASE(exterr_nested_test),
	KUNIT_CASE(exterr_latest_values_test),
	KUNIT_CASE(exterr_stale_test),
	KUNIT_CASE(exterr_chain_messages_test),
	KUNIT_CASE(exterr_message_length_test),
	KUNIT_CASE_PARAM(exterr_context_test, context_gen_params),
	KUNIT_CASE(exterr_hrtimer_test),
	KUNIT_CASE(exterr_tasklet_test),
	KUNIT_CASE(exterr_atomic_test),
	KUNIT_CASE(exterr_trace_test),
	{}
};

static struct kunit_suite exterr_message_suite = {
	.name = "exterr_messages",
	.test_cases = exterr_message_cases,
};

/*
 * JSON
 */

static int report_plain(void)
{
	return fail_plain(-ENODEV);
}

static noinline int report_member(void)
{
	return exterr_member(exterr_test_a, struct test_abi, size, -E2BIG,
			     "size %u is over %u", 200, 64);
}

static noinline int report_bitfield(void)
{
	return exterr_bitfield(exterr_test_a, struct test_abi, inherit, -EINVAL,
			       "inherit needs \"exclusive\"");
}

static noinline int report_arg(void)
{
	return exterr_arg(exterr_test_a, cpu, -ENODEV, "no such cpu");
}

static int report_foreign(void)
{
	return fail_foreign(TEST_UNBOUND);
}

static int report_chain(void)
{
	return fail_outer(fail_middle(fail_inner(-EDOM, 1)), 2);
}

/*
 * What the reports are, to the byte. Each @ stands for file and line, if these
 * are configured. The ids are written out because they may never change.
 */
static const struct report_case {
	const char *name;
	int (*fail)(void);
	const char *json;
} report_cases[] = {
	{
		"plain", report_plain,
		"{\n"
		"\t\"code\": -19,\n"
		"\t\"module\": \"exterr_kunit\",\n"
		"\t\"message\": \"the device is gone\",\n"
		"\t\"errno\": \"ENODEV\",\n"
		"\t\"domain\": \"exterr_test_a\",\n"
		"\t\"template\": \"the device is gone\",\n"
		"\t\"id\": \"028fb110724ce7f2\"@\n"
		"}"
	}, {
		"member", report_member,
		"{\n"
		"\t\"code\": -7,\n"
		"\t\"module\": \"exterr_kunit\",\n"
		"\t\"message\": \"size 200 is over 64\",\n"
		"\t\"errno\": \"E2BIG\",\n"
		"\t\"domain\": \"exterr_test_a\",\n"
		"\t\"field\": \"size\",\n"
		"\t\"kind\": \"member\",\n"
		"\t\"offset\": 4,\n"
		"\t\"template\": \"size %u is over %u\",\n"
		"\t\"id\": \"dfd59acf64775293\"@\n"
		"}"
	}, {
		"bitfield", report_bitfield,
		"{\n"
		"\t\"code\": -22,\n"
		"\t\"module\": \"exterr_kunit\",\n"
		"\t\"message\": \"inherit needs \\\"exclusive\\\"\",\n"
		"\t\"errno\": \"EINVAL\",\n"
		"\t\"domain\": \"exterr_test_a\",\n"
		"\t\"field\": \"inherit\",\n"
		"\t\"kind\": \"member\",\n"
		"\t\"template\": \"inherit needs \\\"exclusive\\\"\",\n"
		"\t\"id\": \"6a0f14752eb5c76f\"@\n"
		"}"
	}, {
		"argument", report_arg,
		"{\n"
		"\t\"code\": -19,\n"
		"\t\"module\": \"exterr_kunit\",\n"
		"\t\"message\": \"no such cpu\",\n"
		"\t\"errno\": \"ENODEV\",\n"
		"\t\"domain\": \"exterr_test_a\",\n"
		"\t\"field\": \"cpu\",\n"
		"\t\"kind\": \"argument\",\n"
		"\t\"template\": \"no such cpu\",\n"
		"\t\"id\": \"f4d6267f520d4966\"@\n"
		"}"
	}, {
		"foreign", report_foreign,
		"{\n"
		"\t\"code\": -4095,\n"
		"\t\"module\": \"exterr_kunit\",\n"
		"\t\"message\": \"a hook said no\",\n"
		"\t\"domain\": \"exterr_test_a\",\n"
		"\t\"template\": \"a hook said no\",\n"
		"\t\"id\": \"913ebefacf1044b3\"@\n"
		"}"
	}, {
		"chain", report_chain,
		"{\n"
		"\t\"code\": -33,\n"
		"\t\"module\": \"exterr_kunit\",\n"
		"\t\"message\": \"outer value 2\",\n"
		"\t\"errno\": \"EDOM\",\n"
		"\t\"domain\": \"exterr_test_b\",\n"
		"\t\"field\": \"flags\",\n"
		"\t\"kind\": \"argument\",\n"
		"\t\"template\": \"outer value %u\",\n"
		"\t\"id\": \"b63171932a62b825\"@,\n"
		"\t\"cause\": {\n"
		"\t\t\"code\": -33,\n"
		"\t\t\"module\": \"exterr_kunit\",\n"
		"\t\t\"message\": \"middle text\",\n"
		"\t\t\"errno\": \"EDOM\",\n"
		"\t\t\"domain\": \"exterr_test_a\",\n"
		"\t\t\"template\": \"middle text\",\n"
		"\t\t\"id\": \"f8ecff6d3d6bcd82\"@,\n"
		"\t\t\"cause\": {\n"
		"\t\t\t\"code\": -33,\n"
		"\t\t\t\"module\": \"exterr_kunit\",\n"
		"\t\t\t\"message\": \"inner value 1\",\n"
		"\t\t\t\"errno\": \"EDOM\",\n"
		"\t\t\t\"domain\": \"exterr_test_a\",\n"
		"\t\t\t\"template\": \"inner value %u\",\n"
		"\t\t\t\"id\": \"4579e9626fb06075\"@\n"
		"\t\t}\n"
		"\t}\n"
		"}"
	},
};

KUNIT_ARRAY_PARAM_DESC(report, report_cases, name);

/* @json with the locations of @code and of its causes. */
static char *expected_report(struct kunit *test, const char *json, int code)
{
	char *buf = report_buffer(test), *pos = buf;
	unsigned int depth = 0;

	for (; *json; json++) {
		if (*json != '@') {
			*pos++ = *json;
			continue;
		}
		depth++;
		if (IS_ENABLED(CONFIG_EXTERR_DEBUG_LOCATION)) {
			pos += sprintf(pos, ",\n%.*s\"file\": \"%s\"",
				       depth, "\t\t\t", TEST_FILE);
			pos += sprintf(pos, ",\n%.*s\"line\": %u",
				       depth, "\t\t\t", code_site(code)->line);
		}
		code = exterr_lookup(code)->cause;
	}
	return buf;
}

static void exterr_exact_json_test(struct kunit *test)
{
	const struct report_case *c = test->param_value;
	char *buf = report_buffer(test);
	struct exterr_ctx ctx;
	struct report r;
	size_t len;
	int code;

	listen(&ctx);
	code = c->fail();
	len = exterr_format(&ctx, code, buf, EXTERR_REPORT_MAX);
	quiet(&ctx);
	KUNIT_EXPECT_STREQ(test, buf, expected_report(test, c->json, code));
	KUNIT_EXPECT_EQ(test, len, strlen(buf) + 1);
	KUNIT_EXPECT_TRUE(test, read_report(&r, buf));
}

/* The reader above must be able to say no. */
static void exterr_reader_test(struct kunit *test)
{
#define HEAD "{\"code\": -1, \"module\": \"m\", \"message\": "
	static const struct {
		bool ok;
		const char *text;
	} cases[] = {
		{ true, HEAD "\"\"}" },
		{ true, HEAD "\"a\\\"\\\\\\u00e9\\n\xc3\xa9\"}" },
		{ true, HEAD "\"\", \"truncated\": true}" },
		{ true, HEAD "\"\", \"cause\": " HEAD "\"\"}}" },
		{ false, "" },
		{ false, "{}" },
		{ false, "{\"code\": -1}" },
		{ false, "{\"code\": -1, \"module\": \"m\"}" },
		{ false, "{\"module\": \"m\", \"code\": -1, \"message\": \"\"}" },
		{ false, "{\"code\": -01, \"module\": \"m\", \"message\": \"\"}" },
		{ false, "{\"code\": -, \"module\": \"m\", \"message\": \"\"}" },
		{ false, HEAD "\"\"" },
		{ false, HEAD "\"\"}}" },
		{ false, HEAD "\"\"} " },
		{ false, HEAD "\"\",}" },
		{ false, HEAD "\"a\"b\"}" },
		{ false, HEAD "\"\n\"}" },
		{ false, HEAD "\"\\x\"}" },
		{ false, HEAD "\"\\u00g0\"}" },
		{ false, HEAD "\"\\\"}" },
		{ false, HEAD "\"\x80\"}" },
		{ false, HEAD "\"\xc0\x80\"}" },
		{ false, HEAD "\"\xed\xa0\x80\"}" },
		{ false, HEAD "\"\xf4\x90\x80\x80\"}" },
		{ false, HEAD "\"\xe2\x82\"}" },
		{ false, HEAD "\"\xff\"}" },
		{ false, HEAD "\"\", \"truncated\": tru}" },
		{ false, HEAD "\"\", \"wrong\": true}" },
		{ false, HEAD "\"\", \"id\": \"\", \"errno\": \"\"}" },
		{ false, HEAD "\"\", \"cause\": {}}" },
	};
#undef HEAD
	struct report r;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		KUNIT_EXPECT_EQ_MSG(test, read_report(&r, cases[i].text), cases[i].ok,
				    "%s", cases[i].text);
	}
}

/* How a report must write the byte @c when it is not part of UTF-8. */
static const char *escaped_byte(u8 c)
{
	static char esc[8];

	switch (c) {
	case '"':
		return "\\\"";
	case '\\':
		return "\\\\";
	case '\b':
		return "\\b";
	case '\f':
		return "\\f";
	case '\n':
		return "\\n";
	case '\r':
		return "\\r";
	case '\t':
		return "\\t";
	}
	snprintf(esc, sizeof(esc), c < 0x20 || c >= 0x80 ? "\\u%04x" : "%c", c);
	return esc;
}

/*
 * Strings are copied in words, so what is before, after, and how it is aligned
 * matters. The template of a site that has a code can be changed under it, which
 * saves a code for each text.
 */
static void expect_escaped(struct kunit *test, const char *in, const char *out)
{
	static const char *const tails[] = { "", "and then a long plain tail", "\"" };
	static const char *const tails_out[] = { "", "and then a long plain tail", "\\\"" };
	static const char pad[] = "plain text";
	static char text[128] __aligned(16);
	static struct exterr_site site = TEST_SITE("hostile text");
	static char want[256], buf[1024];
	unsigned int align, i;
	struct exterr_ctx ctx;
	const char *fmt = site.fmt;
	int code = exterr_fold(&site, -EINVAL), said;
	struct report r;

	for (align = 0; align < 8; align++) {
		for (i = 0; i < ARRAY_SIZE(tails); i++) {
			snprintf(text + align, sizeof(text) - align, "%s%s%s",
				 pad + align, in, tails[i]);
			snprintf(want, sizeof(want), "%s%s%s",
				 pad + align, out, tails_out[i]);

			/* As the source itself, at each alignment. */
			site.fmt = text + align;
			exterr_format(NULL, code, buf, sizeof(buf));
			site.fmt = fmt;
			KUNIT_ASSERT_TRUE_MSG(test, read_report(&r, buf), "%s", buf);
			KUNIT_EXPECT_EQ(test, r.message_len, strlen(want));
			KUNIT_EXPECT_MEMEQ(test, r.message, want, strlen(want));
			KUNIT_EXPECT_EQ(test, r.truncated, 0);

			/* As the value of a message, at each place in it. */
			listen(&ctx);
			said = fail_text(text + align);
			exterr_format(&ctx, said, buf, sizeof(buf));
			quiet(&ctx);
			KUNIT_ASSERT_TRUE_MSG(test, read_report(&r, buf), "%s", buf);
			KUNIT_EXPECT_EQ(test, r.message_len, strlen(want));
			KUNIT_EXPECT_MEMEQ(test, r.message, want, strlen(want));
		}
	}
}

/* Fault: no JSON escaping. */
static void exterr_hostile_bytes_test(struct kunit *test)
{
	char in[2] = {};
	int c;

	for (c = 1; c < 256; c++) {
		in[0] = c;
		expect_escaped(test, in, escaped_byte(c));
	}
}

static const struct hostile_case {
	const char *name;
	const char *in;
	const char *out;	/* NULL: as it is */
} hostile_cases[] = {
	{ "2 bytes, least", "\xc2\x80" },
	{ "2 bytes, most", "\xdf\xbf" },
	{ "3 bytes, least", "\xe0\xa0\x80" },
	{ "3 bytes, below surrogates", "\xed\x9f\xbf" },
	{ "3 bytes, above surrogates", "\xee\x80\x80" },
	{ "3 bytes, most", "\xef\xbf\xbf" },
	{ "4 bytes, least", "\xf0\x90\x80\x80" },
	{ "4 bytes, most", "\xf4\x8f\xbf\xbf" },
	{ "words of text", "h\xc3\xb6r zu: 5 \xe2\x82\xac \xf0\x9f\x98\x80" },
	{ "overlong NUL", "\xc0\x80", "\\u00c0\\u0080" },
	{ "overlong 2 bytes", "\xc1\xbf", "\\u00c1\\u00bf" },
	{ "overlong 3 bytes", "\xe0\x9f\xbf", "\\u00e0\\u009f\\u00bf" },
	{ "overlong 4 bytes", "\xf0\x8f\xbf\xbf", "\\u00f0\\u008f\\u00bf\\u00bf" },
	{ "first surrogate", "\xed\xa0\x80", "\\u00ed\\u00a0\\u0080" },
	{ "last surrogate", "\xed\xbf\xbf", "\\u00ed\\u00bf\\u00bf" },
	{ "above U+10FFFF", "\xf4\x90\x80\x80", "\\u00f4\\u0090\\u0080\\u0080" },
	{ "5 bytes", "\xf8\x88\x80\x80\x80", "\\u00f8\\u0088\\u0080\\u0080\\u0080" },
	{ "lone continuation", "\x80", "\\u0080" },
	{ "continuation after a character", "\xc3\xa9\xa9", "\xc3\xa9\\u00a9" },
	{ "1 of 2 bytes", "\xc3", "\\u00c3" },
	{ "2 of 3 bytes", "\xe2\x82", "\\u00e2\\u0082" },
	{ "3 of 4 bytes", "\xf0\x9f\x98", "\\u00f0\\u009f\\u0098" },
	{ "cut by a character", "\xe2\x82\xc3\xa9", "\\u00e2\\u0082\xc3\xa9" },
	{ "0xff", "\xff\xff", "\\u00ff\\u00ff" },
	{ "end of the object", "\", \"x\": \"}", "\\\", \\\"x\\\": \\\"}" },
	{ "half an escape", "\\u00", "\\\\u00" },
	{ "a word of quotes", "\"\"\"\"\"\"\"\"",
	  "\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"" },
	{ "borrow from the byte before", "\x1f !\x01\x22 \x5c!",
	  "\\u001f !\\u0001\\\" \\\\!" },
};

static void exterr_hostile_text_test(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(hostile_cases); i++)
		expect_escaped(test, hostile_cases[i].in,
			       hostile_cases[i].out ?: hostile_cases[i].in);
}

/* A message in which every kind of character meets every end of the buffer. */
static const char mixed_text[] =
	"\"quoted\" \\ name\twith\x01 \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xff!";
static const char mixed_json[] =
	"\\\"quoted\\\" \\\\ name\\twith\\u0001 \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\\u00ff!";

static int report_mixed(void)
{
	return fail_outer(fail_text(mixed_text), 2);
}

static int report_mixed_first(void)
{
	return fail_text(mixed_text);
}

static const struct size_case {
	const char *name;
	int (*fail)(void);
	const char *message;
} size_cases[] = {
	{ "plain", report_plain, "the device is gone" },
	{ "member", report_member, "size 200 is over 64" },
	{ "argument", report_arg, "no such cpu" },
	{ "chain", report_chain, "outer value 2" },
	{ "mixed", report_mixed_first, mixed_json },
	{ "mixed in a chain", report_mixed, "outer value 2" },
};

KUNIT_ARRAY_PARAM_DESC(size, size_cases, name);

/*
 * Faults: truncated JSON; size 0 underflows. Whatever fits is written, whatever
 * more fits is more, and nothing is written where nobody gave room.
 */
static void exterr_sizes_test(struct kunit *test)
{
	const struct size_case *c = test->param_value;
	size_t size, len, whole, n, before = 0, message_before = 0;
	unsigned int members = 0, objects = 0;
	char *buf = report_buffer(test);
	struct exterr_ctx ctx;
	struct report r;
	bool cut;
	int code;

	listen(&ctx);
	code = c->fail();
	whole = exterr_format(&ctx, code, buf, EXTERR_REPORT_MAX);
	for (size = 0; size <= whole + 16; size++) {
		memset(buf, TEST_CANARY, whole + 64);
		len = exterr_format(&ctx, code, buf, size);

		/* No assertions before the context is gone. */
		if (len > size || memchr_inv(buf + size, TEST_CANARY, whole + 64 - size)) {
			KUNIT_FAIL(test, "written past the end of %zu", size);
			break;
		}
		KUNIT_EXPECT_GE_MSG(test, len, before, "less in %zu than in fewer", size);
		before = len;
		if (!size)
			continue;
		KUNIT_EXPECT_EQ(test, buf[len - 1], 0);
		KUNIT_EXPECT_EQ(test, strlen(buf), len - 1);
		if (len == 1)
			continue;

		if (!read_report(&r, buf)) {
			KUNIT_FAIL(test, "not JSON in %zu: %s", size, buf);
			break;
		}
		KUNIT_EXPECT_GE(test, r.objects, objects);
		objects = r.objects;

		n = strlen(c->message);
		KUNIT_EXPECT_LE(test, r.message_len, n);
		KUNIT_EXPECT_MEMEQ(test, r.message, c->message, min(r.message_len, n));
		KUNIT_EXPECT_GE(test, r.message_len, message_before);
		message_before = r.message_len;

		cut = r.message_len < n;
		KUNIT_EXPECT_EQ_MSG(test, r.truncated, cut, "%s", buf);
		if (cut) {
			KUNIT_EXPECT_EQ(test, r.members, REPORT_MANDATORY + 1);
		} else {
			KUNIT_EXPECT_GE(test, r.members, members);
			members = r.members;
		}
	}
	quiet(&ctx);
	KUNIT_EXPECT_EQ(test, before, whole);
	KUNIT_EXPECT_GT(test, objects, 0);
}

static void exterr_smallest_test(struct kunit *test)
{
	static const char least[] =
		"{\n"
		"\t\"code\": -22,\n"
		"\t\"module\": \"exterr_kunit\",\n"
		"\t\"message\": \"a\",\n"
		"\t\"truncated\": true\n"
		"}";
	char *buf = report_buffer(test);
	size_t too_small, fits, one_more;
	struct exterr_ctx ctx;
	int code;

	listen(&ctx);
	code = fail_text("a message that is longer than the word that it was cut");
	too_small = exterr_format(&ctx, code, buf, sizeof(least) - 1);
	KUNIT_EXPECT_STREQ(test, buf, "");
	fits = exterr_format(&ctx, code, buf, sizeof(least));
	KUNIT_EXPECT_STREQ(test, buf, least);
	one_more = exterr_format(&ctx, code, buf, sizeof(least) + 1);
	KUNIT_EXPECT_NOT_NULL(test, strstr(buf, "\"message\": \"a \""));
	quiet(&ctx);

	KUNIT_EXPECT_EQ(test, too_small, 1);
	KUNIT_EXPECT_EQ(test, fits, sizeof(least));
	KUNIT_EXPECT_EQ(test, one_more, sizeof(least) + 1);
}

static void exterr_no_reason_test(struct kunit *test)
{
	static const int values[] = { -EINVAL, -EXTERR_BASE + 1, 0, 1, TEST_UNBOUND };
	unsigned int i;
	char buf[4];

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		memset(buf, TEST_CANARY, sizeof(buf));
		KUNIT_EXPECT_EQ(test, exterr_format(NULL, values[i], buf, 0), 0);
		KUNIT_EXPECT_EQ(test, buf[0], TEST_CANARY);
		KUNIT_EXPECT_EQ(test, exterr_format(NULL, values[i], buf, sizeof(buf)), 1);
		KUNIT_EXPECT_EQ(test, buf[0], 0);
		KUNIT_EXPECT_EQ(test, buf[1], TEST_CANARY);
	}
}

/* A report shows so many links and then ends properly. */
static void exterr_deep_chain_test(struct kunit *test)
{
	static struct exterr_site sites[EXTERR_DEPTH_MAX + 4] = {
		[0 ... EXTERR_DEPTH_MAX + 3] = TEST_SITE("a link"),
	};
	size_t size = 2 * EXTERR_REPORT_MAX;
	char *buf = kunit_kzalloc(test, size, GFP_KERNEL);
	struct report r;
	unsigned int i;
	int code = -EDOM;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	for (i = 0; i < ARRAY_SIZE(sites); i++) {
		code = exterr_fold(&sites[i], code);
		KUNIT_EXPECT_EQ(test, exterr_errno(code), -EDOM);

		exterr_format(NULL, code, buf, size);
		KUNIT_ASSERT_TRUE_MSG(test, read_report(&r, buf), "%s", buf);
		KUNIT_EXPECT_EQ(test, r.objects, min_t(unsigned int, i + 1, EXTERR_DEPTH_MAX));
		KUNIT_EXPECT_EQ(test, r.truncated, 0);
	}
}

static struct kunit_case exterr_json_cases[] = {
	KUNIT_CASE(exterr_reader_test),
	KUNIT_CASE_PARAM(exterr_exact_json_test, report_gen_params),
	KUNIT_CASE(exterr_hostile_bytes_test),
	KUNIT_CASE(exterr_hostile_text_test),
	KUNIT_CASE_PARAM(exterr_sizes_test, size_gen_params),
	KUNIT_CASE(exterr_smallest_test),
	KUNIT_CASE(exterr_no_reason_test),
	KUNIT_CASE(exterr_deep_chain_test),
	{}
};

static struct kunit_suite exterr_json_suite = {
	.name = "exterr_json",
	.test_cases = exterr_json_cases,
};

/*
 * Reports to user memory
 */

#define USER_SIZE	(2 * PAGE_SIZE)

/* Two pages that can be written, or only read, and behind them nothing. */
static char __user *user_pages(struct kunit *test, unsigned long prot)
{
	unsigned long addr;

	if (!IS_ENABLED(CONFIG_MMU))
		kunit_skip(test, "needs CONFIG_MMU");

	addr = kunit_vm_mmap(test, NULL, 0, USER_SIZE + PAGE_SIZE, prot,
			     MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE_MSG(test, addr, 0, "no user memory");
	KUNIT_ASSERT_LT_MSG(test, addr, (unsigned long)-MAX_ERRNO, "no user memory");
	KUNIT_ASSERT_EQ(test, vm_munmap(addr + USER_SIZE, PAGE_SIZE), 0);
	return (char __user *)addr;
}

/* Report what @fail returns to @user; @seen has @bytes of it, before and after. */
static long report_to_user(struct kunit *test, int (*fail)(void), char __user *user,
			   size_t size, char *seen, size_t bytes)
{
	struct exterr_ctx ctx;
	long ret;

	memset(seen, TEST_CANARY, bytes);
	KUNIT_ASSERT_EQ(test, copy_to_user(user, seen, bytes), 0);
	exterr_begin(&ctx, true);
	ret = exterr_report(&ctx, fail(), user, size);
	KUNIT_ASSERT_EQ(test, copy_from_user(seen, user, bytes), 0);
	return ret;
}

static void exterr_exit_test(struct kunit *test)
{
	const struct report_case *c = test->param_value;
	char __user *user = user_pages(test, PROT_READ | PROT_WRITE);
	char *seen = report_buffer(test);
	int code = c->fail();
	long ret;

	ret = report_to_user(test, c->fail, user, EXTERR_REPORT_MAX, seen, EXTERR_REPORT_MAX);
	KUNIT_EXPECT_EQ(test, ret, exterr_errno(code));
	KUNIT_EXPECT_STREQ(test, seen, expected_report(test, c->json, code));
}

/*
 * Fault: copy_to_user() of the size that the user gave reads past the string.
 * The buffer ends where the pages end, so that a byte more is a fault, and what
 * is in it behind the report must be what the user had there.
 */
static void exterr_exit_sizes_test(struct kunit *test)
{
	char __user *end = user_pages(test, PROT_READ | PROT_WRITE) + USER_SIZE;
	char *want = report_buffer(test), *seen = report_buffer(test);
	size_t size, len, whole;
	struct exterr_ctx ctx;
	int code;
	long ret;

	listen(&ctx);
	code = report_chain();
	whole = exterr_format(&ctx, code, want, EXTERR_REPORT_MAX);
	for (size = 0; size < whole + 32; size++) {
		len = exterr_format(&ctx, code, want, size);
		ret = report_to_user(test, report_chain, end - size, size, seen, size);
		KUNIT_EXPECT_EQ(test, ret, -EDOM);
		KUNIT_EXPECT_MEMEQ(test, seen, want, len);
		KUNIT_EXPECT_NULL(test, memchr_inv(seen + len, TEST_CANARY, size - len));
	}
	quiet(&ctx);
}

/* More room than a report ever takes is as good as what it takes. */
static void exterr_exit_huge_size_test(struct kunit *test)
{
	static const size_t sizes[] = {
		EXTERR_REPORT_MAX - 1, EXTERR_REPORT_MAX, EXTERR_REPORT_MAX + 1,
		1 << 20, INT_MAX, U32_MAX, LONG_MAX, SIZE_MAX,
	};
	char __user *user = user_pages(test, PROT_READ | PROT_WRITE);
	char *seen = report_buffer(test);
	unsigned int i;
	size_t len;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		KUNIT_EXPECT_EQ(test, report_to_user(test, report_plain, user, sizes[i],
						     seen, EXTERR_REPORT_MAX), -ENODEV);
		KUNIT_EXPECT_NOT_NULL(test, strstr(seen, "the device is gone"));
		len = strlen(seen) + 1;
		KUNIT_EXPECT_NULL(test, memchr_inv(seen + len, TEST_CANARY,
						   EXTERR_REPORT_MAX - len));
	}
}

static void exterr_exit_values_test(struct kunit *test)
{
	static const struct {
		long err;
		char first;	/* 0: the empty string */
	} cases[] = {
		{ 0, TEST_CANARY },
		{ 1, TEST_CANARY },
		{ EXTERR_BASE, TEST_CANARY },
		{ INT_MAX, TEST_CANARY },
		{ LONG_MAX, TEST_CANARY },
#ifdef CONFIG_64BIT
		/* A long that is some code when only its lower half is seen. */
		{ 0x1fffff9c0, TEST_CANARY },
		{ 0x7ffffffffa00, TEST_CANARY },
#endif
		{ -EINVAL, 0 },
		{ -EXTERR_BASE + 1, 0 },
		{ TEST_UNBOUND, 0 },
		{ -ERESTARTSYS + 1, 0 },
		{ -ERESTARTSYS, TEST_CANARY },
		{ -ERESTARTNOINTR, TEST_CANARY },
		{ -ERESTARTNOHAND, TEST_CANARY },
		{ -ERESTART_RESTARTBLOCK, TEST_CANARY },
		{ -ERESTART_RESTARTBLOCK - 1, 0 },
	};
	char __user *user = user_pages(test, PROT_READ | PROT_WRITE);
	struct exterr_ctx ctx;
	unsigned int i;
	char seen[2];

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		memset(seen, TEST_CANARY, sizeof(seen));
		KUNIT_ASSERT_EQ(test, copy_to_user(user, seen, sizeof(seen)), 0);
		listen(&ctx);
		KUNIT_EXPECT_EQ(test, exterr_report(&ctx, cases[i].err, user, 64), cases[i].err);
		KUNIT_ASSERT_EQ(test, copy_from_user(seen, user, sizeof(seen)), 0);
		KUNIT_EXPECT_EQ_MSG(test, seen[0], cases[i].first, "%ld", cases[i].err);
		KUNIT_EXPECT_EQ(test, seen[1], TEST_CANARY);
		KUNIT_EXPECT_NULL(test, current->exterr_ctx);
	}
}

/* A buffer that cannot be written changes nothing about the failure. */
static void exterr_exit_bad_buffer_test(struct kunit *test)
{
	char __user *writable = user_pages(test, PROT_READ | PROT_WRITE);
	char __user *readable = user_pages(test, PROT_READ);
	char *kernel = report_buffer(test);
	const struct {
		const char *name;
		void __user *buf;
		size_t size;
	} cases[] = {
		{ "NULL", NULL, 512 },
		{ "NULL and no size", NULL, 0 },
		{ "no size", writable, 0 },
		{ "not mapped", writable + USER_SIZE, 512 },
		{ "not mapped behind a few bytes", writable + USER_SIZE - 8, 512 },
		{ "read only", readable, 512 },
		{ "the first page", (void __user *)8, 512 },
		{ "the last page", (void __user *)-64UL, 512 },
		{ "kernel memory", (void __force __user *)kernel, 512 },
	};
	struct exterr_ctx ctx;
	unsigned int i;
	char seen;

	memset(kernel, TEST_CANARY, EXTERR_REPORT_MAX);
	KUNIT_ASSERT_EQ(test, copy_to_user(writable, kernel, 1), 0);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		listen(&ctx);
		KUNIT_EXPECT_EQ_MSG(test, exterr_report(&ctx, report_chain(), cases[i].buf,
							cases[i].size),
				    -EDOM, "%s", cases[i].name);
		listen(&ctx);
		KUNIT_EXPECT_EQ_MSG(test, exterr_report(&ctx, -EIO, cases[i].buf,
							cases[i].size),
				    -EIO, "%s, no reason", cases[i].name);
		KUNIT_EXPECT_NULL(test, current->exterr_ctx);
	}
	KUNIT_EXPECT_NULL(test, memchr_inv(kernel, TEST_CANARY, EXTERR_REPORT_MAX));
	KUNIT_ASSERT_EQ(test, copy_from_user(&seen, writable, 1), 0);
	KUNIT_EXPECT_EQ(test, seen, TEST_CANARY);
	KUNIT_ASSERT_EQ(test, copy_from_user(&seen, readable, 1), 0);
	KUNIT_EXPECT_EQ(test, seen, 0);
}

/* Nobody asked: the buffer is not looked at, and no code leaves all the same. */
static void exterr_exit_not_asked_test(struct kunit *test)
{
	char __user *user = user_pages(test, PROT_READ | PROT_WRITE);
	char seen = TEST_CANARY;
	struct exterr_ctx ctx;

	KUNIT_ASSERT_EQ(test, copy_to_user(user, &seen, 1), 0);
	exterr_begin(&ctx, false);
	KUNIT_EXPECT_EQ(test, exterr_report(&ctx, report_chain(), user, 64), -EDOM);
	exterr_begin(&ctx, false);
	KUNIT_EXPECT_EQ(test, exterr_report_deferred(&ctx, report_chain(), user, 64), -EDOM);
	KUNIT_ASSERT_EQ(test, copy_from_user(&seen, user, 1), 0);
	KUNIT_EXPECT_EQ(test, seen, TEST_CANARY);
}

/* Fault: a copy that faults is done under mmap_lock. */
static void exterr_exit_deferred_test(struct kunit *test)
{
	char __user *user = user_pages(test, PROT_READ | PROT_WRITE);
	char *seen = report_buffer(test);
	struct exterr_ctx ctx;
	int code;

	if (!IS_BUILTIN(CONFIG_EXTERR_KUNIT_TEST))
		kunit_skip(test, "modules cannot run task work");

	/* The page is not there yet, so that an early copy would deadlock. */
	mmap_write_lock(current->mm);
	listen(&ctx);
	code = report_chain();
	KUNIT_EXPECT_EQ(test, exterr_report_deferred(&ctx, code, user, EXTERR_REPORT_MAX),
			-EDOM);
	KUNIT_EXPECT_NULL(test, current->exterr_ctx);
	mmap_write_unlock(current->mm);
	KUNIT_ASSERT_EQ(test, copy_from_user(seen, user, 1), 0);
	KUNIT_EXPECT_EQ(test, seen[0], 0);

	if (IS_BUILTIN(CONFIG_EXTERR_KUNIT_TEST))
		task_work_run();
	KUNIT_ASSERT_EQ(test, copy_from_user(seen, user, EXTERR_REPORT_MAX), 0);
	KUNIT_EXPECT_STREQ(test, seen,
			   expected_report(test, report_cases[ARRAY_SIZE(report_cases) - 1].json,
					   code));

	/* Nothing is left behind for the next time. */
	memset(seen, TEST_CANARY, EXTERR_REPORT_MAX);
	KUNIT_ASSERT_EQ(test, copy_to_user(user, seen, EXTERR_REPORT_MAX), 0);
	listen(&ctx);
	KUNIT_EXPECT_EQ(test, exterr_report_deferred(&ctx, 0, user, EXTERR_REPORT_MAX), 0);
	listen(&ctx);
	KUNIT_EXPECT_EQ(test, exterr_report_deferred(&ctx, -EIO, NULL, 16), -EIO);
	if (IS_BUILTIN(CONFIG_EXTERR_KUNIT_TEST))
		task_work_run();
	KUNIT_ASSERT_EQ(test, copy_from_user(seen, user, EXTERR_REPORT_MAX), 0);
	KUNIT_EXPECT_NULL(test, memchr_inv(seen, TEST_CANARY, EXTERR_REPORT_MAX));
}

static struct kunit_case exterr_exit_cases[] = {
	KUNIT_CASE_PARAM(exterr_exit_test, report_gen_params),
	KUNIT_CASE(exterr_exit_sizes_test),
	KUNIT_CASE(exterr_exit_huge_size_test),
	KUNIT_CASE(exterr_exit_values_test),
	KUNIT_CASE(exterr_exit_bad_buffer_test),
	KUNIT_CASE(exterr_exit_not_asked_test),
	KUNIT_CASE(exterr_exit_deferred_test),
	{}
};

static struct kunit_suite exterr_exit_suite = {
	.name = "exterr_exits",
	.test_cases = exterr_exit_cases,
};

/*
 * Fault: there is nothing for modules. The modules here are faked: the array of
 * sites is theirs, and it goes, and comes back somewhere else, as often as a
 * test likes.
 */
#ifdef CONFIG_MODULES

enum fake_site {
	FAKE_PLAIN,
	FAKE_VALUE,
	FAKE_FOREIGN,
	FAKE_OUTER,
	FAKE_SITES,
};

static const char *const fake_texts[FAKE_SITES] = {
	[FAKE_PLAIN] = "the fake device is gone",
	[FAKE_VALUE] = "fake value %u",
	[FAKE_FOREIGN] = "a hook of the fake said no",
	[FAKE_OUTER] = "the fake gives up",
};

static const struct exterr_unit fake_unit = {
	.domain = &exterr_domain_exterr_test_a,
	.module = "exterr_fake",
	.file = "drivers/fake/fake.c",
};

static const char gone_text[] = "the module that knows the reason has been unloaded";

struct fake_module {
	struct module mod;
	struct exterr_site sites[FAKE_SITES];
};

static void fake_unload(void *data)
{
	struct fake_module *fake = data;

	exterr_module_notify(NULL, MODULE_STATE_GOING, &fake->mod);
	/* As free_module() does before the memory goes. */
	synchronize_rcu();
}

static struct fake_module *fake_load(struct kunit *test, const struct exterr_unit *unit,
				     unsigned int line)
{
	struct fake_module *fake = kunit_kzalloc(test, sizeof(*fake), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, fake);
	for (i = 0; i < FAKE_SITES; i++) {
		fake->sites[i].fmt = fake_texts[i];
		fake->sites[i].unit = unit;
		fake->sites[i].line = line + i;
		fake->sites[i].foreign = i == FAKE_FOREIGN;
	}
	fake->mod.mem[MOD_DATA].base = fake->sites;
	fake->mod.mem[MOD_DATA].size = sizeof(fake->sites);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, fake_unload, fake), 0);
	return fake;
}

static void exterr_module_unload_test(struct kunit *test)
{
	struct fake_module *fake = fake_load(test, &fake_unit, 10);
	int code = exterr_fold(&fake->sites[FAKE_PLAIN], -EPIPE);
	int value, ours = fail_plain(-ENODEV);
	char *buf = report_buffer(test);
	struct exterr_ctx ctx;

	KUNIT_EXPECT_EQ(test, exterr_errno(code), -EPIPE);
	KUNIT_EXPECT_PTR_EQ(test, code_site(code), &fake->sites[FAKE_PLAIN]);
	expect_message(test, NULL, code, "the fake device is gone");

	listen(&ctx);
	value = exterr_foldf(&fake->sites[FAKE_VALUE], -EINVAL, 5);
	kunit_release_action(test, fake_unload, fake);

	/* What was said while the module was there has been kept. */
	expect_message(test, &ctx, value, "fake value 5");
	KUNIT_EXPECT_EQ(test, exterr_report(&ctx, value, NULL, 0), -EINVAL);

	/* Nothing may be read there any more. */
	memset(fake, TEST_CANARY, sizeof(*fake));
	KUNIT_EXPECT_EQ(test, exterr_errno(code), -EPIPE);
	expect_message(test, NULL, code, gone_text);
	expect_message(test, NULL, value, gone_text);
	exterr_format(NULL, code, buf, EXTERR_REPORT_MAX);
	KUNIT_EXPECT_NOT_NULL(test, strstr(buf, "\"errno\": \"EPIPE\""));

	/* Other people's codes are none of its business. */
	expect_message(test, NULL, ours, "the device is gone");
	KUNIT_EXPECT_EQ(test, fail_plain(-ENODEV), ours);
}

/* Only when the module really goes. */
static void exterr_module_states_test(struct kunit *test)
{
	static const unsigned long states[] = {
		MODULE_STATE_UNFORMED, MODULE_STATE_COMING, MODULE_STATE_LIVE,
	};
	struct fake_module *fake = fake_load(test, &fake_unit, 10);
	int code = exterr_fold(&fake->sites[FAKE_PLAIN], -EPIPE);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(states); i++) {
		exterr_module_notify(NULL, states[i], &fake->mod);
		KUNIT_EXPECT_PTR_EQ(test, code_site(code), &fake->sites[FAKE_PLAIN]);
		KUNIT_EXPECT_EQ(test, exterr_fold(&fake->sites[FAKE_PLAIN], -EPIPE), code);
	}
}

static void exterr_module_reload_test(struct kunit *test)
{
	static const int causes[] = { -EPIPE, -EIO, -ENOMEM };
	int codes[FAKE_SITES][ARRAY_SIZE(causes)];
	unsigned int load, i, j, used = 0;
	struct fake_module *fake;
	int code;

	for (load = 0; load < 20; load++) {
		fake = fake_load(test, &fake_unit, 10);
		for (i = 0; i < FAKE_SITES; i++) {
			for (j = 0; j < ARRAY_SIZE(causes); j++) {
				code = exterr_fold(&fake->sites[i], causes[j]);
				if (!load)
					codes[i][j] = code;
				KUNIT_EXPECT_EQ(test, code, codes[i][j]);
				KUNIT_EXPECT_EQ(test, exterr_errno(code), causes[j]);
				KUNIT_EXPECT_PTR_EQ(test, code_site(code), &fake->sites[i]);
			}
			KUNIT_EXPECT_EQ(test, codes_of(&fake->sites[i]), ARRAY_SIZE(causes));
		}
		expect_message(test, NULL, codes[FAKE_PLAIN][0], "the fake device is gone");
		if (!load)
			used = exterr_used();
		KUNIT_EXPECT_EQ(test, exterr_used(), used);
		kunit_release_action(test, fake_unload, fake);
		memset(fake, TEST_CANARY, sizeof(*fake));
	}
}

/* A code that waits for its module does so even when no other is left. */
static void exterr_module_reload_exhausted_test(struct kunit *test)
{
	struct fake_module *fake = fake_load(test, &fake_unit, 10);
	int code = exterr_fold(&fake->sites[FAKE_PLAIN], -EPIPE);

	kunit_release_action(test, fake_unload, fake);
	use_up_codes(test);
	fake = fake_load(test, &fake_unit, 10);
	KUNIT_EXPECT_TRUE(test, exterr_is(code));
	KUNIT_EXPECT_EQ(test, exterr_fold(&fake->sites[FAKE_PLAIN], -EPIPE), code);
}

/* Only the same place of the same module gets a code back. */
static void exterr_module_stranger_test(struct kunit *test)
{
	static const struct exterr_unit units[] = {
		{ &exterr_domain_exterr_test_a, "exterr_faker", "drivers/fake/fake.c" },
		{ &exterr_domain_exterr_test_a, "exterr_fake", "drivers/fake/faker.c" },
		{ &exterr_domain_exterr_test_b, "exterr_fake", "drivers/fake/fake.c" },
	};
	struct fake_module *fake = fake_load(test, &fake_unit, 10), *stranger;
	int code = exterr_fold(&fake->sites[FAKE_PLAIN], -EPIPE), other;
	unsigned int i;

	kunit_release_action(test, fake_unload, fake);

	for (i = 0; i < ARRAY_SIZE(units); i++) {
		stranger = fake_load(test, &units[i], 10);
		other = exterr_fold(&stranger->sites[FAKE_PLAIN], -EPIPE);
		KUNIT_EXPECT_TRUE(test, exterr_is(other));
		KUNIT_EXPECT_NE_MSG(test, other, code, "unit %u", i);
	}

	stranger = fake_load(test, &fake_unit, 100);
	other = exterr_fold(&stranger->sites[FAKE_PLAIN], -EPIPE);
	KUNIT_EXPECT_TRUE(test, exterr_is(other));
	KUNIT_EXPECT_NE_MSG(test, other, code, "another line");

	stranger = fake_load(test, &fake_unit, 10);
	stranger->sites[FAKE_PLAIN].fmt = "another text";
	other = exterr_fold(&stranger->sites[FAKE_PLAIN], -EPIPE);
	KUNIT_EXPECT_TRUE(test, exterr_is(other));
	KUNIT_EXPECT_NE_MSG(test, other, code, "another text");

	stranger = fake_load(test, &fake_unit, 10);
	other = exterr_fold(&stranger->sites[FAKE_PLAIN], -EIO);
	KUNIT_EXPECT_NE_MSG(test, other, code, "another cause");
	KUNIT_EXPECT_EQ(test, exterr_errno(other), -EIO);
	KUNIT_EXPECT_EQ(test, exterr_fold(&stranger->sites[FAKE_PLAIN], -EPIPE), code);
}

/* The same module twice at once, as no module is: two places, two codes. */
static void exterr_module_twin_test(struct kunit *test)
{
	struct fake_module *one = fake_load(test, &fake_unit, 10);
	struct fake_module *two = fake_load(test, &fake_unit, 10);
	int a = exterr_fold(&one->sites[FAKE_PLAIN], -EPIPE);
	int b = exterr_fold(&two->sites[FAKE_PLAIN], -EPIPE);

	KUNIT_EXPECT_TRUE(test, exterr_is(a));
	KUNIT_EXPECT_TRUE(test, exterr_is(b));
	KUNIT_EXPECT_NE(test, a, b);
	kunit_release_action(test, fake_unload, one);
	KUNIT_EXPECT_EQ(test, exterr_fold(&two->sites[FAKE_PLAIN], -EPIPE), b);
	expect_message(test, NULL, a, gone_text);
	expect_message(test, NULL, b, "the fake device is gone");
}

static void exterr_module_foreign_test(struct kunit *test)
{
	struct fake_module *fake = fake_load(test, &fake_unit, 10);
	int cause = fail_plain(-ENODEV);
	int code = exterr_fold(&fake->sites[FAKE_FOREIGN], cause);
	char *buf = report_buffer(test);

	KUNIT_EXPECT_TRUE(test, exterr_is(code));
	KUNIT_EXPECT_EQ(test, exterr_errno(code), cause);
	kunit_release_action(test, fake_unload, fake);
	KUNIT_EXPECT_EQ(test, exterr_errno(code), cause);
	exterr_format(NULL, code, buf, EXTERR_REPORT_MAX);
	KUNIT_EXPECT_NULL(test, strstr(buf, "the device is gone"));

	fake = fake_load(test, &fake_unit, 10);
	KUNIT_EXPECT_EQ(test, exterr_fold(&fake->sites[FAKE_FOREIGN], cause), code);
	KUNIT_EXPECT_EQ(test, exterr_errno(code), cause);
	exterr_format(NULL, code, buf, EXTERR_REPORT_MAX);
	KUNIT_EXPECT_NOT_NULL(test, strstr(buf, "a hook of the fake said no"));
	KUNIT_EXPECT_NULL(test, strstr(buf, "the device is gone"));
}

static void exterr_module_chain_test(struct kunit *test)
{
	struct fake_module *fake = fake_load(test, &fake_unit, 10);
	int inner = fail_inner(-EDOM, 1);
	int middle = exterr_fold(&fake->sites[FAKE_OUTER], inner);
	int outer = fail_outer(middle, 2);
	char *buf = report_buffer(test);
	struct report r;

	kunit_release_action(test, fake_unload, fake);
	memset(fake, TEST_CANARY, sizeof(*fake));

	KUNIT_EXPECT_EQ(test, exterr_errno(outer), -EDOM);
	KUNIT_EXPECT_EQ(test, fail_outer(middle, 2), outer);
	KUNIT_EXPECT_EQ(test, fail_inner(outer, 1), outer);
	exterr_format(NULL, outer, buf, EXTERR_REPORT_MAX);
	KUNIT_ASSERT_TRUE_MSG(test, read_report(&r, buf), "%s", buf);
	KUNIT_EXPECT_EQ(test, r.objects, 3);
	KUNIT_EXPECT_NOT_NULL(test, strstr(buf, "outer value %u"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(buf, gone_text));
	KUNIT_EXPECT_NOT_NULL(test, strstr(buf, "inner value %u"));

	fake = fake_load(test, &fake_unit, 10);
	KUNIT_EXPECT_EQ(test, exterr_fold(&fake->sites[FAKE_OUTER], inner), middle);
	KUNIT_EXPECT_EQ(test, exterr_fold(&fake->sites[FAKE_OUTER], outer), outer);
	exterr_format(NULL, outer, buf, EXTERR_REPORT_MAX);
	KUNIT_EXPECT_NOT_NULL(test, strstr(buf, "the fake gives up"));
	KUNIT_EXPECT_NULL(test, strstr(buf, gone_text));
}

static struct kunit_case exterr_module_cases[] = {
	KUNIT_CASE(exterr_module_unload_test),
	KUNIT_CASE(exterr_module_states_test),
	KUNIT_CASE(exterr_module_reload_test),
	KUNIT_CASE(exterr_module_reload_exhausted_test),
	KUNIT_CASE(exterr_module_stranger_test),
	KUNIT_CASE(exterr_module_twin_test),
	KUNIT_CASE(exterr_module_foreign_test),
	KUNIT_CASE(exterr_module_chain_test),
	{}
};

#else

static void exterr_no_modules_test(struct kunit *test)
{
	kunit_skip(test, "needs CONFIG_MODULES");
}

static struct kunit_case exterr_module_cases[] = {
	KUNIT_CASE(exterr_no_modules_test),
	{}
};

#endif

static struct kunit_suite exterr_module_suite = {
	.name = "exterr_modules",
	.test_cases = exterr_module_cases,
};

kunit_test_suites(&exterr_code_suite, &exterr_message_suite, &exterr_json_suite,
		  &exterr_exit_suite, &exterr_module_suite);

MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
MODULE_DESCRIPTION("KUnit tests for extended errnos");
MODULE_LICENSE("GPL");
