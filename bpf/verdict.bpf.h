/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The one verdict function: policy lookup for a flow, and the counters. */
#ifndef CGNET_VERDICT_BPF_H
#define CGNET_VERDICT_BPF_H

#include "flow.bpf.h"
#include "maps.bpf.h"

/* What decided; the zero value denies. */
struct decision {
	enum cgnet_verdict verdict;
	__u32 rule;
	__u8 flags; /* of the prefix that matched */
};

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

/* The first of the prefix's port entries that matches decides, else the prefix does. */
static __always_inline void scan_ports(__u32 slot, const struct cgnet_prefix *prefix,
				       const struct flow *f, struct decision *d)
{
	void *ports = bpf_map_lookup_elem(&slots_ports, &slot);

	if (!ports) {
		d->verdict = CGNET_DENY;
		return;
	}
	for (__u32 i = 0; i < CGNET_PORTS_PER_PREFIX && i < prefix->nports; i++) {
		__u32 index = prefix->first_port + i;
		const struct cgnet_port *entry = bpf_map_lookup_elem(ports, &index);

		if (!entry) {
			d->verdict = CGNET_DENY;
			return;
		}
		if (port_matches(entry, f->proto, f->port)) {
			d->verdict = entry->verdict;
			d->rule = entry->rule;
			return;
		}
	}
}

static __always_inline void judge(__u32 slot, const struct cgnet_prefix *prefix,
				  const struct flow *f, struct decision *d)
{
	if (!prefix) {
		d->verdict = CGNET_DENY;
		return;
	}
	d->verdict = prefix->verdict;
	d->rule = prefix->rule;
	d->flags = prefix->flags;
	if (prefix->nports)
		scan_ports(slot, prefix, f, d);
}

/* Denied if any form of the destination is. The generation is read once for all lookups. */
static __always_inline void decide(const struct flow *f, struct decision *d)
{
	__u32 slot = cgnet_generation % CGNET_SLOTS;

	if (f->has6)
		judge(slot, lookup6(slot, f->v6), f, d);
	if (f->has4 && (!f->has6 || d->verdict == CGNET_ALLOW))
		judge(slot, lookup4(slot, f->v4), f, d);
}

/* Atomic, since a program may be preempted by another on the same CPU, and counts are exact. */
static __always_inline void count(__u32 layer, const struct decision *d)
{
	struct cgnet_counts *c = bpf_map_lookup_elem(&counters, &layer);

	if (!c)
		return;
	if (d->verdict == CGNET_ALLOW)
		__sync_fetch_and_add(&c->allowed, 1);
	else if (d->flags & CGNET_SENTINEL)
		__sync_fetch_and_add(&c->selftest, 1);
	else
		__sync_fetch_and_add(&c->denied, 1);
}

/* 1 lets the call go on, 0 makes it fail with EPERM. known: whether f could be filled. */
static __always_inline int verdict(__u32 layer, bool known, const struct flow *f)
{
	struct decision d = {.verdict = CGNET_DENY};

	if (known)
		decide(f, &d);
	count(layer, &d);
	return d.verdict == CGNET_ALLOW;
}

#endif
