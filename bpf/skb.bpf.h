/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The layers egress and ingress: every packet of the class's sockets, however it came about. Sees
 * what connect and sendmsg do not: ping, routing headers, flows older than the policy.
 */
#ifndef CGNET_SKB_BPF_H
#define CGNET_SKB_BPF_H

#include "event.bpf.h"
#include "loopback.bpf.h"
#include "packet.bpf.h"

/* What is delivered on this host leaves through lo, whatever its address. */
#define LOOPBACK_IFINDEX 1

/* What a cgroup_skb program returns. */
enum { DROP = 0, PASS = 1 };

static __always_inline bool is_destination(const struct cgnet_socket *s, const struct flow *f)
{
	__be32 addr[4];

	flow_address(f, addr);
	return s->connected && s->port == f->port && s->addr[3] == addr[3] &&
	       s->addr[2] == addr[2] && s->addr[1] == addr[1] && s->addr[0] == addr[0];
}

/* The kernel's own sockets of an MPTCP connection have no record: their cgroup stands for it. */
static __always_inline __u64 session_of(struct bpf_sock *sk, const struct cgnet_socket *s)
{
	if (s)
		return s->session;
	return sk ? bpf_sk_cgroup_id(sk) : 0;
}

/*
 * Where the packet really goes outweighs the list of this host's addresses, which may be old. An
 * allow rule still is heard first.
 */
static __always_inline void heed_device(bool here, const struct policy *p, struct decision *d)
{
	if (!here) {
		d->flags &= ~CGNET_THIS_HOST;
		return;
	}
	d->flags |= CGNET_THIS_HOST;
	if (d->rule == CGNET_RULE_DEFAULT && p->settings &&
	    p->settings->loopback != CGNET_LOOPBACK_ALLOW) {
		d->verdict = CGNET_DENY;
		d->rule = CGNET_RULE_LOOPBACK;
	}
}

/* Nobody there: nothing is reached, and the sender learns it. */
static __always_inline void judge_packet(bool here, struct __sk_buff *skb, const struct policy *p,
					 const struct flow *f, __u64 session, struct decision *d)
{
	decide(p, f, d);
	heed_device(here, p, d);
	if (is_up_to_listener(p, f, d) && receiver_owner(skb, f, session) != OWNER_OTHER)
		d->verdict = CGNET_ALLOW;
}

/*
 * A TCP socket that never called connect was accepted, and answers whoever connected to it; a SYN
 * without ACK is no answer.
 */
static __always_inline bool is_reply(const struct policy *p, const struct packet *packet,
				     const struct cgnet_socket *s)
{
	return packet->f.proto == IPPROTO_TCP && !packet->opens && !(s && s->connected) &&
	       p->settings && !(p->settings->flags & CGNET_INBOUND_DENY);
}

/*
 * On this host it is not the address that was allowed but whoever listens there, and that may have
 * changed since connect. A TCP connection stays with whom it reached, once it did; UDP does not.
 */
static __always_inline bool may_remember(bool here, const struct packet *packet)
{
	return !here || (packet->f.proto == IPPROTO_TCP && !packet->opens);
}

static __always_inline int on_egress(struct __sk_buff *skb)
{
	struct policy p = policy_now();
	struct packet packet = {};
	struct decision d = {.verdict = CGNET_DENY, .rule = CGNET_RULE_PACKET};
	struct bpf_sock *sk = skb->sk ? bpf_sk_fullsock(skb->sk) : NULL;
	struct cgnet_socket *s = sk ? socket_find(sk) : NULL;
	__u64 mark = s ? (__u64)p.generation << 32 | s->seq : 0;
	bool here = skb->ifindex == LOOPBACK_IFINDEX;
	struct subject subject;

	if (p.settings && packet_read(skb, &packet)) {
		if (is_reply(&p, &packet, s) ||
		    (s && (here ? s->checked_here : s->checked) == mark &&
		     is_destination(s, &packet.f) && may_remember(here, &packet)))
			return PASS;
		judge_packet(here, skb, &p, &packet.f, session_of(sk, s), &d);
	}
	if (d.verdict == CGNET_ALLOW && s && is_destination(s, &packet.f) &&
	    may_remember(here, &packet)) {
		if (here)
			s->checked_here = mark;
		else
			s->checked = mark;
	}
	subject_from_flow(&subject, &packet.f, session_of(sk, s), bpf_get_socket_uid(skb));
	return conclude_packet(CGNET_HOOK_EGRESS, &p, &d, &subject) ? PASS : DROP;
}

/* True if the session itself sent the packet, from another of its sockets on this host. */
static __always_inline bool is_from_session(struct __sk_buff *skb, const struct flow *back,
					    __u64 session)
{
	return skb->ifindex == LOOPBACK_IFINDEX && receiver_owner(skb, back, session) == OWNER_SELF;
}

/* True if an unconnected socket spoke to the sender before. */
static __always_inline bool is_known_peer(struct bpf_sock *sk, const struct flow *back)
{
	struct cgnet_peers *known = bpf_sk_storage_get(&peers, sk, NULL, 0);
	__be32 addr[4];

	if (!known)
		return false;
	flow_address(back, addr);
	for (int i = 0; i < CGNET_PEERS; i++)
		if (known->peer[i].port == back->port && known->peer[i].addr[3] == addr[3] &&
		    known->peer[i].addr[2] == addr[2] && known->peer[i].addr[1] == addr[1] &&
		    known->peer[i].addr[0] == addr[0])
			return true;
	return false;
}

/* Attached only where "inbound = deny" asks for it. TCP is stopped at its first packet. */
static __always_inline int on_ingress(struct __sk_buff *skb)
{
	struct policy p = policy_now();
	struct packet packet = {};
	struct decision d = {.verdict = CGNET_DENY, .rule = CGNET_RULE_INBOUND};
	struct bpf_sock *sk = skb->sk ? bpf_sk_fullsock(skb->sk) : NULL;
	struct cgnet_socket *s = sk ? socket_find(sk) : NULL;
	struct flow back = {};
	struct subject subject;

	if (p.settings && !(p.settings->flags & CGNET_INBOUND_DENY))
		return PASS;
	if (packet_read(skb, &packet) && sk) {
		flow_reverse(&packet.f, &back);
		if ((packet.f.proto == IPPROTO_TCP && !packet.opens) ||
		    packet.f.proto == IPPROTO_ICMP ||
		    (packet.f.proto == IPPROTO_UDP && s && is_destination(s, &back)) ||
		    (packet.f.proto == IPPROTO_UDP && is_known_peer(sk, &back)) ||
		    is_from_session(skb, &back, session_of(sk, s)))
			return PASS;
	}
	/* Who connects, and to which port. */
	back.port = packet.f.port;
	subject_from_flow(&subject, &back, session_of(sk, s), bpf_get_socket_uid(skb));
	return conclude_packet(CGNET_HOOK_INGRESS, &p, &d, &subject) ? PASS : DROP;
}

#endif
