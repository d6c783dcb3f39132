/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_EXTERR_H
#define _LINUX_EXTERR_H

#include <linux/args.h>
#include <linux/build_bug.h>
#include <linux/err.h>
#include <linux/printk.h>
#include <linux/types.h>

/*
 * Extended errnos: the place that fails says why, in one expression,
 *
 *	return foo_err(-EINVAL, "depth %u is over the limit %u", depth, max);
 *
 * and the reason travels inside the negative int that is returned. See
 * Documentation/core-api/exterr.rst, and lib/exterr.c for how it works.
 */

/*
 * Codes are [-MAX_ERRNO, -EXTERR_BASE]. The base lies above every errno of
 * every architecture and above the kernel's own 512..531; lib/exterr.c checks.
 */
#define EXTERR_BASE		1536
#define EXTERR_NR_CODES		(MAX_ERRNO - EXTERR_BASE + 1)

/**
 * enum exterr_kind - what a site's field names
 * @EXTERR_FIELD_NONE: the site has no field
 * @EXTERR_FIELD_MEMBER: a member of the ABI struct, at a known byte offset
 * @EXTERR_FIELD_BITFIELD: a bitfield member of the ABI struct
 * @EXTERR_FIELD_ARGUMENT: an argument of the call
 */
enum exterr_kind {
	EXTERR_FIELD_NONE,
	EXTERR_FIELD_MEMBER,
	EXTERR_FIELD_BITFIELD,
	EXTERR_FIELD_ARGUMENT,
};

struct exterr_site;

/**
 * struct exterr_domain - a subsystem that annotates its errors
 * @name: the subsystem's name, a C identifier
 * @start: first of its sites in the image that defines it
 * @end: one past the last of these
 *
 * Sites that loadable modules add to the domain of somebody else are not
 * between @start and @end but in the module's own section.
 */
struct exterr_domain {
	const char *name;
	struct exterr_site *start;
	struct exterr_site *end;
};

/**
 * struct exterr_unit - what all sites of a source file share
 * @domain: the domain of the sites
 * @module: name of the module
 * @file: the source file, relative to the top of the tree
 */
struct exterr_unit {
	const struct exterr_domain *domain;
	const char *module;
	const char *file;
};

/**
 * struct exterr_site - one annotated place in the source
 * @fmt: printf format of the message, also its template
 * @field: name of the ABI member or argument at fault, or NULL
 * @unit: the source file
 * @line: line in the source file
 * @offset: byte offset of the member, for EXTERR_FIELD_MEMBER
 * @kind: enum exterr_kind
 * @foreign: the cause comes from outside and is never somebody's code
 * @err: the errno the site is given, or 0 if that is known only at run time
 * @head: most recently bound code of the site, index + 1, or 0
 */
struct exterr_site {
	const char *fmt;
	const char *field;
	const struct exterr_unit *unit;
	u32 line : 17;
	u32 offset : 12;
	u32 kind : 2;
	u32 foreign : 1;
	s16 err;
	u16 head;
};

struct exterr_msg;

/**
 * struct exterr_ctx - the messages of one call, kept from begin to report
 * @outer: the context this one is nested in
 * @msgs: what the sites said, newest first
 * @on: somebody wants the messages
 *
 * Lives on the stack of the exit; its members are private to exterr.
 */
struct exterr_ctx {
#ifdef CONFIG_EXTERR
	struct exterr_ctx *outer;
	struct exterr_msg *msgs;
	bool on;
#endif
};

/**
 * exterr_is - is this value in the range of codes?
 * @err: a return value
 *
 * True for codes and for foreign values of the same range. Any context.
 *
 * Return: true if @err is in [-MAX_ERRNO, -EXTERR_BASE]; false without
 * CONFIG_EXTERR, when there are no codes.
 */
static inline bool exterr_is(long err)
{
	return IS_ENABLED(CONFIG_EXTERR) &&
	       (unsigned long)(err + MAX_ERRNO) < EXTERR_NR_CODES;
}

#ifdef CONFIG_EXTERR

#include <linux/stringify.h>
#include <linux/tracepoint-defs.h>

/* The name of the module that a file's reasons are from, if not its own. */
#if defined(MODULE) || !defined(EXTERR_MODNAME)
#define __EXTERR_MODNAME	KBUILD_MODNAME
#else
#define __EXTERR_MODNAME	EXTERR_MODNAME
#endif

/**
 * DECLARE_EXTERR_DOMAIN - let this source file annotate errors of a domain
 * @dom: name of the domain, a C identifier
 *
 * Belongs into the header with the domain's wrappers. A file of the kernel
 * image may define EXTERR_MODNAME, a string, before it includes that header:
 * KBUILD_MODNAME of kernel/events/core.c is "core".
 */
#define DECLARE_EXTERR_DOMAIN(dom)					\
	extern const struct exterr_domain exterr_domain_##dom;		\
	static const struct exterr_unit __maybe_unused			\
	__exterr_unit_##dom = {						\
		.domain = &exterr_domain_##dom,				\
		.module = __EXTERR_MODNAME,				\
		.file = __BASE_FILE__,					\
	}

/**
 * DEFINE_EXTERR_DOMAIN - define a domain
 * @dom: name of the domain, a C identifier
 *
 * Once per domain, in a source file that is always there when one of the
 * domain's sites is. Needs DECLARE_EXTERR_DOMAIN() before it.
 */
#define DEFINE_EXTERR_DOMAIN(dom)					\
	static struct exterr_site __exterr_start_##dom[0]		\
	__section(".exterr." #dom ".0")					\
	__aligned(__alignof__(struct exterr_site)) __used;		\
	static struct exterr_site __exterr_end_##dom[0]			\
	__section(".exterr." #dom ".2")					\
	__aligned(__alignof__(struct exterr_site)) __used;		\
	const struct exterr_domain exterr_domain_##dom = {		\
		.name = #dom,						\
		.start = __exterr_start_##dom,				\
		.end = __exterr_end_##dom,				\
	};								\
	EXPORT_SYMBOL_GPL(exterr_domain_##dom)

/*
 * What leads to a call of a cold function is moved out of the hot text. __cold
 * is empty where some feature wants functions aligned, since gcc before 14 does
 * not align cold ones; these two are cold to their callers only, and aligned.
 */
#ifndef __exterr_cold
#define __exterr_cold	__attribute__((__cold__))
#endif

__exterr_cold int exterr_fold(struct exterr_site *site, int err);
__exterr_cold int exterr_foldf(struct exterr_site *site, int err, ...);
__exterr_cold int __exterr_errno(int err);

/*
 * The compiler checks the format against the arguments in the call that is
 * never made. A message is for user space, so it holds no pointer.
 */
#define __exterr(dom, _kind, _field, _offset, _foreign, _err, _fmt, ...) \
({									\
	static struct exterr_site __exterr_site				\
	__section(".exterr." #dom ".1")					\
	__aligned(__alignof__(struct exterr_site)) = {			\
		.fmt = _fmt,						\
		.field = _field,					\
		.unit = &__exterr_unit_##dom,				\
		.line = __LINE__,					\
		.offset = _offset,					\
		.kind = _kind,						\
		.foreign = _foreign,					\
		.err = __builtin_constant_p(_err) ? (_err) : 0,		\
	};								\
	BUILD_BUG_ON_MSG(__builtin_strstr(_fmt, "%p"),			\
			 "exterr: no pointers in messages");		\
	no_printk(_fmt, ##__VA_ARGS__);					\
	COUNT_ARGS(__VA_ARGS__) || __builtin_strchr(_fmt, '%') ?	\
		exterr_foldf(&__exterr_site, _err, ##__VA_ARGS__) :	\
		exterr_fold(&__exterr_site, _err);			\
})

/**
 * exterr_errno - the plain errno of a value that may be a code
 * @err: a return value: a code, an errno, or a success
 *
 * Any context.
 *
 * Return: the errno that the innermost site of the code was given; @err
 * itself if it is no code of ours.
 */
static inline int exterr_errno(int err)
{
	return exterr_is(err) ? __exterr_errno(err) : err;
}

DECLARE_TRACEPOINT(exterr_report);

__exterr_cold long exterr_unfold(long err);
void exterr_push(struct exterr_ctx *ctx);
long exterr_pop(struct exterr_ctx *ctx, long err, void __user *buf, size_t size);
long exterr_pop_deferred(struct exterr_ctx *ctx, long err, void __user *buf,
			 size_t size);

/**
 * exterr_begin - a call begins whose failure will be reported
 * @ctx: context on the caller's stack, need not be initialised
 * @asked: somebody will read the report
 *
 * Between exterr_begin() and the report, messages are formatted for the current
 * task. Contexts nest. Process context.
 */
static inline void exterr_begin(struct exterr_ctx *ctx, bool asked)
{
	ctx->on = asked || tracepoint_enabled(exterr_report);
	if (ctx->on)
		exterr_push(ctx);
}

/**
 * exterr_report - an error leaves the subsystem: unfold it and say why
 * @ctx: what exterr_begin() was given
 * @err: the value that leaves: a code, an errno, or a success
 * @buf: where the report goes, or NULL
 * @size: bytes that may be written to @buf, or 0
 *
 * Writes the report of a failure to @buf, as JSON with a NUL, cut to @size as
 * Documentation/core-api/exterr.rst says; the empty string if the failure has
 * no reason; nothing for a success. A buffer that cannot be written changes
 * nothing. May sleep, and may fault on @buf: no lock may be held that a page
 * fault takes, see exterr_report_deferred().
 *
 * Return: @err if it is a success, else the plain errno.
 */
static inline long exterr_report(struct exterr_ctx *ctx, long err,
				 void __user *buf, size_t size)
{
	if (ctx->on)
		return exterr_pop(ctx, err, buf, size);
	return exterr_is(err) ? exterr_unfold(err) : err;
}

/**
 * exterr_report_deferred - report on the way out to user space
 * @ctx: what exterr_begin() was given
 * @err: the value that leaves: a code, an errno, or a success
 * @buf: where the report goes, or NULL
 * @size: bytes that may be written to @buf, or 0
 *
 * exterr_report() for exits that hold a lock that a page fault takes, such as
 * mmap_lock: @buf is written by task work, when the current task returns to
 * user space. May sleep.
 *
 * Return: @err if it is a success, else the plain errno.
 */
static inline long exterr_report_deferred(struct exterr_ctx *ctx, long err,
					  void __user *buf, size_t size)
{
	if (ctx->on)
		return exterr_pop_deferred(ctx, err, buf, size);
	return exterr_is(err) ? exterr_unfold(err) : err;
}

#else /* !CONFIG_EXTERR */

#define __exterr_cold

#define DECLARE_EXTERR_DOMAIN(dom)	struct exterr_domain
#define DEFINE_EXTERR_DOMAIN(dom)	struct exterr_domain

/* Even "if (0)" may change what the compiler thinks of the rest. */
#define __exterr(dom, _kind, _field, _offset, _foreign, _err, _fmt, ...) \
	(BUILD_BUG_ON_INVALID(_printk(_fmt, ##__VA_ARGS__)), (_err))

static inline int exterr_errno(int err)
{
	return err;
}

static inline void exterr_begin(struct exterr_ctx *ctx, bool asked)
{
}

static inline long exterr_report(struct exterr_ctx *ctx, long err,
				 void __user *buf, size_t size)
{
	return err;
}

static inline long exterr_report_deferred(struct exterr_ctx *ctx, long err,
					  void __user *buf, size_t size)
{
	return err;
}

#endif /* CONFIG_EXTERR */

/**
 * exterr - an errno that says why
 * @dom: the domain, see DECLARE_EXTERR_DOMAIN()
 * @err: the cause: an errno, a code that is passed on, or a success
 * @fmt: printf format of the message, a string literal without pointers
 *
 * Any context. The message is formatted at once if somebody wants it and the
 * caller is in process context, else never.
 *
 * Return: a code that stands for this place with this cause. @err itself if it
 * is not negative, if it has passed this place already, or if no code is left.
 */
#define exterr(dom, err, fmt, ...)					\
	__exterr(dom, EXTERR_FIELD_NONE, NULL, 0, 0, err, fmt, ##__VA_ARGS__)

/**
 * exterr_member - an errno that says why, for a member of an ABI struct
 * @dom: the domain
 * @type: the ABI struct, e.g. struct perf_event_attr
 * @member: its member that is at fault, not a bitfield
 * @err: the cause, as in exterr()
 * @fmt: printf format of the message
 *
 * Return: as exterr().
 */
#define exterr_member(dom, type, member, err, fmt, ...)			\
	__exterr(dom, EXTERR_FIELD_MEMBER, #member, offsetof(type, member), \
		 0, err, fmt, ##__VA_ARGS__)

/**
 * exterr_bitfield - an errno that says why, for a bitfield of an ABI struct
 * @dom: the domain
 * @type: the ABI struct
 * @member: its bitfield that is at fault
 * @err: the cause, as in exterr()
 * @fmt: printf format of the message
 *
 * Return: as exterr().
 */
#define exterr_bitfield(dom, type, member, err, fmt, ...)		\
({									\
	if (0)								\
		(void)((type *)NULL)->member;				\
	__exterr(dom, EXTERR_FIELD_BITFIELD, #member, 0, 0, err, fmt,	\
		 ##__VA_ARGS__);					\
})

/**
 * exterr_arg - an errno that says why, for an argument of the call
 * @dom: the domain
 * @arg: name of the argument as the call's manual page spells it
 * @err: the cause, as in exterr()
 * @fmt: printf format of the message
 *
 * Return: as exterr().
 */
#define exterr_arg(dom, arg, err, fmt, ...)				\
	__exterr(dom, EXTERR_FIELD_ARGUMENT, #arg, 0, 0, err, fmt,	\
		 ##__VA_ARGS__)

/**
 * exterr_foreign - an errno from outside the kernel's own code
 * @dom: the domain
 * @err: what an LSM hook, say, returned; any value in [-MAX_ERRNO, 0]
 * @fmt: printf format of the message
 *
 * A BPF program may return a number that happens to be somebody's code. Here it
 * is taken as an errno, whatever it is, and comes out again unchanged.
 *
 * Return: as exterr().
 */
#define exterr_foreign(dom, err, fmt, ...)				\
	__exterr(dom, EXTERR_FIELD_NONE, NULL, 0, 1, err, fmt, ##__VA_ARGS__)

/**
 * exterr_ptr - an error pointer that says why
 * @dom: the domain
 * @err: the cause, as in exterr()
 * @fmt: printf format of the message
 *
 * Return: ERR_PTR() of what exterr() returns.
 */
#define exterr_ptr(dom, err, fmt, ...)					\
	ERR_PTR(exterr(dom, err, fmt, ##__VA_ARGS__))

#endif /* _LINUX_EXTERR_H */
