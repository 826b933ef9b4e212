/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside the compiler: the rules of a class spread out over the prefixes that they apply to. */
#ifndef CGNET_EXPAND_H
#define CGNET_EXPAND_H

#include "facts.h"
#include "policy.h"

/*
 * Where a rule stands among those of its prefix: the tier (ports and protocol, ports, protocol,
 * neither) times RANK_TIER, plus how it came to the prefix. Lower ranks are heard first, and the
 * rules of one rank in the order of the file.
 */
enum rank {
	RANK_RUNTIME_DENY = 0, /* rules given at run time; the file's give way */
	RANK_RUNTIME_ALLOW,
	RANK_LITERAL, /* so that explain names the most exact rule, not a set that agrees */
	RANK_SET,
	RANK_DYNAMIC_DENY,
	RANK_DYNAMIC_ALLOW,
	RANK_TIER,
	RANK_PLAIN = 3 * RANK_TIER, /* from here on: neither ports nor protocol */

	/* No rule: the prefix has to be in the trie. */
	RANK_THIS_HOST = 4 * RANK_TIER, /* belongs to @loopback or @host */
	RANK_ALWAYS,			/* holds the default, or is a sentinel */
};

/* A prefix and a rule that applies to it. A list may bring millions: kept at 24 bytes. */
struct pair {
	struct prefix prefix;
	uint8_t rank;
	uint32_t rule; /* row of the class's rule table; 0 for the last two ranks */
};

/* True for a rule of the file that applies to the pair's prefix on every host. */
static inline bool pair_is_static(const struct pair *p)
{
	unsigned int source = p->rank % RANK_TIER;

	return p->rank < RANK_THIS_HOST && (source == RANK_LITERAL || source == RANK_SET);
}

/* What the compiler knows of a rule besides its text; indexed by row of the rule table. */
struct rule_info {
	const struct rule *rule; /* NULL for the rows before CGNET_RULE_FIRST */
	const struct port_range *ports;
	size_t nports;
	unsigned int protos;
	bool dynamic;	      /* what it applies to may change with the host */
	bool empty;	      /* applies to no prefix now */
	bool broad;	      /* has a prefix so short that it takes this host in by the way */
	bool opens_host;      /* broad, and decides for this host */
	bool contradicted;    /* says the opposite of another rule */
	bool used;	      /* decides for some destination */
	uint32_t shadowed_by; /* a rule that is heard before it and leaves it nothing; 0 if none */
	const struct prefix *overflow; /* a prefix to which it adds one port entry too many */
};

struct expansion {
	struct pair *pairs; /* sorted by prefix_compare(), rank, rule; no duplicates */
	size_t n, cap;
	struct rule_info *infos;
	size_t ninfos;
};

/*
 * Fills out (zeroed by the caller, who frees it in any case) from the rules of c, the prefixes of
 * this host, the sentinels, 0.0.0.0/0 and ::/0. Returns 0, or what set_expand() returned.
 */
int expand_class(const struct policy *policy, const struct class *c, const struct facts *facts,
		 struct expansion *out);

void expansion_free(struct expansion *x);

/* Number of pairs from index first on that share its prefix. */
size_t expansion_group(const struct expansion *x, size_t first);

/* True if there are ports and protocols that both rules are about. */
bool rules_overlap(const struct rule_info *a, const struct rule_info *b);

/* True for an address of the self-test. */
bool prefix_is_sentinel(const struct prefix *p);

#endif
