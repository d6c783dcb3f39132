// SPDX-License-Identifier: GPL-2.0
#include <linux/debugfs.h>
#include <linux/errname.h>
#include <linux/init.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include "exterr.h"

/*
 * exterr/sites lists every annotated place, those of loaded modules too, and
 * exterr/codes what has failed since boot. One line each, members separated
 * by tabs, the template escaped, so that a script can read them.
 */

static const char *const exterr_kinds[] = {
	[EXTERR_FIELD_NONE]	= "-",
	[EXTERR_FIELD_MEMBER]	= "member",
	[EXTERR_FIELD_BITFIELD]	= "member",
	[EXTERR_FIELD_ARGUMENT]	= "argument",
};

static const char *exterr_name(int err)
{
	return err ? errname(-err) ?: "?" : "-";
}

static void exterr_show_site(struct seq_file *m, const struct exterr_site *site)
{
	seq_printf(m, "%s\t%s\t%s\t%016llx\t%s:%u\t",
		   site->unit->module, exterr_kinds[site->kind],
		   site->field ?: "-", exterr_id(site), site->unit->file,
		   site->line);
	seq_escape(m, site->fmt, "\n\t\\");
	seq_putc(m, '\n');
}

#ifdef CONFIG_MODULES
static LIST_HEAD(exterr_modules);
static DEFINE_MUTEX(exterr_modules_lock);

static int exterr_modules_notify(struct notifier_block *nb, unsigned long state,
				 void *data)
{
	struct module *mod = data;

	if (!mod->num_exterr_sites)
		return NOTIFY_DONE;

	mutex_lock(&exterr_modules_lock);
	if (state == MODULE_STATE_COMING)
		list_add_tail(&mod->exterr_list, &exterr_modules);
	else if (state == MODULE_STATE_GOING)
		list_del(&mod->exterr_list);
	mutex_unlock(&exterr_modules_lock);
	return NOTIFY_OK;
}

static struct notifier_block exterr_modules_nb = {
	.notifier_call = exterr_modules_notify,
};

static void exterr_modules_init(void)
{
	register_module_notifier(&exterr_modules_nb);
}

static void exterr_modules_begin(void)
{
	mutex_lock(&exterr_modules_lock);
}

static void exterr_modules_end(void)
{
	mutex_unlock(&exterr_modules_lock);
}

/* The site at @pos in the modules' arrays, one array after the other. */
static struct exterr_site *exterr_module_site(loff_t pos, unsigned int *index)
{
	struct module *mod;

	list_for_each_entry(mod, &exterr_modules, exterr_list) {
		if (pos < mod->num_exterr_sites) {
			*index = pos;
			return mod->exterr_sites + pos;
		}
		pos -= mod->num_exterr_sites;
	}
	return NULL;
}
#else
static void exterr_modules_init(void)
{
}

static void exterr_modules_begin(void)
{
}

static void exterr_modules_end(void)
{
}

static struct exterr_site *exterr_module_site(loff_t pos, unsigned int *index)
{
	return NULL;
}
#endif

/* Position 0 is the headline. */
static void *exterr_sites_get(struct seq_file *m, loff_t pos, unsigned int *index)
{
	loff_t nr = __stop___exterr - __start___exterr;
	struct exterr_site *site;

	if (!pos)
		return SEQ_START_TOKEN;
	if (--pos >= nr)
		return exterr_module_site(pos - nr, index);

	site = __start___exterr + pos;
	*index = site - site->unit->domain->start;
	return site;
}

static void *exterr_sites_start(struct seq_file *m, loff_t *pos)
{
	unsigned int index;

	exterr_modules_begin();
	return exterr_sites_get(m, *pos, &index);
}

static void *exterr_sites_next(struct seq_file *m, void *v, loff_t *pos)
{
	unsigned int index;

	return exterr_sites_get(m, ++*pos, &index);
}

static void exterr_sites_stop(struct seq_file *m, void *v)
{
	exterr_modules_end();
}

static int exterr_sites_show(struct seq_file *m, void *v)
{
	const struct exterr_site *site;
	unsigned int index;

	if (v == SEQ_START_TOKEN) {
		seq_puts(m, "# domain\tindex\terrno\tmodule\tkind\tfield\tid\tsite\ttemplate\n");
		return 0;
	}
	site = exterr_sites_get(m, m->index, &index);
	seq_printf(m, "%s\t%u\t%s\t", site->unit->domain->name, index,
		   exterr_name(site->err));
	exterr_show_site(m, site);
	return 0;
}

static const struct seq_operations exterr_sites_sops = {
	.start	= exterr_sites_start,
	.next	= exterr_sites_next,
	.stop	= exterr_sites_stop,
	.show	= exterr_sites_show,
};
DEFINE_SEQ_ATTRIBUTE(exterr_sites);

static void *exterr_codes_start(struct seq_file *m, loff_t *pos)
{
	return *pos <= exterr_used() ? pos : NULL;
}

static void *exterr_codes_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return exterr_codes_start(m, pos);
}

static void exterr_codes_stop(struct seq_file *m, void *v)
{
}

static int exterr_codes_show(struct seq_file *m, void *v)
{
	loff_t pos = *(loff_t *)v;
	const struct exterr_code *code;
	const struct exterr_site *site;
	int err;

	if (!pos) {
		seq_printf(m, "# %u of %u codes in use, %u reasons lost\n",
			   exterr_used(), EXTERR_NR_CODES, exterr_lost());
		seq_puts(m, "# code\tcause\terrno\treported\tdomain\tmodule\tkind\tfield\tid\tsite\ttemplate\n");
		return 0;
	}

	err = exterr_index_to_code(pos - 1);
	code = exterr_lookup(err);
	rcu_read_lock();
	site = rcu_dereference(code->site);
	seq_printf(m, "%d\t%d\t%s\t%u\t%s\t", err, code->cause,
		   exterr_name(code->errno), atomic_read(&code->reported),
		   site->unit->domain->name);
	exterr_show_site(m, site);
	rcu_read_unlock();
	return 0;
}

static const struct seq_operations exterr_codes_sops = {
	.start	= exterr_codes_start,
	.next	= exterr_codes_next,
	.stop	= exterr_codes_stop,
	.show	= exterr_codes_show,
};
DEFINE_SEQ_ATTRIBUTE(exterr_codes);

static int __init exterr_debugfs_init(void)
{
	struct dentry *dir = debugfs_create_dir("exterr", NULL);

	debugfs_create_file("sites", 0400, dir, NULL, &exterr_sites_fops);
	debugfs_create_file("codes", 0400, dir, NULL, &exterr_codes_fops);
	exterr_modules_init();
	return 0;
}
core_initcall(exterr_debugfs_init);
