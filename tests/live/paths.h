/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ways in which a process can reach a destination. Each makes one exact attempt and stops at
 * the first error: that of the call that names the destination, never that of a step before it.
 */
#ifndef CGNET_LIVE_PATHS_H
#define CGNET_LIVE_PATHS_H

#include <netinet/tcp.h>
#include <unistd.h>

#include "sock.h"

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

struct attempt {
	struct peer to;
	struct peer first;  /* an allowed peer, for the paths that go there before */
	struct peer bind;   /* source address, or none */
	const char *device; /* to bind to, or NULL */
	int timeout_ms;

	long usec;	   /* out: how long the deciding call took */
	int fd;		   /* out: where an answer may arrive */
	bool setup_failed; /* out: what the path needs before the deciding call did not work */
};

static inline int setup_error(struct attempt *a, int err)
{
	a->setup_failed = true;
	return err;
}

static inline int open_socket(struct attempt *a, int family, int type, int proto)
{
	int fd = socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, proto);

	if (fd < 0)
		return setup_error(a, -errno);
	if (type == SOCK_DGRAM)
		set_flag(fd, SOL_SOCKET, SO_BROADCAST, 1);
	a->fd = fd;
	if (a->device && setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, a->device, strlen(a->device)))
		return setup_error(a, -errno);
	if (a->bind.len && bind(fd, &a->bind.sa, a->bind.len))
		return setup_error(a, -errno);
	return 0;
}

/* Connects and, with TCP, waits for the handshake. */
static inline int connect_to(struct attempt *a, const struct peer *p)
{
	long start = now_usec();
	int e = connect(a->fd, &p->sa, p->len) ? -errno : 0;
	socklen_t len = sizeof(e);

	a->usec = now_usec() - start;
	if (e != -EINPROGRESS)
		return e;
	e = wait_for(a->fd, POLLOUT, a->timeout_ms);
	if (e)
		return e;
	return getsockopt(a->fd, SOL_SOCKET, SO_ERROR, &e, &len) ? -errno : -e;
}

static inline int send_to(struct attempt *a, const struct peer *p, int flags)
{
	long start = now_usec();
	ssize_t n = sendto(a->fd, "x", 1, flags, p ? &p->sa : NULL, p ? p->len : 0);
	int e = n < 0 ? -errno : 0;

	a->usec = now_usec() - start;
	return e == -EINPROGRESS ? wait_for(a->fd, POLLOUT, a->timeout_ms) : e;
}

static inline void disconnect(struct attempt *a)
{
	struct sockaddr none = {.sa_family = AF_UNSPEC};

	connect(a->fd, &none, sizeof(none));
}

/* Goes to the allowed peer on the attempt's socket. */
static inline int connect_first(struct attempt *a)
{
	int e = connect_to(a, &a->first);

	return e ? setup_error(a, e) : 0;
}

static inline int stream(struct attempt *a, int proto)
{
	return open_socket(a, a->to.sa.sa_family, SOCK_STREAM, proto);
}

static inline int datagram(struct attempt *a)
{
	return open_socket(a, a->to.sa.sa_family, SOCK_DGRAM, 0);
}

static inline int path_tcp(struct attempt *a)
{
	int e = stream(a, 0);

	return e ? e : connect_to(a, &a->to);
}

static inline int path_mptcp(struct attempt *a)
{
	int e = stream(a, IPPROTO_MPTCP);

	return e ? e : connect_to(a, &a->to);
}

static inline int path_tcp_fastopen(struct attempt *a)
{
	int e = stream(a, 0);

	return e ? e : send_to(a, &a->to, MSG_FASTOPEN);
}

static inline int path_mptcp_fastopen(struct attempt *a)
{
	int e = stream(a, IPPROTO_MPTCP);

	return e ? e : send_to(a, &a->to, MSG_FASTOPEN);
}

static inline int path_tcp_fastopen_connect(struct attempt *a)
{
	int e = stream(a, 0);

	if (e)
		return e;
	e = set_flag(a->fd, SOL_TCP, TCP_FASTOPEN_CONNECT, 1);
	if (e)
		return setup_error(a, e);
	e = connect_to(a, &a->to);
	return e ? e : send_to(a, NULL, 0);
}

/* A socket that had an allowed connection is taken off it and used again. */
static inline int path_tcp_reconnect(struct attempt *a)
{
	int e = stream(a, 0);

	if (e)
		return e;
	e = connect_first(a);
	if (e)
		return e;
	disconnect(a);
	return connect_to(a, &a->to);
}

/* A v6 socket on a mapped connection becomes a v4 one and is used again. */
static inline int path_tcp_addrform(struct attempt *a)
{
	int e = open_socket(a, AF_INET6, SOCK_STREAM, 0);

	if (e)
		return e;
	e = connect_first(a);
	if (e)
		return e;
	e = set_flag(a->fd, SOL_IPV6, IPV6_ADDRFORM, AF_INET);
	if (e)
		return setup_error(a, e);
	disconnect(a);
	return connect_to(a, &a->to);
}

static inline int path_udp(struct attempt *a)
{
	int e = datagram(a);

	if (e)
		return e;
	e = connect_to(a, &a->to);
	return e ? e : send_to(a, NULL, 0);
}

static inline int path_udp_sendto(struct attempt *a)
{
	int e = datagram(a);

	return e ? e : send_to(a, &a->to, 0);
}

/* Connected to an allowed peer, naming another in the send. */
static inline int path_udp_connected_sendto(struct attempt *a)
{
	int e = datagram(a);

	if (e)
		return e;
	e = connect_first(a);
	return e ? e : send_to(a, &a->to, 0);
}

static inline int path_udp_reconnect(struct attempt *a)
{
	int e = datagram(a);

	if (e)
		return e;
	e = connect_first(a);
	if (e)
		return e;
	e = connect_to(a, &a->to);
	return e ? e : send_to(a, NULL, 0);
}

static inline int path_udp_disconnect_reconnect(struct attempt *a)
{
	int e = datagram(a);

	if (e)
		return e;
	e = connect_first(a);
	if (e)
		return e;
	disconnect(a);
	e = connect_to(a, &a->to);
	return e ? e : send_to(a, NULL, 0);
}

/* The destination under AF_UNSPEC, which a v4 socket takes for AF_INET. */
static inline int path_udp_sendto_unspec(struct attempt *a)
{
	struct peer to = a->to;
	int e = datagram(a);

	to.sa.sa_family = AF_UNSPEC;
	return e ? e : send_to(a, &to, 0);
}

/* The same on a socket that is connected to an allowed peer. */
static inline int path_udp_connected_sendto_unspec(struct attempt *a)
{
	struct peer to = a->to;
	int e = datagram(a);

	if (e)
		return e;
	e = connect_first(a);
	to.sa.sa_family = AF_UNSPEC;
	return e ? e : send_to(a, &to, 0);
}

/* connect() with the destination under AF_UNSPEC takes the peer away and sets none. */
static inline int path_udp_connect_unspec(struct attempt *a)
{
	struct peer to = a->to;
	int e = datagram(a);

	to.sa.sa_family = AF_UNSPEC;
	if (e)
		return e;
	e = connect_to(a, &to);
	return e ? e : send_to(a, NULL, 0);
}

/* v6 sockets and v4 socket addresses. */
static inline int path_udp6_connect4(struct attempt *a)
{
	int e = open_socket(a, AF_INET6, SOCK_DGRAM, 0);

	if (e)
		return e;
	e = connect_to(a, &a->to);
	return e ? e : send_to(a, NULL, 0);
}

static inline int path_udp6_sendto4(struct attempt *a)
{
	int e = open_socket(a, AF_INET6, SOCK_DGRAM, 0);

	return e ? e : send_to(a, &a->to, 0);
}

/*
 * Sends one byte with control data; name may be NULL on a connected socket. With pktinfo it chooses
 * the source (any), else the traffic class.
 */
static inline int send_with_control(struct attempt *a, const struct peer *name, bool pktinfo)
{
	bool v6 = a->to.sa.sa_family == AF_INET6;
	char control[CMSG_SPACE(sizeof(struct in6_pktinfo))] = {0};
	size_t size = !pktinfo ? sizeof(int)
		      : v6     ? sizeof(struct in6_pktinfo)
			       : sizeof(struct in_pktinfo);
	char data[] = "x";
	struct iovec iov = {.iov_base = data, .iov_len = 1};
	struct msghdr msg = {
		.msg_name = name ? (void *)&name->any : NULL,
		.msg_namelen = name ? name->len : 0,
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = CMSG_SPACE(size),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	struct peer any4 = {0};
	long start;
	int e;

	c->cmsg_level = v6 ? SOL_IPV6 : SOL_IP;
	if (pktinfo)
		c->cmsg_type = v6 ? IPV6_PKTINFO : IP_PKTINFO;
	else
		c->cmsg_type = v6 ? IPV6_TCLASS : IP_TOS;
	c->cmsg_len = CMSG_LEN(size);
	/* A v4 destination on a v6 socket takes a v4 source only. */
	if (v6 && pktinfo && IN6_IS_ADDR_V4MAPPED(&a->to.v6.sin6_addr))
		peer_parse("::ffff:0.0.0.0", 0, &any4);
	if (any4.len)
		memcpy(CMSG_DATA(c), &any4.v6.sin6_addr, sizeof(any4.v6.sin6_addr));
	start = now_usec();
	e = sendmsg(a->fd, &msg, 0) < 0 ? -errno : 0;
	a->usec = now_usec() - start;
	return e;
}

static inline int path_udp_sendmsg_tos(struct attempt *a)
{
	int e = datagram(a);

	return e ? e : send_with_control(a, &a->to, false);
}

static inline int path_udp_sendmsg_pktinfo(struct attempt *a)
{
	int e = datagram(a);

	return e ? e : send_with_control(a, &a->to, true);
}

/* The hook sees no address here; the peer decides. */
static inline int connected_with_control(struct attempt *a, bool pktinfo)
{
	int e = datagram(a);

	if (e)
		return e;
	e = connect_to(a, &a->to);
	return e ? e : send_with_control(a, NULL, pktinfo);
}

static inline int path_udp_connected_tos(struct attempt *a)
{
	return connected_with_control(a, false);
}

static inline int path_udp_connected_pktinfo(struct attempt *a)
{
	return connected_with_control(a, true);
}

/* One call with an allowed and two denied destinations; what is left is sent by another. */
static inline int path_udp_sendmmsg(struct attempt *a)
{
	char data[] = "x";
	struct iovec iov = {.iov_base = data, .iov_len = 1};
	struct mmsghdr msgs[3] = {0};
	long start;
	int i, n, e = datagram(a);

	if (e)
		return e;
	for (i = 0; i < 3; i++) {
		const struct peer *p = i ? &a->to : &a->first;

		msgs[i].msg_hdr.msg_name = (void *)&p->any;
		msgs[i].msg_hdr.msg_namelen = p->len;
		msgs[i].msg_hdr.msg_iov = &iov;
		msgs[i].msg_hdr.msg_iovlen = 1;
	}
	n = sendmmsg(a->fd, msgs, 2, 0);
	if (n < 1)
		return setup_error(a, n < 0 ? -errno : -EIO);
	if (n == 2)
		return 0;
	start = now_usec();
	e = sendmmsg(a->fd, msgs + 1, 1, 0) < 0 ? -errno : 0;
	a->usec = now_usec() - start;
	return e;
}

/* Corked data keeps the destination it began with. */
static inline int path_udp_cork(struct attempt *a)
{
	int e = datagram(a);

	if (e)
		return e;
	e = send_to(a, &a->first, MSG_MORE);
	return e ? setup_error(a, e) : send_to(a, &a->to, 0);
}

static inline int path_udp_cork_first(struct attempt *a)
{
	int e = datagram(a);

	if (e)
		return e;
	e = send_to(a, &a->to, MSG_MORE);
	return e ? e : send_to(a, NULL, 0);
}

static const struct path {
	const char *name;
	int (*run)(struct attempt *a); /* returns 0 or a negative errno */
	bool needs_first;
} paths[] = {
	{"tcp", path_tcp, false},
	{"tcp-fastopen", path_tcp_fastopen, false},
	{"tcp-fastopen-connect", path_tcp_fastopen_connect, false},
	{"tcp-reconnect", path_tcp_reconnect, true},
	{"tcp-addrform", path_tcp_addrform, true},
	{"mptcp", path_mptcp, false},
	{"mptcp-fastopen", path_mptcp_fastopen, false},
	{"udp", path_udp, false},
	{"udp-sendto", path_udp_sendto, false},
	{"udp-connected-sendto", path_udp_connected_sendto, true},
	{"udp-reconnect", path_udp_reconnect, true},
	{"udp-disconnect-reconnect", path_udp_disconnect_reconnect, true},
	{"udp-sendto-unspec", path_udp_sendto_unspec, false},
	{"udp-connected-sendto-unspec", path_udp_connected_sendto_unspec, true},
	{"udp-connect-unspec", path_udp_connect_unspec, false},
	{"udp6-connect4", path_udp6_connect4, false},
	{"udp6-sendto4", path_udp6_sendto4, false},
	{"udp-sendmsg-tos", path_udp_sendmsg_tos, false},
	{"udp-sendmsg-pktinfo", path_udp_sendmsg_pktinfo, false},
	{"udp-connected-tos", path_udp_connected_tos, false},
	{"udp-connected-pktinfo", path_udp_connected_pktinfo, false},
	{"udp-sendmmsg", path_udp_sendmmsg, true},
	{"udp-cork", path_udp_cork, true},
	{"udp-cork-first", path_udp_cork_first, false},
};

#endif
