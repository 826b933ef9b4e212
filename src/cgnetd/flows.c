// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "flows.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/limits.h>
#include <linux/sock_diag.h>
#include <string.h>
#include <sys/socket.h>

#include <libmnl/libmnl.h>

#include "cgroup.h"
#include "explain.h"

/* Cgroups that a session nests deeper than this are passed over: their flows time out. */
#define MAX_DEPTH 8

/* What connect() chooses from if nobody has said otherwise. */
#define DEFAULT_LO 32768
#define DEFAULT_HI 60999

/* The kernel fills a dump's buffer with as many sockets as fit. */
#define BUFFER_SIZE 32768

/* States of TCP, which user space has no header for beside libc's own. */
enum { ESTABLISHED = 1, SYN_SENT = 2, FIN_WAIT1 = 4, FIN_WAIT2 = 5, CLOSE_WAIT = 8, LISTEN = 10 };

#define STATE(s) (1U << (s))

struct socket {
	struct inet_diag_sockid id;
	__u64 cgroup;
	__u8 family, state;
};

struct flows {
	const struct compiled_class *compiled;
	__u64 *cgroups; /* ids of the class's, sorted */
	size_t ncgroups, cgroups_cap;
	struct socket *sockets;
	size_t n, cap;
	unsigned int lo, hi; /* ports that connect() chooses from */
	struct mnl_socket *netlink;
	unsigned int seq;
};

/* --- the cgroups of the class ------------------------------------------------------------------
 */

struct walk {
	struct flows *flows;
	const char *dir;
	int depth;
};

static int add_cgroups(struct flows *f, const char *dir, int depth);

static int add_child(const char *name, void *arg)
{
	const struct walk *walk = arg;
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", walk->dir, name) >= (int)sizeof(path))
		return 0;
	return add_cgroups(walk->flows, path, walk->depth + 1);
}

static int add_cgroups(struct flows *f, const char *dir, int depth)
{
	struct walk walk = {f, dir, depth};
	uint64_t id;

	/* A session that ends meanwhile is no error. */
	if (depth > MAX_DEPTH || cgroup_id(dir, &id))
		return 0;
	if (ARRAY_RESERVE(&f->cgroups, &f->cgroups_cap, f->ncgroups))
		return -ENOMEM;
	f->cgroups[f->ncgroups++] = id;
	return cgroup_each_child(dir, add_child, &walk) == -ENOMEM ? -ENOMEM : 0;
}

static int by_id(const void *a, const void *b)
{
	const __u64 *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

static bool is_of_class(const struct flows *f, __u64 cgroup)
{
	return bsearch(&cgroup, f->cgroups, f->ncgroups, sizeof(cgroup), by_id) != NULL;
}

/* --- their sockets -----------------------------------------------------------------------------
 */

static int find_cgroup(const struct nlattr *attr, void *id)
{
	if (mnl_attr_get_type(attr) == INET_DIAG_CGROUP_ID &&
	    mnl_attr_get_payload_len(attr) >= sizeof(__u64))
		*(__u64 *)id = mnl_attr_get_u64(attr);
	return MNL_CB_OK;
}

static int add_socket(const struct nlmsghdr *msg, void *arg)
{
	const struct inet_diag_msg *diag = mnl_nlmsg_get_payload(msg);
	struct flows *f = arg;
	__u64 cgroup = 0;

	mnl_attr_parse(msg, sizeof(*diag), find_cgroup, &cgroup);
	if (!is_of_class(f, cgroup))
		return MNL_CB_OK;
	if (ARRAY_RESERVE(&f->sockets, &f->cap, f->n))
		return MNL_CB_ERROR;
	f->sockets[f->n++] = (struct socket){
		.id = diag->id,
		.cgroup = cgroup,
		.family = diag->idiag_family,
		.state = diag->idiag_state,
	};
	return MNL_CB_OK;
}

static int ask(struct flows *f, __u16 type, __u16 flags, const struct inet_diag_req_v2 *request)
{
	_Alignas(struct nlmsghdr) char buf[BUFFER_SIZE];
	struct nlmsghdr *msg = mnl_nlmsg_put_header(buf);
	unsigned int port = mnl_socket_get_portid(f->netlink);
	ssize_t n;
	int ret;

	msg->nlmsg_type = type;
	msg->nlmsg_flags = NLM_F_REQUEST | flags;
	msg->nlmsg_seq = ++f->seq;
	memcpy(mnl_nlmsg_put_extra_header(msg, sizeof(*request)), request, sizeof(*request));
	if (mnl_socket_sendto(f->netlink, msg, msg->nlmsg_len) < 0)
		return -errno;
	do {
		n = mnl_socket_recvfrom(f->netlink, buf, sizeof(buf));
		ret = n < 0 ? MNL_CB_ERROR : mnl_cb_run(buf, n, f->seq, port, add_socket, f);
	} while (ret > MNL_CB_STOP);
	return ret < 0 ? -errno : 0;
}

static int list(struct flows *f, __u8 family)
{
	const struct inet_diag_req_v2 request = {
		.sdiag_family = family,
		.sdiag_protocol = IPPROTO_TCP,
		.idiag_states = STATE(ESTABLISHED) | STATE(SYN_SENT) | STATE(FIN_WAIT1) |
				STATE(FIN_WAIT2) | STATE(CLOSE_WAIT) | STATE(LISTEN),
	};

	return ask(f, SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, &request);
}

/* --- what the policy says of them ----------------------------------------------------------------
 */

/* Whether the session listens, or probably did, where this socket has its own end. */
static bool is_accepted(const struct flows *f, const struct socket *s)
{
	unsigned int port = ntohs(s->id.idiag_sport);

	if (s->state != SYN_SENT && (port < f->lo || port > f->hi))
		return true;
	for (size_t i = 0; i < f->n; i++)
		if (f->sockets[i].state == LISTEN && f->sockets[i].cgroup == s->cgroup &&
		    f->sockets[i].id.idiag_sport == s->id.idiag_sport)
			return true;
	return false;
}

static bool is_denied(const struct flows *f, const struct socket *s)
{
	struct explain_source source = explain_compiled(f->compiled);
	struct dest dest = {
		.family = s->family, .port = ntohs(s->id.idiag_dport), .proto = IPPROTO_TCP};
	struct explanation e;

	memcpy(dest.addr, s->id.idiag_dst, s->family == AF_INET ? 4 : 16);
	return !explain(&source, &dest, &e) && e.verdict == CGNET_DENY && !e.own_servers;
}

static bool destroy(struct flows *f, const struct socket *s)
{
	const struct inet_diag_req_v2 request = {
		.sdiag_family = s->family,
		.sdiag_protocol = IPPROTO_TCP,
		.idiag_states = STATE(s->state),
		.id = s->id,
	};

	return !ask(f, SOCK_DESTROY, NLM_F_ACK, &request);
}

static size_t reset(struct flows *f)
{
	bool replies_pass = !(f->compiled->settings.flags & CGNET_INBOUND_DENY);
	size_t n = 0, listed = f->n;

	for (size_t i = 0; i < listed; i++) {
		const struct socket *s = &f->sockets[i];

		if (s->state != LISTEN && !(replies_pass && is_accepted(f, s)) && is_denied(f, s))
			n += destroy(f, s);
	}
	return n;
}

static int read_ports(struct flows *f)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");

	if (!file)
		return -errno;
	return fscanf(file, "%u %u", &f->lo, &f->hi) == 2 ? 0 : -EINVAL;
}

size_t flows_reset(const struct compiled_class *c, const char *dir)
{
	struct flows f = {.compiled = c};
	size_t n = 0;

	/* In audit mode nothing is refused. */
	if (c->settings.flags & CGNET_AUDIT || add_cgroups(&f, dir, 0) || !f.ncgroups)
		goto out;
	qsort(f.cgroups, f.ncgroups, sizeof(*f.cgroups), by_id);
	if (read_ports(&f)) {
		f.lo = DEFAULT_LO;
		f.hi = DEFAULT_HI;
	}
	f.netlink = mnl_socket_open2(NETLINK_SOCK_DIAG, SOCK_CLOEXEC);
	if (f.netlink && mnl_socket_bind(f.netlink, 0, MNL_SOCKET_AUTOPID) == 0 &&
	    !list(&f, AF_INET) && !list(&f, AF_INET6))
		n = reset(&f);
	if (f.netlink)
		mnl_socket_close(f.netlink);
out:
	free(f.cgroups);
	free(f.sockets);
	return n;
}
