// SPDX-License-Identifier: GPL-2.0
/* For coverage, never compiled: an unlisted place on each marked line, no other. */
#include <linux/perf_err.h>

struct call {
	int ret;
};

static int said(int n)
{
	long err = -ENOENT;

	if (n == -EINVAL)
		return perf_err(-EINVAL, "n is %d", n);
	if (n == 1)
		return perf_err(err, "n is 1");
	err = kern_path("/", 0, &path);
	if (err)
		return perf_err(err, "no /");
	err = refuse(n);
	if (err)
		return tell(err, n);
	return n ? perf_err_bit(-EBUSY, freq, "busy") : 0;
}

static int tell(int err, int n)
{
	return perf_err_attr(err, config, "config %d", n);
}

static int refuse(int n)
{
	if (n == 4)
		return -EBUSY;
	if (n == 5) {
		n = -EBUSY;
		return n;
	}
	return mutex_lock_interruptible(&lock);
}

static int forgotten(int n)
{
	int ret = -ENOMEM;				/* FAULT */
	struct call call = {
		.ret = -ESRCH,				/* FAULT */
	};

	if (!n)
		return ret;
	if (n == 2)
		return -EPERM;
	if (n == 2)
		return -EPERM;				/* FAULT, listed once */
	if (kern_path("/", 0, &path) == -ENOENT)
		return n == 3 ? -EIO : 0;		/* FAULT */
	ret = kern_path("/", 0, &path);			/* FAULT */
	if (ret)
		return ret;
	switch (n) {
	case -EINTR:
		return 0;
	}
	return ERR_PTR(-ENOTSUPP);			/* FAULT */
}

static struct call at_rest = {
	.ret = -EIDRM,					/* FAULT */
};

#define REFUSE(n)					\
	do {						\
		if (n)					\
			return -EDOM;	/* FAULT */	\
	} while (0)
