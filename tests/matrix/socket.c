// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sockets that the connect hooks never see, and io_uring, which makes no system calls. */
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "attack.h"

/* ADDR PORT TYPE PROTOCOL connect|sendto */
static void attack_proto(struct outcome *o, char **args)
{
	struct peer to = peer_arg(args[0], args[1]);
	struct attempt a = attempt_at(&to);
	int e = open_socket(&a, to.sa.sa_family, (int)number_arg(args[2]),
			    (int)number_arg(args[3]));

	if (!e)
		e = strcmp(args[4], "connect") ? send_to(&a, &to, 0) : connect_to(&a, &to);
	conclude(o, &a, e);
}

/* ADDR PORT: TCP, or RDMA where both ends can. */
static void attack_smc(struct outcome *o, char **args)
{
	struct peer to = peer_arg(args[0], args[1]);
	struct attempt a = attempt_at(&to);
	int e = open_socket(&a, AF_SMC, SOCK_STREAM, 0);

	conclude(o, &a, e ? e : connect_to(&a, &to));
}

/* ADDR PORT SOURCE */
static void attack_rds(struct outcome *o, char **args)
{
	struct peer to = peer_arg(args[0], args[1]);
	struct attempt a = attempt_at(&to);
	int e;

	a.bind = peer_arg(args[2], "0");
	e = open_socket(&a, AF_RDS, SOCK_SEQPACKET, 0);
	conclude(o, &a, e ? e : send_to(&a, &to, 0));
}

/* Only made, never used: its peers are outside of any lab. */
static void end_made(struct outcome *o, long fd)
{
	if (fd < 0)
		end(o, -errno);
	else
		end_word(o, "made");
}

/* FAMILY TYPE PROTOCOL */
static void attack_socket(struct outcome *o, char **args)
{
	end_made(o, socket((int)number_arg(args[0]), (int)number_arg(args[1]),
			   (int)number_arg(args[2])));
}

static void attack_socketpair(struct outcome *o, char **args)
{
	int ends[2];

	end_made(o, socketpair((int)number_arg(args[0]), (int)number_arg(args[1]),
			       (int)number_arg(args[2]), ends));
}

/* The kernel takes the lower half of each register. */
static void attack_socket_high(struct outcome *o, char **args)
{
	end_made(o, syscall(SYS_socket, 1UL << 32 | number_arg(args[0]),
			    1UL << 32 | number_arg(args[1]), 1UL << 32 | number_arg(args[2])));
}

static void note_made(struct outcome *o, const char *what, int a, int b, int c)
{
	size_t len = strlen(o->steps);

	end_word(o, "made");
	snprintf(o->steps + len, sizeof(o->steps) - len, "%s%s %d,%d,%d", len ? "; " : "", what, a,
		 b, c);
}

/* Every family of sockets but those that a session may have. */
static void attack_all_families(struct outcome *o, char **args)
{
	static const int protos[] = {0, 1, 3};

	(void)args;
	end(o, -EPERM);
	for (int family = 0; family < 64; family++) {
		if (family == AF_UNIX || family == AF_INET || family == AF_INET6 ||
		    family == AF_NETLINK)
			continue;
		for (int type = 1; type <= 10; type++)
			for (int i = 0; i < 3; i++) {
				int fd = socket(family, type, protos[i]);

				if (fd < 0)
					continue;
				note_made(o, "family", family, type, protos[i]);
				close(fd);
			}
	}
}

static bool is_common(int proto)
{
	return proto == 0 || proto == IPPROTO_TCP || proto == IPPROTO_UDP ||
	       proto == IPPROTO_ICMP || proto == IPPROTO_ICMPV6 || proto == IPPROTO_MPTCP;
}

/* Every type and protocol of both IP families but TCP, UDP, ping and MPTCP. */
static void attack_all_protocols(struct outcome *o, char **args)
{
	(void)args;
	end(o, -EPERM);
	for (int type = 1; type <= 10; type++)
		for (int proto = 0; proto < 512; proto++)
			for (int i = 0; i < 2; i++) {
				int fd;

				if (is_common(proto) && type != SOCK_RAW)
					continue;
				fd = socket(i ? AF_INET6 : AF_INET, type, proto);
				if (fd < 0)
					continue;
				note_made(o, "protocol", i ? AF_INET6 : AF_INET, type, proto);
				close(fd);
			}
}

/* --- io_uring -----------------------------------------------------------------------------------
 */

struct ring {
	int fd;
	unsigned int *sq_tail, *sq_mask, *sq_array, *cq_head, *cq_tail, *cq_mask;
	struct io_uring_sqe *sqes;
	struct io_uring_cqe *cqes;
};

static int ring_open(struct ring *r)
{
	struct io_uring_params p = {0};
	char *rings;

	r->fd = (int)syscall(SYS_io_uring_setup, 4, &p);
	if (r->fd < 0)
		return -errno;
	rings = mmap(NULL, p.cq_off.cqes + p.cq_entries * sizeof(*r->cqes), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_POPULATE, r->fd, IORING_OFF_SQ_RING);
	r->sqes = mmap(NULL, p.sq_entries * sizeof(*r->sqes), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_POPULATE, r->fd, IORING_OFF_SQES);
	if (rings == MAP_FAILED || r->sqes == MAP_FAILED)
		return -errno;
	r->sq_tail = (void *)(rings + p.sq_off.tail);
	r->sq_mask = (void *)(rings + p.sq_off.ring_mask);
	r->sq_array = (void *)(rings + p.sq_off.array);
	r->cq_head = (void *)(rings + p.cq_off.head);
	r->cq_tail = (void *)(rings + p.cq_off.tail);
	r->cq_mask = (void *)(rings + p.cq_off.ring_mask);
	r->cqes = (void *)(rings + p.cq_off.cqes);
	return 0;
}

/* Carries out one request. Returns what the system call of that name would have. */
static int ring_do(struct ring *r, const struct io_uring_sqe *request)
{
	unsigned int tail, head;
	int ret;

	if (!r->sq_tail)
		return -EBADF;
	tail = *r->sq_tail;
	head = *r->cq_head;
	r->sqes[tail & *r->sq_mask] = *request;
	r->sq_array[tail & *r->sq_mask] = tail & *r->sq_mask;
	__atomic_store_n(r->sq_tail, tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, r->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
		return -errno;
	ret = r->cqes[head & *r->cq_mask].res;
	__atomic_store_n(r->cq_head, head + 1, __ATOMIC_RELEASE);
	return ret;
}

static int ring_connect(struct ring *r, int fd, const struct peer *to)
{
	return ring_do(r, &(struct io_uring_sqe){.opcode = IORING_OP_CONNECT,
						 .fd = fd,
						 .addr = (unsigned long)&to->any,
						 .off = to->len});
}

static void attack_uring_connect(struct outcome *o, char **args)
{
	struct peer to = peer_arg(args[0], args[1]);
	struct attempt a = attempt_at(&to);
	struct ring r = {.fd = -1};
	int e = step(o, "io_uring_setup", ring_open(&r));

	if (!e)
		e = stream(&a, 0);
	conclude(o, &a, e ? e : ring_connect(&r, a.fd, &to));
}

static void attack_uring_socket(struct outcome *o, char **args)
{
	struct peer to = peer_arg(args[0], args[1]);
	struct attempt a = attempt_at(&to);
	struct ring r = {.fd = -1};
	int e = step(o, "io_uring_setup", ring_open(&r));

	if (!e) {
		a.fd = ring_do(&r, &(struct io_uring_sqe){.opcode = IORING_OP_SOCKET,
							  .fd = to.sa.sa_family,
							  .off = SOCK_STREAM});
		e = a.fd < 0 ? setup_error(&a, a.fd) : ring_connect(&r, a.fd, &to);
	}
	conclude(o, &a, e);
}

static void attack_uring_send(struct outcome *o, char **args)
{
	struct peer to = peer_arg(args[0], args[1]);
	struct attempt a = attempt_at(&to);
	char data[] = "x";
	struct iovec iov = {.iov_base = data, .iov_len = 1};
	struct msghdr msg = {
		.msg_name = &to.any, .msg_namelen = to.len, .msg_iov = &iov, .msg_iovlen = 1};
	struct ring r = {.fd = -1};
	int e = step(o, "io_uring_setup", ring_open(&r));

	if (!e)
		e = datagram(&a);
	if (!e)
		e = ring_do(&r, &(struct io_uring_sqe){.opcode = IORING_OP_SENDMSG,
						       .fd = a.fd,
						       .addr = (unsigned long)&msg,
						       .len = 1});
	conclude(o, &a, e < 0 ? e : 0);
}

const struct attack socket_attacks[] = {
	{"proto", 5, attack_proto},
	{"smc", 2, attack_smc},
	{"rds", 3, attack_rds},
	{"socket", 3, attack_socket},
	{"socketpair", 3, attack_socketpair},
	{"socket-high", 3, attack_socket_high},
	{"all-families", 0, attack_all_families},
	{"all-protocols", 0, attack_all_protocols},
	{"uring-connect", 2, attack_uring_connect},
	{"uring-socket", 2, attack_uring_socket},
	{"uring-send", 2, attack_uring_send},
	{NULL, 0, NULL},
};
