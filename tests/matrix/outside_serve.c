// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * serve [OPTION]... ADDR:PORT...: greets and answers with a number, over TCP (MPTCP with --mptcp)
 * and UDP; also over UDP-Lite with --udplite. --reuseport shares the port, --steer keeps all that
 * comes for itself, --device D binds to a device, --log FILE gets a line for every arrival; with
 * --when FILE it waits for that file before it binds, with
 * --then FILE it makes that one afterwards.
 */
#include <err.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <sys/stat.h>

#include "outside.h"

#define MAX_WATCHED 256

static struct options {
	const char *device, *when, *then;
	bool reuseport, udplite, mptcp, http, steer;
	int log;
} options;

static struct watched {
	struct pollfd p[MAX_WATCHED];
	char kind[MAX_WATCHED]; /* 'l'istening, 'd'atagrams, 'c'onnection */
	int n;
} watched;

static unsigned long arrivals;

static void watch(int fd, char kind)
{
	if (watched.n == MAX_WATCHED)
		errx(1, "too many sockets");
	watched.p[watched.n] = (struct pollfd){.fd = fd, .events = POLLIN};
	watched.kind[watched.n++] = kind;
}

static int bound(const struct peer *local, int type, int proto)
{
	int fd = socket(local->sa.sa_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, proto);

	if (fd < 0)
		err(1, "socket");
	set_flag(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (options.reuseport)
		set_flag(fd, SOL_SOCKET, SO_REUSEPORT, 1);
	set_flag(fd, SOL_IP, IP_FREEBIND, 1);
	if (local->sa.sa_family == AF_INET6) {
		set_flag(fd, SOL_IPV6, IPV6_V6ONLY, 1);
		set_flag(fd, SOL_IPV6, IPV6_RECVPKTINFO, type == SOCK_DGRAM);
	} else {
		set_flag(fd, SOL_IP, IP_PKTINFO, type == SOCK_DGRAM);
	}
	if (options.device &&
	    setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, options.device, strlen(options.device) + 1))
		err(1, "%s", options.device);
	if (bind(fd, &local->sa, local->len))
		err(1, "bind");
	return fd;
}

/* Of the sockets that share the port this one is the first. */
static void steer(int fd)
{
	struct sock_filter first[] = {BPF_STMT(BPF_RET | BPF_K, 0)};
	struct sock_fprog prog = {.len = 1, .filter = first};

	if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &prog, sizeof(prog)))
		err(1, "filter");
}

static void listen_at(const char *spec)
{
	struct peer local;
	int fd, udp;

	if (!peer_parse_pair(spec, &local))
		errx(2, "%s: not ADDR:PORT", spec);
	fd = bound(&local, SOCK_STREAM, options.mptcp ? IPPROTO_MPTCP : 0);
	if (listen(fd, 64))
		err(1, "listen");
	watch(fd, 'l');
	udp = bound(&local, SOCK_DGRAM, 0);
	watch(udp, 'd');
	if (options.steer) {
		steer(fd);
		steer(udp);
	}
	if (options.udplite)
		watch(bound(&local, SOCK_DGRAM, IPPROTO_UDPLITE), 'd');
}

static int number_of_arrival(char text[64])
{
	int len = snprintf(text, 64, "%s%lu\n", options.http ? "HTTP/1.0 200 OK\r\n\r\n" : "",
			   ++arrivals);

	if (options.log >= 0 && write(options.log, "\n", 1) != 1)
		err(1, "log");
	return len;
}

/* From the address that was asked. */
static void answer_datagram(int fd)
{
	char data[4096], text[64], control[CMSG_SPACE(sizeof(struct in6_pktinfo))];
	struct iovec iov = {.iov_base = data, .iov_len = sizeof(data)};
	struct peer from;
	struct msghdr msg = {
		.msg_name = &from.any,
		.msg_namelen = sizeof(from.any),
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};

	if (recvmsg(fd, &msg, 0) < 0)
		return;
	/* By whatever route there is. */
	if (CMSG_FIRSTHDR(&msg) && CMSG_FIRSTHDR(&msg)->cmsg_level == SOL_IP)
		((struct in_pktinfo *)CMSG_DATA(CMSG_FIRSTHDR(&msg)))->ipi_ifindex = 0;
	iov.iov_base = text;
	iov.iov_len = (size_t)number_of_arrival(text);
	sendmsg(fd, &msg, 0);
}

static void answer(int i)
{
	char data[4096], text[64];
	int fd = watched.p[i].fd, c;
	ssize_t n;

	if (watched.kind[i] == 'l') {
		c = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (c < 0)
			return;
		if (!options.http)
			send(c, text, (size_t)number_of_arrival(text), 0);
		watch(c, 'c');
		return;
	}
	if (watched.kind[i] == 'd') {
		answer_datagram(fd);
		return;
	}
	n = recv(fd, data, sizeof(data), 0);
	if (n > 0) {
		send(fd, text, (size_t)number_of_arrival(text), 0);
		if (options.http)
			shutdown(fd, SHUT_WR);
	} else if (n == 0 || errno != EAGAIN) {
		close(fd);
		watched.n--;
		watched.p[i] = watched.p[watched.n];
		watched.kind[i] = watched.kind[watched.n];
	}
}

static void await_file(const char *path)
{
	while (access(path, F_OK))
		usleep(5000);
}

static char **read_options(char **args)
{
	options.log = -1;
	for (; *args && !strncmp(*args, "--", 2); args++) {
		if (!strcmp(*args, "--reuseport"))
			options.reuseport = true;
		else if (!strcmp(*args, "--udplite"))
			options.udplite = true;
		else if (!strcmp(*args, "--steer"))
			options.steer = true;
		else if (!strcmp(*args, "--http"))
			options.http = true;
		else if (!strcmp(*args, "--mptcp"))
			options.mptcp = true;
		else if (!args[1])
			errx(2, "%s: needs a value", *args);
		else if (!strcmp(*args, "--device"))
			options.device = *++args;
		else if (!strcmp(*args, "--when"))
			options.when = *++args;
		else if (!strcmp(*args, "--then"))
			options.then = *++args;
		else if (!strcmp(*args, "--log"))
			options.log =
				open(*++args, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
		else
			errx(2, "%s: no such option", *args);
	}
	return args;
}

int role_serve(char **args)
{
	args = read_options(args);
	if (options.when) {
		/* Nobody listens yet, on purpose. */
		ready();
		await_file(options.when);
	}
	for (; *args; args++)
		listen_at(*args);
	if (options.then)
		close(open(options.then, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
	if (!options.when)
		ready();
	for (;;) {
		if (poll(watched.p, (nfds_t)watched.n, -1) < 0)
			err(1, "poll");
		for (int i = watched.n - 1; i >= 0; i--)
			if (watched.p[i].revents)
				answer(i);
	}
}
