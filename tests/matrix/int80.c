// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * System calls of 32-bit programs, from a 64-bit one: a filter that knows only the numbers of
 * 64-bit calls does not see them. Linked statically at a low address, so that pointers fit.
 *
 *   int80 connect|socketcall|sendto ADDR PORT     word: "ok" or an errno
 *   int80 socket FAMILY TYPE PROTOCOL             word: "made" or an errno
 *   int80 join GROUP DEVICE                       word: "ok" or an errno
 *   int80 bpf | io_uring | ptrace PID             word: "done" or an errno
 *   int80 type TEXT                               at the terminal
 */
#include <linux/bpf.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "../live/sock.h"

#if defined(__x86_64__)

enum { I386_PTRACE = 26, I386_IOCTL = 54, I386_SOCKETCALL = 102, I386_BPF = 357 };
enum { I386_SOCKET = 359, I386_CONNECT = 362, I386_SETSOCKOPT = 366, I386_SENDTO = 369 };
enum { I386_URING_SETUP = 425 };
enum { CALL_SOCKET = 1, CALL_CONNECT = 3 };

/* Nothing of this may lie on the stack, which is above 4 GiB. */
static struct peer to;
static unsigned int call_args[6];
static union bpf_attr attr;
static char zeros[256], text[64];
static struct {
	unsigned int interface;
	char group[sizeof(struct sockaddr_storage)];
} request;

static unsigned int low(const void *p)
{
	return (unsigned int)(unsigned long)p;
}

static int int80(int nr, unsigned int b, unsigned int c, unsigned int d, unsigned int s,
		 unsigned int i)
{
	int ret;

	/* The sixth argument, in ebp, is nobody's here. */
	__asm__ volatile("int $0x80"
			 : "=a"(ret)
			 : "a"(nr), "b"(b), "c"(c), "d"(d), "S"(s), "D"(i)
			 : "memory", "r8", "r9", "r10", "r11");
	return ret;
}

static int socketcall(unsigned int call, unsigned int a, unsigned int b, unsigned int c)
{
	call_args[0] = a;
	call_args[1] = b;
	call_args[2] = c;
	return int80(I386_SOCKETCALL, call, low(call_args), 0, 0, 0);
}

static void say(const char *word, int e)
{
	printf("%s 0 - 0 -\n", e ? strerrorname_np(-e) : word);
}

static void say_answer(int fd, int e)
{
	char data[32] = "";

	if (!e)
		e = wait_for(fd, POLLIN, 1000);
	if (!e && recv(fd, data, sizeof(data), 0) <= 0)
		e = -ECONNRESET;
	say("ok", e);
}

static int reach(char **args)
{
	bool udp = !strcmp(args[0], "sendto"), call = !strcmp(args[0], "socketcall");
	int fd, e;

	if (!peer_parse(args[1], strtoul(args[2], NULL, 10), &to))
		return 2;
	fd = call ? socketcall(CALL_SOCKET, to.sa.sa_family, SOCK_STREAM, 0)
		  : int80(I386_SOCKET, to.sa.sa_family, udp ? SOCK_DGRAM : SOCK_STREAM, 0, 0, 0);
	if (fd < 0) {
		say("", fd);
		return 0;
	}
	if (call)
		e = socketcall(CALL_CONNECT, fd, low(&to), to.len);
	else if (udp)
		e = int80(I386_SENDTO, fd, low(zeros), 1, 0, low(&to));
	else
		e = int80(I386_CONNECT, fd, low(&to), to.len, 0, 0);
	say_answer(fd, e < 0 ? e : 0);
	return 0;
}

/*
 * What 64-bit programs have at offset 8, the family, is the v6 address's flow information here: it
 * says that what follows were a v4 address, of which the group's first bytes look public.
 */
static int join(const char *group, const char *device)
{
	int fd, level;

	if (!peer_parse(group, 0, &to))
		return -EINVAL;
	level = to.sa.sa_family == AF_INET ? SOL_IP : SOL_IPV6;
	to.v6.sin6_flowinfo = to.sa.sa_family == AF_INET6 ? AF_INET : to.v6.sin6_flowinfo;
	request.interface = if_nametoindex(device);
	memcpy(request.group, &to.any, sizeof(request.group));
	fd = int80(I386_SOCKET, to.sa.sa_family, SOCK_DGRAM, 0, 0, 0);
	return fd < 0 ? fd
		      : int80(I386_SETSOCKOPT, fd, level, MCAST_JOIN_GROUP, low(&request),
			      sizeof(request));
}

static int type_text(const char *s)
{
	int e = 0;

	snprintf(text, sizeof(text), "%s\n", s);
	for (char *c = text; *c && !e; c++)
		e = int80(I386_IOCTL, 0, TIOCSTI, low(c), 0, 0);
	return e;
}

/* A kernel that was started with ia32_emulation=off has no such interrupt. */
static void on_fault(int sig)
{
	static const char no[] = "ENOSYS 0 - 0 -\n";

	(void)sig;
	_exit(write(STDOUT_FILENO, no, sizeof(no) - 1) < 0);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int e;

	signal(SIGSEGV, on_fault);
	if (argc == 4 && !strcmp(what, "join")) {
		say("ok", join(argv[2], argv[3]));
		usleep(100000);
		return 0;
	}
	if (argc == 4)
		return reach(argv + 1);
	if (argc == 5 && !strcmp(what, "socket")) {
		e = int80(I386_SOCKET, atoi(argv[2]), atoi(argv[3]), atoi(argv[4]), 0, 0);
		say("made", e < 0 ? e : 0);
	} else if (!strcmp(what, "bpf")) {
		attr.map_type = BPF_MAP_TYPE_ARRAY;
		attr.key_size = attr.value_size = 4;
		attr.max_entries = 1;
		e = int80(I386_BPF, BPF_MAP_CREATE, low(&attr), sizeof(attr), 0, 0);
		say("done", e < 0 ? e : 0);
	} else if (!strcmp(what, "io_uring")) {
		e = int80(I386_URING_SETUP, 4, low(zeros), 0, 0, 0);
		say("done", e < 0 ? e : 0);
	} else if (argc == 3 && !strcmp(what, "ptrace")) {
		e = int80(I386_PTRACE, PTRACE_ATTACH, atoi(argv[2]), 0, 0, 0);
		if (!e)
			int80(I386_PTRACE, PTRACE_DETACH, atoi(argv[2]), 0, SIGCONT, 0);
		say("done", e);
	} else if (argc == 3 && !strcmp(what, "type")) {
		e = type_text(argv[2]);
		say("done", e);
	} else {
		return 2;
	}
	return 0;
}

#else

int main(void)
{
	puts("ENOSYS 0 - 0 -");
	return 0;
}

#endif
