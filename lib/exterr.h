/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LIB_EXTERR_H
#define _LIB_EXTERR_H

/* What the files of exterr share with each other and with their tests. */

#include <linux/atomic.h>
#include <linux/exterr.h>
#include <linux/limits.h>

struct module;
struct notifier_block;

/**
 * struct exterr_code - what a code stands for
 * @site: the place; &exterr_gone once its module is unloaded (RCU)
 * @id: hash of domain and template
 * @origin: hash of module, file and line
 * @reported: how often the code left at an exit
 * @next: next code of the same site, index + 1, or 0
 * @cause: what the site was given
 * @errno: the plain errno at the bottom of the chain
 * @foreign: @cause is an errno even if it looks like a code
 *
 * Written once, before the code is handed out, except @site and @reported.
 */
struct exterr_code {
	struct exterr_site __rcu *site;
	u64 id;
	u32 origin;
	atomic_t reported;
	u16 next;
	s16 cause;
	s16 errno;
	bool foreign;
};

/* A report never takes more than this; it is what a buffer need not exceed. */
#define EXTERR_REPORT_MAX	4096

/* Reports show this many links of a chain. */
#define EXTERR_DEPTH_MAX	16

extern struct exterr_site exterr_gone;
extern struct exterr_site __start___exterr[];
extern struct exterr_site __stop___exterr[];

struct exterr_code *exterr_lookup(int err);
struct exterr_code *exterr_cause(const struct exterr_code *code);
u64 exterr_id(const struct exterr_site *site);
unsigned int exterr_used(void);
unsigned int exterr_lost(void);
void exterr_say(struct exterr_site *site, int code, va_list args);
#if IS_ENABLED(CONFIG_KUNIT)
size_t exterr_format(struct exterr_ctx *ctx, int err, char *buf, size_t size);
#endif

#ifdef CONFIG_EXTERR_DEBUG
void exterr_pass_foreign(int err);
#else
static inline void exterr_pass_foreign(int err)
{
}
#endif

#if IS_ENABLED(CONFIG_KUNIT)
unsigned int exterr_set_limit(unsigned int limit);
int exterr_module_notify(struct notifier_block *nb, unsigned long state,
			 void *data);
#endif

static inline int exterr_index_to_code(unsigned int index)
{
	return -(int)(EXTERR_BASE + index);
}

static inline unsigned int exterr_code_to_index(int code)
{
	return -code - EXTERR_BASE;
}

#endif /* _LIB_EXTERR_H */
