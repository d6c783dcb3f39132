// SPDX-License-Identifier: GPL-2.0
/*
 * Bringing about what the rows of the table need.  Everything here runs in
 * the process of one case, in a mount namespace of its own.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <linux/audit.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include "cases.h"

#define TRACEFS	"/sys/kernel/tracing"
#define CPU1	"/sys/devices/system/cpu/cpu1/online"
#define LOCKDOWN "/sys/kernel/security/lockdown"

static long bp_target __attribute__((aligned(16)));

static long result(long ret)
{
	return ret < 0 ? errno : 0;
}

static void write_file(struct run *r, const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		broken(r, path);
	close(fd);
}

static unsigned long read_number(const char *path)
{
	unsigned long n = 0;
	FILE *f = fopen(path, "r");

	if (!f)
		return 0;
	if (fscanf(f, "%lu", &n) != 1)
		n = 0;
	fclose(f);
	return n;
}

static void mount_once(struct run *r, const char *type, const char *dir,
		       const char *probe)
{
	if (access(probe, F_OK) && mount("none", dir, type, 0, NULL))
		skip(r, "no %s", type);
}

/* Events */

long act_open(struct run *r)
{
	return result(perf_exterr_open(r->attr_ptr, r->pid, r->cpu,
				       r->group_fd, r->flags));
}

static int open_like(struct run *r, int pid, int cpu, int group_fd,
		     unsigned long flags)
{
	int fd = perf_exterr_open(&r->attr, pid, cpu, group_fd, flags);

	if (fd < 0)
		broken(r, "cannot open the other event");
	return fd;
}

long act_open_page_sized_attr(struct run *r)
{
	static char attr[PAGE];

	r->attr.attr.size = sizeof(attr);
	memcpy(attr, &r->attr, sizeof(r->attr));
	attr[3000] = 1;
	r->attr_ptr = attr;
	return act_open(r);
}

long act_open_until_failure(struct run *r)
{
	long err;
	int i;

	for (i = 0; i < 16; i++) {
		err = act_open(r);
		if (err)
			return err;
	}
	return 0;
}

long act_open_cpu1_offline(struct run *r)
{
	long err;

	write_file(r, CPU1, "0");
	err = act_open(r);
	write_file(r, CPU1, "1");
	return err;
}

long act_open_locked_down(struct run *r)
{
	mount_once(r, "securityfs", "/sys/kernel/security",
		   "/sys/kernel/security/lsm");
	if (access(LOCKDOWN, F_OK))
		skip(r, "no lockdown LSM");
	write_file(r, LOCKDOWN, "confidentiality");
	return act_open(r);
}

long act_ioctl(struct run *r)
{
	return result(ioctl(r->fd, r->c->cmd, r->arg));
}

long act_mmap(struct run *r)
{
	void *p = mmap(r->map_addr, r->c->len, PROT_READ | PROT_WRITE,
		       r->c->map_flags, r->fd, r->c->off);

	return p == MAP_FAILED ? errno : 0;
}

long act_munmap_first_page(struct run *r)
{
	return result(munmap(r->map, PAGE));
}

long act_read(struct run *r)
{
	return result(read(r->fd, (void *)r->arg, r->c->len));
}

/* attr */

void attr_unmapped(struct run *r)
{
	r->attr_ptr = (void *)8;
}

void attr_size_8(struct run *r)
{
	r->attr.attr.size = 8;
}

void reserved_bit_63(struct run *r)
{
	r->attr.bytes[47] |= 0x80;
}

/* Groups and tasks */

static int open_leader(struct run *r)
{
	struct perf_event_attr asked = r->attr.attr;
	int fd;

	r->attr.attr.inherit = 0;
	r->attr.attr.pinned = 0;
	fd = open_like(r, 0, -1, -1, 0);
	r->attr.attr = asked;
	return fd;
}

void with_leader(struct run *r)
{
	r->group_fd = open_leader(r);
}

void with_sibling_as_leader(struct run *r)
{
	r->group_fd = open_like(r, 0, -1, open_leader(r), 0);
}

void other_task(struct run *r)
{
	r->pid = fork();
	if (r->pid < 0)
		broken(r, "fork");
	if (!r->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
}

void with_leader_other_task(struct run *r)
{
	r->group_fd = open_leader(r);
	other_task(r);
}

void parent_task(struct run *r)
{
	r->pid = getppid();
	snprintf(r->res->also, sizeof(r->res->also), "%d", r->pid);
}

void zombie_task(struct run *r)
{
	siginfo_t si;

	r->pid = fork();
	if (r->pid < 0)
		broken(r, "fork");
	if (!r->pid)
		_exit(0);
	if (waitid(P_PID, r->pid, &si, WEXITED | WNOWAIT))
		broken(r, "waitid");
	snprintf(r->res->also, sizeof(r->res->also), "%d", r->pid);
}

static int cgroup_root;

long act_open_cgroup(struct run *r)
{
	long err = act_open(r);

	unlinkat(cgroup_root, "perf-cases-a", AT_REMOVEDIR);
	unlinkat(cgroup_root, "perf-cases-b", AT_REMOVEDIR);
	return err;
}

void cgroup_of_other_leader(struct run *r)
{
	char dir[] = "/tmp/perf-cases-XXXXXX";
	int a, b, root;

	mkdir("/tmp", 01777);
	if (!mkdtemp(dir))
		broken(r, "mkdtemp");
	if (mount("none", dir, "cgroup", 0, "perf_event")) {
		rmdir(dir);
		skip(r, "no v1 perf_event cgroups");
	}
	root = open(dir, O_RDONLY | O_DIRECTORY);
	mkdirat(root, "perf-cases-a", 0755);
	mkdirat(root, "perf-cases-b", 0755);
	a = openat(root, "perf-cases-a", O_RDONLY | O_DIRECTORY);
	b = openat(root, "perf-cases-b", O_RDONLY | O_DIRECTORY);
	if (a < 0 || b < 0)
		broken(r, "cannot make cgroups");
	umount2(dir, MNT_DETACH);
	rmdir(dir);

	cgroup_root = root;
	r->group_fd = open_like(r, a, 0, -1, PERF_FLAG_PID_CGROUP);
	r->pid = b;
}

void two_cpus(struct run *r)
{
	if (access(CPU1, W_OK))
		skip(r, "no second CPU that can go offline");
}

/* PMUs */

static void use_pmu(struct run *r, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type",
		 name);
	r->attr.attr.type = read_number(path);
	if (!r->attr.attr.type)
		skip(r, "no PMU %s", name);
}

void no_hardware_pmu(struct run *r)
{
	if (!access("/sys/bus/event_source/devices/cpu", F_OK))
		skip(r, "this machine has a hardware PMU");
}

void msr_pmu(struct run *r)
{
	use_pmu(r, "msr");
}

/* A file that a probe at offset 0x1000 can be in */
static const char *probe_target(void)
{
	static char self[512];
	struct stat st;

	if (!stat("/bin/true", &st) && st.st_size > 0x2000)
		return "/bin/true";
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return "/init";
	return self;
}

static void uprobe_path(struct run *r, const void *path)
{
	use_pmu(r, "uprobe");
	r->attr.attr.uprobe_path = (uintptr_t)path;
}

void uprobe_pmu(struct run *r)
{
	uprobe_path(r, probe_target());
}

void uprobe_null_path(struct run *r)
{
	uprobe_path(r, NULL);
}

void uprobe_bad_path(struct run *r)
{
	uprobe_path(r, (void *)0x1234);
}

void uprobe_missing_path(struct run *r)
{
	uprobe_path(r, "/no/such/file");
}

static void kprobe_func(struct run *r, const void *func)
{
	use_pmu(r, "kprobe");
	r->attr.attr.kprobe_func = (uintptr_t)func;
}

void kprobe_missing_func(struct run *r)
{
	kprobe_func(r, "no_such_function_xyz");
}

void kprobe_bad_func(struct run *r)
{
	kprobe_func(r, (void *)8);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char * const *)a, *(char * const *)b);
}

void kprobe_ambiguous_func(struct run *r)
{
	size_t n = 0, i, room = 0;
	char **names = NULL;
	char line[512], name[400], type;
	FILE *f = fopen("/proc/kallsyms", "r");

	while (f && fgets(line, sizeof(line), f)) {
		/* a module's symbol has its module's name behind it */
		if (strchr(line, '[') ||
		    sscanf(line, "%*x %c %399s", &type, name) != 2 ||
		    (type != 't' && type != 'T') || strchr(name, '.'))
			continue;
		if (n == room) {
			room = room ? 2 * room : 4096;
			names = realloc(names, room * sizeof(*names));
			if (!names)
				broken(r, "realloc");
		}
		names[n++] = strdup(name);
	}
	if (f)
		fclose(f);

	if (n)
		qsort(names, n, sizeof(*names), by_name);
	for (i = 1; i < n; i++) {
		if (!strcmp(names[i - 1], names[i])) {
			kprobe_func(r, names[i]);
			snprintf(r->res->also, sizeof(r->res->also), "%s",
				 names[i]);
			return;
		}
	}
	skip(r, "no ambiguous function in /proc/kallsyms");
}

static void use_tracepoint(struct run *r, const char *name)
{
	char path[256];

	mount_once(r, "tracefs", TRACEFS, TRACEFS "/events");
	snprintf(path, sizeof(path), TRACEFS "/events/%s/id", name);
	r->attr.attr.config = read_number(path);
	if (!r->attr.attr.config)
		skip(r, "no tracepoint %s", name);
}

void sched_switch(struct run *r)
{
	use_tracepoint(r, "sched/sched_switch");
}

void sys_enter_close(struct run *r)
{
	use_tracepoint(r, "syscalls/sys_enter_close");
}

/* Breakpoints */

void bp_aligned(struct run *r)
{
	r->attr.attr.bp_addr = (uintptr_t)&bp_target;
}

void bp_unaligned(struct run *r)
{
	r->attr.attr.bp_addr = (uintptr_t)&bp_target + 1;
}

void bp_slots_taken(struct run *r)
{
	int i;

	bp_aligned(r);
	for (i = 0; i < 4; i++)
		open_like(r, 0, -1, -1, 0);
}

/* Privileges and limits */

void memlock_8_mib(struct run *r)
{
	struct rlimit lim = { 8 << 20, 8 << 20 };

	if (setrlimit(RLIMIT_MEMLOCK, &lim))
		broken(r, "setrlimit");
	if (read_number("/proc/sys/kernel/perf_event_mlock_kb") > 131072)
		skip(r, "perf_event_mlock_kb is large");
}

void nofile_16(struct run *r)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim))
		broken(r, "getrlimit");
	lim.rlim_cur = 16;
	if (setrlimit(RLIMIT_NOFILE, &lim))
		broken(r, "setrlimit");
}

static void refuse_open(struct run *r, int err)
{
	struct sock_filter insns[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | err),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {
		.len = sizeof(insns) / sizeof(insns[0]),
		.filter = insns,
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		broken(r, "seccomp");
}

void seccomp_eperm(struct run *r)
{
	refuse_open(r, EPERM);
}

void seccomp_enosys(struct run *r)
{
	refuse_open(r, ENOSYS);
}

void keep_only_cap_perfmon(struct run *r)
{
	struct __user_cap_header_struct hdr = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2] = { };

	data[CAP_TO_INDEX(CAP_PERFMON)].effective = CAP_TO_MASK(CAP_PERFMON);
	data[CAP_TO_INDEX(CAP_PERFMON)].permitted = CAP_TO_MASK(CAP_PERFMON);
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) || setgroups(0, NULL) ||
	    setgid(65534) || setuid(65534) ||
	    syscall(__NR_capset, &hdr, data))
		broken(r, "cannot keep CAP_PERFMON alone");
}

/* ioctl arguments */

static char *map_ring(struct run *r, int fd, unsigned int pages)
{
	char *p = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
		       fd, 0);

	if (p == MAP_FAILED)
		broken(r, "cannot map the ring");
	return p;
}

void output_unmapped(struct run *r)
{
	r->arg = open_like(r, 0, -1, -1, 0);
}

void output_mapped_own_task(struct run *r)
{
	r->arg = open_like(r, 0, -1, -1, 0);
	map_ring(r, r->arg, 2);
}

void output_mapped_forward(struct run *r)
{
	r->attr.attr.write_backward = 0;
	output_mapped_own_task(r);
}

void same_attr(struct run *r)
{
	r->arg = (uintptr_t)&r->attr;
}

void attr_type_breakpoint(struct run *r)
{
	r->attr.attr.type = PERF_TYPE_BREAKPOINT;
	same_attr(r);
}

void attr_bp_addr_off_by_one(struct run *r)
{
	r->attr.attr.bp_addr++;
	same_attr(r);
}

void query_bpf_arg(struct run *r)
{
	static struct {
		struct perf_event_query_bpf q;
		__u32 ids[4];
	} query;

	r->arg = (uintptr_t)&query;
}

static int load_prog(struct run *r, enum bpf_prog_type type, int read_at)
{
	struct bpf_insn insns[] = {
		{ .code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_0,
		  .src_reg = BPF_REG_1, .off = read_at },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int skipped = read_at < 0;
	union bpf_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = type;
	attr.insns = (uintptr_t)(insns + skipped);
	attr.insn_cnt = 3 - skipped;
	attr.license = (uintptr_t)"GPL";
	fd = syscall(__NR_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	if (fd < 0) {
		if (errno == ENOSYS)
			skip(r, "no bpf()");
		broken(r, "cannot load the BPF program");
	}
	return fd;
}

void bpf_kprobe(struct run *r)
{
	r->arg = load_prog(r, BPF_PROG_TYPE_KPROBE, -1);
}

void bpf_perf_event(struct run *r)
{
	r->arg = load_prog(r, BPF_PROG_TYPE_PERF_EVENT, -1);
}

void bpf_tracepoint(struct run *r)
{
	r->arg = load_prog(r, BPF_PROG_TYPE_TRACEPOINT, -1);
}

void bpf_tracepoint_second(struct run *r)
{
	bpf_tracepoint(r);
	if (ioctl(r->fd, PERF_EVENT_IOC_SET_BPF, r->arg))
		broken(r, "cannot attach the first program");
	bpf_tracepoint(r);
}

void bpf_reads_4096(struct run *r)
{
	r->arg = load_prog(r, BPF_PROG_TYPE_TRACEPOINT, 4096);
}

void bpf_reads_24(struct run *r)
{
	r->arg = load_prog(r, BPF_PROG_TYPE_TRACEPOINT, 24);
}

/* Mappings and groups of an open event */

void ring(struct run *r)
{
	r->map = map_ring(r, r->fd, 3);
}

void ring_to_split(struct run *r)
{
	ring(r);
	r->map_addr = r->map + PAGE;
}

void ring_with_aux_area(struct run *r)
{
	struct perf_event_mmap_page *ctl;

	ring(r);
	ctl = (void *)r->map;
	ctl->aux_offset = r->c->off;
	ctl->aux_size = r->c->len;
}

void add_sibling(struct run *r)
{
	open_like(r, 0, -1, r->fd, 0);
}
