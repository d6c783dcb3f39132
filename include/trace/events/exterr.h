/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM exterr

#if !defined(_TRACE_EXTERR_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_EXTERR_H

#include <linux/exterr.h>
#include <linux/tracepoint.h>

/**
 * exterr_report - a call fails, and its subsystem has said why
 * @site: the place that said it
 * @err: the plain errno, negative
 * @id: stable id of the message
 * @message: the message
 * @depth: 0 for the outermost reason, 1 for its cause, and so on
 */
TRACE_EVENT(exterr_report,

	TP_PROTO(const struct exterr_site *site, int err, u64 id,
		 const char *message, unsigned int depth),

	TP_ARGS(site, err, id, message, depth),

	TP_STRUCT__entry(
		__string(	domain,		site->unit->domain->name	)
		__string(	module,		site->unit->module		)
		__string(	field,		site->field ?: ""		)
		__string(	message,	message				)
		__string(	file,		site->unit->file		)
		__field(	u64,		id				)
		__field(	int,		err				)
		__field(	unsigned int,	line				)
		__field(	unsigned int,	depth				)
	),

	TP_fast_assign(
		__assign_str(domain);
		__assign_str(module);
		__assign_str(field);
		__assign_str(message);
		__assign_str(file);
		__entry->id	= id;
		__entry->err	= err;
		__entry->line	= site->line;
		__entry->depth	= depth;
	),

	TP_printk("domain=%s module=%s err=%d depth=%u field=%s id=%016llx site=%s:%u message=%s",
		  __get_str(domain), __get_str(module), __entry->err,
		  __entry->depth, __get_str(field), __entry->id,
		  __get_str(file), __entry->line, __get_str(message))
);

#endif /* _TRACE_EXTERR_H */

#include <trace/define_trace.h>
