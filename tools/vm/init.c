// SPDX-License-Identifier: GPL-2.0
/*
 * The first process of `make vm`.
 *
 * Mounts what a program expects, then runs /.vm/argv (NUL-separated) as root
 * in /root, or a shell on the console if there is no such file. The program
 * writes into pipes, never into a tty, and this process carries the bytes to
 * the virtio ports "stdout" and "stderr": they come out as they went in, and
 * a program may still reopen /dev/stdout. Its status goes to port "status";
 * a machine that dies before has not written there.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_ARGS 256

static const struct {
	const char *type, *dir, *data;
} mounts[] = {
	{ "proc", "/proc", NULL },
	{ "sysfs", "/sys", NULL },
	{ "devtmpfs", "/dev", NULL },
	{ "devpts", "/dev/pts", NULL },
	{ "tmpfs", "/dev/shm", "mode=1777" },
	{ "tmpfs", "/tmp", "mode=1777" },
	{ "tmpfs", "/run", "mode=755" },
	{ "debugfs", "/sys/kernel/debug", NULL },
	{ "tracefs", "/sys/kernel/tracing", NULL },
	{ "securityfs", "/sys/kernel/security", NULL },
	{ "bpf", "/sys/fs/bpf", NULL },
	{ "tmpfs", "/sys/fs/cgroup", "mode=755" },
	{ "cgroup", "/sys/fs/cgroup/perf_event", "perf_event" },
	{ "cgroup2", "/sys/fs/cgroup/unified", NULL },
};

static void __attribute__((noreturn)) stop(void)
{
	sync();
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

static void mount_all(void)
{
	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		mkdir(mounts[i].dir, 0755);
		if (mount(mounts[i].type, mounts[i].dir, mounts[i].type, 0,
			  mounts[i].data))
			fprintf(stderr, "init: mount %s on %s: %m\n",
				mounts[i].type, mounts[i].dir);
	}
	if (symlink("/proc/self/fd", "/dev/fd") ||
	    symlink("/proc/self/fd/0", "/dev/stdin") ||
	    symlink("/proc/self/fd/1", "/dev/stdout") ||
	    symlink("/proc/self/fd/2", "/dev/stderr"))
		fprintf(stderr, "init: /dev/fd: %m\n");
}

static void loopback_up(void)
{
	struct ifreq ifr = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &ifr))
		fprintf(stderr, "init: lo: %m\n");
	if (fd >= 0)
		close(fd);
}

static int open_port_once(const char *name)
{
	char path[300], found[64];
	struct dirent *entry;
	DIR *dir;
	int fd = -1;

	dir = opendir("/sys/class/virtio-ports");
	if (!dir)
		return -1;
	while (fd < 0 && (entry = readdir(dir))) {
		FILE *file;

		snprintf(path, sizeof(path), "/sys/class/virtio-ports/%s/name",
			 entry->d_name);
		file = fopen(path, "re");
		if (!file)
			continue;
		if (fgets(found, sizeof(found), file)) {
			found[strcspn(found, "\n")] = '\0';
			snprintf(path, sizeof(path), "/dev/%s", entry->d_name);
			if (!strcmp(found, name))
				fd = open(path, O_WRONLY | O_CLOEXEC);
		}
		fclose(file);
	}
	closedir(dir);
	return fd;
}

/* The ports come up a little after the device */
static int open_port(const char *name)
{
	for (int i = 0; i < 1000; i++) {
		int fd = open_port_once(name);

		if (fd >= 0)
			return fd;
		usleep(10000);
	}
	fprintf(stderr, "init: no virtio port '%s'\n", name);
	stop();
}

static void write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t n = write(fd, data, size);

		if (n < 0) {
			if (errno == EINTR)
				continue;
			fprintf(stderr, "init: port: %m\n");
			stop();
		}
		data += n;
		size -= (size_t)n;
	}
}

/* What the pipe holds now; 0 when all its writers are gone, -1 when empty */
static int carry(int from, int to)
{
	char data[16384];
	ssize_t n;

	while ((n = read(from, data, sizeof(data))) > 0)
		write_all(to, data, (size_t)n);
	return n ? -1 : 0;
}

static void run(char **argv)
{
	const int ports[2] = { open_port("stdout"), open_port("stderr") };
	const int status_port = open_port("status");
	struct pollfd polled[3];
	int pipes[2][2], status = 0;
	sigset_t chld;
	char line[64];
	pid_t child;

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, NULL);
	for (int i = 0; i < 2; i++) {
		if (pipe2(pipes[i], O_CLOEXEC))
			stop();
		polled[i] = (struct pollfd){ .fd = pipes[i][0], .events = POLLIN };
	}
	polled[2] = (struct pollfd){
		.fd = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK),
		.events = POLLIN,
	};

	child = fork();
	if (!child) {
		int null = open("/dev/null", O_RDONLY);

		sigprocmask(SIG_UNBLOCK, &chld, NULL);
		dup2(null, 0);
		dup2(pipes[0][1], 1);
		dup2(pipes[1][1], 2);
		if (null > 2)
			close(null);
		setsid();
		execvp(argv[0], argv);
		fprintf(stderr, "init: %s: %m\n", argv[0]);
		_exit(127);
	}
	for (int i = 0; i < 2; i++) {
		close(pipes[i][1]);
		/* only our end: the program's end stays as it expects it */
		fcntl(pipes[i][0], F_SETFL, O_NONBLOCK);
	}

	for (int running = child > 0; running;) {
		struct signalfd_siginfo info;
		pid_t pid;
		int s;

		poll(polled, 3, -1);
		while (read(polled[2].fd, &info, sizeof(info)) > 0)
			;
		while ((pid = waitpid(-1, &s, WNOHANG)) > 0) {
			if (pid == child) {
				status = s;
				running = 0;
			}
		}
		/* a closed pipe would be ready for ever */
		for (int i = 0; i < 2; i++)
			if (polled[i].fd >= 0 && !carry(polled[i].fd, ports[i]))
				polled[i].fd = -1;
	}

	if (WIFSIGNALED(status))
		snprintf(line, sizeof(line), "signal %d\n", WTERMSIG(status));
	else
		snprintf(line, sizeof(line), "exit %d\n", WEXITSTATUS(status));
	write_all(status_port, line, strlen(line));
}

static void shell(void)
{
	pid_t child = fork(), pid;

	if (!child) {
		char *argv[] = { "-sh", NULL };

		setsid();
		ioctl(0, TIOCSCTTY, 1);
		puts("exterr: a shell; leave it with exit or ctrl-d");
		fflush(stdout);
		execv("/bin/sh", argv);
		_exit(127);
	}
	while ((pid = wait(NULL)) != child && (pid > 0 || errno == EINTR))
		;
}

int main(void)
{
	static char data[65536];
	char *argv[MAX_ARGS];
	ssize_t size = -1;
	int fd, argc = 0;

	mount_all();
	loopback_up();
	clearenv();
	setenv("PATH", "/root:/bin:/sbin:/usr/bin:/usr/sbin", 1);
	setenv("HOME", "/root", 1);
	setenv("USER", "root", 1);
	setenv("TERM", "linux", 1);
	if (chdir("/root"))
		fprintf(stderr, "init: /root: %m\n");

	fd = open("/.vm/argv", O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		size = read(fd, data, sizeof(data) - 1);
		close(fd);
	}
	for (char *p = data; p < data + size && argc < MAX_ARGS - 1;
	     p += strlen(p) + 1)
		argv[argc++] = p;
	argv[argc] = NULL;
	if (argc)
		run(argv);
	else
		shell();
	stop();
}
