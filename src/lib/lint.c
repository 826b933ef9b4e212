// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "lint.h"

#include <errno.h>
#include <string.h>

/* A class with more of them has one cause. */
#define MAX_CONTRADICTIONS 1000

#define PORTS_STR_SIZE 64

/* Two rules that were reported. */
struct clash {
	uint32_t first, second;
};

struct clashes {
	struct clash *items;
	size_t n, cap;
};

static const char *word(const struct rule *rule)
{
	return rule->verdict == CGNET_ALLOW ? "allow" : "deny";
}

/* For static pairs of one prefix and tier. */
static bool contradict(const struct expansion *x, const struct pair *a, const struct pair *b)
{
	const struct rule_info *left = &x->infos[a->rule], *right = &x->infos[b->rule];

	return left->rule->verdict != right->rule->verdict && rules_overlap(left, right);
}

static bool was_reported(const struct clashes *seen, uint32_t first, uint32_t second)
{
	for (size_t i = 0; i < seen->n; i++)
		if (seen->items[i].first == first && seen->items[i].second == second)
			return true;
	return false;
}

static void report_clash(const struct expansion *x, const struct pair *a, const struct pair *b,
			 struct diags *d)
{
	const struct rule *early = x->infos[a->rule].rule, *late = x->infos[b->rule].rule;
	char prefix[PREFIX_STR_SIZE];

	if (!early->set && !late->set)
		diag_error(d, late->file, late->line, "%s \"%s\" contradicts %s \"%s\" (line %d)",
			   word(late), late->text, word(early), early->text, early->line);
	else
		diag_error(d, late->file, late->line,
			   "%s \"%s\" contradicts %s \"%s\" (line %d): both hold for %s",
			   word(late), late->text, word(early), early->text, early->line,
			   prefix_format(&a->prefix, prefix));
}

static int check_pair(struct expansion *x, const struct pair *a, const struct pair *b,
		      struct clashes *seen, struct diags *d)
{
	const struct pair *early = a->rule < b->rule ? a : b, *late = early == a ? b : a;

	if (!contradict(x, a, b) || was_reported(seen, early->rule, late->rule))
		return 0;
	if (ARRAY_RESERVE(&seen->items, &seen->cap, seen->n))
		return -ENOMEM;
	seen->items[seen->n++] = (struct clash){early->rule, late->rule};
	x->infos[a->rule].contradicted = x->infos[b->rule].contradicted = true;
	report_clash(x, early, late, d);
	if (seen->n == MAX_CONTRADICTIONS)
		diag_error(d, x->infos[late->rule].rule->file, x->infos[late->rule].rule->line,
			   "too many contradictions, the rest is not shown");
	return 0;
}

/* Number of static pairs from the first one on that have its tier. */
static size_t static_run(const struct pair *group, size_t n)
{
	size_t run = 0;

	while (run < n && pair_is_static(&group[run]) &&
	       group[run].rank / RANK_TIER == group->rank / RANK_TIER)
		run++;
	return run;
}

static bool run_is_mixed(const struct expansion *x, const struct pair *run, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (x->infos[run[i].rule].rule->verdict != x->infos[run->rule].rule->verdict)
			return true;
	return false;
}

static int check_run(struct expansion *x, const struct pair *run, size_t n, struct clashes *seen,
		     struct diags *d)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n && seen->n < MAX_CONTRADICTIONS; j++)
			if (check_pair(x, &run[i], &run[j], seen, d))
				return -ENOMEM;
	return 0;
}

static int check_group(struct expansion *x, const struct pair *group, size_t n,
		       struct clashes *seen, struct diags *d)
{
	size_t run;
	int err = 0;

	for (size_t i = 0; i < n && !err; i += run ? run : 1) {
		run = static_run(&group[i], n - i);
		if (run_is_mixed(x, &group[i], run))
			err = check_run(x, &group[i], run, seen, d);
	}
	return err;
}

int lint_contradictions(struct expansion *x, struct diags *d)
{
	struct clashes seen = {0};
	int err = 0;
	size_t n;

	for (size_t i = 0; i < x->n && !err; i += n) {
		n = expansion_group(x, i);
		err = check_group(x, &x->pairs[i], n, &seen, d);
	}
	free(seen.items);
	return err;
}

static bool same_target(const struct rule *a, const struct rule *b)
{
	if (!a->set != !b->set || !a->host != !b->host)
		return false;
	if (a->host)
		return !strcmp(a->host, b->host);
	return a->set ? !strcmp(a->set, b->set) : !prefix_compare(&a->prefix, &b->prefix);
}

static bool same_meaning(const struct rule_info *a, const struct rule_info *b)
{
	return a->rule->verdict == b->rule->verdict && a->protos == b->protos &&
	       a->nports == b->nports &&
	       (!a->nports || !memcmp(a->ports, b->ports, a->nports * sizeof(*a->ports))) &&
	       same_target(a->rule, b->rule);
}

/*
 * A rule before the one in row that says the same; NULL if there is none. Where prefixes are at
 * hand, it is the one that leaves nothing.
 */
static const struct rule *find_original(const struct expansion *x, size_t row)
{
	const struct rule_info *info = &x->infos[row];

	if (info->shadowed_by)
		return same_meaning(&x->infos[info->shadowed_by], info)
			       ? x->infos[info->shadowed_by].rule
			       : NULL;
	for (size_t i = CGNET_RULE_FIRST; info->empty && i < row; i++)
		if (same_meaning(&x->infos[i], info))
			return x->infos[i].rule;
	return NULL;
}

/* Says why the rule in row, which decides for nothing, does not. */
static void report_unused(const struct expansion *x, size_t row, struct diags *d)
{
	const struct rule_info *info = &x->infos[row];
	const struct rule *rule = info->rule, *by = x->infos[info->shadowed_by].rule;
	const struct rule *original = find_original(x, row);

	if (original)
		diag_warning(d, rule->file, rule->line,
			     "%s \"%s\" can never match: it repeats \"%s\" (line %d)", word(rule),
			     rule->text, original->text, original->line);
	else if (info->dynamic && by && by->verdict != rule->verdict)
		diag_warning(d, rule->file, rule->line,
			     "%s \"%s\" matches nothing on this host: %s \"%s\" (line %d) comes "
			     "first",
			     word(rule), rule->text, word(by), by->text, by->line);
	else if (info->dynamic)
		return;
	else if (info->empty)
		diag_warning(d, rule->file, rule->line,
			     "%s \"%s\" can never match: the set is empty", word(rule), rule->text);
	else if (by)
		diag_warning(d, rule->file, rule->line,
			     "%s \"%s\" can never match: %s \"%s\" (line %d) comes first",
			     word(rule), rule->text, word(by), by->text, by->line);
	else
		diag_warning(d, rule->file, rule->line,
			     "%s \"%s\" can never match: more specific rules take all of it",
			     word(rule), rule->text);
}

/* "port 443", "ports 80,8000-8100", "every port"; a long list ends in "...". */
static const char *ports_words(const struct rule_info *info, char buf[PORTS_STR_SIZE])
{
	bool single = info->nports == 1 && info->ports->lo == info->ports->hi;
	size_t used;

	if (!info->nports)
		return "every port";
	used = snprintf(buf, PORTS_STR_SIZE, single ? "port" : "ports");
	for (size_t i = 0; i < info->nports; i++) {
		const struct port_range *range = &info->ports[i];

		if (used + sizeof(",65535-65535,...") > PORTS_STR_SIZE) {
			snprintf(buf + used, PORTS_STR_SIZE - used, ",...");
			break;
		}
		used += snprintf(buf + used, PORTS_STR_SIZE - used, "%c%u", i ? ',' : ' ',
				 range->lo);
		if (range->hi != range->lo)
			used += snprintf(buf + used, PORTS_STR_SIZE - used, "-%u", range->hi);
	}
	return buf;
}

static void report_broad(const struct rule_info *info, struct diags *d)
{
	char ports[PORTS_STR_SIZE];

	diag_warning(d, info->rule->file, info->rule->line,
		     "allow \"%s\" also opens %s of this host; deny @loopback and @host to keep it "
		     "closed",
		     info->rule->text, ports_words(info, ports));
}

static void report_overflow(const struct rule_info *info, struct diags *d)
{
	char prefix[PREFIX_STR_SIZE];

	diag_error(d, info->rule->file, info->rule->line,
		   "%s \"%s\": more than %d port entries hold for %s", word(info->rule),
		   info->rule->text, CGNET_PORTS_PER_PREFIX, prefix_format(info->overflow, prefix));
}

/* No rule can allow what the self-test tries; an exception for it would be a lie. */
static bool allows_sentinel(const struct rule *rule)
{
	return rule->verdict == CGNET_ALLOW && !rule->set && prefix_is_sentinel(&rule->prefix);
}

_Static_assert((int)PROTO_TCP == (int)CGNET_PROTO_TCP && (int)PROTO_UDP == (int)CGNET_PROTO_UDP &&
		       (int)PROTO_ICMP == (int)CGNET_PROTO_ICMP,
	       "a rule's protocols are compared with a class's");

/*
 * False if no socket that the class can make sends what the rule is about; a raw one sends
 * anything. Protocols of an incomplete class are not known.
 */
static bool has_sockets(const struct rule_info *info, const struct class *c)
{
	if (c->incomplete || (c->protocols & CGNET_PROTO_RAW))
		return true;
	if (info->protos)
		return info->protos & c->protocols;
	return !info->nports || (c->protocols & ~(unsigned int)CGNET_PROTO_ICMP);
}

static void report_no_sockets(const struct rule *rule, struct diags *d)
{
	if (rule->protos)
		diag_warning(d, rule->file, rule->line,
			     "%s \"%s\" can never match: the class's protocols lack %s", word(rule),
			     rule->text, strrchr(rule->text, '/') + 1);
	else
		diag_warning(d, rule->file, rule->line,
			     "%s \"%s\" can never match: none of the class's protocols has ports",
			     word(rule), rule->text);
}

void lint_rules(const struct expansion *x, const struct class *c, struct diags *d)
{
	for (size_t row = CGNET_RULE_FIRST; row < x->ninfos; row++) {
		const struct rule_info *info = &x->infos[row];

		if (info->overflow)
			report_overflow(info, d);
		else if (allows_sentinel(info->rule))
			diag_error(d, info->rule->file, info->rule->line,
				   "allow \"%s\": the self-test needs this address, which every "
				   "class denies",
				   info->rule->text);
		else if (!has_sockets(info, c))
			report_no_sockets(info->rule, d);
		else if (!info->used && !info->contradicted)
			report_unused(x, row, d);
		if (info->opens_host)
			report_broad(info, d);
	}
}
