// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "resolver.h"

#include <ares.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

/* Nobody. */
#define CHILD_ID 65534

/* For one server, and how often each is asked. */
#define TIMEOUT_MS 2000
#define TRIES	   2

/* What the child holds at most, in bytes. */
#define MEMORY_MAX (64UL << 20)

struct lookup {
	__u32 id;
	int service;
};

/* --- in the child --- */

static void add_addr(struct resolver_answer *a, const struct ares_addrinfo_node *node)
{
	__typeof__(a->addrs[0]) *out = &a->addrs[a->n];

	if (a->n == RESOLVER_MAX_ADDRS)
		return;
	if (node->ai_family == AF_INET) {
		const struct sockaddr_in *in = (const struct sockaddr_in *)(void *)node->ai_addr;

		memcpy(out->addr, &in->sin_addr, sizeof(in->sin_addr));
	} else if (node->ai_family == AF_INET6) {
		const struct sockaddr_in6 *in = (const struct sockaddr_in6 *)(void *)node->ai_addr;

		memcpy(out->addr, &in->sin6_addr, sizeof(in->sin6_addr));
	} else {
		return;
	}
	out->family = (__u8)node->ai_family;
	a->n++;
}

static void least(__u32 *ttl, int other)
{
	if (other >= 0 && (__u32)other < *ttl)
		*ttl = other;
}

static void answer(void *arg, int status, int timeouts, struct ares_addrinfo *result)
{
	struct lookup *lookup = arg;
	struct resolver_answer a = {.id = lookup->id, .status = status, .ttl = ~0U};

	(void)timeouts;
	for (struct ares_addrinfo_node *node = result ? result->nodes : NULL; node;
	     node = node->ai_next) {
		least(&a.ttl, node->ai_ttl);
		add_addr(&a, node);
	}
	for (struct ares_addrinfo_cname *cname = result ? result->cnames : NULL; cname;
	     cname = cname->next)
		least(&a.ttl, cname->ttl);
	if (result)
		ares_freeaddrinfo(result);
	if (status != ARES_EDESTRUCTION && send(lookup->service, &a, sizeof(a), MSG_NOSIGNAL) < 0)
		_exit(1);
	free(lookup);
}

static void ask(ares_channel channel, int service)
{
	const struct ares_addrinfo_hints hints = {
		.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = ARES_AI_NOSORT};
	struct resolver_question q;
	ssize_t n = recv(service, &q, sizeof(q), MSG_DONTWAIT);
	struct lookup *lookup;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n != sizeof(q) || strnlen(q.host, sizeof(q.host)) == sizeof(q.host))
		_exit(0);
	lookup = malloc(sizeof(*lookup));
	if (!lookup)
		_exit(1);
	*lookup = (struct lookup){q.id, service};
	ares_getaddrinfo(channel, q.host, NULL, &hints, answer, lookup);
}

static size_t watch(ares_channel channel, struct pollfd *fds)
{
	ares_socket_t sockets[ARES_GETSOCK_MAXNUM];
	int bits = ares_getsock(channel, sockets, ARES_GETSOCK_MAXNUM);
	size_t n = 0;

	for (int i = 0; i < ARES_GETSOCK_MAXNUM; i++) {
		short events = 0;

		if (ARES_GETSOCK_READABLE(bits, i))
			events |= POLLIN;
		if (ARES_GETSOCK_WRITABLE(bits, i))
			events |= POLLOUT;
		if (events)
			fds[n++] = (struct pollfd){.fd = sockets[i], .events = events};
	}
	return n;
}

__attribute__((noreturn)) static void serve(ares_channel channel, int service)
{
	struct pollfd fds[ARES_GETSOCK_MAXNUM + 1];

	for (;;) {
		size_t n = watch(channel, fds);
		struct timeval room, *wait = ares_timeout(channel, NULL, &room);
		int ms = wait ? (int)(wait->tv_sec * 1000 + wait->tv_usec / 1000 + 1) : -1;

		fds[n] = (struct pollfd){.fd = service, .events = POLLIN};
		if (poll(fds, n + 1, ms) < 0 && errno != EINTR)
			_exit(1);
		for (size_t i = 0; i < n; i++)
			if (fds[i].revents)
				ares_process_fd(
					channel,
					fds[i].revents & ~POLLOUT ? fds[i].fd : ARES_SOCKET_BAD,
					fds[i].revents & POLLOUT ? fds[i].fd : ARES_SOCKET_BAD);
		ares_process_fd(channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
		if (fds[n].revents)
			ask(channel, service);
	}
}

/* A name is taken as it is: no search list, no /etc/hosts, no environment. */
static int init(ares_channel *channel)
{
	struct ares_options options = {
		.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES,
		.timeout = TIMEOUT_MS,
		.tries = TRIES,
	};
	char dns[] = "b";

	options.lookups = dns;
	unsetenv("LOCALDOMAIN");
	unsetenv("RES_OPTIONS");
	unsetenv("HOSTALIASES");
	if (ares_library_init(ARES_LIB_INIT_ALL) != ARES_SUCCESS)
		return -EIO;
	return ares_init_options(channel, &options,
				 ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES |
					 ARES_OPT_LOOKUPS) == ARES_SUCCESS
		       ? 0
		       : -EIO;
}

static const int calls[] = {
	SCMP_SYS(socket),	SCMP_SYS(connect),
	SCMP_SYS(sendto),	SCMP_SYS(sendmsg),
	SCMP_SYS(recvfrom),	SCMP_SYS(recvmsg),
	SCMP_SYS(read),		SCMP_SYS(readv),
	SCMP_SYS(write),	SCMP_SYS(writev),
	SCMP_SYS(close),	SCMP_SYS(fcntl),
	SCMP_SYS(fcntl64),	SCMP_SYS(ioctl),
	SCMP_SYS(setsockopt),	SCMP_SYS(getsockname),
	SCMP_SYS(getpeername),	SCMP_SYS(getsockopt),
	SCMP_SYS(poll),		SCMP_SYS(ppoll),
	SCMP_SYS(brk),		SCMP_SYS(mmap),
	SCMP_SYS(mmap2),	SCMP_SYS(munmap),
	SCMP_SYS(mremap),	SCMP_SYS(madvise),
	SCMP_SYS(mprotect),	SCMP_SYS(clock_gettime),
	SCMP_SYS(gettimeofday), SCMP_SYS(getrandom),
	SCMP_SYS(futex),	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(sigreturn),	SCMP_SYS(restart_syscall),
	SCMP_SYS(exit),		SCMP_SYS(exit_group),
};

/* Opening a file fails rather than ends it: c-ares looks for some that it can do without. */
static const int failing[] = {SCMP_SYS(open), SCMP_SYS(openat), SCMP_SYS(stat),
			      SCMP_SYS(newfstatat), SCMP_SYS(access)};

static int confine(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int err = filter ? 0 : -ENOMEM;

	for (size_t i = 0; i < ARRAY_SIZE(calls) && !err; i++)
		if (calls[i] >= 0)
			err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0);
	for (size_t i = 0; i < ARRAY_SIZE(failing) && !err; i++)
		if (failing[i] >= 0)
			err = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOENT), failing[i], 0);
	if (!err)
		err = seccomp_load(filter);
	seccomp_release(filter);
	return err;
}

/* Changing the uid drops all capabilities. */
static int become_nobody(void)
{
	const struct rlimit memory = {MEMORY_MAX, MEMORY_MAX};

	if (setgroups(0, NULL) || setresgid(CHILD_ID, CHILD_ID, CHILD_ID) ||
	    setresuid(CHILD_ID, CHILD_ID, CHILD_ID) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
#ifndef __SANITIZE_ADDRESS__
	if (setrlimit(RLIMIT_AS, &memory))
		return -errno;
#else
	(void)memory;
#endif
	return confine();
}

static void close_others(int fd)
{
	if (fd > STDERR_FILENO + 1)
		syscall(SYS_close_range, STDERR_FILENO + 1, fd - 1, 0);
	syscall(SYS_close_range, fd + 1, ~0U, 0);
}

__attribute__((noreturn)) static void child(int service)
{
	ares_channel channel;

	close_others(service);
	signal(SIGHUP, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	signal(SIGINT, SIG_IGN);
	if (init(&channel) || become_nobody())
		_exit(1);
	serve(channel, service);
}

/* --- in the service --- */

pid_t resolver_start(int *fd, struct why *why)
{
	pid_t pid;
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return why_set(why, -errno, "socketpair: %s", strerror(errno));
	pid = fork();
	if (!pid)
		child(fds[1]);
	close(fds[1]);
	if (pid < 0 || fcntl(fds[0], F_SETFL, O_NONBLOCK) < 0) {
		int err = -errno;

		close(fds[0]);
		return why_set(why, err, "cannot start the child that looks names up: %s",
			       strerror(-err));
	}
	*fd = fds[0];
	return pid;
}
