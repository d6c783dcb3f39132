/* SPDX-License-Identifier: GPL-2.0 */
#ifndef CASES_H
#define CASES_H

#include <stdbool.h>
#include <stddef.h>

#include "../tests/perf_exterr.h"

#define PAGE		4096UL
#define REASON_SIZE	8192

/* What the buffer holds before the call, so that a write can be seen */
#define POISON		0xaa

struct run;

/**
 * struct perf_case - one failing perf call, and what has to come back
 * @id:		name of the row
 * @err:	the errno of an unpatched kernel
 * @field:	member or argument at fault, alternatives separated by '|';
 *		NULL if the fault lies in none
 * @has:	what the message must hold, each with alternatives
 * @given:	for people: the state that the call meets, if it matters
 * @attr:	the event; the runner adds size, disabled and the buffer
 * @attr_text:	@attr as it was written
 * @args_text:	for people: arguments that @setup sets
 * @setup:	brings about the state, before the event is opened; as root
 * @prepare:	the same, with the event open
 * @act:	the call that has to fail; opening the event if NULL
 * @act_text:	@act for people
 * @on_event:	@act works on the event, which has to open
 * @cmd:	ioctl: its number
 * @arg:	ioctl: its argument; read: the buffer
 * @len:	mmap and read: bytes
 * @map_flags:	mmap: flags
 * @off:	mmap: offset
 * @paranoid:	kernel.perf_event_paranoid during the case, 0: as it is
 * @nobody:	the calls are made as uid 65534 without capabilities
 * @no_reason:	perf does not get to see the call: the buffer stays as it was
 * @no_buffer:	no buffer can be given with this call
 * @lasting:	leaves the machine changed until it is rebooted
 */
struct perf_case {
	const char		*id;
	int			err;
	const char		*field;
	const char		*has[4];
	const char		*given;

	struct perf_event_attr	attr;
	const char		*attr_text;
	int			pid;
	int			cpu;
	int			group_fd;
	unsigned long		flags;
	const char		*args_text;

	void			(*setup)(struct run *r);
	void			(*prepare)(struct run *r);
	long			(*act)(struct run *r);
	const char		*act_text;
	bool			on_event;
	unsigned int		cmd;
	const void		*arg;
	size_t			len;
	int			map_flags;
	long			off;

	int			paranoid;
	bool			nobody;
	bool			no_reason;
	bool			no_buffer;
	bool			lasting;
};

/* What a case's process leaves for the runner, in memory that both share */
struct result {
	enum { DIED, BROKEN, SKIPPED, RAN } state;
	int	err;		/* of the call, 0: it succeeded */
	char	why[160];	/* BROKEN or SKIPPED */
	char	also[32];	/* value known at run time, belongs in the message */
	char	reason[REASON_SIZE];
};

/* A case while it runs, in its own process */
struct run {
	const struct perf_case	*c;
	struct result		*res;
	bool			old_kernel;

	union perf_exterr_attr	attr;
	const void		*attr_ptr;
	int			pid;
	int			cpu;
	int			group_fd;
	unsigned long		flags;

	int			fd;
	unsigned long		arg;
	char			*map;
	void			*map_addr;
	char			reason[REASON_SIZE];
};

extern const struct perf_case perf_cases[];
extern const unsigned int nr_perf_cases;

/* run.c */
void run_case(const struct perf_case *c, bool old_kernel, struct result *res);
void broken(struct run *r, const char *what) __attribute__((noreturn));
void skip(struct run *r, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

/* provoke.c: what the rows of the table refer to */
long act_open(struct run *r);
long act_open_page_sized_attr(struct run *r);
long act_open_until_failure(struct run *r);
long act_open_cgroup(struct run *r);
long act_open_cpu1_offline(struct run *r);
long act_open_locked_down(struct run *r);
long act_ioctl(struct run *r);
long act_mmap(struct run *r);
long act_munmap_first_page(struct run *r);
long act_read(struct run *r);

void attr_unmapped(struct run *r);
void attr_size_8(struct run *r);
void reserved_bit_63(struct run *r);
void with_leader(struct run *r);
void with_sibling_as_leader(struct run *r);
void with_leader_other_task(struct run *r);
void other_task(struct run *r);
void parent_task(struct run *r);
void zombie_task(struct run *r);
void cgroup_of_other_leader(struct run *r);
void no_hardware_pmu(struct run *r);
void two_cpus(struct run *r);
void bp_aligned(struct run *r);
void bp_unaligned(struct run *r);
void bp_slots_taken(struct run *r);
void msr_pmu(struct run *r);
void uprobe_pmu(struct run *r);
void uprobe_null_path(struct run *r);
void uprobe_bad_path(struct run *r);
void uprobe_missing_path(struct run *r);
void kprobe_missing_func(struct run *r);
void kprobe_ambiguous_func(struct run *r);
void kprobe_bad_func(struct run *r);
void sched_switch(struct run *r);
void sys_enter_close(struct run *r);
void memlock_8_mib(struct run *r);
void nofile_16(struct run *r);
void seccomp_eperm(struct run *r);
void seccomp_enosys(struct run *r);
void keep_only_cap_perfmon(struct run *r);

void output_unmapped(struct run *r);
void output_mapped_forward(struct run *r);
void output_mapped_own_task(struct run *r);
void bpf_kprobe(struct run *r);
void bpf_perf_event(struct run *r);
void bpf_tracepoint(struct run *r);
void bpf_tracepoint_second(struct run *r);
void bpf_reads_4096(struct run *r);
void bpf_reads_24(struct run *r);
void query_bpf_arg(struct run *r);
void same_attr(struct run *r);
void attr_type_breakpoint(struct run *r);
void attr_bp_addr_off_by_one(struct run *r);
void ring(struct run *r);
void ring_to_split(struct run *r);
void ring_with_aux_area(struct run *r);
void add_sibling(struct run *r);

#endif /* CASES_H */
