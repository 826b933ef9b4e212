// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A session's own servers on this host, and attempts to make them a door to other people's: those
 * answer a number, a server that is made here as a decoy answers "own".
 */
#include <fcntl.h>
#include <linux/filter.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "attack.h"

enum kind { OWN_TCP, OWN_UDP, OWN_UDP_CONNECTED, OWN_MPTCP };

/* At that many addresses, see rows/40-loopback.sh. */
#define SHARED_ADDRESSES 24

static enum kind kind_arg(const char *text)
{
	if (!strcmp(text, "udp"))
		return OWN_UDP;
	if (!strcmp(text, "udp-connected"))
		return OWN_UDP_CONNECTED;
	return strcmp(text, "mptcp") ? OWN_TCP : OWN_MPTCP;
}

static bool is_udp(enum kind kind)
{
	return kind == OWN_UDP || kind == OWN_UDP_CONNECTED;
}

/* Not listening yet. Returns the socket or a negative errno. */
static int server_socket(enum kind kind, const struct peer *local, bool reuseport)
{
	int fd = socket(local->sa.sa_family, is_udp(kind) ? SOCK_DGRAM : SOCK_STREAM,
			kind == OWN_MPTCP ? IPPROTO_MPTCP : 0);

	if (fd < 0)
		return -errno;
	set_flag(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	/* Also addresses that are not this host's. */
	set_flag(fd, SOL_IP, IP_FREEBIND, 1);
	if (reuseport)
		set_flag(fd, SOL_SOCKET, SO_REUSEPORT, 1);
	if (!bind(fd, &local->sa, local->len))
		return fd;
	close(fd);
	return -errno;
}

static void answer(int fd, enum kind kind, const char *text)
{
	struct peer from = {.len = sizeof(from.any)};
	char data[8];
	int c;

	if (is_udp(kind)) {
		if (recvfrom(fd, data, sizeof(data), 0, &from.sa, &from.len) >= 0)
			sendto(fd, text, strlen(text), 0, &from.sa, from.len);
		return;
	}
	c = accept(fd, NULL, NULL);
	if (c >= 0 && write(c, text, strlen(text)) > 0 && !shutdown(c, SHUT_WR))
		while (read(c, data, sizeof(data)) > 0)
			;
	close(c);
}

static int lo_up(void)
{
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int e = made(ioctl(fd, SIOCSIFFLAGS, &lo));

	close(fd);
	return e;
}

/* A filter that hands everything to the socket that joined the group first. */
static int choose_first(int fd)
{
	struct sock_filter first[] = {BPF_STMT(BPF_RET | BPF_K, 0)};
	struct sock_fprog prog = {.len = 1, .filter = first};

	return made(setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &prog, sizeof(prog)));
}

/* A child that answers as long as this process lives; the socket is kept, for the filter's sake. */
struct server {
	pid_t pid;
	int fd;
};

/* Returns 0 or a negative errno; then there is nothing to be stopped. */
static int serve(struct server *server, enum kind kind, const struct peer *local, const char *text,
		 bool shared)
{
	pid_t parent = getpid();

	*server = (struct server){.pid = -1, .fd = server_socket(kind, local, shared)};
	if (server->fd < 0)
		return server->fd;
	if (!is_udp(kind) && listen(server->fd, 16))
		return -errno;
	server->pid = fork();
	if (!server->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (getppid() == parent)
			answer(server->fd, kind, text);
		_exit(0);
	}
	return 0;
}

/* A filter is the group's, which outlives this server: it is taken off. */
static void stop(const struct server *server)
{
	set_flag(server->fd, SOL_SOCKET, SO_DETACH_REUSEPORT_BPF, 0);
	close(server->fd);
	if (server->pid > 0) {
		kill(server->pid, SIGKILL);
		waitpid(server->pid, NULL, 0);
	}
}

static int path_of(enum kind kind, struct attempt *a)
{
	switch (kind) {
	case OWN_TCP:
		return path_tcp(a);
	case OWN_MPTCP:
		return path_mptcp(a);
	case OWN_UDP_CONNECTED:
		return path_udp(a);
	default:
		return path_udp_sendto(a);
	}
}

static void reach(struct outcome *o, enum kind kind, const struct peer *to, int timeout_ms)
{
	struct attempt a = attempt_at(to);

	a.timeout_ms = timeout_ms;
	conclude(o, &a, path_of(kind, &a));
}

/* ADDR PORT KIND LISTEN: a server of one's own at LISTEN, reached as ADDR. */
static void attack_own(struct outcome *o, char **args)
{
	struct peer to = peer_arg(args[0], args[1]), local = peer_arg(args[3], args[1]);
	enum kind kind = kind_arg(args[2]);
	struct server server;
	int e = serve(&server, kind, &local, "1\n", false);

	if (e) {
		step(o, "serve", e);
		end_word(o, "setup");
		return;
	}
	reach(o, kind, &to, 1000);
	stop(&server);
}

/* The same in a network namespace of one's own. */
static void attack_own_netns(struct outcome *o, char **args)
{
	int e = step(o, "unshare", made(unshare(CLONE_NEWUSER | CLONE_NEWNET)));

	if (!e)
		e = lo_up();
	if (e)
		end(o, e);
	else
		attack_own(o, args);
}

/*
 * ADDR PORT tcp|udp: a socket of the host's network, and a decoy of the same address in a network
 * namespace of one's own.
 */
static void attack_netns_decoy(struct outcome *o, char **args)
{
	struct peer to = peer_arg(args[0], args[1]);
	enum kind kind = kind_arg(args[2]);
	struct attempt a = attempt_at(&to);
	int e = is_udp(kind) ? datagram(&a) : stream(&a, 0);
	struct server server;

	step(o, "unshare", made(unshare(CLONE_NEWUSER | CLONE_NEWNET)));
	step(o, "lo up", lo_up());
	step(o, "decoy", serve(&server, kind, &to, "own\n", false));
	if (!e)
		e = connect_to(&a, &to);
	conclude(o, &a, e || !is_udp(kind) ? e : send_to(&a, NULL, 0));
	stop(&server);
}

/* ADDR PORT OWN: a socket that was accepted, from a client of one's own, connects. */
static void attack_accepted(struct outcome *o, char **args)
{
	struct peer to = peer_arg(args[0], args[1]), own = peer_arg("127.0.0.1", args[2]);
	struct peer any = peer_arg("0.0.0.0", args[2]);
	struct attempt a = attempt_at(&to), client = attempt_at(&own);
	int server = server_socket(OWN_TCP, &any, false);

	step(o, "listen", made(listen(server, 4)));
	step(o, "client", path_tcp(&client));
	a.fd = accept4(server, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	step(o, "accept", made(a.fd));
	disconnect(&a);
	conclude(o, &a, connect_to(&a, &to));
}

/* ADDR PORT: stays a while, so that the peer can tell of further addresses of its own. */
static void attack_mptcp_stay(struct outcome *o, char **args)
{
	struct peer to = peer_arg(args[0], args[1]);
	struct attempt a = attempt_at(&to);
	int e = path_mptcp(&a);

	end(o, e);
	if (!e)
		usleep(300000);
}

/*
 * ADDR PORT: of two listeners that share a port one is a decoy. It closes with a connection in its
 * queue, which the kernel then gives to the other if it is told to (net.ipv4.tcp_migrate_req).
 */
static void attack_migrated(struct outcome *o, char **args)
{
	struct peer to = peer_arg(args[0], args[1]);
	int e = -ETIMEDOUT;

	for (int i = 0; i < SHARED_ADDRESSES && strcmp(o->word, "ok") != 0; i++) {
		struct attempt a = attempt_at(&to);
		int decoy = server_socket(OWN_TCP, &to, true);
		int ready = listen(decoy, 16);

		a.timeout_ms = 150;
		e = ready ? -errno : path_tcp(&a);
		close(decoy);
		conclude(o, &a, e);
		to.v4.sin_addr.s_addr += htonl(1);
	}
}

/* ADDR PORT KIND LISTEN: a decoy at LISTEN, and somebody else at ADDR. */
static void attack_decoy(struct outcome *o, char **args)
{
	struct peer to = peer_arg(args[0], args[1]), local = peer_arg(args[3], args[1]);
	enum kind kind = kind_arg(args[2]);
	struct server server;

	step(o, "decoy", serve(&server, kind, &local, "own\n", false));
	reach(o, kind, &to, 1000);
	stop(&server);
}

/*
 * ADDR PORT KIND shared|steered: decoys at the very places of somebody else, at ADDR and the
 * addresses above, in turn: by a hash of the address the kernel chooses between the two.
 */
static void attack_share(struct outcome *o, char **args)
{
	struct peer to = peer_arg(args[0], args[1]);
	bool steered = !strcmp(args[3], "steered");
	enum kind kind = kind_arg(args[2]);
	struct server server;

	for (int i = 0; i < SHARED_ADDRESSES && strcmp(o->word, "ok") != 0; i++) {
		int e = serve(&server, kind, &to, "own\n", true);
		int refused = steered ? choose_first(server.fd) : 0;

		if (!i)
			step(o, "decoy", e);
		if (!i && steered)
			step(o, "filter", refused);
		reach(o, kind, &to, 150);
		stop(&server);
		to.v4.sin_addr.s_addr += htonl(1);
	}
}

/* Tells the next one that the port is free, and waits until it listens there. */
static int hand_over(const char *free, const char *taken)
{
	int fd = open(free, O_CREAT | O_WRONLY | O_CLOEXEC, 0666);

	if (fd < 0)
		return -errno;
	close(fd);
	for (int i = 0; i < 400; i++) {
		if (!access(taken, F_OK))
			return 0;
		usleep(5000);
	}
	return -ETIMEDOUT;
}

/* ADDR PORT FREE TAKEN own|nobody: connected while a decoy, or nobody, was there. */
static void attack_udp_replaced(struct outcome *o, char **args)
{
	struct peer to = peer_arg(args[0], args[1]);
	struct attempt a = attempt_at(&to);
	int decoy = -1, e = datagram(&a);

	if (!strcmp(args[4], "own"))
		decoy = server_socket(OWN_UDP, &to, false);
	if (!e)
		e = step(o, "connect", connect_to(&a, &to));
	close(decoy);
	if (!e)
		e = step(o, "hand over", hand_over(args[2], args[3]));
	conclude(o, &a, e ? setup_error(&a, e) : send_to(&a, NULL, 0));
}

/* ADDR PORT FREE TAKEN: the decoy's queue is full, so that the kernel tries again a second later.
 */
static void attack_syn_replaced(struct outcome *o, char **args)
{
	struct peer to = peer_arg(args[0], args[1]);
	struct attempt a = attempt_at(&to), filler[3];
	int e, decoy = server_socket(OWN_TCP, &to, false);

	step(o, "decoy", decoy < 0 ? decoy : made(listen(decoy, 0)));
	for (int i = 0; i < 3; i++) {
		filler[i] = attempt_at(&to);
		filler[i].timeout_ms = 20;
		path_tcp(&filler[i]);
	}
	a.timeout_ms = 1;
	e = path_tcp(&a);
	step(o, "connect", e);
	for (int i = 0; i < 3; i++)
		close(filler[i].fd);
	close(decoy);
	a.timeout_ms = 3500;
	if (e == -ETIMEDOUT)
		e = step(o, "hand over", hand_over(args[2], args[3]));
	if (!e)
		e = wait_for(a.fd, POLLOUT, a.timeout_ms);
	conclude(o, &a, e);
}

/* ADDR PORT FREE TAKEN: connect() returns before there is a SYN, which the first data brings. */
static void attack_deferred_replaced(struct outcome *o, char **args)
{
	struct peer to = peer_arg(args[0], args[1]);
	struct attempt a = attempt_at(&to);
	int e, decoy = server_socket(OWN_TCP, &to, false);

	step(o, "decoy", decoy < 0 ? decoy : made(listen(decoy, 4)));
	e = stream(&a, 0);
	if (!e)
		e = set_flag(a.fd, SOL_TCP, TCP_FASTOPEN_NO_COOKIE, 1);
	if (!e)
		e = set_flag(a.fd, SOL_TCP, TCP_FASTOPEN_CONNECT, 1);
	if (!e)
		e = step(o, "connect", made(connect(a.fd, &to.sa, to.len)));
	close(decoy);
	if (!e)
		e = step(o, "hand over", hand_over(args[2], args[3]));
	conclude(o, &a, e ? setup_error(&a, e) : send_to(&a, NULL, 0));
}

/* ADDR PORT KIND: a server of one's own at this port, on every address, and then that of another
 * host.
 */
static void attack_own_port(struct outcome *o, char **args)
{
	struct peer to = peer_arg(args[0], args[1]);
	struct peer any = peer_arg(to.sa.sa_family == AF_INET ? "0.0.0.0" : "::", args[1]);
	enum kind kind = kind_arg(args[2]);
	struct server server;

	step(o, "serve", serve(&server, kind, &any, "own\n", false));
	reach(o, kind, &to, 1000);
	stop(&server);
}

const struct attack own_attacks[] = {
	{"own", 4, attack_own},
	{"own-netns", 4, attack_own_netns},
	{"netns-decoy", 3, attack_netns_decoy},
	{"accepted", 3, attack_accepted},
	{"mptcp-stay", 2, attack_mptcp_stay},
	{"migrated", 2, attack_migrated},
	{"own-port", 3, attack_own_port},
	{"decoy", 4, attack_decoy},
	{"share", 4, attack_share},
	{"udp-replaced", 5, attack_udp_replaced},
	{"syn-replaced", 4, attack_syn_replaced},
	{"deferred-replaced", 4, attack_deferred_replaced},
	{NULL, 0, NULL},
};
