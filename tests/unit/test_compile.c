// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "suites.h"
#include "world.h"

struct question {
	const char *dest;
	enum cgnet_verdict verdict;
	const char *rule;
};

struct table {
	const char *body;
	struct question questions[12];
};

static void ask_table(const struct table *tables, size_t n, bool v6)
{
	for (size_t i = 0; i < n; i++) {
		struct world w = {0};

		world_this_host(&w);
		if (!world_build_class(&w, tables[i].body, v6)) {
			CHECK_ROW(false, "row %zu is refused: %s", i,
				  w.diags.n ? w.diags.items[0].text : "?");
			world_free(&w);
			continue;
		}
		for (const struct question *q = tables[i].questions; q->dest; q++) {
			_cleanup_free_ char *dest = world_twin(q->dest, v6);
			_cleanup_free_ char *rule = world_twin(q->rule, v6);
			const char *got = NULL;
			enum cgnet_verdict verdict = world_ask(&w, dest, &got);

			CHECK_ROW(verdict == q->verdict && !strcmp(got, rule),
				  "row %zu: %s: %s by \"%s\", not by \"%s\"", i, dest,
				  verdict ? "allowed" : "denied", got, rule);
		}
		world_free(&w);
	}
}

#define ALLOW	CGNET_ALLOW
#define DENY	CGNET_DENY
#define DEFAULT "default = allow"

static const struct table precedence[] = {
	{"default = allow\n deny = { \"$W\" }\n allow = { \"$H:443/tcp\" }",
	 {{"$P:443", ALLOW, DEFAULT},
	  {"$O:443", DENY, "$W"},
	  {"$H:443", ALLOW, "$H:443/tcp"},
	  {"$H:443/udp", DENY, "$W"},
	  {"$H:444", DENY, "$W"},
	  {"$H/icmp", DENY, "$W"},
	  {"$N:443", DENY, "$W"}}},
	/* The longer prefix, whatever the tier. */
	{"default = deny\n deny = { \"$W:443/tcp\" }\n allow = { \"$M\" }",
	 {{"$H:443", ALLOW, "$M"},
	  {"$O:443", DENY, "$W:443/tcp"},
	  {"$O:80", DENY, "default = deny"}}},
	{"default = deny\n deny = { \"$M:443/tcp\", \"$W\" }\n allow = { \"$H/tcp\" }",
	 {{"$H:443", ALLOW, "$H/tcp"}, {"$N:443", DENY, "$M:443/tcp"}, {"$H:443/udp", DENY, "$W"}}},
	/* The four tiers of one prefix. */
	{"default = deny\n deny = { \"$H:443/tcp\", \"$H/tcp\" }\n allow = { \"$H:443\", \"$H\" }",
	 {{"$H:443/tcp", DENY, "$H:443/tcp"},
	  {"$H:443/udp", ALLOW, "$H:443"},
	  {"$H:80/tcp", DENY, "$H/tcp"},
	  {"$H:80/udp", ALLOW, "$H"},
	  {"$H/icmp", ALLOW, "$H"}}},
	{"default = deny\n allow = { \"$H:443/tcp\", \"$H/udp\" }\n deny = { \"$H:443\", \"$H\" }",
	 {{"$H:443/tcp", ALLOW, "$H:443/tcp"},
	  {"$H:443/udp", DENY, "$H:443"},
	  {"$H:80/udp", ALLOW, "$H/udp"},
	  {"$H:80/tcp", DENY, "$H"}}},
	/* What a prefix does not decide, the enclosing ones do. */
	{"default = allow\n deny = { \"$W:22\", \"$M:80/tcp\" }\n allow = { \"$H:443\", "
	 "\"$H:22/udp\" }",
	 {{"$H:443", ALLOW, "$H:443"},
	  {"$H:80", DENY, "$M:80/tcp"},
	  {"$H:22", DENY, "$W:22"},
	  {"$H:22/udp", ALLOW, "$H:22/udp"},
	  {"$H:25", ALLOW, DEFAULT},
	  {"$N:22/udp", DENY, "$W:22"}}},
	/* Port lists, ranges, protocols. */
	{"default = deny\n deny = { \"$W\" }\n allow = { \"$H:80,8000-8010/tcp+udp\", \"$N/icmp\" "
	 "}",
	 {{"$H:79", DENY, "$W"},
	  {"$H:80/udp", ALLOW, "$H:80,8000-8010/tcp+udp"},
	  {"$H:7999", DENY, "$W"},
	  {"$H:8000", ALLOW, "$H:80,8000-8010/tcp+udp"},
	  {"$H:8010", ALLOW, "$H:80,8000-8010/tcp+udp"},
	  {"$H:8011", DENY, "$W"},
	  {"$H/icmp", DENY, "$W"},
	  {"$N/icmp", ALLOW, "$N/icmp"},
	  {"$N:80", DENY, "$W"}}},
	/* A range does not hold what comes without a port; all ports do. */
	{"default = deny\n allow = { \"$H:1-65535\", \"$N:*\" }",
	 {{"$H:65535", ALLOW, "$H:1-65535"},
	  {"$H/icmp", DENY, "default = deny"},
	  {"$N/icmp", ALLOW, "$N:*"}}},
	/* The default by a rule of its own. */
	{"default = allow\n deny = { \"$A\" }\n allow = { \"$P:443\" }",
	 {{"$P:443", ALLOW, "$P:443"}, {"$P:80", DENY, "$A"}, {"$O:1", DENY, "$A"}}},
	/* Several ranges in nested prefixes, some of them hidden. */
	{"default = deny\n allow = { \"$W:80-90\", \"$H:100\" }\n deny = { \"$M:85\" }",
	 {{"$H:84", ALLOW, "$W:80-90"},
	  {"$H:85", DENY, "$M:85"},
	  {"$H:100", ALLOW, "$H:100"},
	  {"$O:85", ALLOW, "$W:80-90"}}},
	/* Static rules go before dynamic ones of the same prefix, and among those deny does. */
	{"default = deny\n deny = { \"@onlink\" }\n allow = { \"$D\" }", {{"$d:1", ALLOW, "$D"}}},
	{"default = allow\n deny = { \"$D\" }\n allow = { \"@onlink\" }", {{"$d:1", DENY, "$D"}}},
	{"default = allow\n allow = { \"@host\", \"@onlink\" }\n deny = { \"@local\" }",
	 {{"$S:1", DENY, "@local"}, {"$l:1", DENY, "@local"}}},
	{"default = allow\n allow = { \"@host:22/tcp\" }\n deny = { \"@local\" }",
	 {{"$S:22", ALLOW, "@host:22/tcp"}, {"$S:23", DENY, "@local"}}},
	/* The address itself goes before a set that says the same. */
	{"default = allow\n deny = { \"@special\", \"$L\" }", {{"$l:1", DENY, "$L"}}},
	/* The name servers: port 53, and nothing else of them. */
	{"default = allow\n deny = { \"@local\" }\n allow = { \"@resolver\" }",
	 {{"$R:53/udp", ALLOW, "@resolver"},
	  {"$R:53/tcp", ALLOW, "@resolver"},
	  {"$R:54/udp", DENY, "@local"},
	  {"$R/icmp", DENY, "@local"},
	  {"$d:53/udp", DENY, "@local"}}},
	{"default = allow\n deny = { \"$R:53\" }\n allow = { \"@resolver\" }",
	 {{"$R:53/udp", ALLOW, "@resolver"}, {"$R:53/tcp", ALLOW, "@resolver"}}},
	{"default = allow\n deny = { \"@onlink\" }\n allow = { \"$A:53/udp\" }",
	 {{"$d:53/udp", DENY, "@onlink"}, {"$P:53/udp", ALLOW, "$A:53/udp"}}},
};

static const struct table loopback[] = {
	/* Session folds like deny; who listens is asked in the kernel. */
	{"default = allow\n deny = { \"$W\" }",
	 {{"$l:80", DENY, "loopback = session"},
	  {"$S:80", DENY, "loopback = session"},
	  {"$d:80", ALLOW, DEFAULT},
	  {"$P:80", ALLOW, DEFAULT}}},
	{"default = allow\n loopback = session",
	 {{"$l/icmp", DENY, "loopback = session"}, {"$S:80/udp", DENY, "loopback = session"}}},
	{"default = allow\n loopback = session\n allow = { \"$l:80\" }\n deny = { \"@host\" }",
	 {{"$l:80", ALLOW, "$l:80"},
	  {"$l:81", DENY, "loopback = session"},
	  {"$S:80", DENY, "@host"}}},
	{"default = allow\n loopback = deny",
	 {{"$l/icmp", DENY, "loopback = deny"}, {"$S:80/udp", DENY, "loopback = deny"}}},
	{"default = allow\n loopback = allow\n deny = { \"$W\" }",
	 {{"$l:80", ALLOW, DEFAULT}, {"$S:80", ALLOW, DEFAULT}}},
	{"default = allow\n loopback = allow\n deny = { \"@loopback\", \"@host\" }",
	 {{"$l:80", DENY, "@loopback"}, {"$S:80", DENY, "@host"}}},
	/* An explicit rule is heard first. */
	{"default = allow\n allow = { \"$l:8000-8100\" }\n deny = { \"$S:22\" }",
	 {{"$l:8000", ALLOW, "$l:8000-8100"},
	  {"$l:8101", DENY, "loopback = session"},
	  {"$S:22", DENY, "$S:22"},
	  {"$S:23", DENY, "loopback = session"}}},
	{"default = allow\n loopback = deny\n allow = { \"$A:443\" }",
	 {{"$l:443", ALLOW, "$A:443"},
	  {"$S:443", ALLOW, "$A:443"},
	  {"$l:80", DENY, "loopback = deny"}}},
	{"default = allow\n loopback = deny\n allow = { \"$A\" }", {{"$l:443", ALLOW, "$A"}}},
	{"default = allow\n loopback = deny\n allow = { \"$A:443\" }\n deny = { \"@loopback\" }",
	 {{"$l:443", DENY, "@loopback"}, {"$S:443", ALLOW, "$A:443"}}},
	/* Where the default denies, there is nothing for it to do. */
	{"default = deny\n loopback = deny", {{"$l:80", DENY, "default = deny"}}},
	{"default = deny\n loopback = session", {{"$l:80", DENY, "default = deny"}}},
	{"default = deny\n loopback = allow", {{"$l:80", DENY, "default = deny"}}},
	{"default = deny\n allow = { \"$L\" }", {{"$l:80", ALLOW, "$L"}}},
};

static const struct table sentinel4[] = {
	{"default = allow\n loopback = allow\n allow = { \"0.0.0.0/0\", \"192.0.0.0/24:9\", "
	 "\"240.67.71.78/31\" }\n"
	 "deny = { \"$W\" }",
	 {{"240.67.71.78:9", DENY, "self-test"},
	  {"240.67.71.78/udp", DENY, "self-test"},
	  {"240.67.71.79:9", ALLOW, "240.67.71.78/31"}}},
};

static const struct table sentinel6[] = {
	{"default = allow\n loopback = allow\n allow = { \"::/0\", \"[100::/64]:9\" }\n deny = { "
	 "\"$W\" }",
	 {{"[100::6367:6e65]:9", DENY, "self-test"},
	  {"100::6367:6e65/icmp", DENY, "self-test"},
	  {"[100::6367:6e66]:9", ALLOW, "[100::/64]:9"}}},
};

static void tables_v4(void)
{
	ask_table(precedence, ARRAY_SIZE(precedence), false);
	ask_table(loopback, ARRAY_SIZE(loopback), false);
	ask_table(sentinel4, ARRAY_SIZE(sentinel4), false);
}

static void tables_v6(void)
{
	ask_table(precedence, ARRAY_SIZE(precedence), true);
	ask_table(loopback, ARRAY_SIZE(loopback), true);
	ask_table(sentinel6, ARRAY_SIZE(sentinel6), true);
}

/* Keys ascend, values know their length, and what they point to is there. */
static void check_tries(const struct compiled_class *c)
{
	for (size_t i = 1; i < c->n4; i++) {
		int order = memcmp(c->keys4[i - 1].addr, c->keys4[i].addr, 4);

		CU_ASSERT(order < 0 ||
			  (!order && c->keys4[i - 1].prefixlen < c->keys4[i].prefixlen));
	}
	for (size_t i = 0; i < c->n4; i++) {
		CU_ASSERT_EQUAL(c->values4[i].prefixlen, c->keys4[i].prefixlen);
		CU_ASSERT(c->values4[i].first_port + c->values4[i].nports <= c->nports);
		CU_ASSERT(c->values4[i].rule < c->nrules);
	}
	for (size_t i = 0; i < c->n6; i++) {
		CU_ASSERT_EQUAL(c->values6[i].prefixlen, c->keys6[i].prefixlen);
		CU_ASSERT(c->values6[i].first_port + c->values6[i].nports <= c->nports);
	}
}

static void always_there(void)
{
	struct world w = {0};
	const struct cgnet_prefix *root;

	world_this_host(&w);
	CU_ASSERT_FATAL(
		world_build_class(&w, "default = allow\n deny = { \"10.0.0.0/8\" }", false));
	check_tries(&w.compiled->classes[0]);
	root = world_entry(&w, "0.0.0.0/0");
	CU_ASSERT(root && root->verdict == CGNET_ALLOW && root->rule == CGNET_RULE_DEFAULT);
	CU_ASSERT_PTR_NOT_NULL(world_entry(&w, "::/0"));
	CU_ASSERT_PTR_NOT_NULL(world_entry(&w, "240.67.71.78"));
	CU_ASSERT_PTR_NOT_NULL(world_entry(&w, "100::6367:6e65"));
	world_free(&w);
}

static void flags(void)
{
	static const struct {
		const char *prefix;
		unsigned int flags;
	} rows[] = {
		{"0.0.0.0/0", 0},
		{"127.0.0.0/8", CGNET_THIS_HOST},
		{"127.0.0.1", CGNET_THIS_HOST},
		{"0.0.0.0/8", CGNET_THIS_HOST},
		{"240.67.71.78", CGNET_SENTINEL},
		{"192.0.2.7", CGNET_THIS_HOST},
		{"192.0.2.0/24", 0},
		{"::1", CGNET_THIS_HOST},
		{"::", CGNET_THIS_HOST},
		{"2001:db8::7", CGNET_THIS_HOST},
		{"2001:db8::/64", 0},
		{"100::6367:6e65", CGNET_SENTINEL},
	};
	struct world w = {0};

	world_this_host(&w);
	CU_ASSERT_FATAL(
		world_build_class(&w,
				  "default = allow\n deny = { \"@onlink\", \"10.0.0.0/8\" }\n"
				  "allow = { \"127.0.0.1:80\" }",
				  false));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct cgnet_prefix *value = world_entry(&w, rows[i].prefix);

		CHECK_ROW(value && value->flags == rows[i].flags, "%s", rows[i].prefix);
	}
	world_free(&w);
}

static void equal_lists_are_stored_once(void)
{
	struct world w = {0};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	fprintf(out, "set many {\n members = {\n");
	for (int i = 0; i < 5000; i++)
		fprintf(out, "  \"10.%d.%d.0/24\",\n", i / 250, i % 250);
	fprintf(out,
		"  \"fd00::/8\" }\n}\nclass c {\n default = allow\n deny = { \"10.0.0.0/8\" }\n"
		"allow = { \"@many:80,443/tcp\" }\n}\n");
	fclose(out);
	CU_ASSERT_FATAL(world_build(&w, text));
	CU_ASSERT(w.compiled->classes[0].n4 > 5000);
	CU_ASSERT_EQUAL(w.compiled->classes[0].nports, 2);
	world_free(&w);
	free(text);
}

static void rule_table(void)
{
	struct world w = {0};
	const struct compiled_class *c;
	char body[1024], ports[600] = "1";

	for (int i = 3; i < 100; i += 2)
		snprintf(ports + strlen(ports), sizeof(ports) - strlen(ports), ",%d", i);
	snprintf(body, sizeof(body),
		 "default = allow\nloopback = deny\ndeny = { \"10.0.0.0/8\",\n\"10.1.0.0/16:%s\" }",
		 ports);
	CU_ASSERT_FATAL(world_build_class(&w, body, false));
	c = &w.compiled->classes[0];
	CU_ASSERT_EQUAL_FATAL(c->nrules, CGNET_RULE_FIRST + 2);
	CU_ASSERT_STRING_EQUAL(c->rules[CGNET_RULE_DEFAULT].text, "default = allow");
	CU_ASSERT_EQUAL(c->rules[CGNET_RULE_DEFAULT].line, 2);
	CU_ASSERT_STRING_EQUAL(c->rules[CGNET_RULE_LOOPBACK].text, "loopback = deny");
	CU_ASSERT_EQUAL(c->rules[CGNET_RULE_LOOPBACK].line, 3);
	CU_ASSERT_STRING_EQUAL(c->rules[CGNET_RULE_SENTINEL].text, "self-test");
	CU_ASSERT_STRING_EQUAL(c->rules[CGNET_RULE_FIRST].text, "10.0.0.0/8");
	CU_ASSERT_STRING_EQUAL(c->rules[CGNET_RULE_FIRST].file, "test.conf");
	CU_ASSERT_EQUAL(c->rules[CGNET_RULE_FIRST + 1].line, 5);
	CU_ASSERT_EQUAL(strlen(c->rules[CGNET_RULE_FIRST + 1].text), CGNET_RULE_SIZE - 1);
	CU_ASSERT_STRING_EQUAL(c->rules[CGNET_RULE_FIRST + 1].text + CGNET_RULE_SIZE - 4, "...");
	world_free(&w);
}

static void loopback_row(void)
{
	static const struct {
		const char *body, *text;
		unsigned int line;
	} rows[] = {
		{"default = deny", "loopback = session", 1},
		{"default = deny\nloopback = session", "loopback = session", 3},
		{"default = deny\n\nloopback = deny", "loopback = deny", 4},
		{"default = deny\nloopback = allow", "loopback = allow", 3},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct world w = {0};
		const struct cgnet_rule *row;

		CU_ASSERT_FATAL(world_build_class(&w, rows[i].body, false));
		row = &w.compiled->classes[0].rules[CGNET_RULE_LOOPBACK];
		CHECK_ROW(!strcmp(row->text, rows[i].text) && row->line == rows[i].line,
			  "row %zu: \"%s\" in line %u", i, row->text, row->line);
		world_free(&w);
	}
}

#define USUAL (CGNET_PROTO_TCP | CGNET_PROTO_UDP | CGNET_PROTO_ICMP)

static void settings(void)
{
	static const struct {
		const char *body;
		struct cgnet_settings want;
		bool keep;
	} rows[] = {
		{"", {CGNET_LOOPBACK_SESSION, USUAL, 0, 0}, false},
		{"loopback = session\ninbound = allow\nunix = any\nprivileges = drop",
		 {CGNET_LOOPBACK_SESSION, USUAL, 0, 0},
		 false},
		{"loopback = deny\nprotocols = { tcp, raw }",
		 {CGNET_LOOPBACK_DENY, CGNET_PROTO_TCP | CGNET_PROTO_RAW, 0, 0},
		 false},
		{"loopback = allow\nprotocols = \"udp\"",
		 {CGNET_LOOPBACK_ALLOW, CGNET_PROTO_UDP, 0, 0},
		 false},
		{"inbound = deny", {CGNET_LOOPBACK_SESSION, USUAL, CGNET_INBOUND_DENY, 0}, false},
		{"unix = none", {CGNET_LOOPBACK_SESSION, USUAL, CGNET_UNIX_NONE, 0}, false},
		{"unix = none\ninbound = deny\nprivileges = keep",
		 {CGNET_LOOPBACK_SESSION, USUAL,
		  CGNET_INBOUND_DENY | CGNET_UNIX_NONE | CGNET_PRIVILEGES_KEEP, 0},
		 true},
		{"mode = enforce", {CGNET_LOOPBACK_SESSION, USUAL, 0, 0}, false},
		{"mode = audit", {CGNET_LOOPBACK_SESSION, USUAL, CGNET_AUDIT, 0}, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct compiled_class *c;
		struct world w = {0};
		char body[256];

		snprintf(body, sizeof(body), "default = deny\n%s", rows[i].body);
		CU_ASSERT_FATAL(world_build_class(&w, body, false));
		c = &w.compiled->classes[0];
		CHECK_ROW(!memcmp(&c->settings, &rows[i].want, sizeof(c->settings)) &&
				  c->keep_privileges == rows[i].keep && !c->nunix_names,
			  "row %zu: loopback %d, protocols %u, flags %u", i, c->settings.loopback,
			  c->settings.protocols, c->settings.flags);
		world_free(&w);
	}
}

/* The keys are compared whole, so what is behind a name has to be zero. */
static void unix_names(void)
{
	char text[512], longest[108] = "";
	struct cgnet_unix_name want[] = {
		{.len = 1, .name = "a"},
		{.len = 20, .name = "/tmp/.X11-unix/X0 @b"},
		{.len = 107},
	};
	const struct compiled_class *c;
	struct world w = {0};

	memset(longest, 'x', 107);
	memcpy(want[2].name, longest, 107);
	snprintf(text, sizeof(text),
		 "default = deny\nunix_allow = { @a, \"@%s\",\n\"@%s\" }\nunix = none",
		 want[1].name, longest);
	CU_ASSERT_FATAL(world_build_class(&w, text, false));
	CU_ASSERT_EQUAL(w.diags.n, 0);
	c = &w.compiled->classes[0];
	CU_ASSERT_EQUAL_FATAL(c->nunix_names, ARRAY_SIZE(want));
	CU_ASSERT(!memcmp(c->unix_names, want, sizeof(want)));
	world_free(&w);
}

int suite_compile(void)
{
	static const struct unit_test tests[] = {
		{"truth tables, v4", tables_v4},
		{"truth tables, v6", tables_v6},
		{"what is always in a trie", always_there},
		{"flags", flags},
		{"equal port lists are stored once", equal_lists_are_stored_once},
		{"rule table", rule_table},
		{"loopback's row", loopback_row},
		{"settings", settings},
		{"Unix names", unix_names},
	};

	return add_suite("compile", tests, ARRAY_SIZE(tests));
}
