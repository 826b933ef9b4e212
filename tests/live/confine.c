// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * confine ATTEMPT [ARG]...: tries what a session must not be able to do, and prints "ok" or the
 * name of the errno. Nothing is connected, sent or changed: an attempt that works is undone.
 *
 * confine target: a process to be reached into; prints "PID ADDRESS FD" and stays.
 * confine no-landlock CMD...: runs CMD as on a kernel without Landlock.
 */
#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "util.h"

#define HIGH_BIT (1ULL << 32)

/* A descriptor that is not open. */
#define NO_FD 1000

/* What a target offers. */
static char secret[] = "outside";

static long number(const char *s)
{
	return s ? strtol(s, NULL, 0) : 0;
}

static int close_new(long fd)
{
	return fd < 0 ? -errno : close((int)fd);
}

/* --- system calls that the filter refuses ------------------------------------------------------
 */

static int try_socket(char **arg)
{
	return close_new(socket((int)number(arg[0]), (int)number(arg[1]), 0));
}

/* The kernel looks at the low half of the family only. */
static int try_socket_wide(char **arg)
{
	return close_new(
		syscall(SYS_socket, HIGH_BIT | (uint64_t)number(arg[0]), number(arg[1]), 0));
}

static int try_socketpair(char **arg)
{
	int fds[2];

	if (socketpair((int)number(arg[0]), (int)number(arg[1]), 0, fds) < 0)
		return -errno;
	return close(fds[0]) | close(fds[1]);
}

static int try_bpf(char **arg)
{
	union bpf_attr attr;

	(void)arg;
	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = attr.value_size = 4;
	attr.max_entries = 1;
	return close_new(syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr)));
}

static int try_io_uring_setup(char **arg)
{
	char params[256] = "";

	(void)arg;
	return close_new(syscall(SYS_io_uring_setup, 1, params));
}

static int try_io_uring_enter(char **arg)
{
	(void)arg;
	return syscall(SYS_io_uring_enter, NO_FD, 0, 0, 0, NULL, 0) < 0 ? -errno : 0;
}

static int try_io_uring_register(char **arg)
{
	(void)arg;
	return syscall(SYS_io_uring_register, NO_FD, 0, NULL, 0) < 0 ? -errno : 0;
}

/* On a terminal of its own, which TIOCSTI would type into. */
static int try_terminal(unsigned long request)
{
	static const char what[] = "x";
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave;

	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
		return -errno;
	if (getpgrp() != getpid())
		setsid();
	slave = open(ptsname(master), O_RDWR);
	if (slave < 0 || ioctl(slave, TIOCSCTTY, 0) < 0)
		return -errno;
	return syscall(SYS_ioctl, slave, request, what) < 0 ? -errno : 0;
}

static int try_tiocsti(char **arg)
{
	(void)arg;
	return try_terminal(TIOCSTI);
}

static int try_tiocsti_wide(char **arg)
{
	(void)arg;
	return try_terminal(HIGH_BIT | TIOCSTI);
}

static int try_tioclinux(char **arg)
{
	(void)arg;
	return try_terminal(TIOCLINUX);
}

/* A bad pointer, so that nothing is asked for; without a description no upcall would be made. */
static int try_request_key(char **arg)
{
	return syscall(SYS_request_key, 1, 1, number(arg[0]), 0) < 0 ? -errno : 0;
}

/* --- other system call interfaces --------------------------------------------------------------
 */

#ifdef __x86_64__

static long int80(long nr, long a, long b, long c)
{
	long ret;

	__asm__ volatile("int $0x80"
			 : "=a"(ret)
			 : "a"(nr), "b"(a), "c"(b), "d"(c)
			 : "memory", "r8", "r9", "r10", "r11");
	return ret;
}

#define NR32_IOCTL	54
#define NR32_SOCKETCALL 102
#define NR32_BPF	357
#define NR32_SOCKET	359

static int try_socket32(char **arg)
{
	long fd = int80(NR32_SOCKET, number(arg[0]), number(arg[1]), 0);

	return fd < 0 ? (int)fd : close((int)fd);
}

static int try_socketcall32(char **arg)
{
	int *args = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long fd;

	if (args == MAP_FAILED)
		return -errno;
	args[0] = (int)number(arg[0]);
	args[1] = (int)number(arg[1]);
	fd = int80(NR32_SOCKETCALL, 1, (long)args, 0);
	return fd < 0 ? (int)fd : close((int)fd);
}

static int try_bpf32(char **arg)
{
	(void)arg;
	return (int)int80(NR32_BPF, 0, 0, 0);
}

static int try_tiocsti32(char **arg)
{
	(void)arg;
	return (int)int80(NR32_IOCTL, NO_FD, TIOCSTI, 0);
}

static int try_x32(char **arg)
{
	(void)arg;
	return close_new(syscall(0x40000000 | SYS_socket, AF_UNIX, SOCK_STREAM, 0));
}

#endif

/* --- processes outside -------------------------------------------------------------------------
 */

static int traced(pid_t pid, long ret)
{
	if (ret < 0)
		return -errno;
	waitpid(pid, NULL, __WALL);
	return ptrace(PTRACE_DETACH, pid, NULL, NULL) < 0 ? -errno : 0;
}

static int try_attach(char **arg)
{
	pid_t pid = (pid_t)number(arg[0]);

	return traced(pid, ptrace(PTRACE_ATTACH, pid, NULL, NULL));
}

static int try_seize(char **arg)
{
	pid_t pid = (pid_t)number(arg[0]);

	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0)
		return -errno;
	return traced(pid, ptrace(PTRACE_INTERRUPT, pid, NULL, NULL));
}

static int vm(long nr, char **arg)
{
	char buffer[sizeof(secret)] = "outside";
	struct iovec here = {buffer, sizeof(buffer)};
	struct iovec there = {(void *)number(arg[1]), sizeof(buffer)};

	return syscall(nr, number(arg[0]), &here, 1, &there, 1, 0) < 0 ? -errno : 0;
}

static int try_vm_read(char **arg)
{
	return vm(SYS_process_vm_readv, arg);
}

static int try_vm_write(char **arg)
{
	return vm(SYS_process_vm_writev, arg);
}

static int try_getfd(char **arg)
{
	_cleanup_close_ int fd = (int)syscall(SYS_pidfd_open, number(arg[0]), 0);

	if (fd < 0)
		return -errno;
	return close_new(syscall(SYS_pidfd_getfd, fd, number(arg[1]), 0));
}

static int try_kill(char **arg)
{
	return kill((pid_t)number(arg[0]), (int)number(arg[1])) < 0 ? -errno : 0;
}

static int try_pidfd_signal(char **arg)
{
	_cleanup_close_ int fd = (int)syscall(SYS_pidfd_open, number(arg[0]), 0);

	if (fd < 0)
		return -errno;
	return syscall(SYS_pidfd_send_signal, fd, SIGCONT, NULL, 0) < 0 ? -errno : 0;
}

/* The limit that it has already: the first call only reads, and works. */
static int try_prlimit(char **arg)
{
	pid_t pid = (pid_t)number(arg[0]);
	struct rlimit limit;

	if (prlimit(pid, RLIMIT_CPU, NULL, &limit) < 0)
		return -errno;
	return prlimit(pid, RLIMIT_CPU, &limit, NULL) < 0 ? -errno : 0;
}

static int try_read_limit(char **arg)
{
	struct rlimit limit;

	return prlimit((pid_t)number(arg[0]), RLIMIT_CPU, NULL, &limit) < 0 ? -errno : 0;
}

static int try_setns(char **arg)
{
	_cleanup_close_ int fd = open(arg[0], O_RDONLY | O_CLOEXEC);

	return fd < 0 || setns(fd, 0) < 0 ? -errno : 0;
}

static int try_setns_pidfd(char **arg)
{
	_cleanup_close_ int fd = (int)syscall(SYS_pidfd_open, number(arg[0]), 0);

	return fd < 0 || setns(fd, CLONE_NEWNS) < 0 ? -errno : 0;
}

/* --- files and cgroups -------------------------------------------------------------------------
 */

/* As open(2) with O_RDONLY, O_WRONLY or O_RDWR (0, 1, 2). */
static int try_open(char **arg)
{
	return close_new(open(arg[0], (int)number(arg[1]) | O_CLOEXEC | O_NOCTTY));
}

/* Sends a frame into the host's network, through a device that is there already. */
static int try_tap(char **arg)
{
	_cleanup_close_ int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
	struct ifreq ifr = {.ifr_flags = IFF_TAP | IFF_NO_PI};
	const unsigned char frame[60] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, [13] = 1};

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", arg[0]);
	if (fd < 0 || ioctl(fd, TUNSETIFF, &ifr) < 0)
		return -errno;
	return write(fd, frame, sizeof(frame)) < 0 ? -errno : 0;
}

/* Writes to a file what it holds already. */
static int try_rewrite(char **arg)
{
	_cleanup_close_ int fd = open(arg[0], O_RDWR | O_CLOEXEC);
	char text[512];
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text));
	if (n < 0)
		return -errno;
	return pwrite(fd, text, (size_t)n, 0) < 0 ? -errno : 0;
}

static int try_handle(char **arg)
{
	struct {
		struct file_handle head;
		unsigned char bytes[MAX_HANDLE_SZ];
	} handle = {.head.handle_bytes = MAX_HANDLE_SZ};
	_cleanup_close_ int fd = open(arg[0], O_RDONLY | O_CLOEXEC);
	int mount;

	if (fd < 0 || name_to_handle_at(fd, "", &handle.head, &mount, AT_EMPTY_PATH) < 0)
		return -errno;
	return close_new(open_by_handle_at(fd, &handle.head, O_PATH | O_CLOEXEC));
}

/* Starts a child in the cgroup of a directory. */
static int try_clone_into(char **arg)
{
	struct clone_args args = {.flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD};
	_cleanup_close_ int fd = open(arg[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long pid;

	if (fd < 0)
		return -errno;
	args.cgroup = (__u64)fd;
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (!pid)
		_exit(0);
	if (pid < 0)
		return -errno;
	waitpid((pid_t)pid, NULL, 0);
	return 0;
}

static int try_mknod(char **arg)
{
	if (mknod(arg[0], S_IFCHR | 0600, 0x0101) < 0)
		return -errno;
	return unlink(arg[0]);
}

static int try_iopl(char **arg)
{
	(void)arg;
#ifdef SYS_iopl
	return syscall(SYS_iopl, 3) < 0 ? -errno : 0;
#else
	return -ENOSYS;
#endif
}

/* ------------------------------------------------------------------------------------------------
 */

static const struct {
	const char *name;
	int nargs;
	int (*fn)(char **arg);
} attempts[] = {
	{"socket", 2, try_socket},
	{"socket-wide", 2, try_socket_wide},
	{"socketpair", 2, try_socketpair},
	{"bpf", 0, try_bpf},
	{"io_uring_setup", 0, try_io_uring_setup},
	{"io_uring_enter", 0, try_io_uring_enter},
	{"io_uring_register", 0, try_io_uring_register},
	{"tiocsti", 0, try_tiocsti},
	{"tiocsti-wide", 0, try_tiocsti_wide},
	{"tioclinux", 0, try_tioclinux},
	{"request_key", 1, try_request_key},
#ifdef __x86_64__
	{"socket32", 2, try_socket32},
	{"socketcall32", 2, try_socketcall32},
	{"bpf32", 0, try_bpf32},
	{"tiocsti32", 0, try_tiocsti32},
	{"x32", 0, try_x32},
#endif
	{"attach", 1, try_attach},
	{"seize", 1, try_seize},
	{"vm-read", 2, try_vm_read},
	{"vm-write", 2, try_vm_write},
	{"getfd", 2, try_getfd},
	{"kill", 2, try_kill},
	{"pidfd-signal", 1, try_pidfd_signal},
	{"prlimit", 1, try_prlimit},
	{"read-limit", 1, try_read_limit},
	{"setns", 1, try_setns},
	{"setns-pidfd", 1, try_setns_pidfd},
	{"open", 2, try_open},
	{"tap", 1, try_tap},
	{"rewrite", 1, try_rewrite},
	{"handle", 1, try_handle},
	{"clone-into", 1, try_clone_into},
	{"mknod", 1, try_mknod},
	{"iopl", 0, try_iopl},
};

static int target(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (fd < 0)
		return 1;
	printf("%d %p %d\n", (int)getpid(), (void *)secret, fd);
	fflush(stdout);
	for (;;)
		pause();
}

/* Needs CAP_SYS_ADMIN, or else CMD could not be what has it. */
static int no_landlock(char **cmd)
{
	struct sock_filter insns[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_landlock_create_ruleset, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {ARRAY_SIZE(insns), insns};

	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) < 0) {
		perror("seccomp");
		return 1;
	}
	execvp(cmd[0], cmd);
	perror(cmd[0]);
	return 1;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "target"))
		return target();
	if (argc > 2 && !strcmp(argv[1], "no-landlock"))
		return no_landlock(argv + 2);
	for (size_t i = 0; argc > 1 && i < ARRAY_SIZE(attempts); i++) {
		int err;

		if (strcmp(attempts[i].name, argv[1]) != 0 || argc - 2 != attempts[i].nargs)
			continue;
		err = attempts[i].fn(argv + 2);
		puts(err < 0 ? strerrorname_np(-err) : "ok");
		return err < 0;
	}
	fprintf(stderr, "usage: confine ATTEMPT [ARG]...\n");
	return 2;
}
