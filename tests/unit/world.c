// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "world.h"

#include <string.h>
#include <sys/socket.h>

#include "suites.h"

void world_fact(struct prefixes *list, const char *prefix)
{
	struct prefix p;

	CU_ASSERT_EQUAL_FATAL(prefix_parse(prefix, &p, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(prefixes_add(list, &p), 0);
}

bool world_build(struct world *w, const char *text)
{
	w->policy = policy_parse("test.conf", text, strlen(text), 0, &w->diags);
	if (w->policy)
		w->compiled = compile_policy(w->policy, &w->facts, &w->diags);
	return w->compiled;
}

/* Names in the tables' rules and destinations that stand for an address of either family. */
static const struct {
	char name;
	const char *v4, *v6;
} twins[] = {
	{'A', "0.0.0.0/0", "::/0"},
	{'W', "10.0.0.0/8", "fd00::/16"}, /* wide */
	{'M', "10.62.0.0/16", "fd00:62::/32"},
	{'H', "10.62.0.5", "fd00:62::5"}, /* host, and its neighbour */
	{'N', "10.62.0.6", "fd00:62::6"},
	{'O', "10.9.9.9", "fd00:9::9"},	  /* in W, not in M */
	{'P', "8.8.8.8", "2606:4700::1"}, /* public */
	{'L', "127.0.0.0/8", "::1"},	  /* loopback, and the address in it */
	{'l', "127.0.0.1", "::1"},
	{'S', "192.0.2.7", "2001:db8::7"},	/* this host's own */
	{'D', "192.0.2.0/24", "2001:db8::/64"}, /* its network */
	{'d', "192.0.2.9", "2001:db8::9"},
	{'R', "192.0.2.53", "2001:db8::53"}, /* its name server */
};

/* Writes text with the names replaced: $H:443 becomes 10.62.0.5:443 or [fd00:62::5]:443. */
static void write_twin(FILE *out, const char *text, bool v6)
{
	for (; *text; text++) {
		const char *addr = NULL;

		if (*text != '$') {
			fputc(*text, out);
			continue;
		}
		text++;
		for (size_t i = 0; i < ARRAY_SIZE(twins); i++)
			if (twins[i].name == *text)
				addr = v6 ? twins[i].v6 : twins[i].v4;
		CU_ASSERT_PTR_NOT_NULL_FATAL(addr);
		fprintf(out, v6 && text[1] == ':' ? "[%s]" : "%s", addr);
	}
}

char *world_twin(const char *text, bool v6)
{
	char *buf = NULL;
	size_t size;
	FILE *out = open_memstream(&buf, &size);

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	write_twin(out, text, v6);
	fclose(out);
	return buf;
}

bool world_build_class(struct world *w, const char *body, bool v6)
{
	_cleanup_free_ char *twinned = world_twin(body, v6);
	char text[8192];

	snprintf(text, sizeof(text), "class c {\n%s\n}\ndefault_class = \"c\"\n", twinned);
	return world_build(w, text);
}

void world_this_host(struct world *w)
{
	world_fact(&w->facts.host, "192.0.2.7");
	world_fact(&w->facts.host, "2001:db8::7");
	world_fact(&w->facts.onlink, "192.0.2.0/24");
	world_fact(&w->facts.onlink, "2001:db8::/64");
	world_fact(&w->facts.resolver, "192.0.2.53");
	world_fact(&w->facts.resolver, "2001:db8::53");
}

enum cgnet_verdict world_ask(const struct world *w, const char *text, const char **rule)
{
	const struct compiled_class *c = &w->compiled->classes[0];
	struct explain_source source = explain_compiled(c);
	struct explanation e = {0};
	struct dest dest;

	CU_ASSERT_EQUAL_FATAL(dest_parse(text, &dest, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(explain(&source, &dest, &e), 0);
	*rule = c->rules[e.rule].text;
	return e.verdict;
}

const struct diag *world_diag(const struct world *w, enum diag_kind kind, int line,
			      const char *part)
{
	for (size_t i = 0; i < w->diags.n; i++) {
		const struct diag *d = &w->diags.items[i];

		if (d->kind == kind && d->line == line && strstr(d->text, part))
			return d;
	}
	return NULL;
}

size_t world_count(const struct world *w, enum diag_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < w->diags.n; i++)
		n += w->diags.items[i].kind == kind;
	return n;
}

const struct cgnet_prefix *world_entry(const struct world *w, const char *prefix)
{
	const struct compiled_class *c = &w->compiled->classes[0];
	struct prefix p;

	CU_ASSERT_EQUAL_FATAL(prefix_parse(prefix, &p, NULL), 0);
	for (size_t i = 0; p.family == AF_INET && i < c->n4; i++)
		if (c->keys4[i].prefixlen == p.len && !memcmp(c->keys4[i].addr, p.bytes, 4))
			return &c->values4[i];
	for (size_t i = 0; p.family == AF_INET6 && i < c->n6; i++)
		if (c->keys6[i].prefixlen == p.len && !memcmp(c->keys6[i].addr, p.bytes, 16))
			return &c->values6[i];
	return NULL;
}

void world_free(struct world *w)
{
	compiled_free(w->compiled);
	policy_free(w->policy);
	diags_free(&w->diags);
	facts_free(&w->facts);
	*w = (struct world){0};
}
