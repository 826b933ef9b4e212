// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "reference.h"

#include <netinet/in.h>
#include <string.h>

#include "sets.h"

/* A prefix of a rule. */
struct target {
	struct prefix prefix;
	const struct rule *rule; /* NULL: no rule's */
	uint32_t row;
	bool dynamic;
};

struct targets {
	struct target *items;
	size_t n, cap;
};

struct reference {
	const struct class *class;
	struct targets rules;
	struct targets host; /* @loopback and @host */
};

static const uint8_t sentinel4[4] = CGNET_SENTINEL4;
static const uint8_t sentinel6[16] = CGNET_SENTINEL6;

static int add_target(struct targets *t, const struct prefix *p, const struct rule *rule,
		      uint32_t row, bool dynamic)
{
	if (ARRAY_RESERVE(&t->items, &t->cap, t->n))
		return -1;
	t->items[t->n++] = (struct target){*p, rule, row, dynamic};
	return 0;
}

static int add_set(struct targets *t, const struct policy *policy, const char *set,
		   const struct facts *facts, const struct rule *rule, uint32_t row)
{
	struct set_members members = {0};
	int err = set_expand(policy, set, facts, &members);

	for (size_t i = 0; i < members.n && !err; i++)
		err = add_target(t, &members.items[i].prefix, rule, row, members.items[i].dynamic);
	set_members_free(&members);
	return err;
}

struct reference *reference_new(const struct policy *policy, const struct class *c,
				const struct facts *facts)
{
	struct reference *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return NULL;
	r->class = c;
	err = add_set(&r->host, policy, "loopback", facts, NULL, 0) ||
	      add_set(&r->host, policy, "host", facts, NULL, 0);
	for (size_t i = 0; i < c->rules.n && !err; i++) {
		const struct rule *rule = &c->rules.items[i];

		if (rule->set)
			err = add_set(&r->rules, policy, rule->set, facts, rule,
				      CGNET_RULE_FIRST + i);
		else
			err = add_target(&r->rules, &rule->prefix, rule, CGNET_RULE_FIRST + i,
					 false);
	}
	if (err) {
		reference_free(r);
		return NULL;
	}
	return r;
}

void reference_free(struct reference *r)
{
	if (!r)
		return;
	free(r->rules.items);
	free(r->host.items);
	free(r);
}

static bool bit(const uint8_t *bytes, unsigned int i)
{
	return bytes[i / 8] >> (7 - i % 8) & 1;
}

static bool holds(const struct prefix *p, uint8_t family, const uint8_t *addr)
{
	if (p->family != family)
		return false;
	for (unsigned int i = 0; i < p->len; i++)
		if (bit(p->bytes, i) != bit(addr, i))
			return false;
	return true;
}

static bool is_resolver(const struct rule *rule)
{
	return rule->set && !strcmp(rule->set, "resolver");
}

static bool has_ports(const struct rule *rule)
{
	return rule->nports || is_resolver(rule);
}

static bool has_protos(const struct rule *rule)
{
	return rule->protos || is_resolver(rule);
}

static bool takes_port(const struct rule *rule, uint16_t port)
{
	if (is_resolver(rule))
		return port == 53;
	for (size_t i = 0; i < rule->nports; i++)
		if (port >= rule->ports[i].lo && port <= rule->ports[i].hi)
			return true;
	return !rule->nports;
}

static bool takes_proto(const struct rule *rule, uint8_t proto)
{
	if (is_resolver(rule))
		return proto == IPPROTO_TCP || proto == IPPROTO_UDP;
	return !rule->protos || (proto == IPPROTO_TCP && (rule->protos & PROTO_TCP)) ||
	       (proto == IPPROTO_UDP && (rule->protos & PROTO_UDP)) ||
	       (proto == IPPROTO_ICMP && (rule->protos & PROTO_ICMP));
}

static int tier(const struct rule *rule)
{
	if (has_ports(rule))
		return has_protos(rule) ? 0 : 1;
	return has_protos(rule) ? 2 : 3;
}

/* True if a is heard before b, where both match. */
static bool beats(const struct target *a, const struct target *b)
{
	if (a->prefix.len != b->prefix.len)
		return a->prefix.len > b->prefix.len;
	if (tier(a->rule) != tier(b->rule))
		return tier(a->rule) < tier(b->rule);
	if (a->dynamic != b->dynamic)
		return !a->dynamic;
	if (a->dynamic && a->rule->verdict != b->rule->verdict)
		return a->rule->verdict == CGNET_DENY;
	if (!a->dynamic && !a->rule->set != !b->rule->set)
		return !a->rule->set;
	return a->row < b->row;
}

static bool is_sentinel(uint8_t family, const uint8_t *addr)
{
	return family == AF_INET ? !memcmp(addr, sentinel4, 4) : !memcmp(addr, sentinel6, 16);
}

static void longest(const struct targets *t, uint8_t family, const uint8_t *addr, uint8_t *len)
{
	for (size_t i = 0; i < t->n; i++)
		if (holds(&t->items[i].prefix, family, addr) && t->items[i].prefix.len > *len)
			*len = t->items[i].prefix.len;
}

static bool is_this_host(const struct reference *r, uint8_t family, const uint8_t *addr)
{
	for (size_t i = 0; i < r->host.n; i++)
		if (holds(&r->host.items[i].prefix, family, addr))
			return true;
	return false;
}

/* True if the session's own servers are reached where the rules deny. */
static bool spares_own(const struct reference *r, uint8_t family, const uint8_t *addr,
		       uint8_t proto)
{
	return r->class->loopback == CGNET_LOOPBACK_SESSION && proto != IPPROTO_ICMP &&
	       is_this_host(r, family, addr) && !is_sentinel(family, addr);
}

static struct explanation judge(const struct reference *r, uint8_t family, const uint8_t *addr,
				uint8_t proto, uint16_t port)
{
	struct explanation out = {.prefix.family = family};
	const struct target *best = NULL;

	longest(&r->rules, family, addr, &out.prefix.len);
	longest(&r->host, family, addr, &out.prefix.len);
	for (size_t i = 0; i < r->rules.n; i++) {
		const struct target *t = &r->rules.items[i];

		if (holds(&t->prefix, family, addr) && takes_port(t->rule, port) &&
		    takes_proto(t->rule, proto) && (!best || beats(t, best)))
			best = t;
	}
	if (is_sentinel(family, addr)) {
		out.verdict = CGNET_DENY;
		out.rule = CGNET_RULE_SENTINEL;
		out.prefix.len = family == AF_INET ? 32 : 128;
	} else if (best) {
		out.verdict = best->rule->verdict;
		out.rule = best->row;
	} else if (r->class->fallback == CGNET_ALLOW &&
		   r->class->loopback != CGNET_LOOPBACK_ALLOW && is_this_host(r, family, addr)) {
		out.verdict = CGNET_DENY;
		out.rule = CGNET_RULE_LOOPBACK;
	} else {
		out.verdict = r->class->fallback;
		out.rule = CGNET_RULE_DEFAULT;
	}
	out.own_servers = out.verdict == CGNET_DENY && spares_own(r, family, addr, proto);
	for (unsigned int i = 0; i < out.prefix.len; i++)
		out.prefix.bytes[i / 8] |= bit(addr, i) << (7 - i % 8);
	return out;
}

static bool starts(const uint8_t *addr, const char *hex)
{
	for (unsigned int byte; sscanf(hex, "%2x", &byte) == 1; hex += 2)
		if (*addr++ != byte)
			return false;
	return true;
}

/* The v4 address in a v6 one, if there is any. */
static bool carried(const uint8_t a[16], uint8_t v4[4])
{
	bool low = !a[12] && !a[13] && !a[14] && a[15] < 2;

	if (starts(a, "0064ff9b0000000000000000") ||
	    (starts(a, "000000000000000000000000") && !low)) {
		memcpy(v4, a + 12, 4);
		return true;
	}
	if (starts(a, "2002")) {
		memcpy(v4, a + 2, 4);
		return true;
	}
	if (starts(a, "20010000")) {
		for (int i = 0; i < 4; i++)
			v4[i] = 255 - a[12 + i];
		return true;
	}
	return false;
}

static struct explanation judge4(const struct reference *r, const uint8_t *addr, uint8_t proto,
				 uint16_t port)
{
	static const uint8_t any[4], loopback[4] = {127, 0, 0, 1};

	if (proto == IPPROTO_TCP && !memcmp(addr, any, 4))
		addr = loopback;
	return judge(r, AF_INET, addr, proto, port);
}

void reference_decide(const struct reference *r, const struct dest *dest, struct explanation *out)
{
	static const uint8_t any[16], loopback[16] = {[15] = 1};
	uint8_t proto = dest->proto == IPPROTO_ICMPV6 ? IPPROTO_ICMP : dest->proto;
	uint16_t port = proto == IPPROTO_ICMP ? 0 : dest->port;
	const uint8_t *addr = dest->addr;
	uint8_t v4[4];

	if (dest->family == AF_INET) {
		*out = judge4(r, addr, proto, port);
		return;
	}
	if (starts(addr, "00000000000000000000ffff")) {
		*out = judge4(r, addr + 12, proto, port);
		return;
	}
	if (!memcmp(addr, any, 16))
		addr = loopback;
	*out = judge(r, AF_INET6, addr, proto, port);
	if (!carried(addr, v4))
		return;
	if (out->verdict == CGNET_ALLOW) {
		struct explanation inner = judge(r, AF_INET, v4, proto, port);

		if (inner.verdict == CGNET_DENY)
			*out = inner;
	}
	out->own_servers = false;
}

static bool rules_overlap(const struct rule *a, const struct rule *b)
{
	static const uint8_t protos[] = {IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMP};
	bool shared = false;

	for (size_t i = 0; i < ARRAY_SIZE(protos); i++)
		shared |= takes_proto(a, protos[i]) && takes_proto(b, protos[i]);
	if (!shared)
		return false;
	for (unsigned int port = 0; port <= UINT16_MAX; port++)
		if (takes_port(a, port) && takes_port(b, port))
			return true;
	return false;
}

bool reference_contradicts(const struct reference *r)
{
	for (size_t i = 0; i < r->rules.n; i++)
		for (size_t j = 0; j < i; j++) {
			const struct target *a = &r->rules.items[i], *b = &r->rules.items[j];

			if (!a->dynamic && !b->dynamic && a->rule->verdict != b->rule->verdict &&
			    a->prefix.len == b->prefix.len &&
			    holds(&a->prefix, b->prefix.family, b->prefix.bytes) &&
			    tier(a->rule) == tier(b->rule) && rules_overlap(a->rule, b->rule))
				return true;
		}
	return false;
}
