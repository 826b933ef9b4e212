/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Brings a destination to one form. The only file that reads a context.
 *
 * What each hook sees was tried on 6.1, 6.12 and 6.18. Which family an address has follows from
 * the hook it came through, never from user_family: a datagram sent to an AF_UNSPEC address is
 * routed as IPv4 although user_family is 0.
 */
#ifndef CGNET_FLOW_BPF_H
#define CGNET_FLOW_BPF_H

#include <linux/bpf.h>
#include <linux/in.h>
#include <linux/in6.h>

#include "match.bpf.h"

/*
 * A destination. It has a v4 form, a v6 form, or both: a v6 address that carries a v4 one (NAT64,
 * 6to4, Teredo, compatible) is denied if either form is.
 */
struct flow {
	__be32 v4;
	__be32 v6[4];
	__u16 port; /* host byte order, 0 for ICMP */
	__u8 proto; /* folded: ICMPv6 is ICMP */
	bool has4;
	bool has6;

	/* The other end, where a packet shows it; else zero. */
	__be32 src4;
	__be32 src6[4];
	__u16 src_port; /* host byte order */
};

/* Carries a v4 address: what is said of this host's v4 addresses does not hold for it. */
static __always_inline bool flow_is_carried(const struct flow *f)
{
	return f->has6 && f->has4;
}

/* The destination in sixteen bytes, v4 as mapped. */
static __always_inline void flow_address(const struct flow *f, __be32 out[4])
{
	out[0] = f->has6 ? f->v6[0] : 0;
	out[1] = f->has6 ? f->v6[1] : 0;
	out[2] = f->has6 ? f->v6[2] : bpf_htonl(0xffff);
	out[3] = f->has6 ? f->v6[3] : f->v4;
}

static __always_inline void flow_set4(struct flow *f, __be32 addr)
{
	f->v4 = addr;
	f->has4 = true;
}

static __always_inline void flow_set6(struct flow *f, const __be32 addr[4])
{
	f->v6[0] = addr[0];
	f->v6[1] = addr[1];
	f->v6[2] = addr[2];
	f->v6[3] = addr[3];
	f->has6 = true;
	f->has4 = addr6_carried4(addr, &f->v4);
}

/* Ping sockets have a number where others have a port. */
static __always_inline void flow_set_port(struct flow *f, __u8 proto, __be16 port)
{
	f->proto = proto_fold(proto);
	f->port = f->proto == IPPROTO_ICMP ? 0 : bpf_ntohs(port);
}

/*
 * The kernel sends what is addressed to 0.0.0.0 to the socket's source address, to the address of
 * the device that it is bound to, or else to 127.0.0.1. Only of an unbound TCP socket can it be
 * told which (UDP has IP_UNICAST_IF and IP_PKTINFO besides); the others keep 0.0.0.0, which
 * stands for any address of this host.
 */
static __always_inline void flow_resolve_any4(struct flow *f, struct bpf_sock *sk)
{
	if (!f->v4 && f->proto == IPPROTO_TCP && !sk->src_ip4 && !sk->bound_dev_if)
		f->v4 = bpf_htonl(INADDR_LOOPBACK);
}

static __always_inline bool sock_is_bound_to_mapped(struct bpf_sock *sk)
{
	__be32 src[4] = {sk->src_ip6[0], sk->src_ip6[1], sk->src_ip6[2], sk->src_ip6[3]};

	return addr6_is_mapped(src);
}

static __always_inline void flow_set_v4(struct flow *f, __be32 addr, struct bpf_sock *sk)
{
	flow_set4(f, addr);
	flow_resolve_any4(f, sk);
}

static __always_inline void flow_set_v6(struct flow *f, const __be32 addr[4], struct bpf_sock *sk)
{
	const __be32 loopback6[4] = {0, 0, 0, bpf_htonl(1)};

	if (addr6_is_mapped(addr))
		flow_set_v4(f, addr[3], sk);
	else if (!addr6_is_any(addr))
		flow_set6(f, addr);
	else if (sock_is_bound_to_mapped(sk))
		flow_set4(f, bpf_htonl(INADDR_LOOPBACK));
	else
		flow_set6(f, loopback6);
}

/*
 * A send on a connected socket that runs the hook all the same (it carries a control message)
 * comes without an address: family, port and address are 0, and the peer is the destination. A
 * program cannot ask for that: the kernel refuses port 0 before the hook.
 */
static __always_inline bool sends_to_peer(const struct bpf_sock_addr *ctx)
{
	return !ctx->user_family && !ctx->user_port;
}

static __always_inline bool flow_from_addr4(struct flow *f, struct bpf_sock_addr *ctx)
{
	struct bpf_sock *sk = ctx->sk;

	if (!sk)
		return false;
	if (sends_to_peer(ctx)) {
		flow_set_port(f, ctx->protocol, sk->dst_port);
		flow_set4(f, sk->dst_ip4);
	} else {
		flow_set_port(f, ctx->protocol, ctx->user_port);
		flow_set_v4(f, ctx->user_ip4, sk);
	}
	return true;
}

static __always_inline bool flow_from_addr6(struct flow *f, struct bpf_sock_addr *ctx)
{
	struct bpf_sock *sk = ctx->sk;

	if (!sk)
		return false;
	if (sends_to_peer(ctx)) {
		__be32 peer[4] = {sk->dst_ip6[0], sk->dst_ip6[1], sk->dst_ip6[2], sk->dst_ip6[3]};

		flow_set_port(f, ctx->protocol, sk->dst_port);
		flow_set_v6(f, peer, sk);
	} else {
		__be32 addr[4] = {ctx->user_ip6[0], ctx->user_ip6[1], ctx->user_ip6[2],
				  ctx->user_ip6[3]};

		flow_set_port(f, ctx->protocol, ctx->user_port);
		flow_set_v6(f, addr, sk);
	}
	return true;
}

#endif
