// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Helpers behind Unix sockets, as `outside unix` and docker, tmux or D-Bus offer them. */
#include <sys/wait.h>

#include "attack.h"
#include "unixname.h"

static int open_unix(struct attempt *a, const char *type)
{
	struct sockaddr_un none = {.sun_family = AF_UNIX};

	a->fd = socket(AF_UNIX, unix_type(type) | SOCK_CLOEXEC, 0);
	if (a->fd < 0)
		return setup_error(a, -errno);
	/* A name of its own, to be answered at. */
	if (unix_type(type) == SOCK_DGRAM && bind(a->fd, (void *)&none, sizeof(sa_family_t)))
		return setup_error(a, -errno);
	return 0;
}

static int connect_unix(struct attempt *a, const char *name)
{
	struct sockaddr_un un;
	socklen_t len = unix_address(name, &un);
	long start = now_usec();
	int e = made(connect(a->fd, (void *)&un, len));

	a->usec = now_usec() - start;
	return e;
}

/* NAME TYPE: connects, says something and reads the answer. */
static void attack_unix(struct outcome *o, char **args)
{
	struct attempt a = {.timeout_ms = 1000, .fd = -1};
	int e = open_unix(&a, args[1]);

	if (!e)
		e = connect_unix(&a, args[0]);
	conclude(o, &a, e ? e : made(send(a.fd, "x", 1, 0)));
}

/* NAME: names the destination in the send. */
static void attack_unix_sendto(struct outcome *o, char **args)
{
	struct attempt a = {.timeout_ms = 1000, .fd = -1};
	struct sockaddr_un un;
	socklen_t len = unix_address(args[0], &un);
	int e = open_unix(&a, "dgram");

	conclude(o, &a, e ? e : made(sendto(a.fd, "x", 1, 0, (void *)&un, len)));
}

/* ADDR PORT NAME: a daemon that connects for others, and says how that ended. */
static void attack_deputy(struct outcome *o, char **args)
{
	struct attempt a = {.timeout_ms = 3000, .fd = -1};
	char order[64];
	int e = open_unix(&a, "stream");

	if (!e)
		e = step(o, "connect", connect_unix(&a, args[2]));
	snprintf(order, sizeof(order), "connect %s %s", args[0], args[1]);
	conclude(o, &a, e ? e : made(send(a.fd, order, strlen(order), 0)));
}

/* The socket in a message, or a negative errno. */
static int receive_socket(int fd)
{
	char data[16], control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec iov = {.iov_base = data, .iov_len = sizeof(data)};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof(control)};
	struct cmsghdr *c;
	int got = -ENOMSG;

	if (recvmsg(fd, &msg, MSG_CMSG_CLOEXEC) < 0)
		return -errno;
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(&got, CMSG_DATA(c), sizeof(got));
	return got;
}

/* ADDR PORT NAME: a daemon that hands out sockets of its own. */
static void attack_scm(struct outcome *o, char **args)
{
	struct peer to = peer_arg(args[0], args[1]);
	struct attempt a = {.timeout_ms = 1000, .fd = -1}, b = attempt_at(&to);
	int e = open_unix(&a, "stream");

	if (!e)
		e = step(o, "connect", connect_unix(&a, args[2]));
	if (!e)
		e = made(send(a.fd, "socket", 6, 0));
	if (!e) {
		b.fd = receive_socket(a.fd);
		e = step(o, "receive", b.fd < 0 ? b.fd : 0);
	}
	conclude(o, &b, e ? e : connect_to(&b, &to));
}

/* Two ends of one pair, made in one call. */
static void attack_unix_pair(struct outcome *o, char **args)
{
	struct attempt a = {.timeout_ms = 1000, .fd = -1};
	int ends[2], e = made(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));

	(void)args;
	if (!e) {
		a.fd = ends[0];
		e = made(send(ends[1], "1\n", 2, 0));
	}
	conclude(o, &a, e);
}

/* NAME TYPE: a server of one's own. */
static void attack_unix_own(struct outcome *o, char **args)
{
	struct attempt a = {.timeout_ms = 1000, .fd = -1};
	struct sockaddr_un un;
	socklen_t len = unix_address(args[0], &un);
	int e, c, server = socket(AF_UNIX, unix_type(args[1]), 0);

	step(o, "serve", made(bind(server, (void *)&un, len)));
	if (unix_type(args[1]) != SOCK_DGRAM)
		listen(server, 4);
	e = open_unix(&a, args[1]);
	if (!e)
		e = connect_unix(&a, args[0]);
	if (!e && unix_type(args[1]) != SOCK_DGRAM) {
		c = accept(server, NULL, NULL);
		e = made(send(c, "1\n", 2, 0));
	}
	conclude(o, &a, e);
	if (args[0][0] == '/')
		unlink(args[0]);
}

const struct attack unix_attacks[] = {
	{"unix", 2, attack_unix},
	{"unix-sendto", 1, attack_unix_sendto},
	{"unix-pair", 0, attack_unix_pair},
	{"unix-own", 2, attack_unix_own},
	{"deputy", 3, attack_deputy},
	{"scm", 3, attack_scm},
	{NULL, 0, NULL},
};
