// SPDX-License-Identifier: GPL-2.0
/*
 * Reasons that belong to a module: what they say while it is there, and what
 * becomes of their codes when it goes, comes back, or does both under load.
 *
 * Needs the modules exterr_test_pmu and exterr_test_hold, and debugfs.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include <jansson.h>

#include "kselftest.h"

#include "exterr_modules.h"
#include "perf_exterr.h"

#define BUF_SIZE	8192
#define CYCLES		200
#define STORM_CYCLES	300
#define STORM_THREADS	4
#define GONE		"the module that knows the reason has been unloaded"

/* No errno of x86 has this number */
#define NAMELESS	300

/* attr.config of exterr_test_pmu.c */
enum { OK, CONST, VALUE, RUNTIME, CHAIN, RETRY, HOSTILE, LONG, PLAIN, ENOENT_, NR };

struct refused {
	const char *name;
	__u64 config, config1, sample_period;
	bool exclude_idle;
	int err;
	const char *module, *field, *kind;
	int offset;			/* -1: none */
	const char *message;
	const char *causes[3];
	bool truncated;
};

static const struct refused table[] = {
	{
		"constant errno", CONST, .err = EINVAL,
		.field = "config", .kind = "member", .offset = 8,
		.message = "config 1 is refused",
	}, {
		"a value", VALUE, .config1 = 18446744073709551615ULL, .err = ERANGE,
		.field = "config1", .kind = "member", .offset = 56,
		.message = "config1 18446744073709551615 is out of range",
	}, {
		"errno known at run time", RUNTIME, .config1 = EOVERFLOW, .err = EOVERFLOW,
		.field = "config1", .kind = "member", .offset = 56,
		.message = "config1 75 is the errno",
	}, {
		"another errno of that site", RUNTIME, .config1 = ENOTUNIQ, .err = ENOTUNIQ,
		.field = "config1", .kind = "member", .offset = 56,
		.message = "config1 76 is the errno",
	}, {
		"an errno without a name", RUNTIME, .config1 = NAMELESS, .err = NAMELESS,
		.field = "config1", .kind = "member", .offset = 56,
		.message = "config1 300 is the errno",
	}, {
		"chain of three", CHAIN, .err = EIO,
		.field = "config", .kind = "member", .offset = 8,
		.message = "config 4 needs the device",
		.causes = { "register 0x1f cannot be read", "the device does not answer" },
	}, {
		"retry loop", RETRY, .err = EAGAIN, .offset = -1,
		/* a site that fails again means its latest values */
		.message = "attempt 1000 of 1000",
	}, {
		"text that JSON must escape", HOSTILE, .err = EINVAL, .offset = -1,
		/* 0xff is not UTF-8 and comes as U+00FF */
		.message = "\"quoted\" \\ \t\n\x01\xc3\xbf\xc3\xa9",
	}, {
		"long text", LONG, .err = EINVAL, .offset = -1, .truncated = true,
	}, {
		"no reason of its own", PLAIN, .err = EDOM, .module = "perf",
		.field = "config", .kind = "member", .offset = 8,
	}, {
		"ENOENT as an answer", ENOENT_, .err = ENOENT,
		.field = "config", .kind = "member", .offset = 8,
		.message = "config 9 has been removed from this PMU",
	}, {
		"config too high", NR, .err = EINVAL,
		.field = "config", .kind = "member", .offset = 8,
		.message = "config 10 is over 9",
	}, {
		"sampling", OK, .sample_period = 1000, .err = EINVAL,
		.field = "sample_period", .kind = "member", .offset = 16,
		.message = "sample_period 1000: PMU exterr_test only counts",
	}, {
		"bitfield", OK, .exclude_idle = true, .err = EOPNOTSUPP,
		.field = "exclude_idle", .kind = "member", .offset = -1,
		.message = "exclude_idle=1: PMU exterr_test knows no idle",
	},
};

static char buf[BUF_SIZE];

static int try_open(long type, const struct refused *row, char *reason, int size)
{
	union perf_exterr_attr a;
	int fd;

	memset(&a, 0, sizeof(a));
	a.attr.type = type;
	a.attr.config = row->config;
	a.attr.config1 = row->config1;
	a.attr.sample_period = row->sample_period;
	a.attr.exclude_idle = row->exclude_idle;
	if (size)
		memset(reason, 0xaa, size);
	perf_exterr_attach(&a, reason, size);
	fd = perf_exterr_open(&a, 0, -1, -1, 0);
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static const char *get_string(json_t *obj, const char *name)
{
	return json_string_value(json_object_get(obj, name));
}

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static json_t *parse(const char *text, size_t size)
{
	size_t len = strnlen(text, size);

	return len < size ? json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL) : NULL;
}

/* What is wrong with the report of @row, or NULL */
static const char *check_report(const struct refused *row, long type, json_t *obj)
{
	const char *message = get_string(obj, "message");
	json_t *offset = json_object_get(obj, "offset"), *at = obj;
	bool named = row->err != NAMELESS;
	char expected[200];
	size_t i;

	if (!obj || !message)
		return "no report";
	if (json_integer_value(json_object_get(obj, "code")) != -row->err)
		return "code";
	if (!same(get_string(obj, "module"), row->module ?: MODULE_PMU))
		return "module";
	if (!same(get_string(obj, "domain"), "perf"))
		return "domain";
	if (!same(get_string(obj, "field"), row->field))
		return "field";
	if (!same(get_string(obj, "kind"), row->kind))
		return "kind";
	if (row->offset < 0 ? !!offset : json_integer_value(offset) != row->offset)
		return "offset";
	if (!!json_object_get(obj, "errno") != named)
		return "errno";
	if (!!json_object_get(obj, "truncated") != row->truncated)
		return "truncated";

	switch (row->config) {
	case LONG:
		/* it is zeros, then a 1 that must not be there */
		if (strlen(message) < 500 || strspn(message, "0") != strlen(message))
			return "long message";
		break;
	case PLAIN:
		snprintf(expected, sizeof(expected),
			 "PMU exterr_test refuses type %ld config 0x%x and does not say why",
			 type, PLAIN);
		if (!same(message, expected))
			return "message";
		break;
	default:
		if (!same(message, row->message))
			return "message";
	}
	for (i = 0; i < ARRAY_SIZE(row->causes); i++) {
		at = json_object_get(at, "cause");
		if (!same(get_string(at, "message"), row->causes[i]))
			return "cause";
		if (at && json_integer_value(json_object_get(at, "code")) != -row->err)
			return "code of the cause";
		if (at && !same(get_string(at, "module"), MODULE_PMU))
			return "module of the cause";
	}
	return NULL;
}

static void test_row(const struct refused *row)
{
	long type = pmu_type();
	int err = try_open(type, row, buf, sizeof(buf));
	json_t *obj = parse(buf, sizeof(buf));
	const char *wrong = check_report(row, type, obj);

	if (err != row->err)
		wrong = strerror(err);
	if (!wrong && try_open(type, row, NULL, 0) != row->err)
		wrong = "another errno if nobody asks";
	if (wrong)
		ksft_print_msg("%s: %.600s\n", wrong, buf);
	ksft_test_result(!wrong, "%s\n", row->name);
	json_decref(obj);
}

/* A cause that is no error stays none, however often it is wrapped */
static bool run_time_success(void)
{
	const struct refused row = { .config = RUNTIME, .config1 = 0 };

	return !try_open(pmu_type(), &row, buf, sizeof(buf)) &&
	       (unsigned char)buf[0] == 0xaa;
}

static bool retry_eats_no_code(void)
{
	const struct refused row = { .config = RETRY };
	long used = codes_used();
	int i;

	for (i = 0; i < 10; i++)
		try_open(pmu_type(), &row, buf, sizeof(buf));
	if (codes_used() == used && count_lines(CODES_FILE, "attempt %d of 1000") == 1)
		return true;
	ksft_print_msg("%ld codes, then %ld; %d of the loop\n", used, codes_used(),
		       count_lines(CODES_FILE, "attempt %d of 1000"));
	return false;
}

static bool failing_parameter(void)
{
	int err = module_load(MODULE_PMU, "fail_param=1");

	if (err == EINVAL && pmu_type() < 0)
		return true;
	ksft_print_msg("finit_module: %s\n", strerror(err));
	return false;
}

static bool sites_are_listed(bool loaded)
{
	int n = count_lines(SITES_FILE, "\t" MODULE_PMU "\t");

	/* core's sites are there in any case */
	if ((loaded ? n >= 10 : !n) && count_lines(SITES_FILE, "\tperf\t") > 50)
		return true;
	ksft_print_msg("%d sites of " MODULE_PMU "\n", n);
	return false;
}

/* The reason of the code that the file holds; NULL and the errno in *err */
static json_t *read_hold(int fd, int *err)
{
	ssize_t n = read(fd, buf, sizeof(buf));

	*err = n < 0 ? errno : 0;
	return parse(buf, sizeof(buf));
}

static bool hold_says(int fd, const char *message, char id[static 17])
{
	json_t *obj;
	bool good;
	int err;

	obj = read_hold(fd, &err);
	good = err == EXDEV && same(get_string(obj, "message"), message) &&
	       json_integer_value(json_object_get(obj, "code")) == -EXDEV;
	/* the id outlives the module */
	if (good && !*id)
		snprintf(id, 17, "%s", get_string(obj, "id") ?: "?");
	if (!good || !same(get_string(obj, "id"), id)) {
		ksft_print_msg("hold: %s, '%.300s', id was %s\n", strerror(err), buf, id);
		good = false;
	}
	json_decref(obj);
	return good;
}

/* Unload under a held code, load; it speaks again once its place fails again */
static const char *hold_across_reload(int fd, char id[static 17])
{
	const char *wrong = NULL;
	int again;

	if (!hold_says(fd, "%s keeps this code", id))
		return "code of the loaded module";
	if (module_unload(MODULE_PMU))
		return "delete_module";
	if (!hold_says(fd, GONE, id))
		return "code of the unloaded module";
	if (!sites_are_listed(false))
		return "sites of the unloaded module";
	if (module_load(MODULE_PMU, ""))
		return "finit_module";

	again = open(HOLD_FILE, O_RDONLY | O_CLOEXEC);
	if (again < 0 || !hold_says(again, "%s keeps this code", id))
		wrong = "new code of the reloaded module";
	else if (!hold_says(fd, "%s keeps this code", id))
		wrong = "old code of the reloaded module";
	else if (!sites_are_listed(true))
		wrong = "sites of the reloaded module";
	close(again);
	return wrong;
}

static const char *cycle(char id[static 17])
{
	const char *wrong;
	long type = pmu_type();
	json_t *obj;
	size_t i;
	int err, fd;

	for (i = 0; i < ARRAY_SIZE(table); i++) {
		err = try_open(type, &table[i], buf, sizeof(buf));
		obj = parse(buf, sizeof(buf));
		wrong = err == table[i].err ? check_report(&table[i], type, obj) : "errno";
		json_decref(obj);
		if (wrong)
			return wrong;
	}

	fd = open(HOLD_FILE, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return "open of " HOLD_FILE;
	wrong = hold_across_reload(fd, id);
	close(fd);
	return wrong;
}

static bool cycles(void)
{
	long used = -1, lost = codes_lost();
	const char *wrong = NULL;
	char id[17] = "";
	int n;

	for (n = 0; n < CYCLES && !wrong; n++) {
		wrong = cycle(id);
		if (!n)
			used = codes_used();
	}
	if (!wrong && codes_used() != used)
		wrong = "codes were used up";
	if (!wrong && codes_lost() != lost)
		wrong = "reasons were lost";
	if (!wrong)
		return true;
	ksft_print_msg("cycle %d: %s; %ld codes after the first, now %ld\n", n, wrong,
		       used, codes_used());
	return false;
}

/* Somebody is in the middle of the module's sites when these go */
static bool reader_across_unload(void)
{
	static char text[1 << 20];
	int fd = open(SITES_FILE, O_RDONLY | O_CLOEXEC);
	bool good = false;
	size_t len = 0;
	ssize_t n;

	while ((n = read(fd, text + len, 64)) > 0 && len < sizeof(text) - 65) {
		len += n;
		if (!strstr(text + (len > 300 ? len - 300 : 0), "\t" MODULE_PMU "\t"))
			continue;
		if (module_unload(MODULE_PMU))
			break;
		while ((n = read(fd, buf, sizeof(buf))) > 0)
			;
		good = !n && !module_load(MODULE_PMU, "");
		break;
	}
	close(fd);
	return good && sites_are_listed(true);
}

static atomic_long storm_type;
static atomic_bool storm_stop;

struct storm {
	pthread_t thread;
	unsigned long calls, reasons, module_reasons;
	char wrong[200];
};

static void *storm_thread(void *arg)
{
	struct storm *s = arg;
	char reason[BUF_SIZE];
	json_t *obj;
	size_t i;
	int err;

	for (i = 0; !storm_stop && !*s->wrong; i = (i + 1) % ARRAY_SIZE(table)) {
		err = try_open(storm_type, &table[i], reason, sizeof(reason));
		s->calls++;
		obj = parse(reason, sizeof(reason));
		if (json_object_get(obj, "message"))
			s->reasons++;
		if (same(get_string(obj, "module"), MODULE_PMU))
			s->module_reasons++;
		if (err != table[i].err && err != ENOENT && err != ENODEV)
			snprintf(s->wrong, sizeof(s->wrong), "%s: errno %d", table[i].name, err);
		else if (*reason && json_integer_value(json_object_get(obj, "code")) != -err)
			snprintf(s->wrong, sizeof(s->wrong), "errno %d with '%.100s'", err, reason);
		json_decref(obj);
	}
	return NULL;
}

/* Calls fail in threads while the module comes and goes */
static bool storm(void)
{
	struct storm threads[STORM_THREADS];
	unsigned long calls = 0, reasons = 0, module_reasons = 0;
	long used = codes_used();
	bool good = true;
	int i, err = 0;

	memset(threads, 0, sizeof(threads));
	storm_type = pmu_type();
	for (i = 0; i < STORM_THREADS; i++)
		pthread_create(&threads[i].thread, NULL, storm_thread, &threads[i]);
	for (i = 0; i < STORM_CYCLES && !err; i++) {
		err = module_unload(MODULE_PMU);
		if (!err)
			err = module_load(MODULE_PMU, "");
		storm_type = pmu_type();
		usleep(1000);
	}
	storm_stop = true;
	for (i = 0; i < STORM_THREADS; i++) {
		pthread_join(threads[i].thread, NULL);
		calls += threads[i].calls;
		reasons += threads[i].reasons;
		module_reasons += threads[i].module_reasons;
		if (*threads[i].wrong) {
			ksft_print_msg("%s\n", threads[i].wrong);
			good = false;
		}
	}
	ksft_print_msg("%lu calls, %lu reasons, %lu of the module; %ld codes, then %ld; error %d\n",
		       calls, reasons, module_reasons, used, codes_used(), err);
	/* a few reasons of perf's own, about a PMU that is not there, may be new */
	return good && !err && module_reasons && reasons > module_reasons &&
	       codes_used() - used < 8;
}

int main(void)
{
	size_t i;
	int err;

	ksft_print_header();
	err = module_load(MODULE_HOLD, "");
	if (err)
		ksft_exit_skip("no module " MODULE_HOLD ": %s\n", strerror(err));
	ksft_set_plan(9 + ARRAY_SIZE(table));

	ksft_test_result(sites_are_listed(false), "sites of a module that is not loaded\n");
	ksft_test_result(failing_parameter(), "a module parameter fails with a plain errno\n");
	err = module_load(MODULE_PMU, "");
	if (err)
		ksft_exit_fail_msg("no module " MODULE_PMU ": %s\n", strerror(err));
	ksft_test_result(sites_are_listed(true), "sites of a loaded module\n");

	for (i = 0; i < ARRAY_SIZE(table); i++)
		test_row(&table[i]);
	ksft_test_result(run_time_success(), "a run-time errno of 0 is a success\n");
	ksft_test_result(retry_eats_no_code(), "a retry loop takes one code\n");

	ksft_test_result(cycles(), "%d times: fail, unload, report, load, report\n", CYCLES);
	ksft_test_result(reader_across_unload(), "a reader of the sites across an unload\n");
	ksft_test_result(storm(), "%d times: unload and load under failing calls\n", STORM_CYCLES);

	err = module_unload(MODULE_PMU) ?: module_unload(MODULE_HOLD);
	ksft_test_result(!err && sites_are_listed(false), "unload\n");
	ksft_finished();
}
