// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "expand.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "names.h"
#include "sets.h"

/* Shorter prefixes hardly mean this host when they take it in. */
#define BROAD4 8
#define BROAD6 16

static const struct prefix sentinels[] = {
	{.family = AF_INET, .len = 32, .bytes = CGNET_SENTINEL4},
	{.family = AF_INET6, .len = 128, .bytes = CGNET_SENTINEL6},
};

static const struct prefix roots[] = {{.family = AF_INET}, {.family = AF_INET6}};

static const struct port_range resolver_port = {53, 53};

_Static_assert(sizeof(struct pair) == 24, "a million of them should stay small");

bool prefix_is_sentinel(const struct prefix *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(sentinels); i++)
		if (!prefix_compare(p, &sentinels[i]))
			return true;
	return false;
}

static int add_pair(struct expansion *x, const struct prefix *prefix, unsigned int rank,
		    uint32_t rule)
{
	if (ARRAY_RESERVE(&x->pairs, &x->cap, x->n))
		return -ENOMEM;
	x->pairs[x->n++] = (struct pair){.prefix = *prefix, .rank = rank, .rule = rule};
	return 0;
}

/* True if the builtin set takes something from a host that has one of everything. */
static int builtin_varies(const struct policy *policy, const char *name, bool *out)
{
	struct prefix addr = {.family = AF_INET, .len = 32};
	struct prefixes one = {&addr, 1, 1};
	struct facts facts = {one, one, one, one, NULL};
	struct set_members members = {0};
	int err = set_expand(policy, name, &facts, &members);

	for (size_t i = 0; i < members.n; i++)
		*out |= members.items[i].dynamic;
	set_members_free(&members);
	return err;
}

static int look_for_dynamic(const struct policy *policy, const char *name, bool *seen, bool *out)
{
	int err = 0;

	if (set_is_builtin(name))
		return builtin_varies(policy, name, out);
	for (size_t i = 0; i < policy->nsets && !*out; i++) {
		const struct set *set = &policy->sets[i];

		if (seen[i] || strcmp(set->name, name) != 0)
			continue;
		seen[i] = true;
		for (size_t j = 0; j < set->members.n && !*out && !err; j++)
			if (set->members.items[j].set)
				err = look_for_dynamic(policy, set->members.items[j].set, seen,
						       out);
	}
	return err;
}

/* Sets out if what the host has is in the set, at whatever depth, and be it nothing now. */
static int set_varies(const struct policy *policy, const char *name, bool *out)
{
	bool *seen = calloc(policy->nsets + 1, sizeof(*seen));
	int err = seen ? look_for_dynamic(policy, name, seen, out) : -ENOMEM;

	free(seen);
	return err;
}

static void describe_rule(struct rule_info *info, const struct rule *rule)
{
	bool resolver = rule->set && !strcmp(rule->set, "resolver");

	*info = (struct rule_info){
		.rule = rule,
		.ports = resolver ? &resolver_port : rule->ports,
		.nports = resolver ? 1 : rule->nports,
		.protos = resolver ? PROTO_TCP | PROTO_UDP : rule->protos,
	};
}

static unsigned int rule_rank(const struct rule_info *info, bool dynamic)
{
	unsigned int tier = (info->nports ? 0 : 2) + (info->protos ? 0 : 1);
	unsigned int source = info->rule->set ? RANK_SET : RANK_LITERAL;

	if (info->rule->runtime)
		source = info->rule->verdict == CGNET_DENY ? RANK_RUNTIME_DENY : RANK_RUNTIME_ALLOW;
	else if (dynamic)
		source = info->rule->verdict == CGNET_DENY ? RANK_DYNAMIC_DENY : RANK_DYNAMIC_ALLOW;
	return tier * RANK_TIER + source;
}

static int apply_rule(struct expansion *x, uint32_t row, const struct prefix *prefix, bool dynamic)
{
	struct rule_info *info = &x->infos[row];

	info->empty = false;
	info->broad |= prefix->len < (prefix->family == AF_INET ? BROAD4 : BROAD6);
	return add_pair(x, prefix, rule_rank(info, dynamic), row);
}

static int expand_rule(const struct policy *policy, const struct facts *facts, uint32_t row,
		       struct expansion *x)
{
	struct rule_info *info = &x->infos[row];
	struct set_members members = {0};
	int err;

	info->empty = true;
	if (info->rule->host)
		return 0; /* see expand_hosts() */
	if (!info->rule->set)
		return apply_rule(x, row, &info->rule->prefix, false);
	err = set_expand(policy, info->rule->set, facts, &members);
	if (!err)
		err = set_varies(policy, info->rule->set, &info->dynamic);
	for (size_t i = 0; !err && i < members.n; i++)
		err = apply_rule(x, row, &members.items[i].prefix, members.items[i].dynamic);
	set_members_free(&members);
	return err;
}

static int expand_this_host(const struct policy *policy, const struct facts *facts,
			    struct expansion *x)
{
	struct set_members members = {0};
	int err;

	err = set_expand(policy, "loopback", facts, &members);
	if (!err)
		err = set_expand(policy, "host", facts, &members);
	for (size_t i = 0; !err && i < members.n; i++)
		err = add_pair(x, &members.items[i].prefix, RANK_THIS_HOST, 0);
	set_members_free(&members);
	return err;
}

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	int order = prefix_compare(&x->prefix, &y->prefix);

	if (order)
		return order;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x->rule > y->rule) - (x->rule < y->rule);
}

/* Length of the ascending run from index first on. */
static size_t run_length(const struct expansion *x, size_t first)
{
	size_t n = 1;

	while (first + n < x->n &&
	       compare_pairs(&x->pairs[first + n - 1], &x->pairs[first + n]) <= 0)
		n++;
	return n;
}

/* Merges a run of a pairs into one of b that stands behind it, through room for a of them. */
static void merge_front(struct pair *pairs, size_t a, size_t b, struct pair *room)
{
	size_t i = 0, j = a, out = 0;

	if (a)
		memcpy(room, pairs, a * sizeof(*room));
	while (i < a)
		pairs[out++] = j < a + b && compare_pairs(&pairs[j], &room[i]) < 0 ? pairs[j++]
										   : room[i++];
}

/* Merges a run of b pairs into one of a that stands in front of it, through room for b of them. */
static void merge_back(struct pair *pairs, size_t a, size_t b, struct pair *room)
{
	size_t out = a + b;

	if (b)
		memcpy(room, &pairs[a], b * sizeof(*room));
	while (b)
		pairs[--out] = a && compare_pairs(&pairs[a - 1], &room[b - 1]) > 0 ? pairs[--a]
										   : room[--b];
}

/*
 * Lists come sorted, a million pairs at a time, and few pairs besides: what stands behind a long
 * run is sorted first, then merged into it.
 */
static int sort_runs(struct expansion *x)
{
	size_t longest = 0, length = 0, before, after;
	_cleanup_free_ struct pair *room = NULL;

	for (size_t i = 0, n; i < x->n; i += n) {
		n = run_length(x, i);
		if (n > length) {
			longest = i;
			length = n;
		}
	}
	before = longest;
	after = x->n - longest - length;
	room = malloc((before + after + 1) * sizeof(*room));
	if (!room)
		return -ENOMEM;
	qsort(x->pairs, before, sizeof(*x->pairs), compare_pairs);
	qsort(&x->pairs[longest + length], after, sizeof(*x->pairs), compare_pairs);
	merge_back(&x->pairs[longest], length, after, room);
	merge_front(x->pairs, before, length + after, room);
	return 0;
}

static int sort_pairs(struct expansion *x)
{
	size_t kept = 0;
	int err = sort_runs(x);

	if (err)
		return err;
	for (size_t i = 0; i < x->n; i++)
		if (!kept || compare_pairs(&x->pairs[kept - 1], &x->pairs[i]))
			x->pairs[kept++] = x->pairs[i];
	x->n = kept;
	return 0;
}

static bool ports_overlap(const struct rule_info *a, const struct rule_info *b)
{
	if (!a->nports || !b->nports)
		return true;
	for (size_t i = 0; i < a->nports; i++)
		for (size_t j = 0; j < b->nports; j++)
			if (a->ports[i].lo <= b->ports[j].hi && b->ports[j].lo <= a->ports[i].hi)
				return true;
	return false;
}

bool rules_overlap(const struct rule_info *a, const struct rule_info *b)
{
	return (!a->protos || !b->protos || (a->protos & b->protos)) && ports_overlap(a, b);
}

/* Prefixes that no answer of a name server opens: for names, and for those that are private. */
struct closed {
	struct set_members always, unless_private;
};

static int find_closed(const struct policy *policy, const struct facts *facts, struct closed *out)
{
	static const char *const always[] = {"loopback", "host", "metadata", "multicast"};
	int err = set_expand(policy, "local", facts, &out->unless_private);

	for (size_t i = 0; i < ARRAY_SIZE(always) && !err; i++)
		err = set_expand(policy, always[i], facts, &out->always);
	return err;
}

static bool is_member(const struct set_members *members, const struct prefix *addr)
{
	for (size_t i = 0; i < members->n; i++)
		if (prefix_contains(&members->items[i].prefix, addr))
			return true;
	return false;
}

/* Index of the first of the n sorted pairs that does not stand before the prefix. */
static size_t find_prefix(const struct expansion *x, size_t n, const struct prefix *p)
{
	size_t low = 0;

	while (low < n) {
		size_t middle = low + (n - low) / 2;

		if (prefix_compare(&x->pairs[middle].prefix, p) < 0)
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

/* True if a rule denies some of what the rule in row would open at addr. n pairs are sorted. */
static bool is_denied(const struct expansion *x, size_t n, uint32_t row, const struct prefix *addr)
{
	for (unsigned int len = 0; len <= addr->len; len++) {
		struct prefix p = *addr;

		p.len = len;
		prefix_mask(&p);
		for (size_t i = find_prefix(x, n, &p);
		     i < n && !prefix_compare(&x->pairs[i].prefix, &p); i++) {
			const struct rule_info *by = &x->infos[x->pairs[i].rule];

			if (by->rule && by->rule->verdict == CGNET_DENY &&
			    rules_overlap(by, &x->infos[row]))
				return true;
		}
	}
	return false;
}

/*
 * Whoever runs a name server chooses the addresses. They open nothing that is not public or that a
 * rule denies, unless the rule is private; and this host, the cloud's metadata and groups never.
 */
static int expand_host(struct expansion *x, size_t n, uint32_t row, const struct closed *closed,
		       const struct name *name)
{
	bool private = x->infos[row].rule->private;
	int err = 0;

	for (size_t i = 0; i < name->n && !err; i++) {
		const struct prefix *addr = &name->addrs[i].prefix;

		if (is_member(&closed->always, addr) ||
		    (!private &&
		     (is_member(&closed->unless_private, addr) || is_denied(x, n, row, addr))))
			continue;
		err = apply_rule(x, row, addr, true);
	}
	return err;
}

static int expand_hosts(const struct policy *policy, const struct facts *facts, struct expansion *x)
{
	struct closed closed = {0};
	size_t n = x->n;
	int err = 0;

	for (uint32_t row = CGNET_RULE_FIRST; row < x->ninfos && !err; row++) {
		const char *host = x->infos[row].rule->host;
		const struct name *name;

		if (!host)
			continue;
		x->infos[row].dynamic = true;
		name = facts->names ? names_find(facts->names, host) : NULL;
		if (!closed.always.n)
			err = find_closed(policy, facts, &closed);
		if (!err && name)
			err = expand_host(x, n, row, &closed, name);
	}
	set_members_free(&closed.always);
	set_members_free(&closed.unless_private);
	return err;
}

int expand_class(const struct policy *policy, const struct class *c, const struct facts *facts,
		 struct expansion *out)
{
	int err = 0;

	out->ninfos = CGNET_RULE_FIRST + c->rules.n;
	out->infos = calloc(out->ninfos, sizeof(*out->infos));
	if (!out->infos)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(roots) && !err; i++)
		err = add_pair(out, &roots[i], RANK_ALWAYS, 0);
	for (size_t i = 0; i < ARRAY_SIZE(sentinels) && !err; i++)
		err = add_pair(out, &sentinels[i], RANK_ALWAYS, 0);
	if (!err)
		err = expand_this_host(policy, facts, out);
	for (size_t i = 0; i < c->rules.n && !err; i++) {
		describe_rule(&out->infos[CGNET_RULE_FIRST + i], &c->rules.items[i]);
		err = expand_rule(policy, facts, CGNET_RULE_FIRST + i, out);
	}
	if (!err)
		err = sort_pairs(out);
	if (!err)
		err = expand_hosts(policy, facts, out);
	return err ? err : sort_pairs(out);
}

void expansion_free(struct expansion *x)
{
	free(x->pairs);
	free(x->infos);
	*x = (struct expansion){0};
}

size_t expansion_group(const struct expansion *x, size_t first)
{
	size_t n = 1;

	while (first + n < x->n &&
	       !prefix_compare(&x->pairs[first].prefix, &x->pairs[first + n].prefix))
		n++;
	return n;
}
