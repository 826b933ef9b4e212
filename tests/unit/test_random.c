// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The compiler and `explain` against the reference matcher, over random policies, hosts and
 * destinations. CGNET_SEED repeats a run.
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "gen.h"
#include "reference.h"
#include "suites.h"
#include "world.h"

/* Under ASan a tenth of them takes as long. */
#ifdef __SANITIZE_ADDRESS__
#define POLICIES 300
#else
#define POLICIES 3000
#endif
#define DESTS_PER_POLICY 200
#define MIN_COMPARISONS	 (POLICIES * 100)

/* A failure is shown once, with all that is needed to repeat it. */
#define MAX_FAILURES 3

struct tally {
	uint64_t seed;
	size_t compared, refused, failures;
};

static void fail(struct tally *t, const struct world *w, const char *text, const char *what)
{
	CHECK_ROW(false, "seed %" PRIu64 ": %s", t->seed, what);
	if (t->failures++ >= MAX_FAILURES)
		return;
	printf("\nseed %" PRIu64 ": %s\n%s", t->seed, what, text);
	diags_print((struct diags *)&w->diags, stdout);
}

static bool same(const struct explanation *a, const struct explanation *b)
{
	return a->verdict == b->verdict && a->rule == b->rule && a->own_servers == b->own_servers &&
	       !prefix_compare(&a->prefix, &b->prefix);
}

static void describe(const struct dest *dest, const struct explanation *want,
		     const struct explanation *got, char *buf, size_t size)
{
	struct prefix p = {.family = dest->family};
	char addr[PREFIX_STR_SIZE], wanted[PREFIX_STR_SIZE], gotten[PREFIX_STR_SIZE];

	p.len = prefix_width(&p);
	memcpy(p.bytes, dest->addr, sizeof(p.bytes));
	snprintf(buf, size, "%s port %u proto %u: verdict %d rule %u in %s, not %d rule %u in %s",
		 prefix_format(&p, addr), dest->port, dest->proto, want->verdict, want->rule,
		 prefix_format(&want->prefix, wanted), got->verdict, got->rule,
		 prefix_format(&got->prefix, gotten));
}

/* True if a warning says that the rule in row never matches. */
static bool is_called_useless(const struct world *w, uint32_t row)
{
	const struct cgnet_rule *rule = &w->compiled->classes[0].rules[row];

	return row >= CGNET_RULE_FIRST &&
	       (world_diag(w, DIAG_WARNING, rule->line, "can never match") ||
		world_diag(w, DIAG_WARNING, rule->line, "matches nothing"));
}

static void compare_dests(struct tally *t, struct gen *g, const struct world *w,
			  const struct reference *r, const char *text)
{
	struct explain_source source = explain_compiled(&w->compiled->classes[0]);

	for (int i = 0; i < DESTS_PER_POLICY; i++) {
		struct explanation want, got = {0};
		struct dest dest;
		char what[512];

		gen_dest(g, &dest);
		reference_decide(r, &dest, &want);
		t->compared++;
		if (explain(&source, &dest, &got) || !same(&want, &got)) {
			describe(&dest, &want, &got, what, sizeof(what));
			fail(t, w, text, what);
		} else if (is_called_useless(w, got.rule)) {
			fail(t, w, text, "a rule that decides is called useless");
		}
	}
}

static void compare_policy(struct tally *t, struct gen *g)
{
	_cleanup_free_ char *text = gen_policy(g);
	struct world w = {0};
	struct reference *r;

	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	CU_ASSERT_EQUAL_FATAL(gen_facts(g, &w.facts), 0);
	world_build(&w, text);
	if (!w.policy) {
		fail(t, &w, text, "the parser refuses a generated policy");
		world_free(&w);
		return;
	}
	r = reference_new(w.policy, &w.policy->classes[0], &w.facts);
	CU_ASSERT_PTR_NOT_NULL_FATAL(r);
	if (reference_contradicts(r) == (w.compiled != NULL))
		fail(t, &w, text, "compiler and reference differ on what contradicts");
	else if (w.compiled)
		compare_dests(t, g, &w, r, text);
	else
		t->refused++;
	reference_free(r);
	world_free(&w);
}

static void random_policies(void)
{
	const char *given = getenv("CGNET_SEED");
	struct tally t = {0};

	t.seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
	for (int i = 0; i < POLICIES && t.failures < MAX_FAILURES; i++) {
		struct gen g = {t.seed};

		compare_policy(&t, &g);
		if (!t.failures)
			t.seed += UINT64_C(1) << 32;
	}
	printf("seed %" PRIu64 ": %zu comparisons, %zu policies refused ", t.seed & UINT32_MAX,
	       t.compared, t.refused);
	if (!t.failures)
		CU_ASSERT(t.compared >= MIN_COMPARISONS);
}

int suite_random(void)
{
	static const struct unit_test tests[] = {
		{"compiler and reference agree", random_policies},
	};

	return add_suite("random", tests, ARRAY_SIZE(tests));
}
