// SPDX-License-Identifier: GPL-2.0
/*
 * The failing calls: what is done, what has to come back.
 *
 * A row that opens an event needs no more than its attr and the arguments
 * that are not the usual ones.  An ioctl, mmap or read works on an event that
 * is opened from the same attr first.
 *
 * .has keeps to names and values; the wording belongs to the kernel.
 */
#include <linux/hw_breakpoint.h>
#include <sys/mman.h>

#include "cases.h"

/* Rows give the defaults of ROW() another value where they need it */
#pragma GCC diagnostic ignored "-Woverride-init"

#define ROW(_id, _err) \
	.id = #_id, .err = _err, .pid = 0, .cpu = -1, .group_fd = -1
#define FIELD(...)	.field = __VA_ARGS__
#define HAS(...)	.has = { __VA_ARGS__ }
#define ATTR(...)	.attr = { __VA_ARGS__ }, .attr_text = #__VA_ARGS__

#define IOCTL(_name, _arg)						\
	.on_event = true, .act = act_ioctl,				\
	.cmd = PERF_EVENT_IOC_##_name, .arg = (const void *)(_arg),	\
	.act_text = "ioctl(fd, PERF_EVENT_IOC_" #_name ", " #_arg ")"
/* the argument is only known at run time: .prepare sets it */
#define IOCTL_RT(_name, _text)						\
	.on_event = true, .act = act_ioctl,				\
	.cmd = PERF_EVENT_IOC_##_name,					\
	.act_text = "ioctl(fd, PERF_EVENT_IOC_" #_name ", " _text ")"
#define MMAP(_pages, _flags, _off)					\
	.on_event = true, .act = act_mmap,				\
	.len = (_pages) * PAGE, .map_flags = _flags, .off = (_off) * PAGE, \
	.act_text = "mmap(" #_pages " pages, " #_flags ", fd, offset " #_off " pages)"
#define READ(_buf, _len)						\
	.on_event = true, .act = act_read,				\
	.arg = (const void *)(_buf), .len = _len,			\
	.act_text = "read(fd, " #_buf ", " #_len ")"
#define PTR_TO(_v)	&(const __u64){ _v }

#define TASK_CLOCK \
	.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK
#define PAGE_FAULTS \
	.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS
#define BREAKPOINT	.type = PERF_TYPE_BREAKPOINT
/* ftrace:print has a fixed id, known without tracefs */
#define FTRACE_PRINT	.type = PERF_TYPE_TRACEPOINT, .config = 5
#define PMU(_name)	.disabled = 1 /* .setup reads its type from sysfs */

#define NOBODY		.nobody = true, .paranoid = 2

#define BRANCHES							\
	.sample_type = PERF_SAMPLE_BRANCH_STACK,			\
	.branch_sample_type = PERF_SAMPLE_BRANCH_ANY

/* How an argument without a name in the ABI may be called */
#define IOC_ARG		"arg|fd|output_fd|prog_fd|filter|period|value"
#define MAP_LENGTH	"len|length|size"

static char read_buf[64];

const struct perf_case perf_cases[] = {
	/* perf_event_open: flags and attr */
	{ ROW(O1, EINVAL), FIELD("flags"), HAS("0x400|bit 10"),
	  ATTR(TASK_CLOCK), .flags = 0x400 },
	{ ROW(O2, E2BIG), FIELD("size"), HAS("8", "64"),
	  ATTR(TASK_CLOCK, .size = 8), .setup = attr_size_8, .no_buffer = true,
	  .given = "an attr of 8 bytes has no room for a buffer: no reason" },
	{ ROW(O3, E2BIG), FIELD("size"), HAS("4096"),
	  ATTR(TASK_CLOCK, .size = 4096), .act = act_open_page_sized_attr,
	  .given = "byte 3000 of the attr is 1" },
	{ ROW(O5, EINVAL), FIELD("__reserved_1"),
	  HAS("63|0x2000000|0x8000000000000000", "__reserved_1|bit"),
	  ATTR(TASK_CLOCK), .setup = reserved_bit_63,
	  .given = "bit 63 of the attr's flag word is set" },
	{ ROW(O6, EINVAL), FIELD("sample_type"), HAS("60|0x1000000000000000"),
	  ATTR(TASK_CLOCK, .sample_type = 1ULL << 60) },
	{ ROW(O7, EINVAL), FIELD("read_format"), HAS("40|0x10000000000"),
	  ATTR(TASK_CLOCK, .read_format = 1ULL << 40) },
	{ ROW(O8, EINVAL), FIELD("sample_freq"),
	  HAS("10000000", "perf_event_max_sample_rate"),
	  ATTR(TASK_CLOCK, .freq = 1, .sample_freq = 10000000) },
	{ ROW(O9, EINVAL), FIELD("sample_period"),
	  HAS("63|0x8000000000000000|9223372036854775808"),
	  ATTR(TASK_CLOCK, .sample_period = 1ULL << 63) },
	{ ROW(O10, EINVAL), FIELD("pid|cpu"), HAS("pid", "cpu"),
	  ATTR(TASK_CLOCK), .pid = -1 },
	{ ROW(O11, EINVAL), FIELD("cpu"),
	  HAS("9999", "nr_cpu_ids|possible|below"),
	  ATTR(TASK_CLOCK), .pid = -1, .cpu = 9999 },
	{ ROW(O13, ESRCH), FIELD("pid"), HAS("4194303"),
	  ATTR(TASK_CLOCK), .pid = 4194303 },
	{ ROW(O14, EBADF), FIELD("group_fd"), HAS("9999"),
	  ATTR(TASK_CLOCK), .group_fd = 9999 },
	{ ROW(O15, EINVAL), FIELD("cpu|group_fd"), HAS("leader", "0", "-1"),
	  ATTR(TASK_CLOCK), .cpu = 0, .args_text = "group_fd=leader",
	  .setup = with_leader,
	  .given = "the group leader has cpu=-1" },
	{ ROW(O16, EINVAL), FIELD("inherit"), HAS("leader", "1", "0"),
	  ATTR(TASK_CLOCK, .inherit = 1), .args_text = "group_fd=leader",
	  .setup = with_leader,
	  .given = "the group leader has inherit=0" },
	{ ROW(O17, EINVAL), FIELD("pinned"), HAS("leader"),
	  ATTR(TASK_CLOCK, .pinned = 1), .args_text = "group_fd=leader",
	  .setup = with_leader,
	  .given = "group_fd is an open group leader" },
	{ ROW(O18, EINVAL), FIELD("group_fd"), HAS("leader"),
	  ATTR(TASK_CLOCK), .args_text = "group_fd=member",
	  .setup = with_sibling_as_leader,
	  .given = "the member is in the group of a leader" },
	{ ROW(O20, EINVAL), FIELD("pid|group_fd"), HAS("leader"),
	  ATTR(TASK_CLOCK), .args_text = "pid=P, group_fd=leader",
	  .setup = with_leader_other_task,
	  .given = "the group leader counts this task, P is another" },
	{ ROW(O21, EINVAL), FIELD("cpu"), HAS("PERF_FLAG_PID_CGROUP|cgroup"),
	  ATTR(TASK_CLOCK), .pid = 3, .flags = PERF_FLAG_PID_CGROUP },
	{ ROW(O22, EBADF), FIELD("pid"), HAS("9999", "cgroup"),
	  ATTR(TASK_CLOCK), .pid = 9999, .cpu = 0,
	  .flags = PERF_FLAG_PID_CGROUP },
	{ ROW(O23, EOPNOTSUPP), FIELD("sample_type|branch_sample_type"),
	  HAS("PERF_SAMPLE_BRANCH_STACK|branch"),
	  ATTR(TASK_CLOCK, .sample_period = 1000000, BRANCHES) },
	{ ROW(O25, EINVAL), FIELD("sample_type|inherit"),
	  HAS("inherit", "PERF_SAMPLE_READ", "PERF_SAMPLE_TID"),
	  ATTR(TASK_CLOCK, .sample_period = 1000000, .inherit = 1,
	       .sample_type = PERF_SAMPLE_READ) },
	{ ROW(O27, EINVAL), FIELD("sample_stack_user"), HAS("1001", "8"),
	  ATTR(TASK_CLOCK, .sample_period = 1000000,
	       .sample_type = PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER,
	       .sample_regs_user = 1, .sample_stack_user = 1001) },
	{ ROW(O28, EINVAL), FIELD("sample_regs_user"),
	  HAS("PERF_SAMPLE_REGS_USER|empty|0"),
	  ATTR(TASK_CLOCK, .sample_period = 1000000,
	       .sample_type = PERF_SAMPLE_REGS_USER) },
	{ ROW(O29, EINVAL), FIELD("sigtrap|remove_on_exec"),
	  HAS("sigtrap", "remove_on_exec"),
	  ATTR(TASK_CLOCK, .sigtrap = 1) },
	{ ROW(O29b, EINVAL), FIELD("remove_on_exec|enable_on_exec"),
	  HAS("remove_on_exec", "enable_on_exec"),
	  ATTR(TASK_CLOCK, .remove_on_exec = 1, .enable_on_exec = 1) },
	{ ROW(O31, EOPNOTSUPP), FIELD("aux_output"), HAS("AUX"),
	  ATTR(TASK_CLOCK, .aux_output = 1) },
	{ ROW(O32, ENOENT), FIELD("type"), HAS("PERF_TYPE_HARDWARE|0", "PMU"),
	  ATTR(.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES),
	  .setup = no_hardware_pmu },
	{ ROW(O32b, ENOENT), FIELD("type"), HAS("PERF_TYPE_HARDWARE|0", "PMU"),
	  ATTR(.type = PERF_TYPE_HARDWARE, .config = 77),
	  .setup = no_hardware_pmu },
	{ ROW(O32c, ENOENT), FIELD("type"), HAS("PERF_TYPE_HW_CACHE|3", "PMU"),
	  ATTR(.type = PERF_TYPE_HW_CACHE, .config = 0xffffff),
	  .setup = no_hardware_pmu },
	{ ROW(O32d, ENOENT), FIELD("type"), HAS("PERF_TYPE_RAW|4", "PMU"),
	  ATTR(.type = PERF_TYPE_RAW, .config = 0x1c4),
	  .setup = no_hardware_pmu },
	{ ROW(O33, ENOENT), FIELD("type"), HAS("77", "PMU"),
	  ATTR(.type = 77) },
	{ ROW(O34, ENOENT), FIELD("config"), HAS("99"),
	  ATTR(.type = PERF_TYPE_SOFTWARE, .config = 99) },
	{ ROW(O35, EINVAL), FIELD("config"), HAS("999999", "tracepoint"),
	  ATTR(.type = PERF_TYPE_TRACEPOINT, .config = 999999) },
	{ ROW(O37, EINVAL), FIELD("bp_addr"), HAS("bp_len|align"),
	  ATTR(BREAKPOINT, .bp_type = HW_BREAKPOINT_W, .bp_len = 4),
	  .setup = bp_unaligned, .given = "bp_addr is odd" },
	{ ROW(O37b, EINVAL), FIELD("bp_len"), HAS("3"),
	  ATTR(BREAKPOINT, .bp_type = HW_BREAKPOINT_W, .bp_len = 3),
	  .setup = bp_aligned },
	{ ROW(O37d, EINVAL), FIELD("bp_type"), HAS("read|HW_BREAKPOINT_R|1"),
	  ATTR(BREAKPOINT, .bp_type = HW_BREAKPOINT_R, .bp_len = 4),
	  .setup = bp_aligned },
	{ ROW(O38, ENOSPC), HAS("breakpoint", "4"),
	  ATTR(BREAKPOINT, .bp_type = HW_BREAKPOINT_W, .bp_len = 8),
	  .setup = bp_slots_taken, .given = "four breakpoints are open" },
	{ ROW(O39, EOPNOTSUPP), FIELD("sample_type|branch_sample_type"),
	  HAS("PERF_SAMPLE_BRANCH_STACK|branch"),
	  ATTR(BREAKPOINT, .bp_type = HW_BREAKPOINT_W, .bp_len = 8,
	       .sample_period = 1, BRANCHES), .setup = bp_aligned },
	{ ROW(O40, EINVAL), FIELD("uprobe_path|config1"),
	  HAS("uprobe_path|config1"), ATTR(PMU(uprobe), .uprobe_path = 0),
	  .setup = uprobe_null_path },
	{ ROW(O40b, EFAULT), FIELD("uprobe_path|config1"),
	  HAS("uprobe_path|config1", "0x1234"),
	  ATTR(PMU(uprobe), .uprobe_path = 0x1234),
	  .setup = uprobe_bad_path },
	{ ROW(O40c, ENOENT), FIELD("uprobe_path|config1"),
	  HAS("uprobe_path|config1|file"), ATTR(PMU(uprobe)),
	  .setup = uprobe_missing_path,
	  .given = "uprobe_path is \"/no/such/file\"" },
	{ ROW(O41d, EINVAL), FIELD("sample_period"), HAS("1000"),
	  ATTR(PMU(msr), .config = 0, .sample_period = 1000),
	  .setup = msr_pmu },
	{ ROW(O43, EFAULT), FIELD("attr"), HAS("0x8"),
	  ATTR(), .setup = attr_unmapped, .no_buffer = true,
	  .given = "attr points to (void *)8: there is no buffer, no reason" },
	{ ROW(O44, EINVAL), FIELD("sample_type"),
	  HAS("PERF_SAMPLE_WEIGHT", "PERF_SAMPLE_WEIGHT_STRUCT"),
	  ATTR(TASK_CLOCK, .sample_type = PERF_SAMPLE_WEIGHT |
					  PERF_SAMPLE_WEIGHT_STRUCT) },
	{ ROW(O45, EMFILE), HAS("RLIMIT_NOFILE|16"),
	  ATTR(TASK_CLOCK), .setup = nofile_16, .act = act_open_until_failure,
	  .given = "RLIMIT_NOFILE is 16, opened until it fails" },
	{ ROW(O48, EOPNOTSUPP), FIELD("sample_type|branch_sample_type"),
	  HAS("PERF_SAMPLE_BRANCH_STACK|branch"),
	  ATTR(FTRACE_PRINT, .sample_period = 1, BRANCHES) },

	/* perf_event_open without privileges */
	{ ROW(U2, EACCES), FIELD("exclude_kernel"),
	  HAS("CAP_PERFMON", "perf_event_paranoid", "2"),
	  ATTR(TASK_CLOCK), NOBODY },
	{ ROW(U3, EACCES), FIELD("exclude_callchain_kernel|sample_type"),
	  HAS("exclude_callchain_kernel|PERF_SAMPLE_CALLCHAIN", "2"),
	  ATTR(TASK_CLOCK, .exclude_kernel = 1, .sample_period = 1000000,
	       .sample_type = PERF_SAMPLE_CALLCHAIN), NOBODY },
	{ ROW(U4, EACCES), FIELD("pid|cpu"),
	  HAS("CAP_PERFMON", "perf_event_paranoid", "2"),
	  ATTR(TASK_CLOCK, .exclude_kernel = 1), .pid = -1, .cpu = 0,
	  NOBODY },
	{ ROW(U5, EACCES), FIELD("pid"), HAS("ptrace", "CAP_PERFMON"),
	  ATTR(TASK_CLOCK, .exclude_kernel = 1), .args_text = "pid=P",
	  .setup = parent_task,
	  .given = "P is a task of root", NOBODY },
	{ ROW(U7, EACCES), FIELD("sample_type"),
	  HAS("PERF_SAMPLE_PHYS_ADDR", "perf_event_paranoid", "2"),
	  ATTR(TASK_CLOCK, .exclude_kernel = 1, .sample_period = 1,
	       .sample_type = PERF_SAMPLE_PHYS_ADDR), NOBODY },
	{ ROW(U7b, EACCES), FIELD("text_poke"),
	  HAS("text_poke", "perf_event_paranoid", "2"),
	  ATTR(TASK_CLOCK, .exclude_kernel = 1, .text_poke = 1),
	  NOBODY },
	{ ROW(U8b, EPERM), FIELD("sample_type"),
	  HAS("PERF_SAMPLE_RAW", "perf_event_paranoid", "2"),
	  ATTR(FTRACE_PRINT, .exclude_kernel = 1, .sample_period = 1,
	       .sample_type = PERF_SAMPLE_RAW), NOBODY },
	{ ROW(U9, EACCES), FIELD("type"), HAS("CAP_SYS_ADMIN"),
	  ATTR(PMU(uprobe), .exclude_kernel = 1), .setup = uprobe_pmu,
	  NOBODY },
	{ ROW(U10, EINVAL), FIELD("bp_addr|exclude_kernel"),
	  HAS("kernel", "exclude_kernel|0xffffffff81000000"),
	  ATTR(BREAKPOINT, .exclude_kernel = 1, .bp_type = HW_BREAKPOINT_W,
	       .bp_addr = 0xffffffff81000000, .bp_len = 8), NOBODY },
	{ ROW(U11, EPERM), FIELD(MAP_LENGTH),
	  HAS("65537|262148|268439552", "perf_event_mlock_kb",
	      "RLIMIT_MEMLOCK"),
	  ATTR(TASK_CLOCK, .exclude_kernel = 1, .sample_period = 1000000),
	  MMAP(1 + 65536, MAP_SHARED, 0), .setup = memlock_8_mib,
	  .given = "RLIMIT_MEMLOCK is 8 MiB, perf_event_mlock_kb is 516",
	  NOBODY },

	/* ioctl */
	{ ROW(I1, EINVAL), FIELD("sample_period|" IOC_ARG), HAS("sampl"),
	  ATTR(TASK_CLOCK), IOCTL(PERIOD, PTR_TO(1000)) },
	{ ROW(I2, EINVAL), FIELD("sample_period|" IOC_ARG), HAS("sampl"),
	  ATTR(TASK_CLOCK), IOCTL(REFRESH, 1UL) },
	{ ROW(I3, EBADF), FIELD(IOC_ARG), HAS("9999"),
	  ATTR(TASK_CLOCK), IOCTL(SET_OUTPUT, 9999UL) },
	{ ROW(I5, EINVAL), FIELD(IOC_ARG), HAS("map|ring buffer"),
	  ATTR(TASK_CLOCK), IOCTL_RT(SET_OUTPUT, "other fd"),
	  .prepare = output_unmapped,
	  .given = "the other event is not mapped" },
	{ ROW(I7, EINVAL), FIELD("write_backward|" IOC_ARG),
	  HAS("write_backward"),
	  ATTR(TASK_CLOCK, .write_backward = 1),
	  IOCTL_RT(SET_OUTPUT, "other fd"), .prepare = output_mapped_forward,
	  .given = "the other event is mapped, write_backward=0" },
	{ ROW(I8, EINVAL), FIELD("pid|" IOC_ARG), HAS("task"),
	  ATTR(TASK_CLOCK), IOCTL_RT(SET_OUTPUT, "other fd"),
	  .args_text = "pid=P",
	  .setup = other_task, .prepare = output_mapped_own_task,
	  .given = "the other event is mapped and counts this task, P is another" },
	{ ROW(I10, EINVAL), FIELD("type|" IOC_ARG), HAS("filter"),
	  ATTR(TASK_CLOCK), IOCTL(SET_FILTER, "common_pid == 1") },
	{ ROW(I11, EBADF), FIELD(IOC_ARG), HAS("9999"),
	  ATTR(TASK_CLOCK), IOCTL(SET_BPF, 9999UL) },
	{ ROW(I12, EINVAL), FIELD(IOC_ARG), HAS("1", "BPF"),
	  ATTR(TASK_CLOCK), IOCTL(SET_BPF, 1UL), .given = "fd 1 is stdout" },
	{ ROW(I13, EINVAL), FIELD("type|" IOC_ARG),
	  HAS("BPF_PROG_TYPE_PERF_EVENT|PERF_EVENT"),
	  ATTR(TASK_CLOCK), IOCTL_RT(SET_BPF, "prog"), .prepare = bpf_kprobe,
	  .given = "prog is a BPF_PROG_TYPE_KPROBE" },
	{ ROW(I15, EINVAL), FIELD("type"), HAS("PERF_TYPE_BREAKPOINT|breakpoint"),
	  ATTR(TASK_CLOCK), IOCTL_RT(MODIFY_ATTRIBUTES, "&same_attr"),
	  .prepare = same_attr },
	{ ROW(I15b, EINVAL), FIELD("type"), HAS("type", "5|BREAKPOINT"),
	  ATTR(TASK_CLOCK), IOCTL_RT(MODIFY_ATTRIBUTES, "&other_attr"),
	  .prepare = attr_type_breakpoint,
	  .given = "other_attr has type=PERF_TYPE_BREAKPOINT" },
	{ ROW(I15c, EOPNOTSUPP), FIELD("type"),
	  HAS("PERF_TYPE_BREAKPOINT|breakpoint"),
	  ATTR(PAGE_FAULTS), IOCTL_RT(MODIFY_ATTRIBUTES, "&same_attr"),
	  .prepare = same_attr },
	{ ROW(I17, EINVAL), FIELD("type"), HAS("PERF_TYPE_TRACEPOINT|tracepoint"),
	  ATTR(TASK_CLOCK), IOCTL_RT(QUERY_BPF, "&query"),
	  .prepare = query_bpf_arg },
	{ ROW(I18, ENOTTY), FIELD("cmd|request|ioctl"), HAS("77|0x244d"),
	  ATTR(TASK_CLOCK), .on_event = true, .act = act_ioctl,
	  .cmd = _IO('$', 77), .act_text = "ioctl(fd, _IO('$', 77), 0)" },
	{ ROW(I19, EINVAL), FIELD("bp_addr"), HAS("bp_len|align"),
	  ATTR(BREAKPOINT, .bp_type = HW_BREAKPOINT_W, .bp_len = 4),
	  IOCTL_RT(MODIFY_ATTRIBUTES, "&other_attr"), .setup = bp_aligned,
	  .prepare = attr_bp_addr_off_by_one,
	  .given = "other_attr has an odd bp_addr" },
	{ ROW(I20, EINVAL), FIELD("sample_period|" IOC_ARG), HAS("0", "period"),
	  ATTR(TASK_CLOCK, .sample_period = 1000000),
	  IOCTL(PERIOD, PTR_TO(0)) },
	{ ROW(I20c, EFAULT), FIELD(IOC_ARG), HAS("0x3e8|1000|pointer"),
	  ATTR(TASK_CLOCK, .sample_period = 1000000),
	  IOCTL(PERIOD, 1000UL) },
	{ ROW(I20e, EINVAL), FIELD("sample_freq|" IOC_ARG),
	  HAS("100000000", "perf_event_max_sample_rate"),
	  ATTR(PAGE_FAULTS, .freq = 1, .sample_freq = 100),
	  IOCTL(PERIOD, PTR_TO(100000000)) },
	{ ROW(I22, EINVAL), FIELD(IOC_ARG), HAS("no_such_field"),
	  ATTR(FTRACE_PRINT), IOCTL(SET_FILTER, "no_such_field == 1") },
	{ ROW(I22b, EINVAL), FIELD(IOC_ARG), HAS("common_pid|=="),
	  ATTR(FTRACE_PRINT), IOCTL(SET_FILTER, "common_pid == ") },
	{ ROW(I22d, EFAULT), FIELD(IOC_ARG), HAS("0x8|pointer"),
	  ATTR(FTRACE_PRINT), IOCTL(SET_FILTER, 8UL) },
	{ ROW(I23, EINVAL), HAS("print", "internal|ftrace"),
	  ATTR(FTRACE_PRINT), IOCTL_RT(SET_BPF, "prog"), .prepare = bpf_kprobe,
	  .given = "prog is a BPF_PROG_TYPE_KPROBE" },
	{ ROW(I23b, EINVAL), HAS("print", "internal|ftrace"),
	  ATTR(FTRACE_PRINT), IOCTL_RT(SET_BPF, "prog"),
	  .prepare = bpf_perf_event,
	  .given = "prog is a BPF_PROG_TYPE_PERF_EVENT" },
	{ ROW(I24, EINVAL), HAS("print", "internal|ftrace"),
	  ATTR(FTRACE_PRINT), IOCTL_RT(SET_BPF, "prog"),
	  .prepare = bpf_tracepoint,
	  .given = "prog is a BPF_PROG_TYPE_TRACEPOINT" },

	/* mmap */
	{ ROW(M1, EINVAL), FIELD(MAP_LENGTH), HAS("power of two|power of 2", "3"),
	  ATTR(TASK_CLOCK, .sample_period = 1000000), MMAP(4, MAP_SHARED, 0) },
	{ ROW(M2, EINVAL), FIELD("flags"), HAS("MAP_SHARED"),
	  ATTR(TASK_CLOCK, .sample_period = 1000000), MMAP(3, MAP_PRIVATE, 0) },
	{ ROW(M4, EINVAL), FIELD("addr|" MAP_LENGTH), HAS("split"),
	  ATTR(TASK_CLOCK, .sample_period = 1000000),
	  MMAP(3, MAP_SHARED | MAP_FIXED, 0), .prepare = ring_to_split,
	  .given = "at the second page of a mapped ring of 3 pages" },
	{ ROW(M5, EINVAL), FIELD("addr|" MAP_LENGTH), HAS("split"),
	  ATTR(TASK_CLOCK, .sample_period = 1000000), .prepare = ring,
	  .on_event = true, .act = act_munmap_first_page,
	  .act_text = "munmap(ring, 1 page)",
	  .given = "the ring has 3 pages" },
	{ ROW(M6, EINVAL), FIELD("aux_offset|offset"), HAS("aux_offset", "0"),
	  ATTR(TASK_CLOCK, .sample_period = 1000000), MMAP(4, MAP_SHARED, 16),
	  .prepare = ring, .given = "the ring's control page has aux_offset=0" },
	{ ROW(M6b, EOPNOTSUPP), HAS("AUX"),
	  ATTR(TASK_CLOCK, .sample_period = 1000000), MMAP(4, MAP_SHARED, 16),
	  .prepare = ring_with_aux_area,
	  .given = "aux_offset and aux_size ask for just this area" },
	{ ROW(M7, EINVAL), FIELD("offset"), HAS("AUX"),
	  ATTR(TASK_CLOCK, .sample_period = 1000000), MMAP(4, MAP_SHARED, 16),
	  .given = "the event has no ring yet" },

	/* read */
	{ ROW(R1, ENOSPC), FIELD("count|size|len"), HAS("4", "8"),
	  ATTR(TASK_CLOCK), READ(read_buf, 4) },
	{ ROW(R2, ENOSPC), FIELD("count|size|len"), HAS("16", "24"),
	  ATTR(TASK_CLOCK, .read_format = PERF_FORMAT_GROUP),
	  READ(read_buf, 16), .prepare = add_sibling,
	  .given = "the group has two events" },
	{ ROW(R3, EFAULT), FIELD("buf"), HAS("buf"),
	  ATTR(TASK_CLOCK), READ(8UL, 8) },

	/* kprobes */
	{ ROW(K1, ENOENT), FIELD("kprobe_func|config1"), HAS("symbol|function"),
	  ATTR(PMU(kprobe)), .pid = -1, .cpu = 0, .setup = kprobe_missing_func,
	  .given = "kprobe_func is \"no_such_function_xyz\"" },
	{ ROW(K2, EADDRNOTAVAIL), FIELD("kprobe_func|config1"), HAS("kprobe_addr"),
	  ATTR(PMU(kprobe)), .pid = -1, .cpu = 0, .setup = kprobe_ambiguous_func,
	  .given = "kprobe_func is the name of several functions" },
	{ ROW(K4, EFAULT), FIELD("kprobe_func|config1"), HAS("0x8|pointer"),
	  ATTR(PMU(kprobe), .kprobe_func = 8), .pid = -1, .cpu = 0,
	  .setup = kprobe_bad_func },

	/* targets: CPUs, cgroups, tasks */
	{ ROW(C1, ENODEV), FIELD("cpu"), HAS("1", "offline|online"),
	  ATTR(TASK_CLOCK), .pid = -1, .cpu = 1, .setup = two_cpus,
	  .act = act_open_cpu1_offline, .given = "cpu 1 is offline" },
	{ ROW(C2, EINVAL), FIELD("pid|group_fd"), HAS("cgroup", "leader"),
	  ATTR(TASK_CLOCK), .cpu = 0, .flags = PERF_FLAG_PID_CGROUP,
	  .args_text = "pid=B, group_fd=leader",
	  .setup = cgroup_of_other_leader, .act = act_open_cgroup,
	  .given = "B is a cgroup, the group leader is in another" },
	{ ROW(C4, ESRCH), FIELD("pid"), HAS("exit|zombie"),
	  ATTR(TASK_CLOCK), .args_text = "pid=P",
	  .setup = zombie_task, .given = "P is a zombie" },

	/* SET_BPF on events that do take programs */
	{ ROW(B1, EINVAL), FIELD(IOC_ARG), HAS("BPF_PROG_TYPE_TRACEPOINT"),
	  ATTR(.type = PERF_TYPE_TRACEPOINT), .setup = sched_switch,
	  IOCTL_RT(SET_BPF, "prog"), .prepare = bpf_kprobe,
	  .given = "sched:sched_switch, prog is a BPF_PROG_TYPE_KPROBE" },
	{ ROW(B3, EACCES), FIELD(IOC_ARG), HAS("4104", "64"),
	  ATTR(.type = PERF_TYPE_TRACEPOINT), .setup = sched_switch,
	  IOCTL_RT(SET_BPF, "prog"), .prepare = bpf_reads_4096,
	  .given = "sched:sched_switch, prog reads 8 bytes at offset 4096" },
	{ ROW(B4, EEXIST), HAS("already", "program"),
	  ATTR(.type = PERF_TYPE_TRACEPOINT), .setup = sched_switch,
	  IOCTL_RT(SET_BPF, "prog"), .prepare = bpf_tracepoint_second,
	  .given = "sched:sched_switch, the event has a program already" },
	{ ROW(B6, EINVAL), FIELD(IOC_ARG), HAS("BPF_PROG_TYPE_KPROBE"),
	  ATTR(PMU(uprobe), .probe_offset = 0x1000), .setup = uprobe_pmu,
	  IOCTL_RT(SET_BPF, "prog"), .prepare = bpf_tracepoint,
	  .given = "prog is a BPF_PROG_TYPE_TRACEPOINT" },
	{ ROW(B8, EACCES), FIELD(IOC_ARG), HAS("32", "24"),
	  ATTR(.type = PERF_TYPE_TRACEPOINT), .setup = sys_enter_close,
	  IOCTL_RT(SET_BPF, "prog"), .prepare = bpf_reads_24,
	  .given = "syscalls:sys_enter_close, prog reads 8 bytes at offset 24" },

	/* other gates */
	{ ROW(S1, EPERM), ATTR(TASK_CLOCK), .setup = seccomp_eperm,
	  .given = "seccomp refuses the call with EPERM", .no_reason = true },
	{ ROW(S2, ENOSYS), ATTR(TASK_CLOCK), .setup = seccomp_enosys,
	  .given = "seccomp refuses the call with ENOSYS", .no_reason = true },
	{ ROW(S4, EACCES), HAS("perf_event_paranoid", "3", "CAP_SYS_ADMIN"),
	  ATTR(TASK_CLOCK, .exclude_kernel = 1), .paranoid = 3,
	  .setup = keep_only_cap_perfmon,
	  .given = "uid 65534 with CAP_PERFMON only, perf_event_paranoid=3" },
	{ ROW(S5, EPERM), FIELD("sample_type"),
	  HAS("PERF_SAMPLE_REGS_INTR", "lockdown"),
	  ATTR(TASK_CLOCK, .sample_period = 1000000,
	       .sample_type = PERF_SAMPLE_REGS_INTR, .sample_regs_intr = 1),
	  .act = act_open_locked_down, .given = "kernel lockdown: confidentiality",
	  .lasting = true },
};

const unsigned int nr_perf_cases = sizeof(perf_cases) / sizeof(perf_cases[0]);
