// SPDX-License-Identifier: GPL-2.0
/*
 * A PMU that counts nothing and refuses much, for the tests of extended errnos:
 * its reasons belong to a module that comes and goes while codes are around.
 */
#include <linux/init.h>
#include <linux/module.h>
#include <linux/perf_err.h>
#include <linux/perf_event.h>
#include "exterr_test_pmu.h"

/* What attr.config asks for. */
enum {
	TEST_OK,		/* an event that counts 0 */
	TEST_CONST,		/* a constant errno, no values */
	TEST_VALUE,		/* a constant errno, a value */
	TEST_RUNTIME,		/* the errno is -config1 */
	TEST_CHAIN,		/* three sites, one after the other */
	TEST_RETRY,		/* the same site a thousand times */
	TEST_HOSTILE,		/* a message that JSON must escape */
	TEST_LONG,		/* a message longer than any report */
	TEST_PLAIN,		/* an errno without a reason */
	TEST_ENOENT,		/* an answer, not "not my event" */
	TEST_NR,
};

static int test_chain(u64 config)
{
	int err;

	err = perf_err(-EIO, "the device does not answer");
	err = perf_err(err, "register 0x%x cannot be read", 0x1f);
	return perf_err_attr(err, config, "config %llu needs the device", config);
}

static int test_retry(void)
{
	int err = -EAGAIN;
	int i;

	for (i = 0; i < 1000; i++)
		err = perf_err(err, "attempt %d of 1000", i + 1);
	return err;
}

static int test_event_init(struct perf_event *event)
{
	u64 config = event->attr.config;

	if (event->attr.type != event->pmu->type)
		return -ENOENT;

	if (event->attr.sample_period)
		return perf_err_attr(-EINVAL, sample_period,
				     "sample_period %llu: PMU exterr_test only counts",
				     event->attr.sample_period);
	if (event->attr.exclude_idle)
		return perf_err_bit(-EOPNOTSUPP, exclude_idle,
				    "exclude_idle=1: PMU exterr_test knows no idle");

	switch (config) {
	case TEST_OK:
		return 0;
	case TEST_CONST:
		return perf_err_attr(-EINVAL, config, "config 1 is refused");
	case TEST_VALUE:
		return perf_err_attr(-ERANGE, config1, "config1 %llu is out of range",
				     event->attr.config1);
	case TEST_RUNTIME:
		return perf_err_attr(-(int)event->attr.config1, config1,
				     "config1 %llu is the errno",
				     event->attr.config1);
	case TEST_CHAIN:
		return test_chain(config);
	case TEST_RETRY:
		return test_retry();
	case TEST_HOSTILE:
		return perf_err(-EINVAL, "\"quoted\" \\ %s", "\t\n\x01\xff\xc3\xa9");
	case TEST_LONG:
		return perf_err(-EINVAL, "%06000d", 1);
	case TEST_PLAIN:
		return -EDOM;
	case TEST_ENOENT:
		return perf_err_attr(-ENOENT, config, "config %llu has been removed from this PMU",
				     config);
	default:
		return perf_err_attr(-EINVAL, config, "config %llu is over %d",
				     config, TEST_NR - 1);
	}
}

static int test_add(struct perf_event *event, int flags)
{
	return 0;
}

static void test_del(struct perf_event *event, int flags)
{
}

static void test_read(struct perf_event *event)
{
}

static struct pmu test_pmu = {
	.module		= THIS_MODULE,
	.task_ctx_nr	= perf_sw_context,
	.event_init	= test_event_init,
	.add		= test_add,
	.del		= test_del,
	.start		= test_del,
	.stop		= test_del,
	.read		= test_read,
};

/* A code of this module, for somebody who keeps it. */
int exterr_test_code(void)
{
	return perf_err(-EXDEV, "%s keeps this code", "somebody");
}
EXPORT_SYMBOL_GPL(exterr_test_code);

static int param_set(const char *val, const struct kernel_param *kp)
{
	int err = perf_err(-EINVAL, "fail_param is only there to fail");

	/* Sites work before the module's own init, and this is an exit. */
	return exterr_is(err) ? exterr_errno(err) : -ENOTRECOVERABLE;
}

static const struct kernel_param_ops param_ops = {
	.set = param_set,
};
module_param_cb(fail_param, &param_ops, NULL, 0200);
MODULE_PARM_DESC(fail_param, "any value makes the module fail to load");

static int __init test_init(void)
{
	return perf_pmu_register(&test_pmu, "exterr_test", -1);
}
module_init(test_init);

static void __exit test_exit(void)
{
	perf_pmu_unregister(&test_pmu);
}
module_exit(test_exit);

MODULE_DESCRIPTION("PMU that refuses events, for the tests of extended errnos");
MODULE_LICENSE("GPL");
