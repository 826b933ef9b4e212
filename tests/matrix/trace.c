// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Attempts to make a process outside, of the same user, do the connect, or to take its socket. It
 * carries out what stands in its memory at BUFFER (see `outside deputy`). ADDR PORT come first.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "attack.h"

/* The deputy looks every few milliseconds. */
#define PATIENCE_US 150000

struct order {
	char text[64];
};

static struct order order_of(char **args)
{
	struct order order = {0};

	snprintf(order.text, sizeof(order.text), "%s %s", args[0], args[1]);
	return order;
}

static void end_done(struct outcome *o, int e)
{
	end(o, e);
	if (e)
		return;
	end_word(o, "done");
	usleep(PATIENCE_US);
}

/* PID BUFFER, here and in the next two. */
static void attack_vm_writev(struct outcome *o, char **args)
{
	struct order order = order_of(args);
	struct iovec from = {.iov_base = &order, .iov_len = sizeof(order)};
	struct iovec to = {.iov_base = (void *)number_arg(args[3]), .iov_len = sizeof(order)};

	end_done(o, made(process_vm_writev((pid_t)number_arg(args[2]), &from, 1, &to, 1, 0)));
}

static void attack_proc_mem(struct outcome *o, char **args)
{
	struct order order = order_of(args);
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/mem", args[2]);
	fd = open(path, O_RDWR | O_CLOEXEC);
	end_done(o, fd < 0 ? -errno
			   : made(pwrite(fd, &order, sizeof(order), (off_t)number_arg(args[3]))));
}

static void poke(struct outcome *o, char **args, bool attach)
{
	struct order order = order_of(args);
	pid_t pid = (pid_t)number_arg(args[2]);
	char *buffer = (char *)number_arg(args[3]);
	long words[sizeof(order) / sizeof(long)];
	int status;

	memcpy(words, &order, sizeof(order));
	if (step(o, attach ? "attach" : "seize",
		 made(ptrace(attach ? PTRACE_ATTACH : PTRACE_SEIZE, pid, 0, 0)))) {
		end(o, -errno);
		return;
	}
	if (!attach)
		step(o, "interrupt", made(ptrace(PTRACE_INTERRUPT, pid, 0, 0)));
	waitpid(pid, &status, __WALL);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		ptrace(PTRACE_POKEDATA, pid, buffer + i * sizeof(long), words[i]);
	end_done(o, made(ptrace(PTRACE_DETACH, pid, 0, 0)));
}

static void attack_ptrace_attach(struct outcome *o, char **args)
{
	poke(o, args, true);
}

static void attack_ptrace_seize(struct outcome *o, char **args)
{
	poke(o, args, false);
}

/* PID: at SIGUSR1 the deputy goes to where it was told to when it started. */
static void attack_kill(struct outcome *o, char **args)
{
	end_done(o, made(kill((pid_t)number_arg(args[2]), SIGUSR1)));
}

static void attack_tgkill(struct outcome *o, char **args)
{
	long pid = (long)number_arg(args[2]);

	end_done(o, made(syscall(SYS_tgkill, pid, pid, SIGUSR1)));
}

static void attack_sigqueue(struct outcome *o, char **args)
{
	end_done(o, made(sigqueue((pid_t)number_arg(args[2]), SIGUSR1, (union sigval){0})));
}

static void attack_pidfd_signal(struct outcome *o, char **args)
{
	int fd = (int)syscall(SYS_pidfd_open, number_arg(args[2]), 0);

	step(o, "pidfd_open", made(fd));
	end_done(o, made(syscall(SYS_pidfd_send_signal, fd, SIGUSR1, NULL, 0)));
}

/* A limit, which it does not feel here; one on its processor time would end it. */
static void attack_prlimit(struct outcome *o, char **args)
{
	pid_t pid = (pid_t)number_arg(args[2]);
	struct rlimit limit;
	int e = made(prlimit(pid, RLIMIT_CPU, NULL, &limit));

	if (!e)
		e = made(prlimit(pid, RLIMIT_CPU, &limit, NULL));
	end(o, e);
	if (!e)
		end_word(o, "done");
}

/* As the owner of a pipe it gets a signal of our choice when data arrives. */
static void attack_sigio(struct outcome *o, char **args)
{
	int ends[2], e = made(pipe(ends));

	if (!e)
		e = step(o, "F_SETOWN", made(fcntl(ends[0], F_SETOWN, (int)number_arg(args[2]))));
	if (!e)
		e = step(o, "F_SETSIG", made(fcntl(ends[0], F_SETSIG, SIGUSR1)));
	if (!e)
		e = step(o, "O_ASYNC", made(fcntl(ends[0], F_SETFL, O_ASYNC)));
	if (!e)
		e = made(write(ends[1], "x", 1));
	end_done(o, e);
}

/* PID FD: its socket, taken over. */
static void attack_getfd(struct outcome *o, char **args)
{
	struct peer to = peer_arg(args[0], args[1]);
	struct attempt a = attempt_at(&to);
	int pidfd = (int)syscall(SYS_pidfd_open, number_arg(args[2]), 0);

	step(o, "pidfd_open", made(pidfd));
	a.fd = (int)syscall(SYS_pidfd_getfd, pidfd, number_arg(args[3]), 0);
	if (a.fd < 0) {
		end(o, -errno);
		return;
	}
	disconnect(&a);
	conclude(o, &a, connect_to(&a, &to));
}

/* A child of one's own, as a debugger would have it: this has to work. */
static void attack_trace_child(struct outcome *o, char **args)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		pause();
		_exit(0);
	}
	step(o, "attach", made(ptrace(PTRACE_ATTACH, pid, 0, 0)));
	waitpid(pid, &status, 0);
	step(o, "detach", made(ptrace(PTRACE_DETACH, pid, 0, 0)));
	if (kill(pid, SIGKILL) || waitpid(pid, &status, 0) != pid || strstr(o->steps, ": E"))
		end(o, -EPERM);
	else
		try_tcp(o, args[0], args[1]);
}

/*
 * [high|tty]: types at the terminal that the session shares with who started it. The kernel takes
 * the lower half of the request's register.
 */
static void attack_type(struct outcome *o, char **args)
{
	struct order order = order_of(args);
	bool high = args[2] && !strcmp(args[2], "high");
	bool other = args[2] && !strcmp(args[2], "tty");
	int fd = other ? open("/dev/tty", O_RDWR | O_CLOEXEC) : STDIN_FILENO, e = made(fd);

	strcat(order.text, "\n");
	for (char *c = order.text; *c && !e; c++)
		e = made(syscall(SYS_ioctl, fd, (high ? 1UL << 32 : 0) | TIOCSTI, c));
	step(o, "TIOCSTI", e);
	end_word(o, e ? "refused" : "done");
}

/* The paste of the console's selection. */
static void attack_paste(struct outcome *o, char **args)
{
	char subcode = 3;

	(void)args;
	end(o, made(ioctl(STDIN_FILENO, TIOCLINUX, &subcode)));
}

const struct attack trace_attacks[] = {
	{"vm-writev", 4, attack_vm_writev},
	{"proc-mem", 4, attack_proc_mem},
	{"ptrace-attach", 4, attack_ptrace_attach},
	{"ptrace-seize", 4, attack_ptrace_seize},
	{"kill", 3, attack_kill},
	{"tgkill", 3, attack_tgkill},
	{"sigqueue", 3, attack_sigqueue},
	{"pidfd-signal", 3, attack_pidfd_signal},
	{"prlimit", 3, attack_prlimit},
	{"sigio", 3, attack_sigio},
	{"getfd", 4, attack_getfd},
	{"trace-child", 2, attack_trace_child},
	{"type", 2, attack_type},
	{"paste", 0, attack_paste},
	{NULL, 0, NULL},
};
