// SPDX-License-Identifier: GPL-2.0
#include <linux/cache.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/hardirq.h>
#include <linux/init.h>
#include <linux/jhash.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/xxhash.h>
#include <kunit/visibility.h>

#define __exterr_cold	/* to the callers, see linux/exterr.h */
#include "exterr.h"

/*
 * An extended errno, or code, is a negative int in a range that no errno uses.
 * It stands for a pair: the site, one annotated place in the source, and the
 * cause, the errno that the site was given. The cause may itself be a code, so
 * that codes form chains from the outermost site to the one that knew first.
 * At the bottom of a chain is always a plain errno.
 *
 * Sites are static records which the linker collects, one array per domain.
 * They are not numbered: there may be far more of them than codes. A pair is
 * given the next free code when it first occurs and keeps it until reboot, so
 * that codes count the different failures that were really seen.
 *
 * Folding is done in any context. The codes of a site are a list that only
 * grows, at its head, and that is complete before its head is published, so
 * that a failure seen before is found by reading alone. Only a new pair takes
 * the lock. NMIs only try to, and when that fails, or when all codes are used
 * up, the cause goes out as it is: information is lost, never correctness.
 *
 * A code may outlive the module that holds its site. When a module goes, its
 * codes are disowned: they keep the plain errno, their site becomes
 * exterr_gone, and readers, who are under RCU, are done before the module is
 * freed. Disowned codes wait to be given back to the same place of the same
 * module when it is loaded again, so that reloading does not use up the codes.
 */

/* The range must hold no errno, not even one that user space never sees. */
static_assert(EXTERR_BASE > EDQUOT && EXTERR_BASE > EHWPOISON &&
	      EXTERR_BASE > ENOTRECOVERABLE && EXTERR_BASE > ENOGRACE);
static_assert(EXTERR_NR_CODES == 2560);
#ifdef CONFIG_64BIT
static_assert(sizeof(struct exterr_site) == 32);
static_assert(sizeof(struct exterr_code) == 32);
#endif

static struct exterr_code exterr_codes[EXTERR_NR_CODES];
static DEFINE_RAW_SPINLOCK(exterr_lock);
static unsigned int exterr_nr;		/* codes handed out so far */
static unsigned int exterr_limit = EXTERR_NR_CODES;
static u16 exterr_orphans;		/* disowned codes, linked by next */
static atomic_t exterr_nr_lost;

static const struct exterr_domain exterr_domain_gone = { .name = "" };
static const struct exterr_unit exterr_unit_gone = {
	.domain = &exterr_domain_gone,
	.module = "",
	.file = "",
};

/* Stands in for the sites of modules that have been unloaded. */
struct exterr_site exterr_gone = {
	.fmt = "the module that knows the reason has been unloaded",
	.unit = &exterr_unit_gone,
};

/* How many codes are bound; the codes below that are complete. */
unsigned int exterr_used(void)
{
	/* Pairs with the release in exterr_bind(). */
	return smp_load_acquire(&exterr_nr);
}
EXPORT_SYMBOL_IF_KUNIT(exterr_used);

/* How many new failures found no free code. */
unsigned int exterr_lost(void)
{
	return atomic_read(&exterr_nr_lost);
}
EXPORT_SYMBOL_IF_KUNIT(exterr_lost);

/* The bound code @err, or NULL if @err is an errno, a success or foreign. */
struct exterr_code *exterr_lookup(int err)
{
	unsigned int index;

	if (!exterr_is(err))
		return NULL;
	index = exterr_code_to_index(err);
	if (index >= exterr_used())
		return NULL;
	return &exterr_codes[index];
}
EXPORT_SYMBOL_IF_KUNIT(exterr_lookup);

/* The next link of the chain, or NULL at its bottom. */
struct exterr_code *exterr_cause(const struct exterr_code *code)
{
	return code->foreign ? NULL : exterr_lookup(code->cause);
}

/*
 * Names a message for translators and for search: the same in every build as
 * long as the domain and the text are.
 */
u64 exterr_id(const struct exterr_site *site)
{
	const char *domain = site->unit->domain->name;

	return xxh64(site->fmt, strlen(site->fmt),
		     xxh64(domain, strlen(domain), 0));
}
EXPORT_SYMBOL_IF_KUNIT(exterr_id);

/* Tells sites of the same text apart, and finds one again after a reload. */
static u32 exterr_origin(const struct exterr_site *site)
{
	const struct exterr_unit *unit = site->unit;

	return jhash(unit->module, strlen(unit->module),
		     jhash(unit->file, strlen(unit->file), site->line));
}

static int exterr_find(const struct exterr_site *site, int err)
{
	unsigned int n;

	/* Pairs with the release in exterr_bind(). */
	n = smp_load_acquire(&site->head);
	for (; n; n = exterr_codes[n - 1].next) {
		if (exterr_codes[n - 1].cause == err)
			return exterr_index_to_code(n - 1);
	}
	return 0;
}

static bool exterr_in_chain(const struct exterr_site *site,
			    const struct exterr_code *code)
{
	for (; code; code = exterr_cause(code)) {
		if (rcu_access_pointer(code->site) == site)
			return true;
	}
	return false;
}

/* Take back the code that this place had before its module was unloaded. */
static unsigned int exterr_adopt(const struct exterr_site *site, int cause,
				 u64 id, u32 origin)
{
	u16 *link = &exterr_orphans;
	struct exterr_code *code;
	unsigned int n;

	while ((n = *link)) {
		code = &exterr_codes[n - 1];
		if (code->cause == cause && code->id == id &&
		    code->origin == origin) {
			*link = code->next;
			return n;
		}
		link = &code->next;
	}
	return 0;
}

static int exterr_bind(struct exterr_site *site, int cause)
{
	u32 origin = exterr_origin(site);
	struct exterr_code *code = NULL;
	u64 id = exterr_id(site);
	unsigned long flags;
	bool lost = false;
	int errno = cause;
	unsigned int n;
	int ret;

	if (cause < -MAX_ERRNO)
		return cause;

	if (exterr_is(cause) && !site->foreign) {
		code = exterr_lookup(cause);
		if (!code || exterr_in_chain(site, code))
			return cause;
		errno = code->errno;
	}

	local_irq_save(flags);
	if (!in_nmi()) {
		raw_spin_lock(&exterr_lock);
	} else if (!raw_spin_trylock(&exterr_lock)) {
		local_irq_restore(flags);
		atomic_inc(&exterr_nr_lost);
		return cause;
	}

	ret = exterr_find(site, cause);
	if (ret)
		goto unlock;

	n = exterr_adopt(site, cause, id, origin);
	if (!n) {
		if (exterr_nr >= exterr_limit) {
			ret = cause;
			lost = true;
			goto unlock;
		}
		n = exterr_nr + 1;
		code = &exterr_codes[n - 1];
		code->id = id;
		code->origin = origin;
		code->cause = cause;
		code->errno = errno;
		code->foreign = site->foreign;
	} else {
		code = &exterr_codes[n - 1];
	}
	code->next = site->head;
	rcu_assign_pointer(code->site, site);
	/* The code is complete before somebody can look it up. */
	if (n > exterr_nr)
		smp_store_release(&exterr_nr, n); /* see exterr_used() */
	/* And before the site can find it. */
	smp_store_release(&site->head, n); /* see exterr_find() */
	ret = exterr_index_to_code(n - 1);
unlock:
	raw_spin_unlock(&exterr_lock);
	local_irq_restore(flags);

	if (lost) {
		atomic_inc(&exterr_nr_lost);
		pr_warn_once("exterr: all codes are in use, new reasons are lost\n");
	}
	return ret;
}

/**
 * exterr_fold - turn a site and its cause into a code
 * @site: the place that fails
 * @err: the cause
 *
 * Use the exterr() macros. Any context.
 *
 * Return: a code; or @err if that is not negative, is below -MAX_ERRNO, is a
 * foreign value or has passed @site already, or if no code is left.
 */
int exterr_fold(struct exterr_site *site, int err)
{
	int code;

	if (err >= 0)
		return err;
	code = exterr_find(site, err);
	return code ?: exterr_bind(site, err);
}
EXPORT_SYMBOL_GPL(exterr_fold);

/**
 * exterr_foldf - exterr_fold() for a message with values
 * @site: the place that fails
 * @err: the cause
 * @...: the values for @site's format
 *
 * Use the exterr() macros. Any context.
 *
 * Return: as exterr_fold().
 */
int exterr_foldf(struct exterr_site *site, int err, ...)
{
	int ret = exterr_fold(site, err);
	const struct exterr_code *code;

	if (likely(!current->exterr_ctx) || !in_task())
		return ret;

	/* In a loop, a code that has passed here may be another site's. */
	code = exterr_lookup(ret);
	if (code && rcu_access_pointer(code->site) == site) {
		va_list args;

		va_start(args, err);
		exterr_say(site, ret, args);
		va_end(args);
	}
	return ret;
}
EXPORT_SYMBOL_GPL(exterr_foldf);

/* Out of line part of exterr_errno(). */
int __exterr_errno(int err)
{
	const struct exterr_code *code = exterr_lookup(err);

	return code ? code->errno : err;
}
EXPORT_SYMBOL_GPL(__exterr_errno);

#if IS_ENABLED(CONFIG_KUNIT)
/* Pretend that there are only @limit codes. Returns the limit before. */
unsigned int exterr_set_limit(unsigned int limit)
{
	unsigned int old;

	raw_spin_lock_irq(&exterr_lock);
	old = exterr_limit;
	exterr_limit = min_t(unsigned int, limit, EXTERR_NR_CODES);
	raw_spin_unlock_irq(&exterr_lock);
	return old;
}
EXPORT_SYMBOL_IF_KUNIT(exterr_set_limit);
#endif

#ifdef CONFIG_MODULES
VISIBLE_IF_KUNIT int exterr_module_notify(struct notifier_block *nb,
					  unsigned long state, void *data)
{
	const struct module *mod = data;
	struct exterr_code *code;
	unsigned long flags;
	unsigned int n;

	if (state != MODULE_STATE_GOING)
		return NOTIFY_DONE;

	raw_spin_lock_irqsave(&exterr_lock, flags);
	for (n = 1; n <= exterr_nr; n++) {
		code = &exterr_codes[n - 1];
		if (!within_module((unsigned long)rcu_access_pointer(code->site),
				   mod))
			continue;
		rcu_assign_pointer(code->site, &exterr_gone);
		code->next = exterr_orphans;
		exterr_orphans = n;
	}
	raw_spin_unlock_irqrestore(&exterr_lock, flags);
	return NOTIFY_OK;
}
EXPORT_SYMBOL_IF_KUNIT(exterr_module_notify);

static struct notifier_block exterr_module_nb = {
	.notifier_call = exterr_module_notify,
};

static int __init exterr_init(void)
{
	return register_module_notifier(&exterr_module_nb);
}
early_initcall(exterr_init);
#endif
