// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps a code of exterr_test_pmu while that module goes away, in debugfs:
 *
 *	exterr_test/hold	open takes a code, read reports it
 *	exterr_test/leak	read returns the code as it is, which it must not
 */
#include <linux/debugfs.h>
#include <linux/exterr.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/module.h>
#include "exterr_test_pmu.h"

static struct dentry *hold_dir;

static int hold_open(struct inode *inode, struct file *file)
{
	typeof(exterr_test_code) *get_code = symbol_get(exterr_test_code);

	if (!get_code)
		return -ENODEV;
	file->private_data = ERR_PTR(get_code());
	symbol_put(exterr_test_code);
	return 0;
}

static ssize_t hold_read(struct file *file, char __user *buf, size_t count,
			 loff_t *ppos)
{
	struct exterr_ctx ctx;

	exterr_begin(&ctx, true);
	return exterr_report(&ctx, PTR_ERR(file->private_data), buf, count);
}

static const struct file_operations hold_fops = {
	.owner	= THIS_MODULE,
	.open	= hold_open,
	.read	= hold_read,
};

static ssize_t leak_read(struct file *file, char __user *buf, size_t count,
			 loff_t *ppos)
{
	return PTR_ERR(file->private_data);
}

static const struct file_operations leak_fops = {
	.owner	= THIS_MODULE,
	.open	= hold_open,
	.read	= leak_read,
};

static int __init hold_init(void)
{
	hold_dir = debugfs_create_dir("exterr_test", NULL);
	debugfs_create_file("hold", 0600, hold_dir, NULL, &hold_fops);
	debugfs_create_file("leak", 0600, hold_dir, NULL, &leak_fops);
	return 0;
}
module_init(hold_init);

static void __exit hold_exit(void)
{
	debugfs_remove(hold_dir);
}
module_exit(hold_exit);

MODULE_DESCRIPTION("Keeps an extended errno, for the tests");
MODULE_LICENSE("GPL");
