// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The diff of two policies of a class, written entry by entry to a copy of the old one as the
 * loader writes it to a trie: on the way every destination has the verdict of the old policy or of
 * the new one, at the end that of the new one. CGNET_SEED repeats a run.
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "diff.h"
#include "gen.h"
#include "suites.h"
#include "world.h"

#ifdef __SANITIZE_ADDRESS__
#define PAIRS 100
#else
#define PAIRS 600
#endif
#define DESTS 24

/* A class as it is in the kernel: tries that are written to. Keys stay sorted. */
struct live {
	struct compiled_class c;
};

static void *copy(const void *from, size_t n, size_t room, size_t size)
{
	void *out = calloc(n + room + 1, size);

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	if (out && n)
		memcpy(out, from, n * size);
	return out;
}

static void live_make(struct live *l, const struct compiled_class *from, size_t room)
{
	l->c = *from;
	l->c.keys4 = copy(from->keys4, from->n4, room, sizeof(*from->keys4));
	l->c.values4 = copy(from->values4, from->n4, room, sizeof(*from->values4));
	l->c.keys6 = copy(from->keys6, from->n6, room, sizeof(*from->keys6));
	l->c.values6 = copy(from->values6, from->n6, room, sizeof(*from->values6));
	l->c.ports = copy(from->ports, from->nports, 0, sizeof(*from->ports));
}

static void live_free(struct live *l)
{
	free(l->c.keys4);
	free(l->c.values4);
	free(l->c.keys6);
	free(l->c.values6);
	free(l->c.ports);
}

static int order(const char *a, const char *b, size_t size)
{
	int by_address = memcmp(a + 4, b + 4, size - 4);
	__u32 x, y;

	memcpy(&x, a, 4);
	memcpy(&y, b, 4);
	return by_address ? by_address : (x > y) - (x < y);
}

/* Writes or removes (value NULL) one entry. Returns false if one to be removed is not there. */
static bool put(char *keys, struct cgnet_prefix *values, size_t *n, const char *key, size_t size,
		const struct cgnet_prefix *value)
{
	size_t at = 0;
	bool there;

	while (at < *n && order(keys + at * size, key, size) < 0)
		at++;
	there = at < *n && !order(keys + at * size, key, size);
	if (!value && !there)
		return false;
	if (!value) {
		(*n)--;
		memmove(keys + at * size, keys + (at + 1) * size, (*n - at) * size);
		memmove(&values[at], &values[at + 1], (*n - at) * sizeof(*values));
		return true;
	}
	if (!there) {
		memmove(keys + (at + 1) * size, keys + at * size, (*n - at) * size);
		memmove(&values[at + 1], &values[at], (*n - at) * sizeof(*values));
		memcpy(keys + at * size, key, size);
		(*n)++;
	}
	values[at] = *value;
	return true;
}

struct run {
	uint64_t seed;
	const struct compiled_class *from, *to;
	struct live live;
	struct dest dests[DESTS];
	size_t steps, failures;
};

static enum cgnet_verdict verdict(const struct compiled_class *c, const struct dest *dest)
{
	struct explain_source source = explain_compiled(c);
	struct explanation e = {0};

	CU_ASSERT_EQUAL(explain(&source, dest, &e), 0);
	return e.verdict;
}

/* ended: all entries are written. */
static void check_all(struct run *r, bool ended)
{
	for (size_t i = 0; i < DESTS; i++) {
		enum cgnet_verdict now = verdict(&r->live.c, &r->dests[i]);

		if (now == verdict(r->to, &r->dests[i]) ||
		    (!ended && now == verdict(r->from, &r->dests[i])))
			continue;
		if (!r->failures++)
			CHECK_ROW(false, "seed %" PRIu64 ": destination %zu has neither verdict",
				  r->seed, i);
	}
	r->steps++;
}

/* Carried v4 addresses make two lookups, which may meet both policies; so only one form is asked.
 */
static void choose_dests(struct run *r, struct gen *g)
{
	for (size_t i = 0; i < DESTS; i++) {
		struct dest *d = &r->dests[i];

		do
			gen_dest(g, d);
		while (d->family != 2 && (d->addr[0] == 0x20 || !d->addr[0]));
	}
}

static void write_trie(struct run *r, const struct trie_diff *d, char *keys,
		       struct cgnet_prefix *values, size_t *n, size_t size)
{
	for (size_t i = 0; i < d->nput; i++) {
		put(keys, values, n, d->put_keys + i * size, size, &d->put_values[i]);
		check_all(r, false);
	}
	for (size_t i = 0; i < d->ndrop; i++) {
		CU_ASSERT(put(keys, values, n, d->drop_keys + i * size, size, NULL));
		check_all(r, false);
	}
}

static void write_diff(struct run *r, struct class_diff *d)
{
	struct compiled_class *c = &r->live.c;

	free(c->ports);
	c->ports = copy(d->ports, d->nports, 0, sizeof(*d->ports));
	c->nports = d->nports;
	check_all(r, false);
	write_trie(r, &d->v4, (char *)c->keys4, c->values4, &c->n4, sizeof(*c->keys4));
	write_trie(r, &d->v6, (char *)c->keys6, c->values6, &c->n6, sizeof(*c->keys6));
	check_all(r, true);
	CU_ASSERT_EQUAL(c->n4, r->to->n4);
	CU_ASSERT_EQUAL(c->n6, r->to->n6);
}

/* There and back again, with the ports that the first diff left behind. */
static void run_pair(struct run *r, struct gen *g, const struct compiled_class *a,
		     const struct compiled_class *b)
{
	struct class_diff d;

	live_make(&r->live, a, b->n4 + b->n6);
	choose_dests(r, g);
	for (int turn = 0; turn < 2; turn++) {
		r->from = turn ? b : a;
		r->to = turn ? a : b;
		CU_ASSERT_EQUAL_FATAL(
			class_diff(r->from, r->to, r->live.c.ports, r->live.c.nports, &d), 0);
		if (turn)
			CU_ASSERT_EQUAL(d.nports, d.nlive); /* every list is there */
		write_diff(r, &d);
		class_diff_free(&d);
	}
	live_free(&r->live);
}

static bool build(struct world *w, struct gen *g, const char *text)
{
	CU_ASSERT_EQUAL_FATAL(gen_facts(g, &w->facts), 0);
	return world_build(w, text);
}

static void random_pairs(void)
{
	const char *given = getenv("CGNET_SEED");
	struct run r = {.seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL)};
	size_t compared = 0;

	for (int i = 0; i < PAIRS && !r.failures; i++, r.seed++) {
		struct gen g = {r.seed};
		_cleanup_free_ char *text = gen_policy(&g), *other = gen_policy(&g);
		struct world a = {0}, b = {0};

		/* Another host half the time, another policy the other half. */
		if (build(&a, &g, text) && build(&b, &g, i % 2 ? text : other)) {
			run_pair(&r, &g, &a.compiled->classes[0], &b.compiled->classes[0]);
			compared++;
		}
		world_free(&a);
		world_free(&b);
	}
	printf("%zu pairs, %zu steps ", compared, r.steps);
	CU_ASSERT(compared >= PAIRS / 10);
}

static void build_or_fail(struct world *w, const char *body)
{
	if (!world_build_class(w, body, false))
		CU_FAIL_FATAL("the policy is refused");
}

static void diff_of(const struct world *a, const struct world *b, struct class_diff *d)
{
	const struct compiled_class *from = &a->compiled->classes[0];

	CU_ASSERT_EQUAL_FATAL(
		class_diff(from, &b->compiled->classes[0], from->ports, from->nports, d), 0);
}

#define BODY "default = allow\n deny = { \"@local\" }\n allow = { \"10.0.0.1:80\" }"

static void same_is_empty(void)
{
	struct world a = {0}, b = {0};
	struct class_diff d;

	world_this_host(&a);
	world_this_host(&b);
	build_or_fail(&a, BODY);
	build_or_fail(&b, BODY);
	diff_of(&a, &b, &d);
	CU_ASSERT_EQUAL(class_diff_size(&d), 0);
	CU_ASSERT_EQUAL(d.nports, d.nlive);
	CU_ASSERT_FALSE(d.rules);
	class_diff_free(&d);
	world_free(&a);
	world_free(&b);
}

/* One more address of the host is one more entry, be the class large or small. */
static void one_address_more(void)
{
	struct world a = {0}, b = {0};
	struct class_diff d;

	world_this_host(&a);
	world_this_host(&b);
	world_fact(&b.facts.host, "45.33.7.2");
	build_or_fail(&a, BODY);
	build_or_fail(&b, BODY);
	diff_of(&a, &b, &d);
	CU_ASSERT_EQUAL(class_diff_size(&d), 1);
	CU_ASSERT_EQUAL(d.v4.nput, 1);
	CU_ASSERT_EQUAL(d.v4.nadded, 1);
	CU_ASSERT_EQUAL(d.nports, d.nlive);
	class_diff_free(&d);
	world_free(&a);
	world_free(&b);
}

static void options_need_a_load(void)
{
	struct world a = {0}, b = {0}, c = {0};

	build_or_fail(&a, BODY);
	build_or_fail(&b, BODY "\n inbound = deny");
	build_or_fail(&c, BODY);
	CU_ASSERT_FALSE(class_diff_can(&a.compiled->classes[0], &b.compiled->classes[0]));
	CU_ASSERT_TRUE(class_diff_can(&a.compiled->classes[0], &c.compiled->classes[0]));
	world_free(&a);
	world_free(&b);
	world_free(&c);
}

int suite_diff(void)
{
	static const struct unit_test tests[] = {
		{"nothing to do between equal policies", same_is_empty},
		{"one address more is one entry", one_address_more},
		{"other options are no diff", options_need_a_load},
		{"old or new verdict at every step", random_pairs},
	};

	return add_suite("diff", tests, ARRAY_SIZE(tests));
}
