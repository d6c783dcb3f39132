/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_PERF_ERR_H
#define _LINUX_PERF_ERR_H

#include <linux/exterr.h>
#include <uapi/linux/perf_event.h>

/*
 * For perf, and for PMU drivers: perf_event_open(2) and the calls on its file
 * descriptors say why they fail. Use these in functions whose error goes to
 * perf's core, event_init() for one. -ENOENT for "not my event" stays plain.
 */
DECLARE_EXTERR_DOMAIN(perf);

/* The reason is nobody's member or argument. */
#define perf_err(err, fmt, ...)						\
	exterr(perf, err, fmt, ##__VA_ARGS__)

/* A member of struct perf_event_attr is at fault. */
#define perf_err_attr(err, member, fmt, ...)				\
	exterr_member(perf, struct perf_event_attr, member, err, fmt,	\
		      ##__VA_ARGS__)

/* A bitfield of struct perf_event_attr is at fault. */
#define perf_err_bit(err, member, fmt, ...)				\
	exterr_bitfield(perf, struct perf_event_attr, member, err, fmt,	\
			##__VA_ARGS__)

/* An argument of the system call is at fault, as its manual page names it. */
#define perf_err_arg(err, arg, fmt, ...)				\
	exterr_arg(perf, arg, err, fmt, ##__VA_ARGS__)

/* An LSM hook returned @err, which may be any number. */
#define perf_err_lsm(err, fmt, ...)					\
	exterr_foreign(perf, err, fmt, ##__VA_ARGS__)

#define PERF_ERR_PTR(err, fmt, ...)					\
	exterr_ptr(perf, err, fmt, ##__VA_ARGS__)

/*
 * perf_allow_kernel() returned @err for what @member, a bit or an attr, asks
 * for: either the plain errno of the paranoid level or an LSM's code.
 */
#define PERF_ERR_KERNEL							\
	" needs CAP_PERFMON or kernel.perf_event_paranoid <= 1 (now %d)"
#define perf_err_kernel(err, kind, member, what)			\
	(exterr_is(err) ?						\
		perf_err_##kind(err, member, what " measures the kernel") : \
		perf_err_##kind(err, member, what PERF_ERR_KERNEL,	\
				sysctl_perf_event_paranoid))

#endif /* _LINUX_PERF_ERR_H */
