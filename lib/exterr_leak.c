// SPDX-License-Identifier: GPL-2.0
#include <linux/bitmap.h>
#include <linux/bug.h>
#include <linux/init.h>
#include <linux/moduleparam.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <trace/events/syscalls.h>
#include "exterr.h"

#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "exterr."

/*
 * Looks at what every system call returns and warns, once per code, when a code
 * has passed an exit that does not unfold.
 *
 * A number that only looks like a code is no leak. seccomp and ptrace answer in
 * place of the system call, so that it is left but was never entered. What an
 * LSM returned through exterr_foreign() is announced by the report.
 */

static bool exterr_leak_check = true;
module_param_named(leak_check, exterr_leak_check, bool, 0400);
MODULE_PARM_DESC(leak_check, "warn when an extended errno reaches user space");

static DECLARE_BITMAP(exterr_leaked, EXTERR_NR_CODES);

/* The current system call is about to return @err although it is a code. */
void exterr_pass_foreign(int err)
{
	current->exterr_foreign = err;
}

static void exterr_sys_enter(void *data, struct pt_regs *regs, long id)
{
	current->exterr_foreign = 0;
	current->exterr_entered = id >= 0;
}

static void exterr_sys_exit(void *data, struct pt_regs *regs, long ret)
{
	bool entered = current->exterr_entered;
	const struct exterr_site *site;
	struct exterr_code *code;

	current->exterr_entered = false;
	if (likely(ret >= 0 || ret < -MAX_ERRNO))
		return;

	code = exterr_lookup(ret);
	if (!code || !entered || ret == current->exterr_foreign ||
	    test_and_set_bit(exterr_code_to_index(ret), exterr_leaked))
		return;

	rcu_read_lock();
	site = rcu_dereference(code->site);
	WARN(1, "exterr: code %ld of domain %s leaks to user space: %s:%u: %s\n",
	     ret, site->unit->domain->name, site->unit->file, site->line,
	     site->fmt);
	rcu_read_unlock();
}

static int __init exterr_leak_init(void)
{
	int err;

	if (!exterr_leak_check)
		return 0;
	err = register_trace_sys_enter(exterr_sys_enter, NULL);
	if (err)
		return err;
	err = register_trace_sys_exit(exterr_sys_exit, NULL);
	if (err)
		unregister_trace_sys_enter(exterr_sys_enter, NULL);
	return err;
}
core_initcall(exterr_leak_init);
