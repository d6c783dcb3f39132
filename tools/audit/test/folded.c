// SPDX-License-Identifier: GPL-2.0
/* For folded, never compiled: a finding on each marked line, no other. */
#include <linux/perf_err.h>

static int refuse(int n)
{
	if (n > 3)
		return perf_err(-EINVAL, "%d is over 3", n);
	return 0;
}

static struct perf_event *find(int n)
{
	int err = refuse(n);

	if (err)
		goto out;
	if (n == 2)
		return PERF_ERR_PTR(-ENOENT, "2 is not there");
	err = copy_struct_from_user(buf, 8, ubuf, n);
	if (err == -E2BIG)
		err = perf_err(err, "tail is not 0");
	else if (err && !exterr_is(err))
		return ERR_PTR(err);
out:
	if (err == -EINVAL)				/* FAULT */
		err = 0;
	return ERR_PTR(err);
}

static int event_init_plain(struct perf_event *event)
{
	return -ENOENT;
}

static int event_init_why(struct perf_event *event)
{
	return refuse(event->attr.config);
}

static struct pmu plain = { .event_init = event_init_plain };
static struct pmu why = {
	.event_init	= event_init_why,
};

static int walk(struct perf_event *event)
{
	int (*func)(struct perf_event *);
	struct pmu *pmu;
	int ret = -ENOENT;

	list_for_each_entry(pmu, &pmus, entry) {
		if (ret == -EAGAIN)			/* FAULT, next time round */
			break;
		ret = pmu->event_init(event);
		if (exterr_errno(ret) == -ENODEV)
			return 0;
		if (ret != -ENOENT)			/* FAULT */
			return ret;
	}
	if (event_init_plain(event) == -ENOENT)
		return 0;
	func = event_init_why;
	switch (func(event)) {
	case -EBUSY:					/* FAULT */
		return 1;
	default:
		break;
	}
	if (IS_ERR(find(1)) && PTR_ERR(find(1)) == -ENOENT)	/* FAULT */
		return 1;
	if (-ENOENT == PTR_ERR_OR_ZERO(find(1)) || !event)	/* FAULT */
		return 1;
	ret = refuse(1);
	if (ret < 0)
		return ret;
	return ret == -EINVAL;
}

int good_exit(int n)
{
	int err = refuse(n);

	return exterr_errno(err);
}
EXPORT_SYMBOL_GPL(good_exit);

int leaves(struct perf_event *event)
{
	int ret = good_exit(1);

	if (ret)
		return ret;
	return walk(event);
}
EXPORT_SYMBOL_GPL(leaves);				/* FAULT */

int bad_exit(struct perf_event *event)			/* FAULT */
{
	int err = refuse(1);

	if (err)
		return err;
	return exterr_errno(walk(event));
}

int lazy_exit(struct perf_event *event)			/* FAULT */
{
	return 0;
}

static long op_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return refuse(cmd);
}

static ssize_t op_read(struct file *file, char __user *buf, size_t n, loff_t *pos)
{
	struct exterr_ctx ctx;

	exterr_begin(&ctx, false);
	return exterr_report(&ctx, refuse(n), NULL, 0);
}

static const struct file_operations fops = {
	.read		= op_read,
	.unlocked_ioctl	= op_ioctl,			/* FAULT */
};

static int lost_race(void)
{
	int err = refuse(1);

retry:
	if (!err)
		err = -EAGAIN;
	if (err == -EAGAIN)
		goto retry;
	return err;
}
