/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which session a socket belongs to. */
#ifndef CGNET_SESSION_BPF_H
#define CGNET_SESSION_BPF_H

#include "config.bpf.h"
#include "maps.bpf.h"
#include "vmlinux.h"

#include <stdbool.h>

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

/* As many sockets may share a port before it counts as somebody else's. */
#define MAX_GROUP 32

/* What is at an address in the kernel; 0 if nothing can be read there. */
static __always_inline __u64 word_at(__u64 address)
{
	__u64 word = 0;

	bpf_probe_read_kernel(&word, sizeof(word), (void *)address);
	return word;
}

/*
 * The word that holds a socket's cgroup, which is that of whoever made it. Before 5.15 its lowest
 * bit says that net_cls took it over.
 */
static __always_inline __u64 cgroup_word(__u64 sk)
{
	return word_at(sk + bpf_core_field_offset(struct sock, sk_cgrp_data));
}

/*
 * The id of a socket's cgroup, for sock_addr programs, which have no helper for it. 0 before 5.15,
 * where the word may hold something else. Its members are read as numbers: the verifier takes
 * milliseconds to follow pointers that have types.
 */
static __always_inline __u64 socket_cgroup(struct bpf_sock *sk)
{
	struct sock_cgroup_data *data = NULL;
	__u64 node;

	if (!bpf_core_field_exists(data->cgroup))
		return 0;
	node = word_at(cgroup_word(word_at((__u64)&sk)) + bpf_core_field_offset(struct cgroup, kn));
	return word_at(node + bpf_core_field_offset(struct kernfs_node, id));
}

/*
 * Whether a socket shares its port, by SO_REUSEPORT, with one that was made in another cgroup. Who
 * of them gets a packet is chosen by its addresses, by a filter of theirs or, when one is closed,
 * anew. A global function is verified once for a program.
 */
__noinline int is_shared(__u64 sk)
{
	__u64 group = word_at(sk + bpf_core_field_offset(struct sock, sk_reuseport_cb));
	__u64 first = group + bpf_core_field_offset(struct sock_reuseport, socks);
	__u64 cgroup = cgroup_word(sk);
	__u16 n = MAX_GROUP + 1;

	if (!group)
		return 0;
	bpf_probe_read_kernel(&n, sizeof(n),
			      (void *)group +
				      bpf_core_field_offset(struct sock_reuseport, num_socks));
	if (n > MAX_GROUP || (cgroup & 1))
		return 1;
	for (__u32 i = 0; i < MAX_GROUP && i < n; i++)
		if (cgroup_word(word_at(first + i * sizeof(__u64))) != cgroup)
			return 1;
	return 0;
}

/*
 * Whose socket it is. The kernel makes an MPTCP listener's TCP socket itself, past sock_create, so
 * that one is known by its cgroup: cgroup is its id, or 0.
 */
static __always_inline enum owner owner_of(struct bpf_sock *sk, __u64 session, __u64 cgroup)
{
	struct cgnet_socket *s = socket_find(sk);

	if (!session || (s ? s->session : cgroup) != session)
		return OWNER_OTHER;
	/* By its address as a number: the verifier permits no arithmetic on the pointer. */
	return is_shared(word_at((__u64)&sk)) ? OWNER_OTHER : OWNER_SELF;
}

#endif
