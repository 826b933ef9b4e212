// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "explain.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "match.bpf.h"

/* A destination in the forms that are judged, as bpf/flow.bpf.h brings it to. */
struct forms {
	__be32 v4;
	__be32 v6[4];
	uint16_t port;
	uint8_t proto;
	bool has4;
	bool has6;
};

static int dest_proto(unsigned int bits, uint8_t *out)
{
	switch (bits) {
	case 0:
	case PROTO_TCP:
		*out = IPPROTO_TCP;
		return 0;
	case PROTO_UDP:
		*out = IPPROTO_UDP;
		return 0;
	case PROTO_ICMP:
		*out = IPPROTO_ICMP;
		return 0;
	default:
		return -EINVAL;
	}
}

static int dest_from_rule(const char *text, const struct rule *rule, struct dest *out,
			  struct why *why)
{
	const struct prefix *prefix = &rule->prefix;
	struct dest dest = {.family = prefix->family};

	if (rule->set || rule->list || prefix->len != prefix_width(prefix))
		return why_set(why, -EINVAL, "\"%s\" is not one address", text);
	if (strchr(text, '*') || rule->nports > 1 ||
	    (rule->nports && rule->ports->lo != rule->ports->hi))
		return why_set(why, -EINVAL, "\"%s\": a destination has one port", text);
	if (dest_proto(rule->protos, &dest.proto))
		return why_set(why, -EINVAL, "\"%s\": a destination has one protocol", text);
	memcpy(dest.addr, prefix->bytes, sizeof(dest.addr));
	dest.port = rule->nports ? rule->ports->lo : 0;
	*out = dest;
	return 0;
}

int dest_parse(const char *text, struct dest *out, struct why *why)
{
	struct rule rule;
	int err = rule_parse(text, &rule, why);

	if (err)
		return err;
	err = dest_from_rule(text, &rule, out, why);
	rule_free(&rule);
	return err;
}

/* A socket that is bound to nothing is meant: see flow_resolve_any4(). */
static void set_v4(struct forms *f, __be32 addr)
{
	f->v4 = !addr && f->proto == IPPROTO_TCP ? htonl(INADDR_LOOPBACK) : addr;
	f->has4 = true;
}

static void set_v6(struct forms *f, const __be32 addr[4])
{
	if (addr6_is_mapped(addr)) {
		set_v4(f, addr[3]);
		return;
	}
	memcpy(f->v6, addr, sizeof(f->v6));
	if (addr6_is_any(addr))
		f->v6[3] = htonl(1);
	f->has6 = true;
	f->has4 = addr6_carried4(addr, &f->v4);
}

static struct forms dest_forms(const struct dest *dest)
{
	struct forms f = {.proto = proto_fold(dest->proto)};
	__be32 addr[4];

	f.port = f.proto == IPPROTO_ICMP ? 0 : dest->port;
	memcpy(addr, dest->addr, sizeof(addr));
	if (dest->family == AF_INET)
		set_v4(&f, addr[0]);
	else
		set_v6(&f, addr);
	return f;
}

static int scan_ports(const struct explain_source *source, const struct cgnet_prefix *value,
		      const struct forms *f, struct explanation *out)
{
	for (uint32_t i = 0; i < value->nports; i++) {
		struct cgnet_port entry;
		int err = source->port(source->arg, value->first_port + i, &entry);

		if (err)
			return err;
		if (port_matches(&entry, f->proto, f->port)) {
			out->verdict = entry.verdict;
			out->rule = entry.rule;
			return 0;
		}
	}
	return 0;
}

/* As is_up_to_listener() in bpf/verdict.bpf.h: only TCP and UDP have somebody who listens. */
static bool is_up_to_listener(const struct explain_source *source, const struct forms *f,
			      uint8_t flags)
{
	bool is_carried = f->has6 && f->has4;

	return source->settings.loopback == CGNET_LOOPBACK_SESSION && f->proto != IPPROTO_ICMP &&
	       (flags & CGNET_THIS_HOST) && !(flags & CGNET_SENTINEL) && !is_carried;
}

static int judge(const struct explain_source *source, uint8_t family, const void *addr,
		 const struct forms *f, struct explanation *out)
{
	struct cgnet_prefix value;
	struct explanation found = {.prefix.family = family};
	int err = source->lookup(source->arg, family, addr, &value);

	if (err)
		return err;
	found.verdict = value.verdict;
	found.rule = value.rule;
	found.prefix.len = value.prefixlen;
	memcpy(found.prefix.bytes, addr, family == AF_INET ? 4 : 16);
	prefix_mask(&found.prefix);
	err = scan_ports(source, &value, f, &found);
	if (err)
		return err;
	found.own_servers =
		found.verdict == CGNET_DENY && is_up_to_listener(source, f, value.flags);
	*out = found;
	return 0;
}

/* Denied if any form of the destination is. */
static int judge_forms(const struct explain_source *source, const struct forms *f,
		       struct explanation *out)
{
	struct explanation carried;
	int err;

	if (!f->has6)
		return judge(source, AF_INET, &f->v4, f, out);
	err = judge(source, AF_INET6, f->v6, f, out);
	if (err || !f->has4 || out->verdict == CGNET_DENY)
		return err;
	err = judge(source, AF_INET, &f->v4, f, &carried);
	if (!err && carried.verdict == CGNET_DENY)
		*out = carried;
	return err;
}

/* A raw socket can send any protocol. */
static bool has_socket(const struct explain_source *source, uint8_t proto)
{
	unsigned int bit = CGNET_PROTO_TCP;

	if (proto == IPPROTO_UDP)
		bit = CGNET_PROTO_UDP;
	else if (proto == IPPROTO_ICMP)
		bit = CGNET_PROTO_ICMP;
	return source->settings.protocols & (bit | CGNET_PROTO_RAW);
}

int explain(const struct explain_source *source, const struct dest *dest, struct explanation *out)
{
	struct forms f = dest_forms(dest);
	struct explanation found;
	int err = judge_forms(source, &f, &found);

	if (err)
		return err;
	if (!has_socket(source, f.proto)) {
		found.verdict = CGNET_DENY;
		found.own_servers = false;
		found.no_socket = true;
	}
	*out = found;
	return 0;
}

const char *explain_note(const struct explanation *e)
{
	if (e->no_socket)
		return "no rule, but the class's protocols refuse the socket";
	if (e->own_servers)
		return "servers of the session itself are reachable there";
	return NULL;
}

/* The key at index i of a compiled trie. */
static struct prefix key_at(const struct compiled_class *c, uint8_t family, size_t i)
{
	struct prefix p = {.family = family};

	if (family == AF_INET) {
		p.len = c->keys4[i].prefixlen;
		memcpy(p.bytes, c->keys4[i].addr, sizeof(c->keys4[i].addr));
	} else {
		p.len = c->keys6[i].prefixlen;
		memcpy(p.bytes, c->keys6[i].addr, sizeof(c->keys6[i].addr));
	}
	return p;
}

/* Index of the last key that is not after p. The first key, 0.0.0.0/0 or ::/0, never is. */
static size_t last_up_to(const struct compiled_class *c, const struct prefix *p)
{
	size_t lo = 0, hi = p->family == AF_INET ? c->n4 : c->n6;

	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;
		struct prefix key = key_at(c, p->family, mid);

		if (prefix_compare(&key, p) > 0)
			hi = mid;
		else
			lo = mid;
	}
	return lo;
}

static unsigned int common_bits(const struct prefix *a, const struct prefix *b)
{
	unsigned int n = 0;

	while (n < prefix_width(a) && !((a->bytes[n / 8] ^ b->bytes[n / 8]) & (0x80 >> (n % 8))))
		n++;
	return n;
}

/*
 * The longest match is the last key up to addr, or it encloses that key: then it is no longer than
 * what the key and addr have in common, and the search goes on from there.
 */
static int compiled_lookup(void *arg, uint8_t family, const uint8_t *addr, struct cgnet_prefix *out)
{
	const struct compiled_class *c = arg;
	struct prefix at = {.family = family};
	struct prefix key;
	size_t i;

	at.len = prefix_width(&at);
	memcpy(at.bytes, addr, at.len / 8);
	for (;;) {
		i = last_up_to(c, &at);
		key = key_at(c, family, i);
		if (prefix_contains(&key, &at))
			break;
		at.len = common_bits(&key, &at);
		prefix_mask(&at);
	}
	*out = family == AF_INET ? c->values4[i] : c->values6[i];
	return 0;
}

static int compiled_port(void *arg, uint32_t index, struct cgnet_port *out)
{
	const struct compiled_class *c = arg;

	if (index >= c->nports)
		return -ENOENT;
	*out = c->ports[index];
	return 0;
}

struct explain_source explain_compiled(const struct compiled_class *c)
{
	return (struct explain_source){
		.arg = (void *)c,
		.settings = c->settings,
		.lookup = compiled_lookup,
		.port = compiled_port,
	};
}
