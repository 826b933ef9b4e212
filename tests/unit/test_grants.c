// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Who gets which class from the service, and how much one user may ask of it. */
#include <errno.h>
#include <string.h>

#include "grants.h"
#include "quota.h"
#include "suites.h"

#define SECOND_US 1000000ULL

static const char policy_text[] = "default_class = \"restricted\"\n"
				  "class restricted { default = deny }\n"
				  "class lan { default = deny }\n"
				  "class web { default = deny }\n"
				  "user \"1001\" { class = lan }\n"
				  "user \"1002\" { class = gone }\n"
				  "user \"1003\" { operator = yes }\n"
				  "user root { class = web }\n"
				  "user \"no such user here\" { class = lan }\n"
				  "group \"2001\" { class = web }\n"
				  "group \"2002\" { class = lan\n operator = yes }\n"
				  "group \"2003\" { class = gone }\n";

static struct grants read_grants(const char *text)
{
	struct diags d = {};
	struct policy *p = policy_parse("test", text, strlen(text), 0, &d);
	struct grants g = {};

	CU_ASSERT_PTR_NOT_NULL_FATAL(p);
	CU_ASSERT_EQUAL(grants_resolve(p, &d, &g), 0);
	CU_ASSERT_EQUAL(d.errors, 0);
	diags_free(&d);
	policy_free(p);
	return g;
}

static bool exists(const char *name, void *arg)
{
	(void)arg;
	return !strcmp(name, "restricted") || !strcmp(name, "lan") || !strcmp(name, "web");
}

static void test_choice(void)
{
	static const struct {
		uid_t uid;
		gid_t gid, other; /* the primary group, and one more */
		bool warned;
		const char *wanted, *expected;
	} rows[] = {
		{1001, 1001, 1001, false, "", "lan"},
		{1001, 1001, 2001, false, "", "lan"}, /* one's own before the group's */
		{1001, 1001, 2001, false, "web", "web"},
		{1001, 1001, 1001, false, "web", NULL},
		{1001, 1001, 1001, false, "restricted", "restricted"},
		{1002, 1002, 1002, true, "", "restricted"},
		{1002, 1002, 1002, true, "gone", "restricted"},
		{1002, 1002, 1002, false, "lan", NULL},
		{1003, 1003, 1003, false, "", "restricted"}, /* an operator, without a class */
		{1004, 2001, 1004, false, "", "web"},
		{1004, 1004, 2001, false, "", "web"},
		{1004, 2002, 2001, false, "", "web"}, /* the first in the file */
		{1004, 2002, 2001, false, "lan", "lan"},
		{1004, 2003, 1004, true, "", "restricted"},
		{1005, 1005, 1005, false, "", "restricted"},
		{1005, 1005, 1005, false, "lan", NULL},
		{1005, 1005, 1005, false, "gone", NULL},
		{0, 0, 0, false, "", "web"},
		{0, 0, 0, false, "lan", "lan"},
	};
	struct grants g = read_grants(policy_text);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		gid_t other = rows[i].other;
		struct peer peer = {.uid = rows[i].uid,
				    .gid = rows[i].gid,
				    .groups = &other,
				    .ngroups = 1,
				    .pidfd = -1};
		struct choice choice = {};
		struct why why = {""};
		int err = grants_choose(&g, &peer, rows[i].wanted, "restricted", exists, NULL,
					&choice, &why);

		if (!rows[i].expected)
			CHECK_ROW(err == -EPERM && *why.text, "row %zu: %d", i, err);
		else
			CHECK_ROW(!err && !strcmp(choice.class_name, rows[i].expected) &&
					  !*choice.warning == !rows[i].warned,
				  "row %zu: %d %s \"%s\"", i, err, choice.class_name,
				  choice.warning);
	}
	grants_free(&g);
}

static void test_no_default(void)
{
	struct peer nobody = {.uid = 1005, .gid = 1005, .pidfd = -1};
	struct grants g = read_grants("class lan { default = deny }\n");
	struct choice choice;

	CU_ASSERT_EQUAL(grants_choose(&g, &nobody, "", "", exists, NULL, &choice, NULL), -ENOENT);
	CU_ASSERT_EQUAL(grants_choose(&g, &nobody, "lan", "", exists, NULL, &choice, NULL), -EPERM);
	grants_free(&g);
}

static void test_operators(void)
{
	struct peer user = {.uid = 1003, .gid = 1003, .pidfd = -1};
	struct peer member = {.uid = 1004, .gid = 2002, .pidfd = -1};
	struct peer nobody = {.uid = 1001, .gid = 2001, .pidfd = -1};
	struct grants g = read_grants(policy_text);

	CU_ASSERT_TRUE(grants_operator(&g, &user));
	CU_ASSERT_TRUE(grants_operator(&g, &member));
	CU_ASSERT_FALSE(grants_operator(&g, &nobody));
	grants_free(&g);
}

/* A wrong value is an error, not an operator. */
static void test_operator_option(void)
{
	static const struct {
		const char *text;
		size_t errors;
	} rows[] = {
		{"user \"1001\" { operator = yes }", 0},
		{"user \"1001\" { operator = no\n class = lan }", 0},
		{"user \"1001\" { operator = true }", 1},
		{"user \"1001\" { operator = \"\" }", 1},
		{"user \"1001\" { operator = yes\n operator = no }", 1},
		{"class other { default = deny\n operator = yes }", 1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct diags d = {};
		char text[256];
		struct policy *p;

		snprintf(text, sizeof(text),
			 "default_class = lan\nclass lan { default = deny }\n%s\n", rows[i].text);
		p = policy_parse("test", text, strlen(text), 0, &d);
		CHECK_ROW(d.errors == rows[i].errors && !p == !!d.errors, "row %zu: %zu", i,
			  d.errors);
		policy_free(p);
		diags_free(&d);
	}
}

static void test_rate(void)
{
	struct limits *l = limits_new();
	struct account *a = account_get(l, 1000, 0), *b = account_get(l, 1000, 0);
	struct account *other = account_get(l, 1001, 0), *root = account_get(l, 0, 0);
	uint64_t now = 0, wait;

	CU_ASSERT_PTR_EQUAL(a, b);
	CU_ASSERT_EQUAL(account_clients(a), 2);
	for (int i = 0; i < LIMIT_BURST; i++)
		CU_ASSERT_EQUAL(account_request(a, now), 0);
	wait = account_request(a, now);
	CU_ASSERT_TRUE(wait > 0 && wait <= SECOND_US / LIMIT_RATE + 1);
	CU_ASSERT_EQUAL(account_request(other, now), 0);
	CU_ASSERT_EQUAL(account_request(a, now + wait), 0);
	CU_ASSERT_NOT_EQUAL(account_request(a, now + wait), 0);

	/* What has been used up stays so for who comes again. */
	account_put(a);
	account_put(b);
	a = account_get(l, 1000, now + wait);
	CU_ASSERT_NOT_EQUAL(account_request(a, now + wait), 0);
	now += 1000000 * SECOND_US;
	for (int i = 0; i < LIMIT_BURST; i++)
		CU_ASSERT_EQUAL(account_request(a, now), 0);
	CU_ASSERT_NOT_EQUAL(account_request(a, now), 0);
	for (int i = 0; i < 10 * LIMIT_BURST; i++)
		CU_ASSERT_EQUAL(account_request(root, now), 0);
	limits_free(l);
}

static void test_log(void)
{
	struct limits *l = limits_new();
	struct account *a = account_get(l, 1000, 0);
	unsigned int missed = 0;

	for (int i = 0; i < LIMIT_LOG_BURST; i++)
		CU_ASSERT_TRUE(account_log(a, 0, &missed) && !missed);
	for (int i = 0; i < 5; i++)
		CU_ASSERT_FALSE(account_log(a, 0, &missed));
	CU_ASSERT_TRUE(account_log(a, 2 * SECOND_US, &missed));
	CU_ASSERT_EQUAL(missed, 5);
	limits_free(l);
}

int suite_grants(void)
{
	static const struct unit_test tests[] = {
		{"choice", test_choice},	 {"no default", test_no_default},
		{"operators", test_operators},	 {"operator option", test_operator_option},
		{"rate of requests", test_rate}, {"rate of log lines", test_log},
	};

	return add_suite("grants", tests, ARRAY_SIZE(tests));
}
