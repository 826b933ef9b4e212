// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The pairs are sorted so that a prefix stands before all that it encloses. One pass over them with
 * a stack of the prefixes that enclose the current one finds for each its nearest encloser, whose
 * folded rules it inherits behind its own.
 */
#include "fold.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "ports.h"

/* Prefixes that can enclose one another: one of each length. */
#define MAX_DEPTH 129

/* A number of addresses, modulo 2^128. */
struct span {
	uint64_t hi, lo;
};

struct frame {
	const struct prefix *prefix;
	struct cgnet_prefix *value;
	struct span covered; /* by prefixes inside it that static rules name */
	bool is_parted;	     /* there are such: tells 0 from 2^128 */
};

struct fold {
	struct rule_info *infos;
	struct compiled_class *out;
	struct port_pool pool;
	struct cgnet_prefix outermost; /* what 0.0.0.0/0 and ::/0 inherit: the default */
	bool closed;		       /* this host is closed to all that no rule allows */
	struct frame stack[MAX_DEPTH];
	size_t depth;

	/* The group before, for the long runs of prefixes with the same rules. */
	const struct pair *last;
	size_t last_n;
	const struct cgnet_prefix *last_parent;
	const struct cgnet_prefix *last_value;
};

static struct span span_plus(struct span s, const struct prefix *p)
{
	unsigned int bits = prefix_width(p) - p->len;
	struct span sum = s;

	if (bits < 64) {
		sum.lo += UINT64_C(1) << bits;
		sum.hi += sum.lo < s.lo;
	} else if (bits < 128) {
		sum.hi += UINT64_C(1) << (bits - 64);
	}
	return sum;
}

/* True if no address of the frame's prefix is left to it. */
static bool frame_is_parted_out(const struct frame *frame)
{
	struct span all = span_plus((struct span){0}, frame->prefix);

	return frame->is_parted && frame->covered.hi == all.hi && frame->covered.lo == all.lo;
}

/*
 * Counts as covering its encloser only what will always be there and has rules of its own, so that
 * no rule is called useless for what the host looks like today.
 */
static bool group_is_static(const struct pair *group, size_t n)
{
	for (size_t i = 0; i < n && group[i].rank < RANK_THIS_HOST; i++)
		if (!pair_is_static(&group[i]))
			return false;
	return group->rank < RANK_THIS_HOST;
}

static void mark_used(struct fold *f, const struct cgnet_prefix *value)
{
	f->infos[value->rule].used = true;
	for (size_t i = 0; i < value->nports; i++)
		f->infos[f->pool.items[value->first_port + i].rule].used = true;
}

static void pop(struct fold *f)
{
	struct frame *frame = &f->stack[--f->depth];

	if (!frame_is_parted_out(frame))
		mark_used(f, frame->value);
}

/* Leaves on top of the stack the nearest prefix that encloses p; returns NULL if there is none. */
static struct frame *enclosing(struct fold *f, const struct prefix *p)
{
	while (f->depth && !prefix_contains(f->stack[f->depth - 1].prefix, p))
		pop(f);
	return f->depth ? &f->stack[f->depth - 1] : NULL;
}

static void push(struct fold *f, const struct prefix *p, struct cgnet_prefix *value)
{
	f->stack[f->depth++] = (struct frame){.prefix = p, .value = value};
}

/* The next value of the trie that p belongs to; its key is written here. */
static struct cgnet_prefix *append_prefix(struct compiled_class *out, const struct prefix *p)
{
	struct cgnet_prefix *value;

	if (p->family == AF_INET) {
		struct cgnet_key4 *key = &out->keys4[out->n4];

		key->prefixlen = p->len;
		memcpy(key->addr, p->bytes, sizeof(key->addr));
		value = &out->values4[out->n4++];
	} else {
		struct cgnet_key6 *key = &out->keys6[out->n6];

		key->prefixlen = p->len;
		memcpy(key->addr, p->bytes, sizeof(key->addr));
		value = &out->values6[out->n6++];
	}
	value->prefixlen = p->len;
	return value;
}

static void note_shadow(struct fold *f, uint32_t rule, uint32_t by)
{
	if (rule != by)
		f->infos[rule].shadowed_by = by;
}

static void add_entry(struct fold *f, const struct pair *pair, const struct cgnet_port *entry,
		      struct port_list *list)
{
	switch (port_list_add(list, entry)) {
	case PORT_ADDED:
		break;
	case PORT_COVERED:
		note_shadow(f, pair->rule, port_list_overlap(list, entry)->rule);
		break;
	case PORT_FULL:
		f->infos[pair->rule].overflow = &pair->prefix;
		break;
	}
}

/* Adds an entry for each port range (all ports if none) of a protocol (0 for all). */
static void add_proto(struct fold *f, const struct pair *pair, uint8_t proto,
		      struct port_list *list)
{
	const struct rule_info *info = &f->infos[pair->rule];
	struct cgnet_port entry = {
		.verdict = info->rule->verdict,
		.rule = pair->rule,
		.hi = UINT16_MAX,
		.proto = proto,
	};

	if (!info->nports)
		add_entry(f, pair, &entry, list);
	for (size_t i = 0; i < info->nports; i++) {
		entry.lo = info->ports[i].lo;
		entry.hi = info->ports[i].hi;
		add_entry(f, pair, &entry, list);
	}
}

static void add_rule(struct fold *f, const struct pair *pair, struct port_list *list)
{
	static const struct {
		unsigned int bit;
		uint8_t number;
	} protos[] = {
		{PROTO_TCP, IPPROTO_TCP}, {PROTO_UDP, IPPROTO_UDP}, {PROTO_ICMP, IPPROTO_ICMP}};
	unsigned int bits = f->infos[pair->rule].protos;

	if (!bits)
		add_proto(f, pair, 0, list);
	for (size_t i = 0; i < ARRAY_SIZE(protos); i++)
		if (bits & protos[i].bit)
			add_proto(f, pair, protos[i].number, list);
}

/*
 * Adds the group's own rules to list. Returns true if one without ports and protocol gives the
 * verdict for all that is left, so that nothing is inherited.
 */
static bool add_own(struct fold *f, const struct pair *group, size_t n, struct port_list *list,
		    struct cgnet_prefix *value)
{
	size_t i = 0;

	for (; i < n && group[i].rank < RANK_PLAIN; i++)
		add_rule(f, &group[i], list);
	if (i == n || group[i].rank >= RANK_THIS_HOST)
		return false;
	value->rule = group[i].rule;
	value->verdict = f->infos[value->rule].rule->verdict;
	for (i++; i < n && group[i].rank < RANK_THIS_HOST; i++)
		note_shadow(f, group[i].rule, value->rule);
	return true;
}

/* Notes that a broad rule, inherited by a prefix of this host, opens it. */
static void note_opening(struct fold *f, const struct cgnet_prefix *value,
			 enum cgnet_verdict verdict, uint32_t rule)
{
	struct rule_info *info = &f->infos[rule];

	if (f->closed && (value->flags & CGNET_THIS_HOST) && verdict == CGNET_ALLOW && info->broad)
		info->opens_host = true;
}

static void inherit(struct fold *f, const struct pair *group, const struct cgnet_prefix *parent,
		    struct port_list *list, struct cgnet_prefix *value)
{
	for (size_t i = 0; i < parent->nports; i++) {
		const struct cgnet_port *entry = &f->pool.items[parent->first_port + i];

		switch (port_list_add(list, entry)) {
		case PORT_ADDED:
			note_opening(f, value, entry->verdict, entry->rule);
			break;
		case PORT_COVERED:
			break;
		case PORT_FULL:
			f->infos[list->items[0].rule].overflow = &group->prefix;
			break;
		}
	}
	note_opening(f, value, parent->verdict, parent->rule);
	value->verdict = parent->verdict;
	value->rule = parent->rule;
	if (f->closed && (value->flags & CGNET_THIS_HOST) && value->rule == CGNET_RULE_DEFAULT &&
	    value->verdict == CGNET_ALLOW) {
		value->verdict = CGNET_DENY;
		value->rule = CGNET_RULE_LOOPBACK;
	}
}

static bool group_has(const struct pair *group, size_t n, unsigned int rank)
{
	for (size_t i = 0; i < n; i++)
		if (group[i].rank == rank)
			return true;
	return false;
}

static int fold_rules(struct fold *f, const struct pair *group, size_t n,
		      const struct cgnet_prefix *parent, struct cgnet_prefix *value)
{
	struct port_list list;
	uint32_t first;

	list.n = 0;
	value->flags = parent->flags & CGNET_THIS_HOST;
	if (group_has(group, n, RANK_THIS_HOST))
		value->flags |= CGNET_THIS_HOST;
	if (!add_own(f, group, n, &list, value))
		inherit(f, group, parent, &list, value);
	if (port_pool_put(&f->pool, &list, &first))
		return -ENOMEM;
	value->first_port = first;
	value->nports = list.n;
	return 0;
}

static void fold_sentinel(const struct cgnet_prefix *parent, struct cgnet_prefix *value)
{
	value->verdict = CGNET_DENY;
	value->rule = CGNET_RULE_SENTINEL;
	value->flags = (parent->flags & CGNET_THIS_HOST) | CGNET_SENTINEL;
}

static bool repeats_last(const struct fold *f, const struct pair *group, size_t n,
			 const struct cgnet_prefix *parent)
{
	if (n != f->last_n || parent != f->last_parent)
		return false;
	for (size_t i = 0; i < n; i++)
		if (group[i].rank != f->last[i].rank || group[i].rule != f->last[i].rule)
			return false;
	return true;
}

static void copy_last(const struct fold *f, struct cgnet_prefix *value)
{
	uint8_t prefixlen = value->prefixlen;

	*value = *f->last_value;
	value->prefixlen = prefixlen;
}

static int fold_group(struct fold *f, const struct pair *group, size_t n)
{
	const struct prefix *prefix = &group->prefix;
	struct frame *frame = enclosing(f, prefix);
	const struct cgnet_prefix *parent = frame ? frame->value : &f->outermost;
	struct cgnet_prefix *value = append_prefix(f->out, prefix);

	if (frame && group_is_static(group, n)) {
		frame->covered = span_plus(frame->covered, prefix);
		frame->is_parted = true;
	}
	push(f, prefix, value);
	if (prefix_is_sentinel(prefix)) {
		fold_sentinel(parent, value);
		return 0;
	}
	if (repeats_last(f, group, n, parent))
		copy_last(f, value);
	else if (fold_rules(f, group, n, parent, value))
		return -ENOMEM;
	f->last = group;
	f->last_n = n;
	f->last_parent = parent;
	f->last_value = value;
	return 0;
}

static void *new_array(size_t n, size_t size)
{
	return n ? calloc(n, size) : NULL;
}

/* Makes room for one key and value for each group of x. Returns 0 or -ENOMEM. */
static int reserve_tries(const struct expansion *x, struct compiled_class *out)
{
	size_t n4 = 0, n6 = 0;

	for (size_t i = 0; i < x->n; i += expansion_group(x, i)) {
		if (x->pairs[i].prefix.family == AF_INET)
			n4++;
		else
			n6++;
	}
	out->keys4 = new_array(n4, sizeof(*out->keys4));
	out->values4 = new_array(n4, sizeof(*out->values4));
	out->keys6 = new_array(n6, sizeof(*out->keys6));
	out->values6 = new_array(n6, sizeof(*out->values6));
	return out->keys4 && out->values4 && out->keys6 && out->values6 ? 0 : -ENOMEM;
}

int fold_class(struct expansion *x, struct compiled_class *out)
{
	struct fold f = {
		.infos = x->infos,
		.out = out,
		.outermost = {.verdict = out->fallback, .rule = CGNET_RULE_DEFAULT},
		.closed = out->settings.loopback != CGNET_LOOPBACK_ALLOW,
	};
	int err = reserve_tries(x, out);
	size_t n;

	for (size_t i = 0; i < x->n && !err; i += n) {
		n = expansion_group(x, i);
		err = fold_group(&f, &x->pairs[i], n);
	}
	while (f.depth)
		pop(&f);
	out->ports = take_ptr(&f.pool.items);
	out->nports = f.pool.n;
	port_pool_free(&f.pool);
	return err;
}
