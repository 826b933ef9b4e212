// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "netlink.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include <libmnl/libmnl.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>

/* The loopback device has this index in every namespace. */
#define LO_IFINDEX 1

/* A dump that other changes interrupted is started again, this many times at most. */
#define MAX_TRIES 10

struct dump {
	struct facts *facts;
	int *tunnels; /* devices without neighbours, by index */
	size_t ntunnels, cap;
	int err; /* of the callback */
};

static bool family_known(uint8_t family)
{
	return family == AF_INET || family == AF_INET6;
}

/* Makes a whole address of an attribute. Returns false if it is missing or has another size. */
static bool attr_prefix(const struct nlattr *attr, uint8_t family, struct prefix *out)
{
	size_t size = family == AF_INET ? 4 : 16;

	if (!attr || mnl_attr_get_payload_len(attr) != size)
		return false;
	*out = (struct prefix){.family = family, .len = size * 8};
	memcpy(out->bytes, mnl_attr_get_payload(attr), size);
	return true;
}

/* Adds p to list. Returns false, with the error in dump, if there is no room. */
static bool add(struct dump *dump, struct prefixes *list, const struct prefix *p)
{
	dump->err = prefixes_add(list, p);
	return !dump->err;
}

struct attrs {
	const struct nlattr **of; /* by type */
	unsigned int max;
};

static int collect_attr(const struct nlattr *attr, void *arg)
{
	struct attrs *attrs = arg;
	unsigned int type = mnl_attr_get_type(attr);

	if (type <= attrs->max)
		attrs->of[type] = attr;
	return MNL_CB_OK;
}

/*
 * IFA_LOCAL is our own address where it is there, and IFA_ADDRESS then the peer's, which on most
 * links is the same; v6 without a peer has IFA_ADDRESS alone.
 */
static bool read_addr(const struct nlmsghdr *msg, struct dump *dump)
{
	const struct ifaddrmsg *ifa = mnl_nlmsg_get_payload(msg);
	const struct nlattr *of[IFA_MAX + 1] = {NULL};
	struct attrs attrs = {of, IFA_MAX};
	struct prefix own, peer;

	if (!family_known(ifa->ifa_family) ||
	    mnl_attr_parse(msg, sizeof(*ifa), collect_attr, &attrs) < 0 ||
	    !attr_prefix(of[IFA_ADDRESS], ifa->ifa_family, &peer) ||
	    !attr_prefix(of[of[IFA_LOCAL] ? IFA_LOCAL : IFA_ADDRESS], ifa->ifa_family, &own))
		return true;
	if (!add(dump, &dump->facts->host, &own))
		return false;
	/* A whole address stands for a network only where it is somebody else's. */
	if (ifa->ifa_index == LO_IFINDEX || ifa->ifa_prefixlen > peer.len ||
	    (ifa->ifa_prefixlen == peer.len && !prefix_compare(&own, &peer)))
		return true;
	peer.len = ifa->ifa_prefixlen;
	prefix_mask(&peer);
	return add(dump, &dump->facts->onlink, &peer);
}

/*
 * A VPN device has no neighbours: a route over it says what the tunnel carries, which for a full
 * tunnel that spares the private ranges is the internet in many parts.
 */
static bool read_link(const struct nlmsghdr *msg, struct dump *dump)
{
	const struct ifinfomsg *link = mnl_nlmsg_get_payload(msg);

	if (!(link->ifi_flags & (IFF_POINTOPOINT | IFF_NOARP | IFF_LOOPBACK)))
		return true;
	dump->err = ARRAY_RESERVE(&dump->tunnels, &dump->cap, dump->ntunnels);
	if (!dump->err)
		dump->tunnels[dump->ntunnels++] = link->ifi_index;
	return !dump->err;
}

static bool has_neighbours(const struct dump *dump, int ifindex)
{
	for (size_t i = 0; i < dump->ntunnels; i++)
		if (dump->tunnels[i] == ifindex)
			return false;
	return true;
}

/* True if a nexthop of a multipath route leads straight to the link. */
static bool nexthop_onlink(const struct dump *dump, const struct rtnexthop *hop)
{
	const struct nlattr *attr = (const struct nlattr *)RTNH_DATA(hop);
	int left = (int)hop->rtnh_len - (int)RTNH_LENGTH(0);

	for (; mnl_attr_ok(attr, left); attr = mnl_attr_next(attr)) {
		uint16_t type = mnl_attr_get_type(attr);

		if (type == RTA_GATEWAY || type == RTA_VIA)
			return false;
		left -= MNL_ALIGN(mnl_attr_get_len(attr));
	}
	return has_neighbours(dump, hop->rtnh_ifindex);
}

static bool multipath_onlink(const struct dump *dump, const struct nlattr *multipath)
{
	const struct rtnexthop *hop = mnl_attr_get_payload(multipath);
	int left = mnl_attr_get_payload_len(multipath);

	while (RTNH_OK(hop, left)) {
		if (nexthop_onlink(dump, hop))
			return true;
		left -= RTNH_ALIGN(hop->rtnh_len);
		hop = RTNH_NEXT(hop);
	}
	return false;
}

/*
 * Without a gateway the neighbour itself is asked for. The scope says the same of v4, but can be
 * set to anything, and v6 has none.
 */
static bool route_onlink(const struct dump *dump, const struct rtmsg *rtm,
			 const struct nlattr *const *of)
{
	if (rtm->rtm_type != RTN_UNICAST)
		return false;
	if (of[RTA_MULTIPATH])
		return multipath_onlink(dump, of[RTA_MULTIPATH]);
	return !of[RTA_GATEWAY] && !of[RTA_VIA] && of[RTA_OIF] &&
	       has_neighbours(dump, (int)mnl_attr_get_u32(of[RTA_OIF]));
}

static bool read_route(const struct nlmsghdr *msg, struct dump *dump)
{
	const struct rtmsg *rtm = mnl_nlmsg_get_payload(msg);
	const struct nlattr *of[RTA_MAX + 1] = {NULL};
	struct attrs attrs = {of, RTA_MAX};
	struct prefixes *list = NULL;
	struct prefix dst;

	/* A default route has no destination. */
	if (!family_known(rtm->rtm_family) || (rtm->rtm_flags & RTM_F_CLONED) ||
	    mnl_attr_parse(msg, sizeof(*rtm), collect_attr, &attrs) < 0 ||
	    !attr_prefix(of[RTA_DST], rtm->rtm_family, &dst) || rtm->rtm_dst_len > dst.len)
		return true;
	if (rtm->rtm_type == RTN_LOCAL || rtm->rtm_type == RTN_ANYCAST)
		list = &dump->facts->host;
	else if (rtm->rtm_type == RTN_BROADCAST)
		list = &dump->facts->broadcast;
	else if (route_onlink(dump, rtm, of))
		list = &dump->facts->onlink;
	if (!list)
		return true;
	dst.len = rtm->rtm_dst_len;
	prefix_mask(&dst);
	return add(dump, list, &dst);
}

static int read_message(const struct nlmsghdr *msg, void *arg)
{
	bool ok = true;

	if (msg->nlmsg_type == RTM_NEWLINK &&
	    mnl_nlmsg_get_payload_len(msg) >= sizeof(struct ifinfomsg))
		ok = read_link(msg, arg);
	else if (msg->nlmsg_type == RTM_NEWADDR &&
		 mnl_nlmsg_get_payload_len(msg) >= sizeof(struct ifaddrmsg))
		ok = read_addr(msg, arg);
	else if (msg->nlmsg_type == RTM_NEWROUTE &&
		 mnl_nlmsg_get_payload_len(msg) >= sizeof(struct rtmsg))
		ok = read_route(msg, arg);
	return ok ? MNL_CB_OK : MNL_CB_ERROR;
}

static int send_dump(struct mnl_socket *nl, uint16_t type, uint8_t family, unsigned int seq)
{
	char buf[MNL_NLMSG_HDRLEN + MNL_ALIGN(sizeof(struct ifinfomsg))]
		__attribute__((aligned(MNL_ALIGNTO))) = {0};
	struct nlmsghdr *msg = mnl_nlmsg_put_header(buf);

	msg->nlmsg_type = type;
	msg->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	msg->nlmsg_seq = seq;
	/* Each header starts with the family. */
	if (type == RTM_GETLINK) {
		struct ifinfomsg *link = mnl_nlmsg_put_extra_header(msg, sizeof(*link));

		link->ifi_family = family;
	} else if (type == RTM_GETADDR) {
		struct ifaddrmsg *ifa = mnl_nlmsg_put_extra_header(msg, sizeof(*ifa));

		ifa->ifa_family = family;
	} else {
		struct rtmsg *rtm = mnl_nlmsg_put_extra_header(msg, sizeof(*rtm));

		rtm->rtm_family = family;
	}
	return mnl_socket_sendto(nl, msg, msg->nlmsg_len) < 0 ? -errno : 0;
}

static int receive_dump(struct mnl_socket *nl, unsigned int seq, struct dump *dump)
{
	char buf[32768] __attribute__((aligned(MNL_ALIGNTO)));
	int ret = MNL_CB_OK;

	while (ret > MNL_CB_STOP) {
		ssize_t n = mnl_socket_recvfrom(nl, buf, sizeof(buf));

		if (n < 0)
			return -errno;
		ret = mnl_cb_run(buf, n, seq, mnl_socket_get_portid(nl), read_message, dump);
		if (ret < 0)
			return dump->err ? dump->err : -errno;
	}
	return 0;
}

static int run_dumps(struct mnl_socket *nl, unsigned int seq, struct dump *dump)
{
	static const struct {
		uint16_t type;
		uint8_t family;
	} asked[] = {
		{RTM_GETLINK, AF_UNSPEC},
		{RTM_GETADDR, AF_UNSPEC},
		{RTM_GETROUTE, AF_INET},
		{RTM_GETROUTE, AF_INET6},
	};
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(asked) && !err; i++) {
		err = send_dump(nl, asked[i].type, asked[i].family, seq + i);
		if (!err)
			err = receive_dump(nl, seq + i, dump);
	}
	return err;
}

static int try_read(struct facts *out, unsigned int seq)
{
	struct dump dump = {.facts = out};
	struct mnl_socket *nl = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	int err = 0;

	if (!nl)
		return -errno;
	if (mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) < 0)
		err = -errno;
	if (!err)
		err = run_dumps(nl, seq, &dump);
	mnl_socket_close(nl);
	free(dump.tunnels);
	return err;
}

int netlink_read(struct facts *out, struct why *why)
{
	size_t had[] = {out->host.n, out->onlink.n, out->broadcast.n};
	int err = -EINTR;

	for (int i = 0; i < MAX_TRIES && err == -EINTR; i++) {
		out->host.n = had[0];
		out->onlink.n = had[1];
		out->broadcast.n = had[2];
		err = try_read(out, time(NULL));
	}
	if (err)
		return why_set(why, err, "rtnetlink: %s", strerror(-err));
	return 0;
}
