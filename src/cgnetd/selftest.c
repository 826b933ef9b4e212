// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "selftest.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ipv6.h>
#include <linux/sched.h>
#include <net/if.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "cgroup.h"
#include "status.h"

#define PORT 9 /* discard */

enum way {
	WAY_CONNECT, /* connect() */
	WAY_SEND,    /* an unconnected datagram */
	WAY_JOIN,    /* a membership in a group */
	WAY_SOCKET,  /* socket(), with the protocol that no class allows */
	WAY_PING,    /* an echo request, which only egress sees */
};

struct attempt {
	const char *name;
	int family, type;
	enum way way;
};

static const struct attempt attempts[] = {
	{"TCP connect over IPv4", AF_INET, SOCK_STREAM, WAY_CONNECT},
	{"TCP connect over IPv6", AF_INET6, SOCK_STREAM, WAY_CONNECT},
	{"UDP connect over IPv4", AF_INET, SOCK_DGRAM, WAY_CONNECT},
	{"UDP connect over IPv6", AF_INET6, SOCK_DGRAM, WAY_CONNECT},
	{"UDP send over IPv4", AF_INET, SOCK_DGRAM, WAY_SEND},
	{"UDP send over IPv6", AF_INET6, SOCK_DGRAM, WAY_SEND},
	{"membership over IPv4", AF_INET, SOCK_DGRAM, WAY_JOIN},
	{"membership over IPv6", AF_INET6, SOCK_DGRAM, WAY_JOIN},
	{"raw socket over IPv4", AF_INET, SOCK_RAW, WAY_SOCKET},
	{"raw socket over IPv6", AF_INET6, SOCK_RAW, WAY_SOCKET},
	{"ping over IPv4", AF_INET, SOCK_DGRAM, WAY_PING},
	{"ping over IPv6", AF_INET6, SOCK_DGRAM, WAY_PING},
};

#define ATTEMPTS ARRAY_SIZE(attempts)

static const unsigned char sentinel4[] = CGNET_SENTINEL4, sentinel6[] = CGNET_SENTINEL6;

static socklen_t sentinel(int family, struct sockaddr_storage *out)
{
	struct sockaddr_in *in4 = (struct sockaddr_in *)out;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)out;

	memset(out, 0, sizeof(*out));
	out->ss_family = family;
	if (family == AF_INET) {
		in4->sin_port = htons(PORT);
		memcpy(&in4->sin_addr, sentinel4, sizeof(sentinel4));
		return sizeof(*in4);
	}
	in6->sin6_port = htons(PORT);
	memcpy(&in6->sin6_addr, sentinel6, sizeof(sentinel6));
	return sizeof(*in6);
}

static int protocol(const struct attempt *a)
{
	if (a->way == WAY_SOCKET)
		return CGNET_SENTINEL_PROTO;
	if (a->way == WAY_PING)
		return a->family == AF_INET ? IPPROTO_ICMP : IPPROTO_ICMPV6;
	return 0;
}

/* The sentinels are no groups: what is not refused for that is for another reason. */
static int join(int fd, int family)
{
	struct ip_mreq group4 = {};
	struct ipv6_mreq group6 = {};

	if (family == AF_INET) {
		memcpy(&group4.imr_multiaddr, sentinel4, sizeof(sentinel4));
		return setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &group4, sizeof(group4));
	}
	memcpy(&group6.ipv6mr_multiaddr, sentinel6, sizeof(sentinel6));
	return setsockopt(fd, IPPROTO_IPV6, IPV6_ADD_MEMBERSHIP, &group6, sizeof(group6));
}

/* The errno of the attempt; 0 if it went through, -1 if it could not be made. */
static int try_one(const struct attempt *a)
{
	_cleanup_close_ int fd =
		socket(a->family, a->type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol(a));
	const unsigned char echo[8] = {a->family == AF_INET ? 8 : 128};
	struct sockaddr_storage to;
	socklen_t len = sentinel(a->family, &to);
	ssize_t ret;

	if (fd < 0)
		return errno == EAFNOSUPPORT ? -1 : errno;
	switch (a->way) {
	case WAY_CONNECT:
		ret = connect(fd, (struct sockaddr *)&to, len);
		break;
	case WAY_SEND:
	case WAY_PING:
		ret = sendto(fd, echo, sizeof(echo), 0, (struct sockaddr *)&to, len);
		break;
	case WAY_JOIN:
		ret = join(fd, a->family);
		break;
	default:
		ret = 0;
	}
	/* A ping over IPv6 that egress drops reports success: the counters tell. */
	if (a->way == WAY_PING && a->family == AF_INET6)
		return ret < 0 ? errno : EPERM;
	return ret < 0 ? errno : 0;
}

static int write_file(const char *path, const char *text)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd >= 0 && write(fd, text, strlen(text)) > 0 ? 0 : -errno;
}

/* The kernel puts an IPv6 address into use a moment later; what is sent before gets lost. */
static void await_address6(int fd)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	struct sockaddr_storage addr;
	socklen_t len = sentinel(AF_INET6, &addr);

	for (int i = 0; i < 500 && bind(fd, (struct sockaddr *)&addr, len) < 0; i++)
		nanosleep(&pause, NULL);
}

/*
 * Makes the namespace's own lo hold the sentinels, so that a packet to them gets as far as egress,
 * and lets root open ping sockets. On failure the pings fail too, with an errno that is reported.
 */
static void prepare_namespace(void)
{
	_cleanup_close_ int fd4 = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	_cleanup_close_ int fd6 = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq ifr = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	struct sockaddr_storage addr;
	socklen_t len;
	struct in6_ifreq ifr6 = {.ifr6_prefixlen = 128, .ifr6_ifindex = 1};

	write_file("/proc/sys/net/ipv4/ping_group_range", "0 0");
	ioctl(fd4, SIOCSIFFLAGS, &ifr);
	len = sentinel(AF_INET, &addr);
	memcpy(&ifr.ifr_addr, &addr, len);
	ioctl(fd4, SIOCSIFADDR, &ifr);
	memcpy(&ifr6.ifr6_addr, sentinel6, sizeof(sentinel6));
	if (ioctl(fd6, SIOCSIFADDR, &ifr6) == 0)
		await_address6(fd6);
}

/* The bit of the protocols that an attempt's socket is of; 0 for one that no class allows. */
static __u32 protocol_bit(const struct attempt *a)
{
	if (a->way == WAY_SOCKET)
		return 0;
	if (a->way == WAY_PING)
		return CGNET_PROTO_ICMP;
	return a->type == SOCK_STREAM ? CGNET_PROTO_TCP : CGNET_PROTO_UDP;
}

/* In the class: tries what takes a socket that the class allows, or none does. Writes the errnos.
 */
static _Noreturn void try_all(__u32 protocols, int out)
{
	int results[ATTEMPTS];

	for (size_t i = 0; i < ATTEMPTS; i++)
		results[i] =
			attempts[i].way == WAY_SOCKET || (protocols & protocol_bit(&attempts[i]))
				? try_one(&attempts[i])
				: -1;
	_exit(write(out, results, sizeof(results)) != sizeof(results));
}

/*
 * A class at its pids_max takes no new process, and its sessions must not keep a policy out by
 * that: then the child is made outside and moves, which the limit does not count.
 */
static pid_t start_outside(int cgroup_fd, __u32 protocols, int out)
{
	pid_t pid = fork();

	if (pid == 0) {
		int fd = openat(cgroup_fd, "cgroup.procs", O_WRONLY | O_CLOEXEC);

		if (fd < 0 || write(fd, "0", 1) != 1)
			_exit(1);
		close(fd);
		try_all(protocols, out);
	}
	return pid;
}

static void reap(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/*
 * In the namespace, but not yet in the class, which may allow no socket that could prepare it: its
 * child starts there.
 */
static _Noreturn void run(int cgroup_fd, __u32 protocols, int out)
{
	struct clone_args args = {
		.flags = CLONE_INTO_CGROUP,
		.exit_signal = SIGCHLD,
		.cgroup = cgroup_fd,
	};
	pid_t pid;

	prepare_namespace();
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0)
		try_all(protocols, out);
	if (pid < 0 && errno == EAGAIN)
		pid = start_outside(cgroup_fd, protocols, out);
	if (pid > 0)
		reap(pid);
	_exit(pid < 0);
}

static int spawn(int cgroup_fd, __u32 protocols, int results[ATTEMPTS], struct why *why)
{
	struct clone_args args = {.flags = CLONE_NEWNET, .exit_signal = SIGCHLD};
	size_t size = sizeof(int) * ATTEMPTS;
	int fds[2];
	ssize_t n;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return why_set(why, -errno, "self-test: pipe: %s", strerror(errno));
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0)
		run(cgroup_fd, protocols, fds[1]);
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return why_set(why, -errno, "self-test: cannot make a network namespace: %s",
			       strerror(errno));
	}
	n = read(fds[0], results, size);
	close(fds[0]);
	reap(pid);
	if (n != (ssize_t)size)
		return why_set(why, -EIO,
			       "self-test: cannot start a process in the class, or it died");
	return 0;
}

static int spawn_in(const char *cgroup, __u32 protocols, int results[ATTEMPTS], struct why *why)
{
	_cleanup_close_ int fd = -1;
	char path[PATH_MAX];
	bool made;
	int err;

	if (snprintf(path, sizeof(path), "%s/_selftest", cgroup) >= (int)sizeof(path))
		return why_set(why, -ENAMETOOLONG, "%s: path too long", cgroup);
	err = cgroup_make(path, &made, why);
	if (err)
		return err;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = fd < 0 ? why_set(why, -errno, "self-test: %s: %s", path, strerror(errno))
		     : spawn(fd, protocols, results, why);
	cgroup_remove(path);
	return err;
}

static enum cgnet_layer layer_of(enum way way)
{
	static const enum cgnet_layer layers[] = {
		[WAY_CONNECT] = CGNET_LAYER_CONNECT, [WAY_SEND] = CGNET_LAYER_SENDMSG,
		[WAY_JOIN] = CGNET_LAYER_SENDMSG,    [WAY_SOCKET] = CGNET_LAYER_CREATE,
		[WAY_PING] = CGNET_LAYER_EGRESS,
	};

	return layers[way];
}

/* Denials on the sentinels so far. */
static int read_counts(const struct live_class *lc, __u64 counts[CGNET_LAYERS], struct why *why)
{
	struct cgnet_counts each;
	int err = 0;

	for (int layer = 0; layer < CGNET_LAYERS && !err; layer++) {
		err = live_class_counts(lc, layer, &each);
		if (!err)
			counts[layer] = each.selftest;
	}
	return err ? why_set(why, err, "self-test: cannot read the counters: %s", strerror(-err))
		   : 0;
}

/* Refused by the class's own programs; a session may try the address meanwhile and add to it. */
static int check_counts(const __u64 before[CGNET_LAYERS], const __u64 after[CGNET_LAYERS],
			const __u64 expected[CGNET_LAYERS], struct why *why)
{
	for (int layer = 0; layer < CGNET_LAYERS; layer++)
		if (after[layer] - before[layer] < expected[layer])
			return why_set(why, -EACCES,
				       "self-test: the layer %s counted %llu of %llu denials",
				       layer_name(layer),
				       (unsigned long long)(after[layer] - before[layer]),
				       (unsigned long long)expected[layer]);
	return 0;
}

int selftest(const struct live_class *lc, const char *cgroup, const struct cgnet_settings *settings,
	     struct why *why)
{
	__u64 before[CGNET_LAYERS], after[CGNET_LAYERS], expected[CGNET_LAYERS] = {};
	int results[ATTEMPTS] = {}; /* 0 is "went through" */
	int err = read_counts(lc, before, why);

	if (!err)
		err = spawn_in(cgroup, settings->protocols, results, why);
	if (err)
		return err;
	for (size_t i = 0; i < ATTEMPTS; i++) {
		if (results[i] == -1)
			continue;
		if (results[i] != EPERM)
			return why_set(why, -EACCES, "self-test: a %s was not refused (%s)",
				       attempts[i].name,
				       results[i] ? strerror(results[i]) : "it went through");
		expected[layer_of(attempts[i].way)]++;
	}
	err = read_counts(lc, after, why);
	return err ? err : check_counts(before, after, expected, why);
}
