/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who listens at a destination on this host: "loopback = session" lets a session talk to its own
 * servers. The lookup is the kernel's own, in the namespace of the socket that connects, so it
 * finds the socket that the packet would. Only ask for destinations on this host: a server
 * listening on a wildcard address is found for any destination.
 */
#ifndef CGNET_LOOPBACK_BPF_H
#define CGNET_LOOPBACK_BPF_H

#include "flow.bpf.h"
#include "session.bpf.h"

static __always_inline struct bpf_sock *socket_at(void *ctx, __u8 proto,
						  struct bpf_sock_tuple *tuple, __u32 size)
{
	if (proto == IPPROTO_TCP)
		return bpf_sk_lookup_tcp(ctx, tuple, size, BPF_F_CURRENT_NETNS, 0);
	if (proto == IPPROTO_UDP)
		return bpf_sk_lookup_udp(ctx, tuple, size, BPF_F_CURRENT_NETNS, 0);
	return NULL;
}

/* The socket at the flow's destination, to be released. */
static __always_inline struct bpf_sock *listener(void *ctx, const struct flow *f)
{
	struct bpf_sock_tuple tuple = {};

	if (f->has6) {
		__builtin_memcpy(tuple.ipv6.saddr, f->src6, sizeof(f->src6));
		__builtin_memcpy(tuple.ipv6.daddr, f->v6, sizeof(f->v6));
		tuple.ipv6.sport = bpf_htons(f->src_port);
		tuple.ipv6.dport = bpf_htons(f->port);
		return socket_at(ctx, f->proto, &tuple, sizeof(tuple.ipv6));
	}
	tuple.ipv4.saddr = f->src4;
	tuple.ipv4.daddr = f->v4;
	tuple.ipv4.sport = bpf_htons(f->src_port);
	tuple.ipv4.dport = bpf_htons(f->port);
	return socket_at(ctx, f->proto, &tuple, sizeof(tuple.ipv4));
}

static __always_inline bool has_listeners(const struct flow *f)
{
	return f->proto == IPPROTO_TCP || f->proto == IPPROTO_UDP;
}

/* For sock_addr programs. */
static __always_inline enum owner listener_owner(struct bpf_sock_addr *ctx, const struct flow *f,
						 __u64 session)
{
	enum owner owner;
	struct bpf_sock *sk;

	if (!has_listeners(f))
		return OWNER_OTHER;
	sk = listener(ctx, f);
	if (!sk)
		return OWNER_NOBODY;
	owner = owner_of(sk, session, socket_cgroup(sk));
	bpf_sk_release(sk);
	return owner;
}

/* For cgroup_skb programs. */
static __always_inline enum owner receiver_owner(struct __sk_buff *skb, const struct flow *f,
						 __u64 session)
{
	enum owner owner;
	struct bpf_sock *sk;

	if (!has_listeners(f))
		return OWNER_OTHER;
	sk = listener(skb, f);
	if (!sk)
		return OWNER_NOBODY;
	owner = owner_of(sk, session, bpf_sk_cgroup_id(sk));
	bpf_sk_release(sk);
	return owner;
}

#endif
