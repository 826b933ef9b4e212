// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "netwatch.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>

/* For the time until the caller reads, so that a burst is not lost; what is lost is asked for. */
#define BUFFER_SIZE (1 << 20)

/* Datagrams taken at a time: whoever can change addresses should not hold up the caller. */
#define MAX_READS 256

int netwatch_open(struct why *why)
{
	_cleanup_close_ int fd =
		socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
	static const int groups[] = {RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR,
				     RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE};
	struct sockaddr_nl addr = {.nl_family = AF_NETLINK};
	int size = BUFFER_SIZE;

	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		return why_set(why, -errno, "rtnetlink: %s", strerror(errno));
	/* The limit for everybody is good enough where the larger one is refused. */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		if (setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &groups[i],
			       sizeof(groups[i])) < 0)
			return why_set(why, -errno, "rtnetlink: cannot join group %d: %s",
				       groups[i], strerror(errno));
	return take_fd(&fd);
}

static int find_gateway(const struct nlattr *attr, void *gateway)
{
	uint16_t type = mnl_attr_get_type(attr);

	if (type == RTA_GATEWAY || type == RTA_VIA)
		*(bool *)gateway = true;
	return MNL_CB_OK;
}

static bool route_matters(const struct nlmsghdr *msg)
{
	const struct rtmsg *rtm = mnl_nlmsg_get_payload(msg);
	bool gateway = false;

	if (mnl_nlmsg_get_payload_len(msg) < sizeof(*rtm))
		return true;
	if (rtm->rtm_flags & RTM_F_CLONED)
		return false;
	mnl_attr_parse(msg, sizeof(*rtm), find_gateway, &gateway);
	return !gateway || rtm->rtm_type != RTN_UNICAST;
}

static int look(const struct nlmsghdr *msg, void *matters)
{
	if ((msg->nlmsg_type != RTM_NEWROUTE && msg->nlmsg_type != RTM_DELROUTE) ||
	    route_matters(msg))
		*(bool *)matters = true;
	return MNL_CB_OK;
}

bool netwatch_read(int fd)
{
	char buf[32768] __attribute__((aligned(MNL_ALIGNTO)));
	bool matters = false;

	for (int i = 0; i < MAX_READS; i++) {
		struct sockaddr_nl from = {0};
		struct iovec iov = {buf, sizeof(buf)};
		struct msghdr msg = {.msg_name = &from,
				     .msg_namelen = sizeof(from),
				     .msg_iov = &iov,
				     .msg_iovlen = 1};
		ssize_t n = recvmsg(fd, &msg, MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return matters || (errno != EAGAIN && errno != EWOULDBLOCK);
		if (from.nl_pid)
			continue; /* not from the kernel */
		if ((msg.msg_flags & MSG_TRUNC) || mnl_cb_run(buf, n, 0, 0, look, &matters) < 0)
			matters = true;
	}
	return matters;
}
