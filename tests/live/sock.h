/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Socket addresses from text and back, time, and bounded waits, for the programs of the lab. */
#ifndef CGNET_LIVE_SOCK_H
#define CGNET_LIVE_SOCK_H

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

/* An address, or none (len 0). */
struct peer {
	union {
		struct sockaddr sa;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
		struct sockaddr_storage any;
	};
	socklen_t len;
};

/* Room for "[v6 address%interface]:65535". */
#define PEER_STR_SIZE (INET6_ADDRSTRLEN + IF_NAMESIZE + 10)

/*
 * Reads a literal ("192.0.2.1", "::ffff:192.0.2.1", "fe80::1%lan0") and a port in host byte order.
 * Returns false on anything else; *out is then unchanged.
 */
static inline bool peer_parse(const char *addr, unsigned int port, struct peer *out)
{
	char text[INET6_ADDRSTRLEN + IF_NAMESIZE];
	struct peer p = {0};
	char *scope;

	if (port > 65535 || strlen(addr) >= sizeof(text))
		return false;
	strcpy(text, addr);
	scope = strchr(text, '%');
	if (scope)
		*scope++ = 0;
	if (!scope && inet_pton(AF_INET, text, &p.v4.sin_addr) == 1) {
		p.v4.sin_family = AF_INET;
		p.v4.sin_port = htons(port);
		p.len = sizeof(p.v4);
	} else if (inet_pton(AF_INET6, text, &p.v6.sin6_addr) == 1) {
		p.v6.sin6_family = AF_INET6;
		p.v6.sin6_port = htons(port);
		p.v6.sin6_scope_id = scope ? if_nametoindex(scope) : 0;
		if (scope && !p.v6.sin6_scope_id)
			return false;
		p.len = sizeof(p.v6);
	} else {
		return false;
	}
	*out = p;
	return true;
}

/* Reads decimal digits up to max. Returns false on anything else. */
static inline bool number_parse(const char *text, unsigned long max, unsigned long *out)
{
	char *end;
	unsigned long n;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	n = strtoul(text, &end, 10);
	if (errno || *end || n > max)
		return false;
	*out = n;
	return true;
}

/* Reads "ADDR:PORT" or "[ADDR]:PORT". Returns false on anything else. */
static inline bool peer_parse_pair(const char *text, struct peer *out)
{
	char copy[PEER_STR_SIZE], *addr = copy, *port;
	unsigned long n;

	if (strlen(text) >= sizeof(copy))
		return false;
	strcpy(copy, text);
	port = strrchr(copy, ':');
	if (!port || !number_parse(port + 1, 65535, &n))
		return false;
	*port = 0;
	if (*addr == '[' && port[-1] == ']') {
		port[-1] = 0;
		addr++;
	}
	return peer_parse(addr, n, out);
}

/* Writes the address without its port. Returns buf. */
static inline const char *peer_format(const struct peer *p, char buf[PEER_STR_SIZE])
{
	const void *addr = p->sa.sa_family == AF_INET ? (const void *)&p->v4.sin_addr
						      : (const void *)&p->v6.sin6_addr;

	if (!p->len || !inet_ntop(p->sa.sa_family, addr, buf, PEER_STR_SIZE))
		strcpy(buf, "-");
	return buf;
}

/* In host byte order. */
static inline unsigned int peer_port(const struct peer *p)
{
	return ntohs(p->sa.sa_family == AF_INET ? p->v4.sin_port : p->v6.sin6_port);
}

static inline long now_usec(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000L + t.tv_nsec / 1000;
}

/* Waits for events on fd for at most ms. Returns 0, -ETIMEDOUT or another negative errno. */
static inline int wait_for(int fd, short events, int ms)
{
	struct pollfd p = {.fd = fd, .events = events};
	int n = poll(&p, 1, ms);

	return n > 0 ? 0 : n ? -errno : -ETIMEDOUT;
}

static inline int set_flag(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value)) ? -errno : 0;
}

#endif
