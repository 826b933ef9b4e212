/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which session a socket belongs to. */
#ifndef CGNET_SESSION_BPF_H
#define CGNET_SESSION_BPF_H

#include "config.bpf.h"
#include "maps.bpf.h"
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>

/* Levels of the hierarchy down to a session; the class's own place in it may lie in a container. */
#define MAX_LEVEL 16

enum owner {
	OWNER_NOBODY, /* no socket there */
	OWNER_SELF,   /* one of the same session */
	OWNER_OTHER,
};

/* The session of the running process: its ancestor just below the class. 0 if it is in none. */
static __always_inline __u64 current_session(void)
{
	__u64 parent = 0;

	for (int level = 1; level < MAX_LEVEL; level++) {
		__u64 id = bpf_get_current_ancestor_cgroup_id(level);

		if (!id)
			return 0;
		if (parent == config.class_cgroup)
			return id;
		parent = id;
	}
	return 0;
}

static __always_inline struct cgnet_socket *socket_find(struct bpf_sock *sk)
{
	return bpf_sk_storage_get(&sockets, sk, NULL, 0);
}

/*
 * The record of a new socket. NULL if there is no memory for it: then the socket must not be used,
 * since what is not recorded as connected is taken for accepted.
 */
static __always_inline struct cgnet_socket *socket_make(struct bpf_sock *sk)
{
	struct cgnet_socket *s;

	s = bpf_sk_storage_get(&sockets, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	if (s && !s->session)
		s->session = current_session();
	return s;
}

/*
 * The id of a TCP socket's cgroup, for sock_addr programs, which have no helper for it. 0 before
 * 5.15, where the field could hold something else.
 */
static __always_inline __u64 tcp_cgroup(struct bpf_sock *sk)
{
	struct tcp_sock *tcp = bpf_skc_to_tcp_sock(sk);

	if (!tcp || !bpf_core_field_exists(tcp->inet_conn.icsk_inet.sk.sk_cgrp_data.cgroup))
		return 0;
	return tcp->inet_conn.icsk_inet.sk.sk_cgrp_data.cgroup->kn->id;
}

/*
 * Whose socket it is. The kernel makes an MPTCP listener's TCP socket itself, past sock_create, so
 * that one is known by its cgroup: cgroup is its id, or 0.
 */
static __always_inline enum owner owner_of(struct bpf_sock *sk, __u64 session, __u64 cgroup)
{
	struct cgnet_socket *s = socket_find(sk);

	if (!session)
		return OWNER_OTHER;
	if (s)
		return s->session == session ? OWNER_SELF : OWNER_OTHER;
	return cgroup == session ? OWNER_SELF : OWNER_OTHER;
}

#endif
