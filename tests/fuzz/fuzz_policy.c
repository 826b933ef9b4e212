// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A policy file of any content: parsed, checked and compiled for a fixed host. */
#include <string.h>

#include "compile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Says which promise was broken by crashing there. */
#define PROMISE(holds)                                                                             \
	do {                                                                                       \
		if (!(holds))                                                                      \
			__builtin_trap();                                                          \
	} while (0)

static void add(struct prefixes *list, const char *text)
{
	struct prefix p;

	PROMISE(!prefix_parse(text, &p, NULL) && !prefixes_add(list, &p));
}

static const struct facts *fixed_facts(void)
{
	static struct facts facts;

	if (facts.host.n)
		return &facts;
	add(&facts.host, "192.168.7.7");
	add(&facts.host, "2001:db7::7");
	add(&facts.onlink, "192.168.7.0/24");
	add(&facts.onlink, "2001:db7::/64");
	add(&facts.broadcast, "192.168.7.255");
	add(&facts.resolver, "192.168.7.53");
	add(&facts.resolver, "fd7a:115c:a1e0::53");
	return &facts;
}

static void check_class(const struct compiled_class *c)
{
	PROMISE(c->n4 && c->n6 && c->nrules >= CGNET_RULE_FIRST);
	for (size_t i = 0; i < c->n4; i++)
		PROMISE(c->values4[i].rule < c->nrules &&
			c->values4[i].first_port + c->values4[i].nports <= c->nports &&
			c->values4[i].nports <= CGNET_PORTS_PER_PREFIX);
	for (size_t i = 0; i < c->n6; i++)
		PROMISE(c->values6[i].rule < c->nrules &&
			c->values6[i].first_port + c->values6[i].nports <= c->nports &&
			c->values6[i].nports <= CGNET_PORTS_PER_PREFIX);
}

static void compile(const struct policy *policy, struct diags *d)
{
	struct compiled *compiled = compile_policy(policy, fixed_facts(), d);

	PROMISE(!compiled == !!d->errors);
	for (size_t i = 0; compiled && i < compiled->nclasses; i++)
		check_class(&compiled->classes[i]);
	compiled_free(compiled);
}

static void check_lines(const struct diags *d, const uint8_t *data, size_t size)
{
	int lines = 1;

	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	for (size_t i = 0; i < d->n; i++)
		PROMISE(d->items[i].line >= 0 && d->items[i].line <= lines &&
			!strchr(d->items[i].text, '\n'));
}

static void run(const uint8_t *data, size_t size, unsigned int flags)
{
	struct diags d = {0}, more = {0};
	/* In a directory that is not there: no list can be read. */
	struct policy *policy =
		policy_parse("/nonexistent/fuzz.conf", (const char *)data, size, flags, &d);

	PROMISE(flags || !policy == !!d.errors);
	check_lines(&d, data, size);
	if (policy)
		compile(policy, &more);
	check_lines(&more, data, size);
	policy_free(policy);
	diags_free(&d);
	diags_free(&more);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char absolute[] = "file:/";

	if (memmem(data, size, absolute, strlen(absolute)))
		return 0;
	run(data, size, 0);
	run(data, size, POLICY_KEEP_WRONG);
	return 0;
}
