// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Helpers of the outside: what a session could talk or trick into acting for it. */
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include "outside.h"
#include "unixname.h"

#define MAX_UNIX 16

const char *outside_connect(const char *addr, const char *port)
{
	struct attempt a = {.timeout_ms = 1000, .fd = -1};
	char data[32];
	unsigned long n;
	int e;

	if (!number_parse(port, 65535, &n) || !peer_parse(addr, (unsigned int)n, &a.to))
		return "EINVAL";
	e = path_tcp(&a);
	if (!e)
		e = wait_for(a.fd, POLLIN, a.timeout_ms);
	if (!e && recv(a.fd, data, sizeof(data), 0) <= 0)
		e = -ECONNRESET;
	close(a.fd);
	return e ? strerrorname_np(-e) : "ok";
}

/* "ADDR PORT" */
const char *outside_connect_order(char *order)
{
	char *addr = strtok(order, " \n"), *port = strtok(NULL, " \n");

	return addr && port ? outside_connect(addr, port) : "EINVAL";
}

/* --- deputy -------------------------------------------------------------------------------------
 */

/* What somebody who can write to this process's memory has it do. */
static volatile char buffer[64];
static volatile sig_atomic_t signalled;

static void on_signal(int sig)
{
	(void)sig;
	signalled = 1;
}

static void carry_out_buffer(void)
{
	char order[sizeof(buffer)] = "";

	for (size_t i = 0; i < sizeof(buffer) - 1; i++)
		order[i] = buffer[i];
	outside_connect_order(order);
	buffer[0] = 0;
}

/*
 * deputy INFO ADDR PORT FILE: goes where its buffer says, and to ADDR at SIGUSR1. Holds a TCP
 * socket and FILE, open for writing. INFO gets its pid, the buffer's address and both descriptors.
 */
int role_deputy(char **args)
{
	struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	int info = open(args[0], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	int sock = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	int file = open(args[3], O_WRONLY);

	if (info < 0 || sock < 0)
		err(1, "%s", args[0]);
	sigaction(SIGUSR1, &act, NULL);
	dprintf(info, "%d %lu %d %d\n", (int)getpid(), (unsigned long)buffer, sock, file);
	close(info);
	ready();
	for (;;) {
		usleep(5000);
		if (buffer[0])
			carry_out_buffer();
		if (signalled)
			outside_connect(args[1], args[2]);
		signalled = 0;
	}
}

/* --- a daemon behind Unix sockets ----------------------------------------------------------------
 */

static void send_socket(int fd)
{
	int sock = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	char data[] = "s", control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec iov = {.iov_base = data, .iov_len = 1};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof(control)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &sock, sizeof(sock));
	sendmsg(fd, &msg, 0);
	close(sock);
}

/* "connect ADDR PORT", "socket", or anything else, which is answered with a number. */
static void serve_order(int fd, char *order, const struct sockaddr *from, socklen_t len)
{
	const char *text = "1\n";

	if (!strcmp(order, "socket")) {
		send_socket(fd);
		return;
	}
	if (!strncmp(order, "connect ", 8) && strcmp(outside_connect_order(order + 8), "ok") != 0)
		text = "failed\n";
	sendto(fd, text, strlen(text), MSG_DONTWAIT, from, len);
}

static void serve_unix(int fd, bool datagrams)
{
	struct sockaddr_un from;
	socklen_t len = sizeof(from);
	char order[128] = "";
	int c;

	if (datagrams) {
		if (recvfrom(fd, order, sizeof(order) - 1, 0, (void *)&from, &len) > 0)
			serve_order(fd, order, (void *)&from, len);
		return;
	}
	c = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	if (c >= 0 && !wait_for(c, POLLIN, 1000) && recv(c, order, sizeof(order) - 1, 0) > 0)
		serve_order(c, order, NULL, 0);
	close(c);
}

/* unix TYPE NAME...: one kind of helper at each name. */
int role_unix(char **args)
{
	struct pollfd p[MAX_UNIX];
	bool datagrams[MAX_UNIX];
	int n = 0;

	for (; args[0] && args[1] && n < MAX_UNIX; args += 2, n++) {
		struct sockaddr_un un;
		socklen_t len = unix_address(args[1], &un);

		datagrams[n] = unix_type(args[0]) == SOCK_DGRAM;
		p[n] = (struct pollfd){.events = POLLIN};
		p[n].fd = socket(AF_UNIX, unix_type(args[0]) | SOCK_CLOEXEC, 0);
		if (bind(p[n].fd, (void *)&un, len) || (!datagrams[n] && listen(p[n].fd, 8)))
			err(1, "%s", args[1]);
		if (args[1][0] == '/')
			chmod(args[1], 0777);
	}
	ready();
	for (;;) {
		poll(p, (nfds_t)n, -1);
		for (int i = 0; i < n; i++)
			if (p[i].revents)
				serve_unix(p[i].fd, datagrams[i]);
	}
}
