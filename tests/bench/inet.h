/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sockets on this host's loopback addresses, and in another network namespace. */
#ifndef CGNET_BENCH_INET_H
#define CGNET_BENCH_INET_H

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "bench.h"

/* What has not arrived after so long is lost. */
static const struct timeval patience = {.tv_sec = 1};

struct endpoint {
	union {
		struct sockaddr sa;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	};
	socklen_t len;
};

static inline struct endpoint loopback_endpoint(int family)
{
	if (family == AF_INET)
		return (struct endpoint){
			.v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)},
			.len = sizeof(struct sockaddr_in)};
	return (struct endpoint){
		.v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT},
		.len = sizeof(struct sockaddr_in6)};
}

static inline int open_socket(int family, int type, int protocol)
{
	int fd = socket(family, type | SOCK_CLOEXEC, protocol);

	if (fd < 0)
		err(1, "socket");
	return fd;
}

/* Binds fd; where the port is 0, the kernel's choice is written to at. */
static inline void bind_socket(int fd, struct endpoint *at)
{
	if (bind(fd, &at->sa, at->len) < 0 || getsockname(fd, &at->sa, &at->len) < 0)
		err(1, "bind");
}

static inline void connect_socket(int fd, const struct endpoint *to)
{
	if (connect(fd, &to->sa, to->len) < 0)
		err(1, "connect");
}

/* Room for so many bytes in either direction, and an end to waiting. */
static inline void set_buffers(int fd, int bytes)
{
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0)
		err(1, "setsockopt");
}

/* Enters the network namespace at path. Returns the one left, for leave_netns(). */
static inline int enter_netns(const char *path)
{
	int left = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	_cleanup_close_ int ns = open(path, O_RDONLY | O_CLOEXEC);

	if (left < 0 || ns < 0 || setns(ns, CLONE_NEWNET) < 0)
		err(1, "%s", path);
	return left;
}

static inline void leave_netns(int left)
{
	if (setns(left, CLONE_NEWNET) < 0)
		err(1, "setns");
	close(left);
}

#endif
