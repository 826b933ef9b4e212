// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Ways out of the class's cgroup, or to things of the outside. Each ends with a connect from where
 * it got to; ADDR PORT come first.
 */
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "attack.h"

/* FILE: a cgroup.procs or cgroup.threads to which this process adds itself. */
static void attack_procs(struct outcome *o, char **args)
{
	step(o, "write", write_file(args[2], "0"));
	try_tcp(o, args[0], args[1]);
}

/* FD: the same through a descriptor that was handed down. */
static void attack_procs_fd(struct outcome *o, char **args)
{
	step(o, "write", made(write((int)number_arg(args[2]), "0", 1)));
	try_tcp(o, args[0], args[1]);
}

/* DIR: a child that starts in another cgroup. */
static void attack_clone_into(struct outcome *o, char **args)
{
	int fd = open(args[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct clone_args clone = {
		.flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD, .cgroup = (unsigned int)fd};
	pid_t pid;

	if (step(o, "open", made(fd))) {
		try_tcp(o, args[0], args[1]);
		return;
	}
	pid = (pid_t)syscall(SYS_clone3, &clone, sizeof(clone));
	if (pid > 0) {
		waitpid(pid, NULL, 0);
		o->child = true;
		return;
	}
	step(o, "clone3", pid < 0 ? -errno : 0);
	try_tcp(o, args[0], args[1]);
}

/* DIR: a cgroup of one's own below it, moved into. */
static void attack_nest(struct outcome *o, char **args)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/nested-%d", args[2], (int)getpid());
	step(o, "mkdir", made(mkdir(path, 0755)));
	strcat(path, "/cgroup.procs");
	step(o, "write", write_file(path, "0"));
	try_tcp(o, args[0], args[1]);
	/* Empty again, it can go. */
	snprintf(path, sizeof(path), "%s/cgroup.procs", args[2]);
	write_file(path, "0");
	snprintf(path, sizeof(path), "%s/nested-%d", args[2], (int)getpid());
	rmdir(path);
}

static const struct {
	const char *name;
	int flag;
} spaces[] = {
	{"user", CLONE_NEWUSER}, {"mnt", CLONE_NEWNS},	      {"pid", CLONE_NEWPID},
	{"net", CLONE_NEWNET},	 {"ipc", CLONE_NEWIPC},	      {"uts", CLONE_NEWUTS},
	{"time", CLONE_NEWTIME}, {"cgroup", CLONE_NEWCGROUP},
};

/* NAME,...: new namespaces, entered by a child. */
static void attack_unshare(struct outcome *o, char **args)
{
	int flags = 0;
	pid_t pid;

	for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++)
		if (strstr(args[2], spaces[i].name))
			flags |= spaces[i].flag;
	step(o, "unshare", made(unshare(flags)));
	pid = fork();
	if (!pid) {
		try_tcp(o, args[0], args[1]);
		return;
	}
	waitpid(pid, NULL, 0);
	o->child = true;
}

/* FILE PID NAME...: somebody else's namespaces, then FILE as seen from there. */
static void attack_setns(struct outcome *o, char **args)
{
	char path[64];
	int fd;

	for (char **name = args + 4; *name; name++) {
		snprintf(path, sizeof(path), "/proc/%s/ns/%s", args[3], *name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (!step(o, path, made(fd)))
			step(o, "setns", made(setns(fd, 0)));
	}
	attack_procs(o, args);
}

static void attack_chroot(struct outcome *o, char **args)
{
	step(o, "chroot", made(chroot(args[2])));
	step(o, "chdir", made(chdir("/")));
	try_tcp(o, args[0], args[1]);
}

/* FILE: with every capability that this process can get. */
static void attack_capabilities(struct outcome *o, char **args)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct all[_LINUX_CAPABILITY_U32S_3] = {
		{0xffffffff, 0xffffffff, 0xffffffff},
		{0x1ff, 0x1ff, 0x1ff},
	};

	step(o, "capset", made(syscall(SYS_capset, &header, all)));
	attack_procs(o, args);
}

/* As many sockets as this process may have, then one more. */
static void attack_many_sockets(struct outcome *o, char **args)
{
	struct rlimit limit;
	char text[32];
	int fd, last = -1, n = 0;

	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	while (n < 50000 && (fd = socket(AF_INET, SOCK_DGRAM, 0)) >= 0) {
		last = fd;
		n++;
	}
	snprintf(text, sizeof(text), "%d sockets", n);
	step(o, text, 0);
	close(last);
	try_tcp(o, args[0], args[1]);
}

/* FD: a socket that was made outside. */
static void attack_fd(struct outcome *o, char **args)
{
	struct peer to = peer_arg(args[0], args[1]);
	struct attempt a = attempt_at(&to);

	a.fd = (int)number_arg(args[2]);
	disconnect(&a);
	conclude(o, &a, connect_to(&a, &to));
}

/* FD: one that is connected; the answer to what is sent is the last word. */
static void attack_fd_send(struct outcome *o, char **args)
{
	struct peer to = peer_arg(args[0], args[1]);
	struct attempt a = attempt_at(&to);

	a.fd = (int)number_arg(args[2]);
	conclude(o, &a, send_to(&a, NULL, 0));
}

/* FILE TEXT: something of the system's, by which somebody else might be made to act. */
static void attack_write(struct outcome *o, char **args)
{
	step(o, "write", write_file(args[2], args[3]));
	try_tcp(o, args[0], args[1]);
}

/* FILE: the same, but stops short of doing it. */
static void attack_open(struct outcome *o, char **args)
{
	int fd = open(args[2], O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		end(o, -errno);
	else
		end_word(o, "opened");
}

static void attack_rmdir(struct outcome *o, char **args)
{
	step(o, "rmdir", made(rmdir(args[2])));
	try_tcp(o, args[0], args[1]);
}

/* Descriptors that this process was started with, beyond the first three. */
static void attack_descriptors(struct outcome *o, char **args)
{
	char path[32], target[256];

	try_tcp(o, args[0], args[1]);
	for (int fd = 3; fd < 1024; fd++) {
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n = readlink(path, target, sizeof(target) - 1);
		if (n < 0)
			continue;
		target[n] = 0;
		step(o, target, 0);
		end_word(o, "open-descriptor");
	}
}

const struct attack leave_attacks[] = {
	{"procs", 3, attack_procs},
	{"procs-fd", 3, attack_procs_fd},
	{"clone-into", 3, attack_clone_into},
	{"nest", 3, attack_nest},
	{"unshare", 3, attack_unshare},
	{"setns", 5, attack_setns},
	{"chroot", 3, attack_chroot},
	{"capabilities", 3, attack_capabilities},
	{"many-sockets", 2, attack_many_sockets},
	{"fd", 3, attack_fd},
	{"fd-send", 3, attack_fd_send},
	{"write", 4, attack_write},
	{"open", 3, attack_open},
	{"rmdir", 3, attack_rmdir},
	{"descriptors", 2, attack_descriptors},
	{NULL, 0, NULL},
};
