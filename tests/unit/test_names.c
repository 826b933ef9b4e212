// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Host names: how long an answer holds, and what of it a class opens. */
#include <string.h>
#include <sys/socket.h>

#include "names.h"
#include "suites.h"
#include "world.h"

#define S UINT64_C(1000000)

static struct prefix addr(const char *text)
{
	struct prefix p;

	CU_ASSERT_EQUAL_FATAL(prefix_parse(text, &p, NULL), 0);
	return p;
}

static bool answer(struct names *names, const char *host, const char *text, uint32_t ttl,
		   uint64_t now)
{
	struct prefix p = addr(text);

	return name_answer(names_find(names, host), &p, 1, ttl, now);
}

static void how_long(void)
{
	struct names names = {0};
	struct name *name;

	CU_ASSERT_EQUAL(names_next(&names), 0);
	CU_ASSERT_EQUAL_FATAL(names_want(&names, "a.example", 10 * S), 0);
	CU_ASSERT_EQUAL(names_next(&names), 10 * S);
	CU_ASSERT_TRUE(answer(&names, "a.example", "8.8.8.8", 60, 10 * S));
	name = names_find(&names, "a.example");
	CU_ASSERT_EQUAL(names_next(&names), 70 * S);
	CU_ASSERT_EQUAL(name->addrs[0].until, 70 * S + NAMES_GRACE);
	/* The same again is no change, and holds longer. */
	CU_ASSERT_FALSE(answer(&names, "a.example", "8.8.8.8", 60, 70 * S));
	CU_ASSERT_EQUAL(name->addrs[0].until, 130 * S + NAMES_GRACE);
	/* Another one: the first stays until its time. */
	CU_ASSERT_TRUE(answer(&names, "a.example", "8.8.4.4", 60, 130 * S));
	CU_ASSERT_EQUAL(name->n, 2);
	CU_ASSERT_FALSE(names_expire(&names, 130 * S + NAMES_GRACE - 1));
	CU_ASSERT_TRUE(names_expire(&names, 130 * S + NAMES_GRACE));
	CU_ASSERT_EQUAL(name->n, 1);
	/* Floor and ceiling. */
	answer(&names, "a.example", "8.8.4.4", 0, 1000 * S);
	CU_ASSERT_EQUAL(name->ask_at, 1000 * S + NAMES_FLOOR);
	answer(&names, "a.example", "8.8.4.4", UINT32_MAX, 1000 * S);
	CU_ASSERT_EQUAL(name->ask_at, 1000 * S + NAMES_CEILING);
	names_free(&names);
}

static void without_answer(void)
{
	struct names names = {0};
	uint64_t now = 10 * S, waited = 0;
	struct name *name;

	CU_ASSERT_EQUAL_FATAL(names_want(&names, "a.example", now), 0);
	name = names_find(&names, "a.example");
	answer(&names, "a.example", "8.8.8.8", 5, now);
	for (int i = 0; i < 20; i++) {
		name_failure(name, now);
		CU_ASSERT(name->ask_at - now >= NAMES_FLOOR);
		CU_ASSERT(name->ask_at - now <= NAMES_RETRY_MAX);
		CU_ASSERT(name->ask_at - now >= waited);
		waited = name->ask_at - now;
	}
	CU_ASSERT_EQUAL(waited, NAMES_RETRY_MAX);
	CU_ASSERT_EQUAL(name->n, 1);
	CU_ASSERT_TRUE(names_expire(&names, now + NAMES_FLOOR + NAMES_GRACE));
	CU_ASSERT_EQUAL(name->n, 0);
	names_free(&names);
}

static void many(void)
{
	struct names names = {0};
	char text[32];

	CU_ASSERT_EQUAL_FATAL(names_want(&names, "a.example", 1), 0);
	for (unsigned int i = 0; i < 3 * NAME_MAX_ADDRS; i++) {
		snprintf(text, sizeof(text), "8.8.%u.%u", i / 256, i % 256);
		answer(&names, "a.example", text, 60, i * S);
	}
	CU_ASSERT_EQUAL(names.items[0].n, NAME_MAX_ADDRS);
	/* The newest are there. */
	for (size_t i = 0; i < names.items[0].n; i++)
		CU_ASSERT(names.items[0].addrs[i].until >=
			  (2 * NAME_MAX_ADDRS) * S + 60 * S + NAMES_GRACE);
	names_free(&names);
}

static void another_list(void)
{
	struct names names = {0};

	names_want(&names, "a.example", 1);
	names_want(&names, "b.example", 1);
	answer(&names, "a.example", "8.8.8.8", 60, 1);
	names_begin(&names);
	names_want(&names, "b.example", 2);
	names_want(&names, "c.example", 2);
	CU_ASSERT_TRUE(names_set(&names));
	CU_ASSERT_EQUAL(names.n, 2);
	CU_ASSERT_PTR_NULL(names_find(&names, "a.example"));
	names_begin(&names);
	names_want(&names, "b.example", 2);
	CU_ASSERT_FALSE(names_set(&names));
	names_free(&names);
}

static void odd_answers(void)
{
	struct names names = {0};
	struct prefix odd[] = {
		{.family = AF_INET6, .len = 128, .bytes = {[10] = 0xff, 0xff, 10, 0, 0, 1}},
		{.family = AF_INET, .len = 8, .bytes = {10}},
		{.family = 77, .len = 32},
	};

	names_want(&names, "a.example", 1);
	CU_ASSERT_FALSE(name_answer(names_find(&names, "a.example"), odd, 3, 60, 1));
	CU_ASSERT_EQUAL(names.items[0].n, 0);
	names_free(&names);
}

/* What the name n.example, which leads to addr, opens in a class. */
static enum cgnet_verdict opens(const char *body, const char *answered, const char *dest)
{
	_cleanup_free_ char *text = NULL;
	struct names names = {0};
	struct world w = {0};
	const char *rule = NULL;
	enum cgnet_verdict verdict;

	CU_ASSERT_FATAL(asprintf(&text, "default_class = \"c\"\nclass c {\n%s\n}\n", body) > 0);
	world_fact(&w.facts.host, "203.0.114.9");
	world_fact(&w.facts.onlink, "2a02:8010:50::/64");
	names_want(&names, "n.example", 1);
	answer(&names, "n.example", answered, 60, 1);
	w.facts.names = &names;
	w.policy = policy_parse("test.conf", text, strlen(text), POLICY_NAMES, &w.diags);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w.policy);
	w.compiled = compile_policy(w.policy, &w.facts, &w.diags);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w.compiled);
	verdict = world_ask(&w, dest, &rule);
	world_free(&w);
	names_free(&names);
	return verdict;
}

#define DENY	"default = deny\n"
#define NAME	"allow = { \"n.example:443/tcp\" }\n"
#define PRIVATE "allow = { \"n.example:443/tcp private\" }\n"

static void what_opens(void)
{
	static const struct {
		const char *body, *answered, *dest;
		enum cgnet_verdict want;
	} rows[] = {
		{DENY NAME, "8.8.8.8", "8.8.8.8:443", CGNET_ALLOW},
		{DENY NAME, "8.8.8.8", "8.8.8.8:80", CGNET_DENY},
		{DENY NAME, "8.8.8.8", "8.8.8.8:443/udp", CGNET_DENY},
		{DENY NAME, "8.8.8.8", "8.8.8.9:443", CGNET_DENY},
		{DENY NAME, "2606:4700::1", "[2606:4700::1]:443", CGNET_ALLOW},
		/* Answers that would open what is not public. */
		{DENY NAME, "10.0.0.1", "10.0.0.1:443", CGNET_DENY},
		{DENY NAME, "127.0.0.1", "127.0.0.1:443", CGNET_DENY},
		{DENY NAME, "0.0.0.0", "0.0.0.0:443", CGNET_DENY},
		{DENY NAME, "169.254.169.254", "169.254.169.254:443", CGNET_DENY},
		{DENY NAME, "168.63.129.16", "168.63.129.16:443", CGNET_DENY},
		{DENY NAME, "100.64.0.1", "100.64.0.1:443", CGNET_DENY},
		{DENY NAME, "203.0.114.9", "203.0.114.9:443", CGNET_DENY},
		{DENY NAME, "::1", "[::1]:443", CGNET_DENY},
		{DENY NAME, "fd00::1", "[fd00::1]:443", CGNET_DENY},
		{DENY NAME, "2a02:8010:50::10", "[2a02:8010:50::10]:443", CGNET_DENY},
		{DENY NAME, "64:ff9b::a00:1", "[64:ff9b::a00:1]:443", CGNET_DENY},
		{DENY NAME, "240.67.71.78", "240.67.71.78:443", CGNET_DENY},
		/* Or what a rule of the class denies. */
		{DENY NAME "deny = { \"8.8.0.0/16\" }", "8.8.8.8", "8.8.8.8:443", CGNET_DENY},
		{DENY NAME "deny = { \"8.8.0.0/16:443\" }", "8.8.8.8", "8.8.8.8:443", CGNET_DENY},
		{DENY NAME "deny = { \"8.8.0.0/16:25\" }", "8.8.8.8", "8.8.8.8:443", CGNET_ALLOW},
		{DENY NAME "deny = { \"8.8.0.0/16/udp\" }", "8.8.8.8", "8.8.8.8:443", CGNET_ALLOW},
		{DENY "deny = { \"8.8.8.8\" }" NAME, "8.8.8.8", "8.8.8.8:443", CGNET_DENY},
		/* Unless the rule says so; and not this host, nor credentials. */
		{DENY PRIVATE, "10.0.0.1", "10.0.0.1:443", CGNET_ALLOW},
		{DENY PRIVATE "deny = { \"@local\" }", "10.0.0.1", "10.0.0.1:443", CGNET_ALLOW},
		{DENY PRIVATE "deny = { \"@local\" }", "10.0.0.1", "10.0.0.1:444", CGNET_DENY},
		{DENY PRIVATE, "2a02:8010:50::10", "[2a02:8010:50::10]:443", CGNET_ALLOW},
		{DENY PRIVATE, "127.0.0.1", "127.0.0.1:443", CGNET_DENY},
		{DENY PRIVATE, "203.0.114.9", "203.0.114.9:443", CGNET_DENY},
		{DENY PRIVATE, "169.254.169.254", "169.254.169.254:443", CGNET_DENY},
		{DENY PRIVATE, "224.0.0.251", "224.0.0.251:443", CGNET_DENY},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_ROW(opens(rows[i].body, rows[i].answered, rows[i].dest) == rows[i].want,
			  "row %zu: %s", i, rows[i].dest);
}

int suite_names(void)
{
	static const struct unit_test tests[] = {
		{"how long an answer holds", how_long}, {"without an answer", without_answer},
		{"more addresses than are kept", many}, {"another list of names", another_list},
		{"odd answers", odd_answers},		{"what a name opens", what_opens},
	};

	return add_suite("names", tests, ARRAY_SIZE(tests));
}
