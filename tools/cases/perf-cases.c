// SPDX-License-Identifier: GPL-2.0
/*
 * perf-cases - failing perf calls and the kernel's reason for each
 *
 * Makes the calls of the table and checks errno and reason (TAP), or shows
 * them to people (--demo).  On a kernel without reason buffers only the
 * errnos are checked.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/vfs.h>

#include <jansson.h>
#include <linux/magic.h>

#include "kselftest.h"

#include "cases.h"

#define COLUMNS		92	/* of the demo */
#define COLUMN_TEXT	14

static struct result *res;
static bool old_kernel;

/* The reason */

static const char *member(const json_t *obj, const char *key)
{
	const char *s = json_string_value(json_object_get(obj, key));

	return s ? s : "";
}

/* Is one of the alternatives in @list part of @text, or the whole of it? */
static bool one_of(const char *list, const char *text, bool whole)
{
	char *copy = strdup(list), *rest = copy, *word;
	bool found = false;

	while (!found && (word = strsep(&rest, "|")))
		found = whole ? !strcmp(word, text) : !!strcasestr(text, word);
	free(copy);
	return found;
}

static bool chain_names_field(const json_t *reason, const char *field)
{
	for (; reason; reason = json_object_get(reason, "cause")) {
		if (one_of(field, member(reason, "field"), true))
			return true;
	}
	return false;
}

static bool chain_says(const json_t *reason, const char *words)
{
	for (; reason; reason = json_object_get(reason, "cause")) {
		if (one_of(words, member(reason, "message"), false))
			return true;
	}
	return false;
}

static bool __attribute__((format(printf, 2, 3)))
fault(char **why, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (vasprintf(why, fmt, args) < 0)
		*why = NULL;
	va_end(args);
	return false;
}

static bool check_object(const json_t *obj, int err, char **why)
{
	static const char * const strings[] = {
		"module", "message", "errno", "domain", "template",
	};
	const json_t *cause = json_object_get(obj, "cause");
	const char *field = member(obj, "field");
	const char *kind = member(obj, "kind");
	size_t i;

	if (json_integer_value(json_object_get(obj, "code")) != -err)
		return fault(why, "code is not -%d", err);
	for (i = 0; i < ARRAY_SIZE(strings); i++) {
		if (!*member(obj, strings[i]))
			return fault(why, "no %s", strings[i]);
	}
	if (strcmp(member(obj, "errno"), strerrorname_np(err)))
		return fault(why, "errno is not %s", strerrorname_np(err));
	if (strlen(member(obj, "id")) != 16)
		return fault(why, "id is not 16 digits");
	if (*field && strcmp(kind, "member") && strcmp(kind, "argument"))
		return fault(why, "kind \"%s\" of field %s", kind, field);
	if (json_object_get(obj, "offset") && strcmp(kind, "member"))
		return fault(why, "an offset, but not of a member");
	return cause ? check_object(cause, err, why) : true;
}

static bool check_bytes(const char *buf, const struct perf_case *c, char **why)
{
	size_t len = strnlen(buf, REASON_SIZE), i;
	char head[64];
	int n;

	if (len == REASON_SIZE)
		return fault(why, "no NUL");
	for (i = len + 1; i < REASON_SIZE; i++) {
		if ((unsigned char)buf[i] != POISON)
			return fault(why, "byte %zu written, after the NUL", i);
	}
	n = snprintf(head, sizeof(head), "{\n\t\"code\": -%d,\n\t\"module\": \"",
		     c->err);
	if (strncmp(buf, head, n))
		return fault(why, "first keys are not code and module");
	return true;
}

static bool check_meaning(const json_t *reason, const struct perf_case *c,
			  char **why)
{
	size_t i;

	if (c->field && !chain_names_field(reason, c->field))
		return fault(why, "field is not %s", c->field);
	for (i = 0; i < ARRAY_SIZE(c->has) && c->has[i]; i++) {
		if (!chain_says(reason, c->has[i]))
			return fault(why, "message lacks %s", c->has[i]);
	}
	if (*res->also && !chain_says(reason, res->also))
		return fault(why, "message lacks %s", res->also);
	return true;
}

static bool written(void)
{
	return (unsigned char)res->reason[0] != POISON;
}

/* The reason as JSON, or NULL and why not */
static json_t *load_reason(char **why)
{
	json_error_t e;
	json_t *reason;

	if (!written()) {
		fault(why, "no reason: buffer not written");
		return NULL;
	}
	if (!res->reason[0]) {
		fault(why, "no reason: empty string");
		return NULL;
	}
	reason = json_loadb(res->reason, strnlen(res->reason, REASON_SIZE),
			    JSON_REJECT_DUPLICATES, &e);
	if (!reason)
		fault(why, "not JSON: %s at line %d", e.text, e.line);
	return reason;
}

static bool check_reason(const struct perf_case *c, char **why)
{
	json_t *reason;
	bool ok;

	if (c->no_reason) {
		if (written())
			return fault(why, "buffer written, yet perf never ran");
		return true;
	}

	reason = load_reason(why);
	if (!reason)
		return false;
	ok = check_bytes(res->reason, c, why) &&
	     check_object(reason, c->err, why) &&
	     check_meaning(reason, c, why);
	json_decref(reason);
	return ok;
}

/* The call in words */

static const char *errno_name(int err)
{
	const char *name = err ? strerrorname_np(err) : "success";

	return name ? name : "?";
}

static void print_open(FILE *f, const struct perf_case *c)
{
	const char *p = c->attr_text;

	fputs("perf_event_open({", f);
	/* continuation lines of the table */
	for (; *p; p++) {
		if (p[0] != ' ' || p[1] != ' ')
			fputc(*p, f);
	}
	fputs("}", f);
	if (c->pid)
		fprintf(f, ", pid=%d", c->pid);
	if (c->cpu != -1)
		fprintf(f, ", cpu=%d", c->cpu);
	if (c->group_fd != -1)
		fprintf(f, ", group_fd=%d", c->group_fd);
	if (c->flags)
		fprintf(f, ", flags=0x%lx", c->flags);
	if (c->args_text)
		fprintf(f, ", %s", c->args_text);
	fputs(")", f);
}

static char *call_text(const struct perf_case *c)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (c->act_text)
		fputs("fd = ", f);
	print_open(f, c);
	if (c->act_text)
		fprintf(f, "; %s", c->act_text);
	if (c->nobody)
		fprintf(f, " as nobody, perf_event_paranoid=%d", c->paranoid);
	fclose(f);
	return text;
}

/* TAP */

static void print_reason_msg(void)
{
	char *copy, *rest, *line;

	if (!written())
		return;
	copy = rest = strndup(res->reason, REASON_SIZE);
	while ((line = strsep(&rest, "\n")))
		ksft_print_msg("  %s\n", line);
	free(copy);
}

static void tap_case(const struct perf_case *c)
{
	char *call = call_text(c), *why = NULL;

	if (res->state == SKIPPED) {
		ksft_test_result_skip("%s: %s\n", c->id, res->why);
	} else if (res->state != RAN) {
		ksft_print_msg("%s\n", res->why);
		ksft_test_result_error("%s %s\n", c->id, call);
	} else if (res->err != c->err) {
		ksft_print_msg("got %s, expected %s\n", errno_name(res->err),
			       errno_name(c->err));
		print_reason_msg();
		ksft_test_result_fail("%s %s\n", c->id, call);
	} else if (old_kernel || c->no_buffer) {
		ksft_test_result_pass("%s %s (errno only)\n", c->id, call);
	} else if (check_reason(c, &why)) {
		ksft_test_result_pass("%s %s\n", c->id, call);
	} else {
		ksft_print_msg("errno %s as expected; %s\n",
			       errno_name(res->err), why);
		print_reason_msg();
		ksft_test_result_fail("%s %s\n", c->id, call);
	}
	free(call);
	free(why);
}

/* Demo */

/* Prints @label, then @text wrapped into the columns from @indent on */
static void print_wrapped(int indent, const char *label, const char *text)
{
	int col = printf("%-*s", indent, label), len;
	const char *pad = "";

	for (; *text; text += strspn(text, " ")) {
		len = strcspn(text, " ");
		if (col > indent && col + 1 + len > COLUMNS) {
			col = printf("\n%*s", indent, "") - 1;
			pad = "";
		}
		col += printf("%s%.*s", pad, len, text);
		text += len;
		pad = " ";
	}
	printf("\n");
}

static void print_part(const char *label, const char *text)
{
	printf("%6s", "");
	print_wrapped(COLUMN_TEXT - 6, label, text);
}

static void demo_reason(const json_t *reason)
{
	const char *label = "reason";

	for (; reason; reason = json_object_get(reason, "cause")) {
		const char *field = member(reason, "field");
		char *text;

		print_part(label, member(reason, "message"));
		if (*field && asprintf(&text, "%s %s", member(reason, "kind"),
				       field) > 0) {
			print_part("field", text);
			free(text);
		}
		label = "because";
	}
}

/* Returns whether there was a reason */
static bool demo_case(const struct perf_case *c)
{
	char *call = call_text(c), *why = NULL, *text;
	json_t *reason;
	bool explained;

	print_wrapped(6, c->id, call);
	free(call);
	if (c->given)
		print_part("given", c->given);

	if (res->state != RAN) {
		print_part(res->state == SKIPPED ? "skipped" : "not run",
			   res->why);
		return false;
	}
	if (asprintf(&text, "%s, \"%s\"", errno_name(res->err),
		     strerror(res->err)) > 0) {
		print_part("errno", text);
		free(text);
	}

	reason = load_reason(&why);
	explained = reason || (c->no_reason && !written());
	if (reason)
		demo_reason(reason);
	else if (explained)
		print_part("reason", "none, and rightly: not perf's errno");
	else
		print_part("reason", why);
	json_decref(reason);
	free(why);
	return explained;
}

/* Command line */

enum mode { TAP, DEMO, ERRNO, LIST };

static void usage(FILE *f)
{
	fputs("usage: perf-cases [ID...]          check errnos and reasons (TAP)\n"
	      "       perf-cases --demo [ID...]   show call, errno and reason\n"
	      "       perf-cases --errno [ID...]  ID and errno, to compare kernels\n"
	      "       perf-cases --list [ID...]   what would be called\n", f);
}

/* A root file system in memory is that of a machine made for the occasion */
static bool root_is_in_memory(void)
{
	struct statfs fs;

	return !statfs("/", &fs) && (fs.f_type == RAMFS_MAGIC ||
				     fs.f_type == TMPFS_MAGIC);
}

static bool selected(const struct perf_case *c, enum mode mode, char **ids)
{
	if (*ids) {
		for (; *ids; ids++) {
			if (!strcmp(*ids, c->id))
				return true;
		}
		return false;
	}
	if (mode == DEMO)
		return !c->no_reason && !c->no_buffer;
	return mode == LIST || !c->lasting || root_is_in_memory();
}

static void check_ids(char **ids)
{
	unsigned int i;

	for (; *ids; ids++) {
		for (i = 0; i < nr_perf_cases; i++) {
			if (!strcmp(*ids, perf_cases[i].id))
				break;
		}
		if (i == nr_perf_cases) {
			fprintf(stderr, "perf-cases: no case %s\n", *ids);
			exit(2);
		}
	}
}

static void list_case(const struct perf_case *c)
{
	char *call = call_text(c);

	printf("%s\t%s\t%s\t%s\n", c->id, errno_name(c->err),
	       c->field ? c->field : "-", call);
	free(call);
}

static void errno_case(const struct perf_case *c)
{
	printf("%s %s\n", c->id,
	       res->state == RAN ? errno_name(res->err) :
	       res->state == SKIPPED ? "skipped" : "broken");
}

int main(int argc, char **argv)
{
	unsigned int i, n = 0, explained = 0, skipped = 0, missing;
	enum mode mode = TAP;
	char **ids = argv + 1;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && argv[1][0] == '-') {
		ids++;
		if (!strcmp(argv[1], "--demo")) {
			mode = DEMO;
		} else if (!strcmp(argv[1], "--errno")) {
			mode = ERRNO;
		} else if (!strcmp(argv[1], "--list")) {
			mode = LIST;
		} else {
			usage(!strcmp(argv[1], "--help") ? stdout : stderr);
			return strcmp(argv[1], "--help") ? 2 : 0;
		}
	}
	check_ids(ids);

	if (mode == TAP)
		ksft_print_header();
	if (mode != LIST && geteuid()) {
		if (mode == TAP)
			ksft_exit_skip("needs root\n");
		fprintf(stderr, "perf-cases: needs root\n");
		return 2;
	}

	res = mmap(NULL, sizeof(*res), PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (res == MAP_FAILED) {
		perror("perf-cases: mmap");
		return 2;
	}
	old_kernel = !perf_exterr_supported();

	for (i = 0; i < nr_perf_cases; i++)
		n += selected(&perf_cases[i], mode, ids);
	if (mode == TAP) {
		if (old_kernel)
			ksft_print_msg("kernel without reasons: errnos only\n");
		ksft_set_plan(n);
	}

	for (i = 0; i < nr_perf_cases; i++) {
		const struct perf_case *c = &perf_cases[i];

		if (!selected(c, mode, ids))
			continue;
		if (mode == LIST) {
			list_case(c);
			continue;
		}
		run_case(c, old_kernel, res);
		if (mode == TAP)
			tap_case(c);
		else if (mode == ERRNO)
			errno_case(c);
		else
			explained += demo_case(c);
		skipped += res->state == SKIPPED;
	}

	if (mode == TAP)
		ksft_finished();
	if (mode != DEMO)
		return 0;

	missing = n - skipped - explained;
	printf("\n%u failing calls: %u explained, %u without a reason%s",
	       n - skipped, explained, missing,
	       old_kernel ? " (this kernel gives none)" : "");
	if (skipped)
		printf("; %u skipped", skipped);
	printf("\n");
	return missing ? 1 : 0;
}
