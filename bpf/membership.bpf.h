/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Part of the layer sendmsg: who joins a multicast group has the kernel report it on the link
 * (IGMP, MLD), in a packet of no socket, which no other hook sees.
 */
#ifndef CGNET_MEMBERSHIP_BPF_H
#define CGNET_MEMBERSHIP_BPF_H

#include "sock_addr.bpf.h"

#include <linux/in.h>
#include <linux/in6.h>

#define SOL_IP	 0
#define SOL_IPV6 41
#define AF_INET	 2
#define AF_INET6 10

/* The kernel shows no more of an option, and takes a longer one from the caller's memory again. */
#define OPTION_MAX 4096

/* What changes a filter (IP_MSFILTER) wants a membership first. */

/* struct ip_mreq, ip_mreqn and ip_mreq_source begin with the group. */
static __always_inline bool has_group4(__s32 level, __s32 name)
{
	return level == SOL_IP && (name == IP_ADD_MEMBERSHIP || name == IP_ADD_SOURCE_MEMBERSHIP);
}

/* struct ipv6_mreq does, too. */
static __always_inline bool has_group6(__s32 level, __s32 name)
{
	return level == SOL_IPV6 && name == IPV6_ADD_MEMBERSHIP;
}

/* struct group_req and group_source_req: an interface, then a socket address. */
static __always_inline bool has_group_address(__s32 level, __s32 name)
{
	return (level == SOL_IP || level == SOL_IPV6) &&
	       (name == MCAST_JOIN_GROUP || name == MCAST_JOIN_SOURCE_GROUP);
}

/* Anything that a rule allows there makes a membership useful. */
static __always_inline void judge_group(const struct cgnet_prefix *prefix, __u8 form,
					struct decision *d)
{
	d->form = form;
	if (!prefix)
		return;
	d->rule = prefix->rule;
	d->flags = prefix->flags;
	d->prefixlen = prefix->prefixlen;
	if (prefix->verdict == CGNET_ALLOW || prefix->nports)
		d->verdict = CGNET_ALLOW;
}

/*
 * at: bytes from the option's start. What lies behind its end stays denied. The group goes to told,
 * v4 as mapped.
 */
static __always_inline void judge_group4(struct bpf_sockopt *ctx, __u32 slot, __u32 at,
					 struct decision *d, __be32 told[4])
{
	const __be32 *group = ctx->optval + at;

	if ((void *)(group + 1) > ctx->optval_end)
		return;
	told[0] = told[1] = 0;
	told[2] = bpf_htonl(0xffff);
	told[3] = *group;
	judge_group(lookup4(slot, told[3]), 4, d);
}

static __always_inline void judge_group6(struct bpf_sockopt *ctx, __u32 slot, __u32 at,
					 struct decision *d, __be32 told[4])
{
	const __be32 *group = ctx->optval + at;

	if ((void *)(group + 4) > ctx->optval_end)
		return;
	__builtin_memcpy(told, group, 4 * sizeof(*told));
	judge_group(lookup6(slot, told), 6, d);
}

/*
 * As 64-bit programs lay it out, or as 32-bit ones: no program is told which. What neither of them
 * can mean is denied, and so is what one of them may not.
 */
static __always_inline void judge_group_address(struct bpf_sockopt *ctx, __u32 slot,
						struct decision *d, __be32 told[4])
{
	const __u32 layouts[] = {sizeof(__u64), sizeof(__u32)};

	for (int i = 0; i < 2; i++) {
		const __u16 *family = ctx->optval + layouts[i];
		struct decision each = {.verdict = CGNET_DENY};

		if ((void *)(family + 1) > ctx->optval_end)
			continue;
		if (*family == AF_INET)
			judge_group4(ctx, slot, layouts[i] + offsetof(struct sockaddr_in, sin_addr),
				     &each, told);
		else if (*family == AF_INET6)
			judge_group6(ctx, slot,
				     layouts[i] + offsetof(struct sockaddr_in6, sin6_addr), &each,
				     told);
		else
			continue;
		*d = each;
		if (each.verdict != CGNET_ALLOW)
			return;
	}
}

static __always_inline int on_setsockopt(struct bpf_sockopt *ctx)
{
	bool group4 = has_group4(ctx->level, ctx->optname);
	bool group6 = has_group6(ctx->level, ctx->optname);
	bool address = has_group_address(ctx->level, ctx->optname);
	struct decision d = {.verdict = CGNET_DENY, .rule = CGNET_RULE_PACKET};
	struct subject s = {};
	struct cgnet_socket *from;
	struct policy p;

	if (!group4 && !group6 && !address) {
		ctx->optlen = 0; /* as it was called, of whatever length */
		return PROCEED;
	}
	p = policy_now();
	if (p.settings && ctx->optlen <= OPTION_MAX) {
		if (group4)
			judge_group4(ctx, p.slot, 0, &d, s.addr);
		else if (group6)
			judge_group6(ctx, p.slot, 0, &d, s.addr);
		else
			judge_group_address(ctx, p.slot, &d, s.addr);
	}
	if (d.verdict == CGNET_ALLOW)
		return PROCEED;
	from = ctx->sk ? socket_find(ctx->sk) : NULL;
	s.session = from ? from->session : 0;
	s.uid = bpf_get_current_uid_gid();
	return conclude_packet(CGNET_HOOK_SETSOCKOPT, &p, &d, &s) ? PROCEED : REFUSE;
}

#endif
