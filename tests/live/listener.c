// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Listens on TCP and UDP and tells everyone who arrives how many have arrived so far, over all of
 * its sockets. Arrivals on one socket are counted in order, so two callers that are told n and n+1
 * know that nobody came between them.
 */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "sock.h"

#define MAX_SOCKETS 512

enum kind { LISTENING, DATAGRAMS, CONNECTION };

struct watched {
	int fd;
	enum kind kind;
	struct peer local; /* as bound; the port that the log shows */
};

static int epoll_fd;
static int log_fd = -1;
static uint64_t arrivals;

static void watch(int fd, enum kind kind, const struct peer *local)
{
	struct watched *w = calloc(1, sizeof(*w));
	struct epoll_event e = {.events = EPOLLIN, .data.ptr = w};

	if (!w)
		err(1, "calloc");
	w->fd = fd;
	w->kind = kind;
	w->local = *local;
	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &e))
		err(1, "epoll_ctl");
}

/* Returns a bound socket; fails the program, since a lab without its listener proves nothing. */
static int bound_socket(const struct peer *local, int type)
{
	bool v6 = local->sa.sa_family == AF_INET6;
	char text[PEER_STR_SIZE];
	int fd = socket(local->sa.sa_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		err(1, "socket");
	set_flag(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	/* Any address of the lab: those that are only routed here count as foreign. */
	set_flag(fd, SOL_IP, IP_FREEBIND, 1);
	if (v6) {
		set_flag(fd, SOL_IPV6, IPV6_V6ONLY, 1);
		set_flag(fd, SOL_IPV6, IPV6_FREEBIND, 1);
	}
	if (bind(fd, &local->sa, local->len))
		err(1, "bind to %s port %u", peer_format(local, text), peer_port(local));
	return fd;
}

static void listen_on(const struct peer *local)
{
	bool v6 = local->sa.sa_family == AF_INET6;
	int tcp = bound_socket(local, SOCK_STREAM);
	int udp = bound_socket(local, SOCK_DGRAM);

	set_flag(tcp, SOL_TCP, TCP_FASTOPEN, 16);
	if (listen(tcp, 64))
		err(1, "listen");
	set_flag(udp, v6 ? SOL_IPV6 : SOL_IP, v6 ? IPV6_RECVPKTINFO : IP_PKTINFO, 1);
	watch(tcp, LISTENING, local);
	watch(udp, DATAGRAMS, local);
}

static void join(const char *text)
{
	char group[INET6_ADDRSTRLEN + IF_NAMESIZE];
	struct group_req req = {0};
	struct peer p;
	char *scope = strchr(text, '%');
	int fd;

	if (!scope || strlen(text) >= sizeof(group))
		errx(2, "%s: not GROUP%%INTERFACE", text);
	memcpy(group, text, scope - text);
	group[scope - text] = 0;
	req.gr_interface = if_nametoindex(scope + 1);
	if (!peer_parse(group, 0, &p) || !req.gr_interface)
		errx(2, "%s: not GROUP%%INTERFACE", text);
	memcpy(&req.gr_group, &p.any, sizeof(p.any));
	/* Membership lasts as long as this socket, which is never closed. */
	fd = socket(p.sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || setsockopt(fd, p.sa.sa_family == AF_INET ? SOL_IP : SOL_IPV6,
				 MCAST_JOIN_GROUP, &req, sizeof(req)))
		err(1, "join %s", text);
}

/* Counts one arrival and writes its line to the log: number, protocol, from, to, port. */
static void count_arrival(const char *proto, const struct peer *from, const struct peer *to,
			  unsigned int port)
{
	char a[PEER_STR_SIZE], b[PEER_STR_SIZE];

	arrivals++;
	if (log_fd >= 0)
		dprintf(log_fd, "%" PRIu64 " %s %s %s %u\n", arrivals, proto, peer_format(from, a),
			peer_format(to, b), port);
}

static void accept_one(const struct watched *w)
{
	struct peer from = {.len = sizeof(from.any)}, to = {.len = sizeof(to.any)};
	int fd = accept4(w->fd, &from.sa, &from.len, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return;
	getsockname(fd, &to.sa, &to.len);
	count_arrival("tcp", &from, &to, peer_port(&w->local));
	dprintf(fd, "%" PRIu64 "\n", arrivals);
	watch(fd, CONNECTION, &w->local);
}

/*
 * Where the datagram went, from its control data, which is left fit for the answer: the answer to a
 * group or to a broadcast comes from an address of our own.
 */
static struct peer addressed_to(struct msghdr *msg)
{
	struct peer to = {0};
	struct cmsghdr *c;

	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level == SOL_IP && c->cmsg_type == IP_PKTINFO) {
			struct in_pktinfo *info = (struct in_pktinfo *)CMSG_DATA(c);

			to.v4.sin_family = AF_INET;
			to.v4.sin_addr = info->ipi_addr;
			to.len = sizeof(to.v4);
		} else if (c->cmsg_level == SOL_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
			struct in6_pktinfo *info = (struct in6_pktinfo *)CMSG_DATA(c);

			to.v6.sin6_family = AF_INET6;
			to.v6.sin6_addr = info->ipi6_addr;
			to.len = sizeof(to.v6);
			if (IN6_IS_ADDR_MULTICAST(&info->ipi6_addr))
				info->ipi6_addr = in6addr_any;
		}
	}
	return to;
}

static void answer_datagram(const struct watched *w)
{
	char data[64], control[CMSG_SPACE(sizeof(struct in6_pktinfo))];
	struct iovec iov = {.iov_base = data, .iov_len = sizeof(data)};
	struct peer from = {0}, to;
	struct msghdr msg = {
		.msg_name = &from.any,
		.msg_namelen = sizeof(from.any),
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};

	if (recvmsg(w->fd, &msg, 0) < 0)
		return;
	from.len = msg.msg_namelen;
	to = addressed_to(&msg);
	count_arrival("udp", &from, &to, peer_port(&w->local));
	iov.iov_len = snprintf(data, sizeof(data), "%" PRIu64 "\n", arrivals);
	if (sendmsg(w->fd, &msg, 0) < 0)
		warn("answer");
}

/* Reads to the end, so that closing does not reset what the caller has yet to read. */
static void drain(struct watched *w)
{
	char data[4096];
	ssize_t n = read(w->fd, data, sizeof(data));

	if (n > 0 || (n < 0 && errno == EAGAIN))
		return;
	close(w->fd);
	free(w);
}

static void __attribute__((noreturn)) usage(void)
{
	fputs("usage: listener [-l LOG] [-j GROUP%INTERFACE]... PORT|ADDR:PORT|[ADDR]:PORT...\n",
	      stderr);
	exit(2);
}

static void listen_spec(const char *spec)
{
	unsigned long port;
	struct peer p = {0};

	if (number_parse(spec, 65535, &port)) {
		peer_parse("0.0.0.0", port, &p);
		listen_on(&p);
		peer_parse("::", port, &p);
		listen_on(&p);
	} else if (peer_parse_pair(spec, &p)) {
		listen_on(&p);
	} else {
		errx(2, "%s: not PORT, ADDR:PORT or [ADDR]:PORT", spec);
	}
}

int main(int argc, char **argv)
{
	struct epoll_event events[16];
	int i, n, option;

	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_fd < 0)
		err(1, "epoll_create1");
	while ((option = getopt(argc, argv, "l:j:")) != -1) {
		if (option == 'l') {
			log_fd = open(optarg, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
			if (log_fd < 0)
				err(1, "%s", optarg);
		} else if (option == 'j') {
			join(optarg);
		} else {
			usage();
		}
	}
	if (optind == argc || argc - optind > MAX_SOCKETS)
		usage();
	for (i = optind; i < argc; i++)
		listen_spec(argv[i]);
	puts("ready");
	fflush(stdout);
	for (;;) {
		n = epoll_wait(epoll_fd, events, 16, -1);
		if (n < 0 && errno != EINTR)
			err(1, "epoll_wait");
		for (i = 0; i < n; i++) {
			struct watched *w = events[i].data.ptr;

			if (w->kind == LISTENING)
				accept_one(w);
			else if (w->kind == DATAGRAMS)
				answer_datagram(w);
			else
				drain(w);
		}
	}
}
