// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Headers that lead a packet by way of another address than the one that the call names. */
#include <netinet/ip.h>
#include <netinet/ip6.h>

#include "attack.h"

#define RTHDR_SEGMENTS 4 /* type of a segment routing header (RFC 8754) */
#define RTHDR_HOME     2 /* of mobile IPv6 (RFC 6275) */

#ifndef IPV6_FLOWLABEL_MGR
#define IPV6_FLOWLABEL_MGR 32
#endif
#ifndef IPV6_FLOWINFO_SEND
#define IPV6_FLOWINFO_SEND 33
#endif

/* FINAL HOP: a routing header whose only segment left is HOP. */
struct routing {
	unsigned char next, len, type, left;
	unsigned char last, flags, tag[2];
	struct in6_addr segments[2]; /* the last one first */
};

static struct routing segment_route(const char *final, const char *hop)
{
	struct routing r = {.len = 4, .type = RTHDR_SEGMENTS, .left = 1, .last = 1};

	inet_pton(AF_INET6, final, &r.segments[0]);
	inet_pton(AF_INET6, hop, &r.segments[1]);
	return r;
}

/* FINAL PORT HOP: sets the sticky option, then goes to FINAL. */
static void sticky_route(struct outcome *o, char **args, bool udp, int name)
{
	struct routing r = segment_route(args[0], args[2]);
	struct peer to = peer_arg(args[0], args[1]);
	struct attempt a = attempt_at(&to);
	int e = udp ? datagram(&a) : stream(&a, 0);

	a.timeout_ms = 400;
	if (!e && setsockopt(a.fd, SOL_IPV6, name, &r, sizeof(r)))
		e = setup_error(&a, -errno);
	if (!e)
		e = udp ? send_to(&a, &to, 0) : connect_to(&a, &to);
	conclude(o, &a, e);
}

static void attack_route_udp(struct outcome *o, char **args)
{
	sticky_route(o, args, true, IPV6_RTHDR);
}

static void attack_route_tcp(struct outcome *o, char **args)
{
	sticky_route(o, args, false, IPV6_RTHDR);
}

/* The same, through the option of RFC 2292 that takes control messages. */
static void attack_route_2292(struct outcome *o, char **args)
{
	struct routing r = segment_route(args[0], args[2]);
	struct peer to = peer_arg(args[0], args[1]);
	struct attempt a = attempt_at(&to);
	char control[CMSG_SPACE(sizeof(r))] = {0};
	struct msghdr msg = {.msg_control = control, .msg_controllen = sizeof(control)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	int e = datagram(&a);

	a.timeout_ms = 400;
	c->cmsg_level = SOL_IPV6;
	c->cmsg_type = IPV6_2292RTHDR;
	c->cmsg_len = CMSG_LEN(sizeof(r));
	memcpy(CMSG_DATA(c), &r, sizeof(r));
	if (!e && setsockopt(a.fd, SOL_IPV6, IPV6_2292PKTOPTIONS, control, sizeof(control)))
		e = setup_error(&a, -errno);
	conclude(o, &a, e ? e : send_to(&a, &to, 0));
}

/* A header for one message. */
static int send_with_header(struct attempt *a, const struct peer *to, int type, const void *header,
			    size_t len)
{
	char data[] = "x", control[256] = {0};
	struct iovec iov = {.iov_base = data, .iov_len = 1};
	struct peer name = *to;
	struct msghdr msg = {
		.msg_name = &name.any,
		.msg_namelen = name.len,
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = CMSG_SPACE(len),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	long start = now_usec();
	int e;

	c->cmsg_level = to->sa.sa_family == AF_INET ? SOL_IP : SOL_IPV6;
	c->cmsg_type = type;
	c->cmsg_len = CMSG_LEN(len);
	memcpy(CMSG_DATA(c), header, len);
	e = sendmsg(a->fd, &msg, 0) < 0 ? -errno : 0;
	a->usec = now_usec() - start;
	return e;
}

static void attack_route_cmsg(struct outcome *o, char **args)
{
	struct routing r = segment_route(args[0], args[2]);
	struct peer to = peer_arg(args[0], args[1]);
	struct attempt a = attempt_at(&to);
	int e = datagram(&a);

	a.timeout_ms = 400;
	conclude(o, &a, e ? e : send_with_header(&a, &to, IPV6_RTHDR, &r, sizeof(r)));
}

/* The only kind that the control message takes. */
static void attack_route_home_cmsg(struct outcome *o, char **args)
{
	struct routing r = {.len = 2, .type = RTHDR_HOME, .left = 1};
	struct peer to = peer_arg(args[0], args[1]);
	struct attempt a = attempt_at(&to);
	int e = datagram(&a);

	a.timeout_ms = 400;
	inet_pton(AF_INET6, args[2], &r.segments[0]);
	conclude(o, &a, e ? e : send_with_header(&a, &to, IPV6_RTHDR, &r, 24));
}

/* A flow label that brings the routing header with it. */
static void attack_route_flowlabel(struct outcome *o, char **args)
{
	struct routing r = segment_route(args[0], args[2]);
	struct peer to = peer_arg(args[0], args[1]);
	struct attempt a = attempt_at(&to);
	struct {
		struct in6_addr dst;
		unsigned int label;
		unsigned char action, share;
		unsigned short flags, expires, linger;
		unsigned int pad;
		char options[CMSG_SPACE(sizeof(struct routing))];
	} request = {.dst = to.v6.sin6_addr, .share = 1, .flags = 1 /* create */, .expires = 6};
	struct msghdr msg = {.msg_control = request.options,
			     .msg_controllen = sizeof(request.options)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	int e = datagram(&a);

	a.timeout_ms = 400;
	c->cmsg_level = SOL_IPV6;
	c->cmsg_type = IPV6_RTHDR;
	c->cmsg_len = CMSG_LEN(sizeof(r));
	memcpy(CMSG_DATA(c), &r, sizeof(r));
	if (!e && (setsockopt(a.fd, SOL_IPV6, IPV6_FLOWLABEL_MGR, &request, sizeof(request)) ||
		   set_flag(a.fd, SOL_IPV6, IPV6_FLOWINFO_SEND, 1)))
		e = setup_error(&a, -errno);
	to.v6.sin6_flowinfo = request.label;
	conclude(o, &a, e ? e : send_to(&a, &to, 0));
}

/* ADDR PORT: extension headers in front of the transport header. */
static void extension(struct outcome *o, char **args, int name)
{
	const unsigned char padding[8] = {0, 0, 1, 4, 0, 0, 0, 0};
	struct peer to = peer_arg(args[0], args[1]);
	struct attempt a = attempt_at(&to);
	int e = datagram(&a);

	if (!e)
		step(o, "option", made(setsockopt(a.fd, SOL_IPV6, name, padding, sizeof(padding))));
	conclude(o, &a, e ? e : send_to(&a, &to, 0));
}

static void attack_hop_options(struct outcome *o, char **args)
{
	extension(o, args, IPV6_HOPOPTS);
}

static void attack_dst_options(struct outcome *o, char **args)
{
	extension(o, args, IPV6_DSTOPTS);
}

/* FINAL PORT HOP */
struct source_route {
	unsigned char nop, type, len, pointer;
	struct in_addr hops[2];
} __attribute__((packed));

static struct source_route source_route(const char *hop, const char *final, int type)
{
	struct source_route r = {.nop = 1, .type = type, .len = 11, .pointer = 4};

	inet_pton(AF_INET, hop, &r.hops[0]);
	inet_pton(AF_INET, final, &r.hops[1]);
	return r;
}

static void sticky_source_route(struct outcome *o, char **args, int type, bool udp)
{
	struct source_route r = source_route(args[2], args[0], type);
	struct peer to = peer_arg(args[0], args[1]);
	struct attempt a = attempt_at(&to);
	int e = udp ? datagram(&a) : stream(&a, 0);

	a.timeout_ms = 400;
	if (!e && setsockopt(a.fd, SOL_IP, IP_OPTIONS, &r, sizeof(r)))
		e = setup_error(&a, -errno);
	if (!e)
		e = udp ? send_to(&a, &to, 0) : connect_to(&a, &to);
	conclude(o, &a, e);
}

static void attack_loose_tcp(struct outcome *o, char **args)
{
	sticky_source_route(o, args, IPOPT_LSRR, false);
}

static void attack_loose_udp(struct outcome *o, char **args)
{
	sticky_source_route(o, args, IPOPT_LSRR, true);
}

static void attack_strict_udp(struct outcome *o, char **args)
{
	sticky_source_route(o, args, IPOPT_SSRR, true);
}

static void attack_loose_cmsg(struct outcome *o, char **args)
{
	struct source_route r = source_route(args[2], args[0], IPOPT_LSRR);
	struct peer to = peer_arg(args[0], args[1]);
	struct attempt a = attempt_at(&to);
	int e = datagram(&a);

	a.timeout_ms = 400;
	conclude(o, &a, e ? e : send_with_header(&a, &to, IP_RETOPTS, &r, sizeof(r)));
}

const struct attack header_attacks[] = {
	{"route-udp", 3, attack_route_udp},
	{"route-tcp", 3, attack_route_tcp},
	{"route-2292", 3, attack_route_2292},
	{"route-cmsg", 3, attack_route_cmsg},
	{"route-home-cmsg", 3, attack_route_home_cmsg},
	{"route-flowlabel", 3, attack_route_flowlabel},
	{"hop-options", 2, attack_hop_options},
	{"dst-options", 2, attack_dst_options},
	{"loose-tcp", 3, attack_loose_tcp},
	{"loose-udp", 3, attack_loose_udp},
	{"strict-udp", 3, attack_strict_udp},
	{"loose-cmsg", 3, attack_loose_cmsg},
	{NULL, 0, NULL},
};
