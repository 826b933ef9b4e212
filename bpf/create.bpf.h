/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The layer create: which sockets may be made, and whose each is. */
#ifndef CGNET_CREATE_BPF_H
#define CGNET_CREATE_BPF_H

#include "event.bpf.h"

#include <linux/in.h>
#include <linux/in6.h>

#define SOCK_RAW 3

/* The bit of enum cgnet_protocol that a socket needs; 0 for what no class can allow. */
static __always_inline __u32 protocol_bit(__u32 type, __u32 protocol)
{
	if (type == SOCK_RAW)
		return CGNET_PROTO_RAW;
	switch (protocol) {
	case IPPROTO_TCP:
	case IPPROTO_MPTCP:
		return CGNET_PROTO_TCP;
	case IPPROTO_UDP:
		return CGNET_PROTO_UDP;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		return CGNET_PROTO_ICMP;
	case IPPROTO_UDPLITE:
		return CGNET_PROTO_UDPLITE;
	case IPPROTO_SCTP:
		return CGNET_PROTO_SCTP;
	case IPPROTO_DCCP:
		return CGNET_PROTO_DCCP;
	default:
		return 0;
	}
}

/* As events name it. */
static __always_inline __u8 protocol_told(__u32 type, __u32 protocol)
{
	if (type == SOCK_RAW)
		return IPPROTO_RAW;
	return protocol == IPPROTO_MPTCP ? IPPROTO_TCP : proto_fold(protocol);
}

/* A refused socket() fails with EPERM; so does one that could not be recorded. */
static __always_inline int on_create(struct bpf_sock *ctx)
{
	struct policy p = policy_now();
	struct decision d = {.verdict = CGNET_DENY, .rule = CGNET_RULE_PROTOCOLS};
	struct subject s = {.proto = protocol_told(ctx->type, ctx->protocol)};
	struct cgnet_socket *made = socket_make(ctx);

	if (ctx->type == SOCK_RAW && ctx->protocol == CGNET_SENTINEL_PROTO)
		d.flags = CGNET_SENTINEL;
	else if (p.settings && (p.settings->protocols & protocol_bit(ctx->type, ctx->protocol)) &&
		 made)
		d.verdict = CGNET_ALLOW;
	return conclude_task(CGNET_HOOK_CREATE, &p, &d, &s) && made;
}

#endif
