// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "selftest.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "cgroup.h"

#define PORT 9 /* discard */

struct attempt {
	const char *name;
	int family, type;
	bool send; /* an unconnected datagram, else connect() */
	enum cgnet_layer layer;
};

static const struct attempt attempts[] = {
	{"TCP connect over IPv4", AF_INET, SOCK_STREAM, false, CGNET_LAYER_CONNECT},
	{"TCP connect over IPv6", AF_INET6, SOCK_STREAM, false, CGNET_LAYER_CONNECT},
	{"UDP connect over IPv4", AF_INET, SOCK_DGRAM, false, CGNET_LAYER_CONNECT},
	{"UDP connect over IPv6", AF_INET6, SOCK_DGRAM, false, CGNET_LAYER_CONNECT},
	{"UDP send over IPv4", AF_INET, SOCK_DGRAM, true, CGNET_LAYER_SENDMSG},
	{"UDP send over IPv6", AF_INET6, SOCK_DGRAM, true, CGNET_LAYER_SENDMSG},
};

static socklen_t sentinel(int family, struct sockaddr_storage *out)
{
	const unsigned char addr4[] = CGNET_SENTINEL4, addr6[] = CGNET_SENTINEL6;
	struct sockaddr_in *in4 = (struct sockaddr_in *)out;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)out;

	memset(out, 0, sizeof(*out));
	out->ss_family = family;
	if (family == AF_INET) {
		in4->sin_port = htons(PORT);
		memcpy(&in4->sin_addr, addr4, sizeof(addr4));
		return sizeof(*in4);
	}
	in6->sin6_port = htons(PORT);
	memcpy(&in6->sin6_addr, addr6, sizeof(addr6));
	return sizeof(*in6);
}

/* The errno of the attempt; 0 if it went through, -1 if this kernel has no such socket. */
static int try_one(const struct attempt *a)
{
	_cleanup_close_ int fd = socket(a->family, a->type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_storage to;
	socklen_t len = sentinel(a->family, &to);
	ssize_t ret;

	if (fd < 0)
		return errno == EAFNOSUPPORT ? -1 : errno;
	if (a->send)
		ret = sendto(fd, "", 1, 0, (struct sockaddr *)&to, len);
	else
		ret = connect(fd, (struct sockaddr *)&to, len);
	return ret < 0 ? errno : 0;
}

/* In the child: tries all and writes the errnos. */
static _Noreturn void run(int out)
{
	int results[ARRAY_SIZE(attempts)];

	for (size_t i = 0; i < ARRAY_SIZE(attempts); i++)
		results[i] = try_one(&attempts[i]);
	if (write(out, results, sizeof(results)) != sizeof(results))
		_exit(1);
	_exit(0);
}

static int spawn(int cgroup_fd, int results[ARRAY_SIZE(attempts)], struct why *why)
{
	struct clone_args args = {
		.flags = CLONE_INTO_CGROUP | CLONE_NEWNET,
		.exit_signal = SIGCHLD,
		.cgroup = cgroup_fd,
	};
	size_t size = sizeof(int) * ARRAY_SIZE(attempts);
	int fds[2];
	ssize_t n;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return why_set(why, -errno, "self-test: pipe: %s", strerror(errno));
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0)
		run(fds[1]);
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return why_set(why, -errno, "self-test: cannot start a process in the class: %s",
			       strerror(errno));
	}
	n = read(fds[0], results, size);
	close(fds[0]);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (n != (ssize_t)size)
		return why_set(why, -EIO, "self-test: the process in the class died");
	return 0;
}

static int spawn_in(const char *cgroup, int results[ARRAY_SIZE(attempts)], struct why *why)
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
		     : spawn(fd, results, why);
	cgroup_remove(path);
	return err;
}

/* Denials on the sentinel so far, over all layers. */
static int counted(const struct live_class *lc, __u64 *out)
{
	struct cgnet_counts counts;
	int err = 0;

	*out = 0;
	for (int layer = 0; layer < CGNET_LAYERS && !err; layer++) {
		err = live_class_counts(lc, layer, &counts);
		if (!err)
			*out += counts.selftest;
	}
	return err;
}

int selftest(const struct live_class *lc, const char *cgroup, struct why *why)
{
	int results[ARRAY_SIZE(attempts)];
	__u64 before, after, expected = 0;
	int err = counted(lc, &before);

	if (!err)
		err = spawn_in(cgroup, results, why);
	else
		why_set(why, err, "self-test: cannot read the counters: %s", strerror(-err));
	if (err)
		return err;
	for (size_t i = 0; i < ARRAY_SIZE(attempts); i++) {
		if (results[i] == -1)
			continue;
		if (results[i] != EPERM)
			return why_set(why, -EACCES, "self-test: a %s was not refused (%s)",
				       attempts[i].name,
				       results[i] ? strerror(results[i]) : "it went through");
		expected++;
	}
	/* Refused by the class's own programs; a session may try the address meanwhile and add to
	 * it. */
	err = counted(lc, &after);
	if (err || after - before < expected)
		return why_set(why, -EACCES, "self-test: %llu of %llu denials were counted",
			       (unsigned long long)(after - before), (unsigned long long)expected);
	return 0;
}
