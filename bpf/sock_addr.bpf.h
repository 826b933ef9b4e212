/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The layers connect and sendmsg: an instant answer to the calls that name a destination. */
#ifndef CGNET_SOCK_ADDR_BPF_H
#define CGNET_SOCK_ADDR_BPF_H

#include "event.bpf.h"
#include "loopback.bpf.h"

#define ECONNREFUSED 111

/* What a sock_addr program returns: the call goes on, or fails with EPERM. */
enum { REFUSE = 0, PROCEED = 1 };

/*
 * Nobody listens. For TCP this is what the packet would bring, without the packet, since a server
 * that starts meanwhile would answer it; kernels without the helper send it. A UDP socket that is
 * connected to the caller is not found without the caller's address, so UDP is sent too. Either
 * way the egress layer looks again, by both addresses.
 */
static __always_inline int nobody_listens(const struct flow *f)
{
	if (f->proto != IPPROTO_TCP || !config.has_set_retval)
		return PROCEED;
	bpf_set_retval(-ECONNREFUSED);
	return REFUSE;
}

/*
 * Notes what a socket is connected to, so that its packets need no lookup. An address of this host
 * may go to another one, and what is sent there with it.
 */
static __always_inline void note_destination(struct cgnet_socket *s, const struct policy *p,
					     const struct flow *f, const struct decision *d)
{
	s->seq++;
	flow_address(f, s->addr);
	s->port = f->port;
	s->connected = 1;
	s->checked = d->flags & CGNET_THIS_HOST ? 0 : (__u64)p->generation << 32 | s->seq;
}

/*
 * Turns a denial into leave to reach the session's own server. Returns what the program is to do.
 */
static __always_inline int ask_listener(struct bpf_sock_addr *ctx, const struct flow *f,
					__u64 session, struct decision *d)
{
	enum owner owner = listener_owner(ctx, f, session);

	if (owner == OWNER_OTHER)
		return REFUSE;
	d->verdict = CGNET_ALLOW;
	return owner == OWNER_SELF ? PROCEED : nobody_listens(f);
}

static __always_inline int judge_call(struct bpf_sock_addr *ctx, enum cgnet_hook hook,
				      const struct policy *p, const struct flow *f, __u64 session,
				      struct decision *d)
{
	int ret = PROCEED;
	struct subject s;

	decide(p, f, d);
	if (is_up_to_listener(p, f, d))
		ret = ask_listener(ctx, f, session, d);
	subject_from_flow(&s, f, session, 0);
	if (!conclude_task(hook, p, d, &s))
		return REFUSE;
	return d->verdict == CGNET_ALLOW ? ret : PROCEED;
}

/* known: whether f could be filled. */
static __always_inline int on_connect(struct bpf_sock_addr *ctx, enum cgnet_hook hook, bool known,
				      const struct flow *f)
{
	struct policy p = policy_now();
	struct decision d = {.verdict = CGNET_DENY};
	struct cgnet_socket *s = ctx->sk ? socket_make(ctx->sk) : NULL;
	int ret;

	if (!known || !s)
		return REFUSE;
	ret = judge_call(ctx, hook, &p, f, s->session, &d);
	if (ret == PROCEED)
		note_destination(s, &p, f, &d);
	return ret;
}

/* Notes to whom an unconnected socket speaks: from there it may be answered. */
static __always_inline void note_peer(struct bpf_sock *sk, const struct flow *f)
{
	struct cgnet_peers *peer;
	__u32 i;

	peer = bpf_sk_storage_get(&peers, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	if (!peer)
		return;
	i = peer->next++ % CGNET_PEERS;
	flow_address(f, peer->peer[i].addr);
	peer->peer[i].port = f->port;
}

static __always_inline int on_sendmsg(struct bpf_sock_addr *ctx, enum cgnet_hook hook, bool known,
				      const struct flow *f)
{
	struct policy p = policy_now();
	struct decision d = {.verdict = CGNET_DENY};
	struct cgnet_socket *s;
	int ret;

	if (!known || !ctx->sk)
		return REFUSE;
	s = socket_find(ctx->sk);
	ret = judge_call(ctx, hook, &p, f, s ? s->session : 0, &d);
	if (ret == PROCEED && p.settings && (p.settings->flags & CGNET_INBOUND_DENY))
		note_peer(ctx->sk, f);
	return ret;
}

#endif
