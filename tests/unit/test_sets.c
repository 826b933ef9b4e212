// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the sets hold: the builtin ones against the registries, and those of a policy. */
#include <errno.h>
#include <string.h>

#include "sets.h"
#include "suites.h"

/* What this host is in these tests; nothing of it lies in a static set. */
static const char *const host[] = {"198.51.99.7", "2001:db7::7", NULL};
static const char *const onlink[] = {"198.51.99.0/24", "2001:db7::/64", NULL};
static const char *const broadcast[] = {"198.51.99.255", NULL};
static const char *const resolver[] = {"198.51.99.53", "2001:db7::53", NULL};

static void fill(struct prefixes *list, const char *const *texts)
{
	struct prefix p;

	for (; *texts; texts++) {
		CHECK_ROW(!prefix_parse(*texts, &p, NULL), "%s", *texts);
		CU_ASSERT(!prefixes_add(list, &p));
	}
}

static void fill_facts(struct facts *facts)
{
	*facts = (struct facts){0};
	fill(&facts->host, host);
	fill(&facts->onlink, onlink);
	fill(&facts->broadcast, broadcast);
	fill(&facts->resolver, resolver);
}

/* Expands a set of the policy, which may be NULL. */
static int expand(const struct policy *policy, const char *name, struct set_members *out)
{
	static const struct policy none;
	struct facts facts;
	int err;

	fill_facts(&facts);
	*out = (struct set_members){0};
	err = set_expand(policy ? policy : &none, name, &facts, out);
	facts_free(&facts);
	return err;
}

static const struct set_member *find(const struct set_members *members, const struct prefix *p)
{
	for (size_t i = 0; i < members->n; i++)
		if (prefix_contains(&members->items[i].prefix, p))
			return &members->items[i];
	return NULL;
}

struct holds_row {
	const char *set;
	const char *address;
	bool holds;
};

static const struct holds_row holds[] = {
	{"loopback", "127.0.0.1", true},
	{"loopback", "::1", true},
	{"loopback", "127.255.255.255", true},
	{"loopback", "0.0.0.0", true},
	{"loopback", "::", true},
	{"loopback", "0.255.255.255", true},
	{"loopback", "126.255.255.255", false},
	{"loopback", "128.0.0.0", false},
	{"loopback", "1.0.0.0", false},
	{"loopback", "255.0.0.1", false},
	{"loopback", "::2", false},

	{"private", "10.0.0.0", true},
	{"private", "10.255.255.255", true},
	{"private", "172.16.0.0", true},
	{"private", "172.31.255.255", true},
	{"private", "192.168.0.0", true},
	{"private", "192.168.255.255", true},
	{"private", "fc00::", true},
	{"private", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", true},
	{"private", "9.255.255.255", false},
	{"private", "11.0.0.0", false},
	{"private", "172.15.255.255", false},
	{"private", "172.32.0.0", false},
	{"private", "192.167.255.255", false},
	{"private", "192.169.0.0", false},
	{"private", "fbff::", false},
	{"private", "fe00::", false},

	{"tailnet", "100.64.0.0", true},
	{"tailnet", "100.127.255.255", true},
	{"tailnet", "fd7a:115c:a1e0::53", true},
	{"tailnet", "100.63.255.255", false},
	{"tailnet", "100.128.0.0", false},
	{"tailnet", "fd7a:115c:a1e1::", false},

	{"linklocal", "169.254.0.0", true},
	{"linklocal", "169.254.255.255", true},
	{"linklocal", "fe80::1", true},
	{"linklocal", "febf::1", true},
	{"linklocal", "169.253.255.255", false},
	{"linklocal", "169.255.0.0", false},
	{"linklocal", "fec0::", false},

	{"metadata", "169.254.169.254", true},
	{"metadata", "169.254.170.2", true},
	{"metadata", "169.254.170.23", true},
	{"metadata", "100.100.100.200", true},
	{"metadata", "168.63.129.16", true},
	{"metadata", "192.0.0.192", true},
	{"metadata", "fd00:ec2::254", true},
	{"metadata", "fd00:ec2::23", true},
	{"metadata", "fd20:ce::254", true},
	{"metadata", "168.63.129.15", false},
	{"metadata", "168.63.129.17", false},
	{"metadata", "100.100.100.100", false},
	{"metadata", "fd00:ec2::255", false},

	{"multicast", "224.0.0.0", true},
	{"multicast", "239.255.255.255", true},
	{"multicast", "ff02::1", true},
	{"multicast", "255.255.255.255", true},
	{"multicast", "198.51.99.255", true},
	{"multicast", "223.255.255.255", false},
	{"multicast", "240.0.0.0", false},
	{"multicast", "feff::", false},
	{"multicast", "198.51.99.254", false},

	{"special", "0.1.2.3", true},
	{"special", "10.1.2.3", true},
	{"special", "100.64.0.1", true},
	{"special", "127.0.0.1", true},
	{"special", "169.254.0.1", true},
	{"special", "172.16.0.1", true},
	{"special", "192.0.0.0", true},
	{"special", "192.0.0.8", true},
	{"special", "192.0.0.9", false},
	{"special", "192.0.0.10", false},
	{"special", "192.0.0.11", true},
	{"special", "192.0.0.170", true},
	{"special", "192.0.0.255", true},
	{"special", "192.0.1.0", false},
	{"special", "192.0.2.255", true},
	{"special", "192.0.3.0", false},
	{"special", "192.31.196.1", false},
	{"special", "192.52.193.1", false},
	{"special", "192.88.99.1", false},
	{"special", "192.88.99.2", true},
	{"special", "192.88.99.3", false},
	{"special", "192.168.0.1", true},
	{"special", "192.175.48.1", false},
	{"special", "198.17.255.255", false},
	{"special", "198.18.0.0", true},
	{"special", "198.19.255.255", true},
	{"special", "198.20.0.0", false},
	{"special", "198.51.100.1", true},
	{"special", "203.0.113.1", true},
	{"special", "224.0.0.1", false},
	{"special", "240.0.0.1", true},
	{"special", "255.255.255.255", true},
	{"special", "1.1.1.1", false},
	{"special", "::", true},
	{"special", "::1", true},
	{"special", "::2", false},
	{"special", "64:ff9b::1.1.1.1", false},
	{"special", "64:ff9b:1::1", true},
	{"special", "64:ff9b:2::1", false},
	{"special", "100::1", true},
	{"special", "100:0:0:1::1", true},
	{"special", "100:0:0:2::1", false},
	{"special", "2001::1", false},
	{"special", "2001:0:ffff::1", false},
	{"special", "2001:1::", true},
	{"special", "2001:1::1", false},
	{"special", "2001:1::2", false},
	{"special", "2001:1::3", false},
	{"special", "2001:1::4", true},
	{"special", "2001:2::1", true},
	{"special", "2001:2:1::1", true},
	{"special", "2001:3::1", false},
	{"special", "2001:4:111::1", true},
	{"special", "2001:4:112::1", false},
	{"special", "2001:4:113::1", true},
	{"special", "2001:10::1", true},
	{"special", "2001:1f::1", true},
	{"special", "2001:20::1", false},
	{"special", "2001:2f::1", false},
	{"special", "2001:30::1", false},
	{"special", "2001:3f::1", false},
	{"special", "2001:40::1", true},
	{"special", "2001:1ff:ffff::1", true},
	{"special", "2001:200::1", false},
	{"special", "2001:db8::1", true},
	{"special", "2001:db9::1", false},
	{"special", "2002:a00:1::1", false},
	{"special", "2620:4f:8000::1", false},
	{"special", "3fff::1", true},
	{"special", "3fff:fff::1", true},
	{"special", "3fff:1000::1", false},
	{"special", "5f00::1", true},
	{"special", "5f01::1", false},
	{"special", "fc00::1", true},
	{"special", "fe80::1", true},
	{"special", "ff02::1", false},
	{"special", "2606:4700::1111", false},

	{"host", "198.51.99.7", true},
	{"host", "2001:db7::7", true},
	{"host", "198.51.99.8", false},
	{"host", "2001:db7::8", false},
	{"host", "127.0.0.1", false},
	{"onlink", "198.51.99.8", true},
	{"onlink", "2001:db7::8", true},
	{"onlink", "198.51.98.8", false},
	{"onlink", "2001:db7:0:1::8", false},
	{"resolver", "198.51.99.53", true},
	{"resolver", "2001:db7::53", true},
	{"resolver", "198.51.99.54", false},

	{"local", "127.0.0.1", true},
	{"local", "::1", true},
	{"local", "0.0.0.0", true},
	{"local", "::", true},
	{"local", "192.168.1.1", true},
	{"local", "fd00::1", true},
	{"local", "100.64.0.1", true},
	{"local", "fd7a:115c:a1e0::1", true},
	{"local", "169.254.1.1", true},
	{"local", "fe80::1", true},
	{"local", "168.63.129.16", true},
	{"local", "224.0.0.1", true},
	{"local", "ff02::1", true},
	{"local", "255.255.255.255", true},
	{"local", "192.0.2.1", true},
	{"local", "2001:db8::1", true},
	{"local", "198.51.99.7", true},
	{"local", "2001:db7::7", true},
	{"local", "198.51.99.100", true},
	{"local", "1.1.1.1", false},
	{"local", "2606:4700::1111", false},
	{"local", "64:ff9b::1.1.1.1", false},
};

static void test_holds(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(holds); i++) {
		const struct holds_row *row = &holds[i];
		struct set_members members;
		struct prefix p = {0};

		CHECK_ROW(!expand(NULL, row->set, &members), "@%s", row->set);
		CHECK_ROW(!prefix_parse(row->address, &p, NULL), "%s", row->address);
		CHECK_ROW((find(&members, &p) != NULL) == row->holds, "%s in @%s: not %d",
			  row->address, row->set, row->holds);
		set_members_free(&members);
	}
}

struct count {
	size_t names, dynamic;
};

static void count_builtin(const char *name, void *arg)
{
	struct count *count = arg;
	struct set_members members;

	count->names++;
	count->dynamic += set_is_dynamic(name);
	CHECK_ROW(set_is_builtin(name), "%s", name);
	CHECK_ROW(!expand(NULL, name, &members) && members.n, "@%s", name);
	set_members_free(&members);
}

static void test_builtins(void)
{
	struct count count = {0};

	set_each_builtin(count_builtin, &count);
	CU_ASSERT_EQUAL(count.names, 11);
	CU_ASSERT_EQUAL(count.dynamic, 3);
	CU_ASSERT(!set_is_builtin("builder"));
	CU_ASSERT(!set_is_builtin(""));
	CU_ASSERT(set_is_dynamic("host") && set_is_dynamic("onlink") && set_is_dynamic("resolver"));
	CU_ASSERT(!set_is_dynamic("local") && !set_is_dynamic("multicast"));
	CU_ASSERT(!set_is_dynamic("builder"));
}

/* Which members are marked as coming from the host. */
static void test_dynamic(void)
{
	static const struct {
		const char *set, *address;
		bool dynamic;
	} rows[] = {
		{"local", "198.51.99.7", true},	    {"local", "2001:db7::7", true},
		{"local", "198.51.99.100", true},   {"local", "10.0.0.1", false},
		{"local", "fd00::1", false},	    {"multicast", "224.0.0.1", false},
		{"multicast", "ff02::1", false},    {"multicast", "198.51.99.255", true},
		{"resolver", "198.51.99.53", true}, {"resolver", "2001:db7::53", true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct set_member *member;
		struct set_members members;
		struct prefix p = {0};

		CU_ASSERT(!expand(NULL, rows[i].set, &members));
		CU_ASSERT(!prefix_parse(rows[i].address, &p, NULL));
		member = find(&members, &p);
		CHECK_ROW(member && member->dynamic == rows[i].dynamic, "%s in @%s",
			  rows[i].address, rows[i].set);
		set_members_free(&members);
	}
}

static struct policy *parse(const char *text)
{
	struct diags d = {0};
	struct policy *p = policy_parse("sets.conf", text, strlen(text), 0, &d);

	if (!p)
		diags_print(&d, stderr);
	diags_free(&d);
	return p;
}

static void test_nested(void)
{
	static const char text[] =
		"default_class = \"x\"\n"
		"class x { default = deny\n allow = { \"@top\" } }\n"
		"set top { members = { \"@left\", \"@right\", \"192.0.2.1\" } }\n"
		"set left { members = { \"@bottom\", \"@host\" } }\n"
		"set right { members = { \"@bottom\", \"2001:db8::1\" } }\n"
		"set bottom { members = { \"192.0.2.2\", \"2001:db8::2\" } }\n";
	struct policy *policy = parse(text);
	struct set_members members;
	size_t dynamic = 0;

	CU_ASSERT_FATAL(policy != NULL);
	CU_ASSERT(!expand(policy, "top", &members));
	/* bottom counts once, though it is reached twice. */
	CU_ASSERT_EQUAL(members.n, 6);
	for (size_t i = 0; i < members.n; i++)
		dynamic += members.items[i].dynamic;
	CU_ASSERT_EQUAL(dynamic, 2);
	set_members_free(&members);
	policy_free(policy);
}

/* Forty levels of sets that each name the next one twice take no longer than forty sets. */
static void test_doubling(void)
{
	char text[8192];
	size_t used = snprintf(text, sizeof(text),
			       "default_class = x\nclass x { default = deny allow = \"@s0\" }\n");
	struct policy *policy;
	struct set_members members;

	for (int i = 0; i < 40; i++)
		used += snprintf(text + used, sizeof(text) - used,
				 "set s%d { members = { \"@s%d\", \"@s%d\" } }\n", i, i + 1, i + 1);
	snprintf(text + used, sizeof(text) - used, "set s40 { members = { \"192.0.2.1\" } }\n");
	policy = parse(text);
	CU_ASSERT_FATAL(policy != NULL);
	CU_ASSERT(!expand(policy, "s0", &members));
	CU_ASSERT_EQUAL(members.n, 1);
	set_members_free(&members);
	policy_free(policy);
}

/* A parsed policy has no cycles and no unknown sets; one made by hand may. */
static void test_failures(void)
{
	struct rule a_members[] = {{.prefix = {.family = 2}}, {.set = (char *)"b"}};
	struct rule b_members[] = {{.set = (char *)"a"}};
	struct rule c_members[] = {{.prefix = {.family = 2}}, {.set = (char *)"nowhere"}};
	struct set sets[] = {
		{.name = "a", .members = {a_members, 2, 2}},
		{.name = "b", .members = {b_members, 1, 1}},
		{.name = "c", .members = {c_members, 2, 2}},
	};
	struct policy policy = {.sets = sets, .nsets = 3};
	struct set_members members;

	CU_ASSERT_EQUAL(expand(&policy, "a", &members), -ELOOP);
	CU_ASSERT_EQUAL(members.n, 0);
	set_members_free(&members);
	CU_ASSERT_EQUAL(expand(&policy, "c", &members), -ENOENT);
	CU_ASSERT_EQUAL(members.n, 0);
	set_members_free(&members);
	CU_ASSERT_EQUAL(expand(&policy, "nowhere", &members), -ENOENT);
	set_members_free(&members);
}

static const struct unit_test tests[] = {
	{"holds", test_holds},	 {"builtins", test_builtins}, {"dynamic", test_dynamic},
	{"nested", test_nested}, {"doubling", test_doubling}, {"failures", test_failures},
};

int suite_sets(void)
{
	return add_suite("sets", tests, ARRAY_SIZE(tests));
}
