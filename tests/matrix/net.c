// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Paths to a destination that the live tests' probe does not have. ADDR PORT come first. */
#include <fcntl.h>
#include <netdb.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/ip_icmp.h>
#include <netinet/udp.h>

#include "attack.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

/* HOST PORT: as programs do that are given a name or a number in any of its spellings. */
static void attack_name(struct outcome *o, char **args)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
	struct attempt a = {.timeout_ms = 1000, .fd = -1};
	int e = getaddrinfo(args[0], args[1], &hints, &list);

	if (e) {
		end_word(o, "unresolved");
		return;
	}
	/* Every address that the name has, as curl does; the last word is that of the last one. */
	for (struct addrinfo *i = list; i && strcmp(o->word, "ok") != 0; i = i->ai_next) {
		a = (struct attempt){.timeout_ms = 1000, .fd = -1, .to.len = i->ai_addrlen};
		memcpy(&a.to.any, i->ai_addr, i->ai_addrlen);
		conclude(o, &a, path_tcp(&a));
	}
	freeaddrinfo(list);
}

/* Has no connect hook on any kernel. */
static void attack_udplite_connect(struct outcome *o, char **args)
{
	struct peer to = peer_arg(args[0], args[1]);
	struct attempt a = attempt_at(&to);
	int e = open_proto(&a, SOCK_DGRAM, IPPROTO_UDPLITE);

	if (!e)
		e = connect_to(&a, &to);
	conclude(o, &a, e ? e : send_to(&a, NULL, 0));
}

static void attack_udplite_sendto(struct outcome *o, char **args)
{
	struct peer to = peer_arg(args[0], args[1]);
	struct attempt a = attempt_at(&to);
	int e = open_proto(&a, SOCK_DGRAM, IPPROTO_UDPLITE);

	conclude(o, &a, e ? e : send_to(&a, &to, 0));
}

/* --- echo requests ------------------------------------------------------------------------------
 */

/* Both families' echo requests have one layout; of a ping socket's the kernel fills in the rest. */
static int send_echo(struct attempt *a, const struct peer *to)
{
	bool v4 = a->to.sa.sa_family == AF_INET;
	struct icmphdr h = {.type = v4 ? ICMP_ECHO : 128, .checksum = htons(0xf7ff)};
	long start = now_usec();
	ssize_t n = sendto(a->fd, &h, sizeof(h), 0, to ? &to->sa : NULL, to ? to->len : 0);

	a->usec = now_usec() - start;
	return n < 0 ? -errno : 0;
}

static int open_ping(struct attempt *a)
{
	return open_proto(a, SOCK_DGRAM,
			  a->to.sa.sa_family == AF_INET ? IPPROTO_ICMP : IPPROTO_ICMPV6);
}

/* Whatever comes back is the answer. */
static void echo(struct outcome *o, char **args, int (*open)(struct attempt *a),
		 int (*send)(struct attempt *a))
{
	struct peer to = peer_arg(args[0], "0");
	struct attempt a = attempt_at(&to);
	struct pollfd p;
	int e = open(&a);

	a.timeout_ms = 400;
	if (!e)
		e = send(&a);
	o->usec = a.usec;
	end(o, e);
	if (a.setup_failed)
		snprintf(o->word, sizeof(o->word), "setup-%s", strerrorname_np(-e));
	p = (struct pollfd){.fd = a.fd, .events = POLLIN};
	if (!e && poll(&p, 1, a.timeout_ms) == 1 && (p.revents & POLLIN))
		end_word(o, "ok");
}

static int ping_connected(struct attempt *a)
{
	int e = connect_to(a, &a->to);

	return e ? e : send_echo(a, NULL);
}

static int ping_unconnected(struct attempt *a)
{
	return send_echo(a, &a->to);
}

static void attack_ping_connect(struct outcome *o, char **args)
{
	echo(o, args, open_ping, ping_connected);
}

/* Has no sendmsg hook on any kernel. */
static void attack_ping_sendto(struct outcome *o, char **args)
{
	echo(o, args, open_ping, ping_unconnected);
}

static int open_raw_icmp(struct attempt *a)
{
	return open_proto(a, SOCK_RAW,
			  a->to.sa.sa_family == AF_INET ? IPPROTO_ICMP : IPPROTO_ICMPV6);
}

static void attack_raw_icmp(struct outcome *o, char **args)
{
	echo(o, args, open_raw_icmp, ping_unconnected);
}

/* One that leaves in many fragments. */
static void attack_udp_big(struct outcome *o, char **args)
{
	struct peer to = peer_arg(args[0], args[1]);
	struct attempt a = attempt_at(&to);
	char data[8000] = "x";
	int e = datagram(&a);

	conclude(o, &a, e ? e : send_bytes(&a, data, sizeof(data), &to.sa, to.len));
}

/* Many datagrams in one call. */
static void attack_udp_gso(struct outcome *o, char **args)
{
	struct peer to = peer_arg(args[0], args[1]);
	struct attempt a = attempt_at(&to);
	char data[3000] = "x";
	int e = datagram(&a);

	if (!e)
		e = set_flag(a.fd, SOL_UDP, UDP_SEGMENT, 1000);
	conclude(o, &a,
		 e ? setup_error(&a, e) : send_bytes(&a, data, sizeof(data), &to.sa, to.len));
}

/* Through a pipe into a connected socket, with no call that sends. */
static void attack_udp_splice(struct outcome *o, char **args)
{
	struct peer to = peer_arg(args[0], args[1]);
	struct attempt a = attempt_at(&to);
	int e = datagram(&a), ends[2];

	if (!e)
		e = connect_to(&a, &to);
	if (!e && (pipe(ends) || write(ends[1], "x", 1) != 1))
		e = setup_error(&a, -errno);
	conclude(o, &a, e ? e : made(splice(ends[0], NULL, a.fd, NULL, 1, 0)));
}

const struct attack net_attacks[] = {
	{"name", 2, attack_name},
	{"udplite-connect", 2, attack_udplite_connect},
	{"udplite-sendto", 2, attack_udplite_sendto},
	{"ping-connect", 1, attack_ping_connect},
	{"ping-sendto", 1, attack_ping_sendto},
	{"raw-icmp", 1, attack_raw_icmp},
	{"udp-big", 2, attack_udp_big},
	{"udp-gso", 2, attack_udp_gso},
	{"udp-splice", 2, attack_udp_splice},
	{NULL, 0, NULL},
};
