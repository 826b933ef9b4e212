// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Run in a session: does one thing that a policy may refuse, and prints its pid and what came of
 * it, "ok" or the name of the errno.
 *
 *     denials tcp|udp|sendto ADDR PORT    denials ping ADDR       denials socket PROTOCOL
 *     denials unix NAME (abstract)        denials listen PORT     denials named NAME ADDR PORT
 *     denials flood ADDR PORTS COUNT      connects a UDP socket, which sends nothing
 */
#include <err.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/un.h>
#include <unistd.h>

#include "sock.h"

static struct peer peer_of(const char *addr, const char *port)
{
	struct peer p;
	unsigned long n;

	if (!number_parse(port, 65535, &n) || !peer_parse(addr, n, &p))
		errx(2, "%s %s: no address and port", addr, port);
	return p;
}

static int open_socket(int family, int type, int protocol)
{
	return socket(family, type | SOCK_CLOEXEC, protocol);
}

static int connect_to(int type, const char *addr, const char *port)
{
	const struct timeval limit = {.tv_sec = 3};
	struct peer p = peer_of(addr, port);
	int fd = open_socket(p.sa.sa_family, type, 0);

	if (fd < 0)
		return fd;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	return connect(fd, &p.sa, p.len);
}

static int tcp(char **args)
{
	return connect_to(SOCK_STREAM, args[0], args[1]);
}

static int udp(char **args)
{
	return connect_to(SOCK_DGRAM, args[0], args[1]);
}

static int send_to(char **args)
{
	struct peer p = peer_of(args[0], args[1]);
	int fd = open_socket(p.sa.sa_family, SOCK_DGRAM, 0);

	return fd < 0 ? fd : (int)sendto(fd, "x", 1, 0, &p.sa, p.len);
}

static int ping(char **args)
{
	const char echo[8] = {8};
	struct peer p = peer_of(args[0], "0");
	int fd = open_socket(AF_INET, SOCK_DGRAM, IPPROTO_ICMP);

	return fd < 0 ? fd : (int)sendto(fd, echo, sizeof(echo), 0, &p.sa, p.len);
}

static int make(char **args)
{
	unsigned long protocol;

	if (!number_parse(args[0], 255, &protocol))
		errx(2, "%s: no protocol", args[0]);
	return open_socket(AF_INET, SOCK_DGRAM, (int)protocol);
}

static int local(char **args)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	size_t n = strlen(args[0]);
	int fd = open_socket(AF_UNIX, SOCK_STREAM, 0);

	if (fd < 0 || n >= sizeof(addr.sun_path))
		return -1;
	memcpy(addr.sun_path + 1, args[0], n);
	return connect(fd, (struct sockaddr *)&addr,
		       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n));
}

static int named(char **args)
{
	prctl(PR_SET_NAME, args[0], 0, 0, 0);
	return tcp(args + 1);
}

static int flood(char **args)
{
	struct peer p = peer_of(args[0], "1");
	unsigned long ports, count;
	int fd = open_socket(p.sa.sa_family, SOCK_DGRAM, 0);

	if (fd < 0 || !number_parse(args[1], 65535, &ports) || !ports ||
	    !number_parse(args[2], 100000000, &count))
		errx(2, "flood: wrong arguments");
	for (unsigned long i = 0; i < count; i++) {
		p.v4.sin_port = htons((uint16_t)(1 + i % ports));
		if (!connect(fd, &p.sa, p.len) || errno != EPERM)
			return -1;
	}
	return 0;
}

static int listen_at(char **args)
{
	struct peer p = peer_of("0.0.0.0", args[0]);
	int fd = open_socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, &p.sa, p.len) || listen(fd, 8))
		return -1;
	puts("listens");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int args;
		int (*run)(char **args);
	} ways[] = {
		{"tcp", 2, tcp},     {"udp", 2, udp},	  {"sendto", 2, send_to},
		{"ping", 1, ping},   {"socket", 1, make}, {"unix", 1, local},
		{"named", 3, named}, {"flood", 3, flood}, {"listen", 1, listen_at},
	};

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]) && argc > 1; i++) {
		int ret;

		if (strcmp(ways[i].name, argv[1]) != 0 || argc - 2 != ways[i].args)
			continue;
		ret = ways[i].run(argv + 2);
		printf("%d %s\n", (int)getpid(), ret < 0 ? strerrorname_np(errno) : "ok");
		return 0;
	}
	errx(2, "usage: denials WAY ARGUMENT...");
}
