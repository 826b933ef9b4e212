// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Memberships in multicast groups, which the kernel reports to whoever is on the link. */
#include <netinet/in.h>

#include "attack.h"

/* More than a BPF program is shown of an option, and what the kernel takes of it all the same. */
#define LONG_OPTION 8192

struct membership {
	struct peer group;
	unsigned int device;
	union {
		struct group_source_req request; /* begins as group_req does */
		char filler[LONG_OPTION];
	};
};

/* For those that name a source. */
static struct sockaddr_in public_source(void)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_addr.s_addr = inet_addr("93.184.216.34")};
}

static int join_group4(int fd, struct membership *m)
{
	struct ip_mreqn option = {.imr_multiaddr = m->group.v4.sin_addr,
				  .imr_ifindex = (int)m->device};

	return setsockopt(fd, SOL_IP, IP_ADD_MEMBERSHIP, &option, sizeof(option));
}

static int join_group6(int fd, struct membership *m)
{
	struct ipv6_mreq option = {.ipv6mr_multiaddr = m->group.v6.sin6_addr,
				   .ipv6mr_interface = m->device};

	return setsockopt(fd, SOL_IPV6, IPV6_JOIN_GROUP, &option, sizeof(option));
}

/* The device is found by the route to the group. */
static int join_source4(int fd, struct membership *m)
{
	struct ip_mreq_source option = {.imr_multiaddr = m->group.v4.sin_addr,
					.imr_sourceaddr = public_source().sin_addr};

	return setsockopt(fd, SOL_IP, IP_ADD_SOURCE_MEMBERSHIP, &option, sizeof(option));
}

static int join_request(int fd, struct membership *m)
{
	int level = m->group.sa.sa_family == AF_INET ? SOL_IP : SOL_IPV6;

	return setsockopt(fd, level, MCAST_JOIN_GROUP, &m->request, sizeof(struct group_req));
}

static int join_request_source(int fd, struct membership *m)
{
	const struct sockaddr_in source = public_source();

	memcpy(&m->request.gsr_source, &source, sizeof(source));
	return setsockopt(fd, SOL_IP, MCAST_JOIN_SOURCE_GROUP, &m->request, sizeof(m->request));
}

static int join_long(int fd, struct membership *m)
{
	return setsockopt(fd, SOL_IP, MCAST_JOIN_GROUP, &m->request, LONG_OPTION);
}

static const struct {
	const char *name;
	int (*join)(int fd, struct membership *m);
} ways[] = {
	{"mreqn", join_group4},
	{"mreq6", join_group6},
	{"mreq-source", join_source4},
	{"request", join_request},
	{"request-source", join_request_source},
	{"long", join_long},
};

/* GROUP PORT WAY DEVICE */
static void attack_join(struct outcome *o, char **args)
{
	struct membership m = {.group = peer_arg(args[0], args[1]),
			       .device = if_nametoindex(args[3])};
	struct attempt a = attempt_at(&m.group);
	int e = datagram(&a);

	m.request.gsr_interface = m.device;
	memcpy(&m.request.gsr_group, &m.group.any, sizeof(m.group.any));
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]) && !e; i++)
		if (!strcmp(ways[i].name, args[2]))
			e = made(ways[i].join(a.fd, &m));
	end(o, e);
	usleep(100000); /* before the report goes out */
	close(a.fd);
}

const struct attack member_attacks[] = {
	{"join", 4, attack_join},
	{NULL, 0, NULL},
};
