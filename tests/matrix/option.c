// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Options of a socket that change where it sends, or how. ADDR PORT come first. */
#include "attack.h"

static void attack_device(struct outcome *o, char **args)
{
	struct peer to = peer_arg(args[0], args[1]);
	struct attempt a = attempt_at(&to);
	bool udp = !strcmp(args[3], "udp");
	int e = udp ? datagram(&a) : stream(&a, 0);

	if (!e && setsockopt(a.fd, SOL_SOCKET, SO_BINDTODEVICE, args[2], strlen(args[2]) + 1))
		e = setup_error(&a, -errno);
	if (!e)
		e = udp ? send_to(&a, &to, 0) : connect_to(&a, &to);
	conclude(o, &a, e);
}

/* An option that makes sense to set before connecting; refused, the attempt goes on without. */
static void with_option(struct outcome *o, char **args, int level, int name, int value,
			const char *what)
{
	struct peer to = peer_arg(args[0], args[1]);
	struct attempt a = attempt_at(&to);
	int e = stream(&a, 0);

	if (!e)
		step(o, what, set_flag(a.fd, level, name, value));
	conclude(o, &a, e ? e : connect_to(&a, &to));
}

static void attack_mark(struct outcome *o, char **args)
{
	with_option(o, args, SOL_SOCKET, SO_MARK, 1, "SO_MARK");
}

static void attack_dontroute(struct outcome *o, char **args)
{
	with_option(o, args, SOL_SOCKET, SO_DONTROUTE, 1, "SO_DONTROUTE");
}

/* ADDR PORT SOURCE: from an address that this host does not have. */
static void attack_transparent(struct outcome *o, char **args)
{
	struct peer to = peer_arg(args[0], args[1]), from = peer_arg(args[2], "0");
	struct attempt a = attempt_at(&to);
	int e = datagram(&a);

	if (!e) {
		step(o, "IP_TRANSPARENT", set_flag(a.fd, SOL_IP, IP_TRANSPARENT, 1));
		step(o, "bind", made(bind(a.fd, &from.sa, from.len)));
		e = send_to(&a, &to, 0);
	}
	conclude(o, &a, e);
}

/* ADDR PORT: to 0.0.0.0, from the address meant, by which the kernel then sends to it. */
static void attack_any_pktinfo(struct outcome *o, char **args)
{
	struct peer source = peer_arg(args[0], "0"), any = peer_arg("0.0.0.0", args[1]);
	struct attempt a = attempt_at(&any);
	char data[] = "x", control[CMSG_SPACE(sizeof(struct in_pktinfo))] = {0};
	struct iovec iov = {.iov_base = data, .iov_len = 1};
	struct msghdr msg = {
		.msg_name = &any.any,
		.msg_namelen = any.len,
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	struct in_pktinfo info = {.ipi_spec_dst = source.v4.sin_addr};
	int e = datagram(&a);

	c->cmsg_level = SOL_IP;
	c->cmsg_type = IP_PKTINFO;
	c->cmsg_len = CMSG_LEN(sizeof(info));
	memcpy(CMSG_DATA(c), &info, sizeof(info));
	conclude(o, &a, e ? e : made(sendmsg(a.fd, &msg, 0)));
}

/* ADDR PORT: bound to the address meant, then to 0.0.0.0 or ::. */
static void any_bound(struct outcome *o, char **args, bool udp)
{
	struct peer source = peer_arg(args[0], "0");
	bool v4 = source.sa.sa_family == AF_INET;
	struct peer any = peer_arg(v4 ? "0.0.0.0" : "::", args[1]);
	struct attempt a = attempt_at(&any);
	int e;

	a.bind = source;
	e = udp ? datagram(&a) : stream(&a, 0);
	if (!e)
		e = udp ? send_to(&a, &any, 0) : connect_to(&a, &any);
	conclude(o, &a, e);
}

static void attack_any_bound_tcp(struct outcome *o, char **args)
{
	any_bound(o, args, false);
}

static void attack_any_bound_udp(struct outcome *o, char **args)
{
	any_bound(o, args, true);
}

/* DEVICE PORT: to 0.0.0.0 through a device, whose address it then is. */
static void attack_any_unicast_if(struct outcome *o, char **args)
{
	struct peer any = peer_arg("0.0.0.0", args[1]);
	struct attempt a = attempt_at(&any);
	int e = datagram(&a);

	if (!e)
		e = set_flag(a.fd, SOL_IP, IP_UNICAST_IF, (int)htonl(if_nametoindex(args[0])));
	conclude(o, &a, e ? setup_error(&a, e) : send_to(&a, &any, 0));
}

/* ADDR PORT ALLOWED: a v6 socket on a mapped peer becomes a v4 one and sends elsewhere. */
static void attack_udp_addrform(struct outcome *o, char **args)
{
	struct peer to = peer_arg(args[0], args[1]), first = peer_arg(args[2], args[1]);
	struct attempt a = attempt_at(&to);
	int e = open_socket(&a, AF_INET6, SOCK_DGRAM, 0);

	if (!e)
		e = connect_to(&a, &first);
	if (!e)
		e = set_flag(a.fd, SOL_IPV6, IPV6_ADDRFORM, AF_INET);
	conclude(o, &a, e ? setup_error(&a, e) : send_to(&a, &to, 0));
}

/*
 * Uses up a socket's option memory, by keys for many peers or by memberships in many groups.
 * Returns the errno that says that it is full.
 */
static int fill_tcp(int fd)
{
	struct tcp_md5sig key = {.tcpm_keylen = 8};
	struct peer p = peer_arg("198.18.0.0", "0");

	for (unsigned int i = 0; i < 20000; i++) {
		p.v4.sin_addr.s_addr = htonl(0xc6120000 + i);
		memcpy(&key.tcpm_addr, &p.any, sizeof(p.any));
		if (setsockopt(fd, SOL_TCP, TCP_MD5SIG, &key, sizeof(key)))
			return -errno;
	}
	return 0;
}

static int fill_udp6(int fd)
{
	struct ipv6_mreq group = {.ipv6mr_interface = if_nametoindex("lo")};

	for (unsigned int i = 0; i < 20000; i++) {
		unsigned int words[4] = {htonl(0xff050000), 0, 0, htonl(i + 256)};

		memcpy(&group.ipv6mr_multiaddr, words, sizeof(words));
		if (setsockopt(fd, SOL_IPV6, IPV6_JOIN_GROUP, &group, sizeof(group)))
			return -errno;
	}
	return 0;
}

static void attack_omem_tcp(struct outcome *o, char **args)
{
	struct peer to = peer_arg(args[0], args[1]);
	struct attempt a = attempt_at(&to);
	int e = stream(&a, 0);

	if (!e)
		step(o, "fill option memory", fill_tcp(a.fd));
	conclude(o, &a, e ? e : connect_to(&a, &to));
}

/* ADDR is v6 or mapped. */
static void attack_omem_udp(struct outcome *o, char **args)
{
	struct peer to = peer_arg(args[0], args[1]);
	struct attempt a = attempt_at(&to);
	int e = datagram(&a);

	if (!e)
		step(o, "fill option memory", fill_udp6(a.fd));
	conclude(o, &a, e ? e : send_to(&a, &to, 0));
}

const struct attack option_attacks[] = {
	{"device", 4, attack_device},
	{"mark", 2, attack_mark},
	{"dontroute", 2, attack_dontroute},
	{"transparent", 3, attack_transparent},
	{"any-pktinfo", 2, attack_any_pktinfo},
	{"any-bound-tcp", 2, attack_any_bound_tcp},
	{"any-bound-udp", 2, attack_any_bound_udp},
	{"any-unicast-if", 2, attack_any_unicast_if},
	{"udp-addrform", 3, attack_udp_addrform},
	{"omem-tcp", 2, attack_omem_tcp},
	{"omem-udp", 2, attack_omem_udp},
	{NULL, 0, NULL},
};
