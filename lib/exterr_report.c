// SPDX-License-Identifier: GPL-2.0
#include <linux/bitops.h>
#include <linux/errname.h>
#include <linux/export.h>
#include <linux/hex.h>
#include <linux/kernel.h>
#include <linux/mm_types.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/task_work.h>
#include <linux/uaccess.h>
#include <linux/unaligned.h>
#include <linux/wordpart.h>
#include <asm/word-at-a-time.h>
#include <kunit/visibility.h>

#define __exterr_cold	/* to the callers, see linux/exterr.h */
#include "exterr.h"

#define CREATE_TRACE_POINTS
#include <trace/events/exterr.h>

EXPORT_TRACEPOINT_SYMBOL_GPL(exterr_report);

/*
 * An exit that somebody listens to puts a context on the task. A site that
 * fails meanwhile leaves its formatted message there, under its code, and the
 * exit makes one JSON object of the chain of codes and the messages it finds.
 * Nobody listens: nothing is formatted and nothing allocated.
 *
 * The object is built in kernel memory and copied as a whole, so that user
 * space sees a complete report or none, and nothing that is not part of it.
 */

struct exterr_msg {
	struct exterr_msg *next;
	int code;
	bool cut;
	char text[];
};

/* Most messages fit the first allocation; none gets more than the second. */
#define EXTERR_TEXT_FIRST	(256 - sizeof(struct exterr_msg))
#define EXTERR_TEXT_MAX		1024

static struct exterr_msg *exterr_msg_find(const struct exterr_ctx *ctx, int code)
{
	struct exterr_msg *msg;

	for (msg = ctx ? ctx->msgs : NULL; msg; msg = msg->next) {
		if (msg->code == code)
			return msg;
	}
	return NULL;
}

/* Bytes of the UTF-8 sequence at @s (RFC 3629), or 0 if it is none. */
static unsigned int exterr_utf8_len(const u8 *s)
{
	u8 lo = 0x80, hi = 0xbf;
	unsigned int len, i;

	if (s[0] >= 0xc2 && s[0] <= 0xdf) {
		len = 2;
	} else if ((s[0] & 0xf0) == 0xe0) {
		len = 3;
		if (s[0] == 0xe0)
			lo = 0xa0;
		if (s[0] == 0xed)
			hi = 0x9f;
	} else if (s[0] >= 0xf0 && s[0] <= 0xf4) {
		len = 4;
		if (s[0] == 0xf0)
			lo = 0x90;
		if (s[0] == 0xf4)
			hi = 0x8f;
	} else {
		return 0;
	}
	if (s[1] < lo || s[1] > hi)
		return 0;
	for (i = 2; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	}
	return len;
}

/* @s was cut after @len bytes; do not leave half a character there. */
static void exterr_trim(char *s, size_t len)
{
	size_t start = len;

	while (start && (s[start - 1] & 0xc0) == 0x80)
		start--;
	if (start && (s[start - 1] & 0x80) &&
	    !exterr_utf8_len((const u8 *)s + start - 1))
		s[start - 1] = '\0';
}

/* The allocator sleeps on PREEMPT_RT, and lockdep can tell that beforehand. */
static bool exterr_can_allocate(void)
{
	return preemptible() || !(IS_ENABLED(CONFIG_PREEMPT_RT) ||
				  IS_ENABLED(CONFIG_PROVE_RAW_LOCK_NESTING));
}

/* Keep what @site has to say until the report. Process context, may be atomic. */
void exterr_say(struct exterr_site *site, int code, va_list args)
{
	struct exterr_ctx *ctx = current->exterr_ctx;
	struct exterr_msg *msg, **link;
	size_t room = EXTERR_TEXT_FIRST;
	va_list again;
	int len;

	/* A site that fails again means its latest values. */
	for (link = &ctx->msgs; *link; link = &(*link)->next) {
		if ((*link)->code == code) {
			msg = *link;
			*link = msg->next;
			kfree(msg);
			break;
		}
	}

	if (!exterr_can_allocate())
		return;

	msg = kmalloc(struct_size(msg, text, room), GFP_NOWAIT | __GFP_NOWARN);
	if (!msg)
		return;

	va_copy(again, args);
	len = vsnprintf(msg->text, room, site->fmt, args);
	if (len >= room) {
		room = min_t(size_t, len + 1, EXTERR_TEXT_MAX);
		kfree(msg);
		msg = kmalloc(struct_size(msg, text, room),
			      GFP_NOWAIT | __GFP_NOWARN);
		if (msg)
			len = vsnprintf(msg->text, room, site->fmt, again);
	}
	va_end(again);
	if (!msg)
		return;

	msg->code = code;
	msg->cut = len >= room;
	if (msg->cut)
		exterr_trim(msg->text, room - 1);
	msg->next = ctx->msgs;
	ctx->msgs = msg;
}

/* Output that stops at its end; the end leaves room for what must follow. */
struct exterr_out {
	char *pos;
	char *end;
	bool full;
};

static __always_inline void exterr_put(struct exterr_out *out, const char *s,
				       size_t len)
{
	if (out->end - out->pos < (long)len) {
		out->full = true;
		return;
	}
	memcpy(out->pos, s, len);
	out->pos += len;
}

#define exterr_puts(out, s)	exterr_put(out, s, sizeof(s) - 1)

static void exterr_put_tabs(struct exterr_out *out, unsigned int n)
{
	while (n--)
		exterr_put(out, "\t", 1);
}

static void exterr_put_number(struct exterr_out *out, int num)
{
	unsigned int v = num < 0 ? -num : num;
	char digits[12];
	char *p = digits + sizeof(digits);

	do {
		*--p = '0' + v % 10;
		v /= 10;
	} while (v);
	if (num < 0)
		*--p = '-';
	exterr_put(out, p, digits + sizeof(digits) - p);
}

/*
 * No byte of the word is a control character (NUL included), '"', '\\' or
 * above 0x7f. The borrow of a subtraction reaches the next byte only from one
 * that fails the test anyway.
 */
static bool exterr_word_is_plain(unsigned long w)
{
	unsigned long quote = w ^ REPEAT_BYTE('"');
	unsigned long slash = w ^ REPEAT_BYTE('\\');

	return !((w | (w - REPEAT_BYTE(0x20)) | (quote - REPEAT_BYTE(1)) |
		  (slash - REPEAT_BYTE(1))) & REPEAT_BYTE(0x80));
}

/* How JSON writes the character at @s; how many bytes of @s that takes. */
static unsigned int exterr_escape(const u8 *s, char *esc, unsigned int *len)
{
	static const char shorts[] = "\"\"\\\\\bb\ff\nn\rr\tt";
	unsigned int n = 1;
	const char *p;

	if (*s >= 0x80) {
		n = exterr_utf8_len(s);
		if (n) {
			memcpy(esc, s, n);
			*len = n;
			return n;
		}
		n = 1;
	} else if (*s >= 0x20 && *s != '"' && *s != '\\') {
		esc[0] = *s;
		*len = 1;
		return 1;
	}

	esc[0] = '\\';
	for (p = shorts; *p; p += 2) {
		if (*p == *s) {
			esc[1] = p[1];
			*len = 2;
			return 1;
		}
	}
	memcpy(esc + 1, "u00", 3);
	hex_byte_pack(esc + 4, *s);
	*len = 6;
	return n;
}

/* Stops between two characters if @s does not fit as a whole. */
static void exterr_put_escaped(struct exterr_out *out, const char *s)
{
	unsigned int len, n;
	unsigned long w;
	char esc[6];

	for (;;) {
		/* Aligned, so that reading past the NUL stays in the page. */
		while (IS_ALIGNED((unsigned long)s, sizeof(w)) &&
		       out->end - out->pos >= (long)sizeof(w)) {
			w = read_word_at_a_time(s);
			if (!exterr_word_is_plain(w))
				break;
			put_unaligned(w, (unsigned long *)out->pos);
			out->pos += sizeof(w);
			s += sizeof(w);
		}
		/* Both ends of a string are rarely aligned. */
		if (*s >= 0x20 && *s < 0x7f && *s != '"' && *s != '\\' &&
		    out->pos < out->end) {
			*out->pos++ = *s++;
			continue;
		}
		if (!*s)
			return;
		n = exterr_escape((const u8 *)s, esc, &len);
		exterr_put(out, esc, len);
		if (out->full)
			return;
		s += n;
	}
}

static void exterr_put_string(struct exterr_out *out, const char *s)
{
	exterr_puts(out, "\"");
	exterr_put_escaped(out, s);
	exterr_puts(out, "\"");
}

/* The separator, and the name of the next member of the object. */
#define exterr_put_name(out, depth, name)				\
do {									\
	exterr_puts(out, ",\n\t");					\
	exterr_put_tabs(out, depth);					\
	exterr_puts(out, "\"" name "\": ");				\
} while (0)

/* The members that a report always has; the message may be cut to fit. */
static bool exterr_put_head(struct exterr_out *out, unsigned int depth,
			    const struct exterr_code *code,
			    const struct exterr_site *site,
			    const struct exterr_msg *msg, bool may_cut)
{
	const char *text = msg ? msg->text : site->fmt;
	const size_t truncated = sizeof(",\n\t\"truncated\": true") - 1 + depth;
	bool cut = msg && msg->cut;
	struct exterr_out start;

	exterr_puts(out, "{\n\t");
	exterr_put_tabs(out, depth);
	exterr_puts(out, "\"code\": ");
	exterr_put_number(out, code->errno);
	exterr_put_name(out, depth, "module");
	exterr_put_string(out, site->unit->module);
	exterr_put_name(out, depth, "message");

	start = *out;
	if (!cut) {
		exterr_put_string(out, text);
		if (!out->full || !may_cut)
			return !out->full;
		*out = start;
	}

	/* Room for the quote and for the word that the message was cut. */
	out->end -= truncated + 1;
	exterr_puts(out, "\"");
	if (out->full || out->end < out->pos)
		return false;
	exterr_put_escaped(out, text);
	out->end += truncated + 1;
	if (out->full && (!may_cut || out->pos == start.pos + 1))
		return false;
	out->full = false;
	exterr_puts(out, "\"");
	exterr_put_name(out, depth, "truncated");
	exterr_puts(out, "true");
	return !out->full;
}

/* The member just put is there as a whole, or it is taken back. */
static bool exterr_keep(struct exterr_out *out, struct exterr_out *fits)
{
	if (out->full) {
		*out = *fits;
		out->full = true;
		return false;
	}
	*fits = *out;
	return true;
}

/* The members that a report may do without, dearest first. */
static void exterr_put_optional(struct exterr_out *out, unsigned int depth,
				const struct exterr_code *code,
				const struct exterr_site *site)
{
	const char *name = errname(-code->errno);
	struct exterr_out fits = *out;
	__be64 id = cpu_to_be64(code->id);
	char hex[2 * sizeof(id)];

	if (name) {
		exterr_put_name(out, depth, "errno");
		exterr_put_string(out, name);
		if (!exterr_keep(out, &fits))
			return;
	}
	if (site == &exterr_gone)
		goto id;
	exterr_put_name(out, depth, "domain");
	exterr_put_string(out, site->unit->domain->name);
	if (!exterr_keep(out, &fits))
		return;
	if (site->kind != EXTERR_FIELD_NONE) {
		exterr_put_name(out, depth, "field");
		exterr_put_string(out, site->field);
		exterr_put_name(out, depth, "kind");
		if (site->kind == EXTERR_FIELD_ARGUMENT)
			exterr_puts(out, "\"argument\"");
		else
			exterr_puts(out, "\"member\"");
		if (site->kind == EXTERR_FIELD_MEMBER) {
			exterr_put_name(out, depth, "offset");
			exterr_put_number(out, site->offset);
		}
		if (!exterr_keep(out, &fits))
			return;
	}
	exterr_put_name(out, depth, "template");
	exterr_put_string(out, site->fmt);
	if (!exterr_keep(out, &fits))
		return;
id:
	bin2hex(hex, &id, sizeof(id));
	exterr_put_name(out, depth, "id");
	exterr_puts(out, "\"");
	exterr_put(out, hex, sizeof(hex));
	exterr_puts(out, "\"");
	if (!exterr_keep(out, &fits))
		return;
	if (IS_ENABLED(CONFIG_EXTERR_DEBUG_LOCATION) && site != &exterr_gone) {
		exterr_put_name(out, depth, "file");
		exterr_put_string(out, site->unit->file);
		exterr_put_name(out, depth, "line");
		exterr_put_number(out, site->line);
		if (!exterr_keep(out, &fits))
			return;
	}
}

/**
 * exterr_format - make the report of a code
 * @ctx: context with the messages, or NULL
 * @err: the code
 * @buf: kernel buffer
 * @size: bytes of @buf
 *
 * Bytes between the report's end and @size may be overwritten. Any context.
 *
 * Return: bytes of the report, with the NUL: 0 if @size is 0; 1 (the empty string) if
 * @err has no reason or @size is too small for any report.
 */
VISIBLE_IF_KUNIT size_t exterr_format(struct exterr_ctx *ctx, int err,
				      char *buf, size_t size)
{
	const struct exterr_code *code = exterr_lookup(err);
	struct exterr_out out = { .pos = buf, .end = buf + size };
	struct exterr_out whole = out;
	const struct exterr_site *site;
	unsigned int depth;

	if (!size)
		return 0;
	out.end--;

	rcu_read_lock();
	for (depth = 0; code && depth < EXTERR_DEPTH_MAX; depth++) {
		whole = out;
		if (depth) {
			exterr_put_name(&out, depth - 1, "cause");
			if (out.full)
				break;
		}

		/* What will close this object: newline, tabs, brace. */
		out.end -= 2 + depth;
		if (out.end < out.pos)
			break;
		site = rcu_dereference(code->site);
		if (!exterr_put_head(&out, depth, code, site,
				     exterr_msg_find(ctx, err), !depth))
			break;
		exterr_put_optional(&out, depth, code, site);
		whole = out;
		if (out.full) {
			depth++;
			break;
		}
		err = code->cause;
		code = exterr_cause(code);
	}
	rcu_read_unlock();

	out.pos = whole.pos;
	out.end = buf + size;
	out.full = false;
	while (depth--) {
		exterr_puts(&out, "\n");
		exterr_put_tabs(&out, depth);
		exterr_puts(&out, "}");
	}
	*out.pos++ = '\0';
	return out.pos - buf;
}
EXPORT_SYMBOL_IF_KUNIT(exterr_format);

/* One event for each link, the outermost first. */
static void exterr_trace(const struct exterr_ctx *ctx, int err)
{
	const struct exterr_code *code = exterr_lookup(err);
	const struct exterr_site *site;
	const struct exterr_msg *msg;
	unsigned int depth;

	rcu_read_lock();
	for (depth = 0; code && depth < EXTERR_DEPTH_MAX; depth++) {
		site = rcu_dereference(code->site);
		msg = exterr_msg_find(ctx, err);
		trace_exterr_report(site, code->errno, code->id,
				    msg ? msg->text : site->fmt, depth);
		err = code->cause;
		code = exterr_cause(code);
	}
	rcu_read_unlock();
}

/* Out of line part of exterr_begin(). */
void exterr_push(struct exterr_ctx *ctx)
{
	ctx->msgs = NULL;
	ctx->outer = current->exterr_ctx;
	current->exterr_ctx = ctx;
}
EXPORT_SYMBOL_GPL(exterr_push);

/* The part of exterr_report() when nobody asks. */
long exterr_unfold(long err)
{
	struct exterr_code *code = exterr_lookup(err);

	if (!code)
		return err;

	atomic_inc(&code->reported);
	if (unlikely(exterr_is(code->errno)))
		exterr_pass_foreign(code->errno);
	return code->errno;
}
EXPORT_SYMBOL_GPL(exterr_unfold);

/* Take the context off the task, tell those who watch, and unfold. */
static long exterr_leave(struct exterr_ctx *ctx, long err)
{
	current->exterr_ctx = ctx->outer;
	if (!exterr_is(err))
		return err;

	if (trace_exterr_report_enabled())
		exterr_trace(ctx, err);
	return exterr_unfold(err);
}

static void exterr_drop(struct exterr_ctx *ctx)
{
	struct exterr_msg *msg, *next;

	for (msg = ctx->msgs; msg; msg = next) {
		next = msg->next;
		kfree(msg);
	}
}

/* A call that will be restarted has not failed yet. */
static bool exterr_is_failure(long err)
{
	return err < 0 && !(err <= -ERESTARTSYS && err >= -ERESTART_RESTARTBLOCK);
}

/*
 * All of a report or the empty string. If even that cannot be written, so be
 * it: not being able to say why is not another failure.
 */
static void exterr_copy(void __user *buf, const char *text, size_t len)
{
	if (!len || copy_to_user(buf, text, len))
		put_user('\0', (char __user *)buf);
}

/* Out of line part of exterr_report(). */
long exterr_pop(struct exterr_ctx *ctx, long err, void __user *buf, size_t size)
{
	long ret = exterr_leave(ctx, err);
	size_t len = 0;
	char *text;

	if (exterr_is_failure(ret) && buf && size) {
		size = min_t(size_t, size, EXTERR_REPORT_MAX);
		text = kmalloc(size, GFP_KERNEL | __GFP_NOWARN);
		if (text)
			len = exterr_format(ctx, err, text, size);
		exterr_copy(buf, text, len);
		kfree(text);
	}
	exterr_drop(ctx);
	return ret;
}
EXPORT_SYMBOL_GPL(exterr_pop);

struct exterr_deferred {
	struct callback_head work;
	void __user *buf;
	size_t len;
	char text[];
};

static void exterr_deliver(struct callback_head *work)
{
	struct exterr_deferred *d = container_of(work, typeof(*d), work);

	/* An exiting task has no user space any more. */
	if (current->mm)
		exterr_copy(d->buf, d->text, d->len);
	kfree(d);
}

/* Out of line part of exterr_report_deferred(). */
long exterr_pop_deferred(struct exterr_ctx *ctx, long err, void __user *buf,
			 size_t size)
{
	long ret = exterr_leave(ctx, err);
	struct exterr_deferred *d;

	if (exterr_is_failure(ret) && buf && size) {
		size = min_t(size_t, size, EXTERR_REPORT_MAX);
		d = kmalloc(struct_size(d, text, size), GFP_KERNEL | __GFP_NOWARN);
		if (d) {
			d->buf = buf;
			d->len = exterr_format(ctx, err, d->text, size);
			init_task_work(&d->work, exterr_deliver);
			if (task_work_add(current, &d->work, TWA_RESUME))
				kfree(d);
		}
	}
	exterr_drop(ctx);
	return ret;
}
EXPORT_SYMBOL_GPL(exterr_pop_deferred);
