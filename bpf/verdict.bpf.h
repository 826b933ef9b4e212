/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The one verdict function: policy lookup for a flow, and the counters. */
#ifndef CGNET_VERDICT_BPF_H
#define CGNET_VERDICT_BPF_H

#include "flow.bpf.h"
#include "maps.bpf.h"

/* The policy in force, as read once at the start of a program. */
struct policy {
	__u32 generation;
	__u32 slot;
	const struct cgnet_settings *settings; /* NULL denies everything */
};

/* What decided; the zero value denies. */
struct decision {
	enum cgnet_verdict verdict;
	__u32 rule;
	__u8 flags; /* of the prefix that matched */
	__u8 prefixlen;
	__u8 form; /* 4 or 6: which form of the destination that prefix is of; 0 for none */
};

static __always_inline struct policy policy_now(void)
{
	struct policy p = {.generation = cgnet_generation};

	p.slot = p.generation % CGNET_SLOTS;
	p.settings = bpf_map_lookup_elem(&settings, &p.slot);
	return p;
}

static __always_inline const struct cgnet_prefix *lookup4(__u32 slot, __be32 addr)
{
	struct cgnet_key4 key = {.prefixlen = 32};
	void *trie = bpf_map_lookup_elem(&slots4, &slot);

	__builtin_memcpy(key.addr, &addr, sizeof(key.addr));
	return trie ? bpf_map_lookup_elem(trie, &key) : NULL;
}

static __always_inline const struct cgnet_prefix *lookup6(__u32 slot, const __be32 addr[4])
{
	struct cgnet_key6 key = {.prefixlen = 128};
	void *trie = bpf_map_lookup_elem(&slots6, &slot);

	__builtin_memcpy(key.addr, addr, sizeof(key.addr));
	return trie ? bpf_map_lookup_elem(trie, &key) : NULL;
}

/* What scan_ports() returns. */
#define SCAN_NO_MATCH 0xffffffff
#define SCAN_VERDICT  1 /* bit 0; the rule is above it */

/*
 * The first of the port entries that matches decides. A function of its own, and of numbers only,
 * so that the verifier walks the loop once and not once for every state around the call.
 */
__noinline __u32 scan_ports(__u32 slot, __u32 first, __u32 n, __u32 proto, __u32 port)
{
	void *ports = bpf_map_lookup_elem(&slots_ports, &slot);

	if (!ports)
		return CGNET_DENY;
	for (__u32 i = 0; i < CGNET_PORTS_PER_PREFIX && i < n; i++) {
		__u32 index = first + i;
		const struct cgnet_port *entry = bpf_map_lookup_elem(ports, &index);

		if (!entry)
			return CGNET_DENY;
		if (port_matches(entry, proto, port))
			return entry->rule << 1 | (entry->verdict & SCAN_VERDICT);
	}
	return SCAN_NO_MATCH;
}

static __always_inline void judge(__u32 slot, const struct cgnet_prefix *prefix, __u8 form,
				  const struct flow *f, struct decision *d)
{
	__u32 found;

	d->form = form;
	if (!prefix) {
		d->verdict = CGNET_DENY;
		return;
	}
	d->verdict = prefix->verdict;
	d->rule = prefix->rule;
	d->flags = prefix->flags;
	d->prefixlen = prefix->prefixlen;
	if (!prefix->nports)
		return;
	found = scan_ports(slot, prefix->first_port, prefix->nports, f->proto, f->port);
	if (found != SCAN_NO_MATCH) {
		d->verdict = found & SCAN_VERDICT;
		d->rule = found >> 1;
	}
}

/* Denied if any form of the destination is; the form that denies says why, else the first. */
static __always_inline void decide(const struct policy *p, const struct flow *f, struct decision *d)
{
	struct decision carried = {.verdict = CGNET_DENY};

	if (!p->settings || (!f->has4 && !f->has6))
		return;
	if (!f->has6) {
		judge(p->slot, lookup4(p->slot, f->v4), 4, f, d);
		return;
	}
	judge(p->slot, lookup6(p->slot, f->v6), 6, f, d);
	if (!f->has4 || d->verdict != CGNET_ALLOW)
		return;
	judge(p->slot, lookup4(p->slot, f->v4), 4, f, &carried);
	if (carried.verdict != CGNET_ALLOW)
		*d = carried;
}

/* Denied, but for the session's own servers: whoever asks has to look who listens there. */
static __always_inline bool is_up_to_listener(const struct policy *p, const struct flow *f,
					      const struct decision *d)
{
	return d->verdict == CGNET_DENY && (d->flags & CGNET_THIS_HOST) &&
	       !(d->flags & CGNET_SENTINEL) && !flow_is_carried(f) && p->settings &&
	       p->settings->loopback == CGNET_LOOPBACK_SESSION;
}

/*
 * Layers that see the same call again, or no destination, count denials only: "allowed" is the
 * number of calls that named a destination and went on.
 */
static __always_inline bool counts_allowed(__u32 layer)
{
	return layer == CGNET_LAYER_CONNECT || layer == CGNET_LAYER_SENDMSG;
}

static __always_inline void count_allowed(__u32 layer)
{
	struct cgnet_counts *c =
		counts_allowed(layer) ? bpf_map_lookup_elem(&counters, &layer) : NULL;

	/* Atomic, since a program may be preempted by another on the same CPU. */
	if (c)
		__sync_fetch_and_add(&c->allowed, 1);
}

#endif
