// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the compiler says about rules: contradictions, rules that never match or match too much. */
#include <string.h>

#include "suites.h"
#include "world.h"

/* The class's body starts on line 2. */
struct message {
	const char *body;
	enum diag_kind kind;
	int line;
	const char *part; /* NULL: the class gives no message */
};

static const struct message messages[] = {
	/* Contradictions. */
	{"default = allow\ndeny = { \"$W\" }\nallow = { \"$W\" }", DIAG_ERROR, 4,
	 "allow \"$W\" contradicts deny \"$W\" (line 3)"},
	{"default = allow\nallow = { \"$H:443/tcp\" }\ndeny = { \"$H:400-500/tcp+udp\" }",
	 DIAG_ERROR, 4, "contradicts allow \"$H:443/tcp\" (line 3)"},
	{"default = allow\ndeny = { \"$H/tcp\" }\nallow = { \"$H/tcp+icmp\" }", DIAG_ERROR, 4,
	 "contradicts"},
	{"default = allow\ndeny = { \"@loopback\" }\nallow = { \"$L\" }", DIAG_ERROR, 4,
	 "(line 3): both hold for $L"},
	{"default = allow\ndeny = { \"@special\" }\nallow = { \"@private\" }", DIAG_ERROR, 4,
	 "contradicts deny \"@special\" (line 3): both hold for 10.0.0.0/8"},
	{"default = allow\ndeny = { \"$H:443/tcp\" }\nallow = { \"$H:443/udp\", \"$H:444/tcp\" }",
	 DIAG_ERROR, 0, NULL},
	{"default = allow\ndeny = { \"$H:443\" }\nallow = { \"$H:443/tcp\", \"$H\" }", DIAG_ERROR,
	 0, NULL},
	{"default = allow\ndeny = { \"@onlink\" }\nallow = { \"$D\" }", DIAG_ERROR, 0, NULL},
	/* What can never match. */
	{"default = allow\ndeny = { \"$W\",\n\"$W\" }", DIAG_WARNING, 4,
	 "deny \"$W\" can never match: it repeats \"$W\" (line 3)"},
	{"default = allow\ndeny = { \"@host\",\n\"@host\" }", DIAG_WARNING, 4, "repeats"},
	{"default = allow\ndeny = { \"@special\",\n\"@loopback\" }", DIAG_WARNING, 4,
	 "can never match: deny \"@special\" (line 3) comes first"},
	{"default = allow\ndeny = { \"@local\", \"$L\" }", DIAG_WARNING, 0, NULL},
	{"default = allow\ndeny = { \"$H:80-90/tcp\",\n\"$H:85/tcp\" }", DIAG_WARNING, 4,
	 "deny \"$H:80-90/tcp\" (line 3) comes first"},
	{"default = allow\ndeny = { \"$H:80-85/tcp\",\n\"$H:86-90/tcp\",\n\"$H:82-88/tcp\" }",
	 DIAG_WARNING, 5, "comes first"},
	{"default = allow\ndeny = { \"@onlink\" }\nallow = {\n\"@onlink\" }", DIAG_WARNING, 5,
	 "matches nothing on this host: deny \"@onlink\" (line 3) comes first"},
	{"default = allow\ndeny = { \"$H:86-90/tcp\",\n\"$H:80-85/tcp\",\n\"$H:82-88/tcp\" }",
	 DIAG_WARNING, 5, "comes first"},
	{"default = allow\ndeny = { \"$A\" }", DIAG_WARNING, 0, NULL},
	{"default = allow\ndeny = { \"$H:80-85/tcp\", \"$H:86-90/tcp\", \"$H:82-91/tcp\" }",
	 DIAG_WARNING, 0, NULL},
	{"default = allow\ndeny = { \"$W\", \"$M\", \"$H:80\" }", DIAG_WARNING, 0, NULL},
	{"default = allow\ndeny = { \"$D\", \"@onlink\" }", DIAG_WARNING, 0, NULL},
	/* Allow rules that take in this host. */
	{"default = allow\nloopback = deny\nallow = { \"$A:443\" }", DIAG_WARNING, 4,
	 "also opens port 443 of this host"},
	{"default = allow\nloopback = deny\nallow = { \"$A:80,8000-8100\" }", DIAG_WARNING, 4,
	 "also opens ports 80,8000-8100 of this host"},
	{"default = allow\nloopback = deny\nallow = { \"$A\" }", DIAG_WARNING, 4,
	 "also opens every port of this host"},
	{"default = allow\ndeny = { \"@loopback\", \"@host\" }\nallow = { \"$A:443\" }",
	 DIAG_WARNING, 0, NULL},
	{"default = deny\nloopback = allow\nallow = { \"$A:443\" }", DIAG_WARNING, 0, NULL},
	{"default = deny\nallow = { \"$L:443\", \"$l:80\" }", DIAG_WARNING, 0, NULL},
	{"default = allow\nloopback = session\nallow = { \"$A:443\" }", DIAG_WARNING, 4,
	 "also opens port 443 of this host"},
	/* Protocols that the class does not have. */
	{"default = deny\nprotocols = { tcp, udp }\nallow = { \"$H/icmp\" }", DIAG_WARNING, 4,
	 "allow \"$H/icmp\" can never match: the class's protocols lack icmp"},
	{"default = allow\ndeny = {\n\"$H/tcp+udp\" }\nprotocols = icmp", DIAG_WARNING, 4,
	 "deny \"$H/tcp+udp\" can never match: the class's protocols lack tcp+udp"},
	{"default = deny\nallow = { \"$H:53\" }\nprotocols = icmp", DIAG_WARNING, 3,
	 "allow \"$H:53\" can never match: none of the class's protocols has ports"},
	{"default = deny\nallow = { \"@resolver\" }\nprotocols = icmp", DIAG_WARNING, 3,
	 "none of the class's protocols has ports"},
	{"default = deny\nallow = { \"$H/tcp+icmp\" }\nprotocols = tcp", DIAG_WARNING, 0, NULL},
	{"default = deny\nallow = { \"$H/icmp\", \"$H:80/tcp\" }\nprotocols = raw", DIAG_WARNING, 0,
	 NULL},
	{"default = deny\nallow = { \"$H:53\", \"$N\" }\nprotocols = sctp", DIAG_WARNING, 0, NULL},
	{"default = deny\nallow = { \"$H\" }\nprotocols = icmp", DIAG_WARNING, 0, NULL},
	{"default = deny\nallow = { \"$H/icmp\" }", DIAG_WARNING, 0, NULL},
};

static const struct message messages4[] = {
	/* The two halves leave nothing; three quarters do. */
	{"default = allow\ndeny = { \"10.0.0.0/8\",\n\"10.0.0.0/9\", \"10.128.0.0/9\" }",
	 DIAG_WARNING, 3, "can never match: more specific rules take all of it"},
	{"default = allow\ndeny = { \"10.0.0.0/8\",\n\"10.0.0.0/9\", \"10.128.0.0/10\" }",
	 DIAG_WARNING, 0, NULL},
	{"default = allow\ndeny = { \"10.0.0.0/8\",\n\"10.0.0.0/9:80\", \"10.128.0.0/9\" }",
	 DIAG_WARNING, 0, NULL},
	{"default = allow\ndeny = { \"0.0.0.0/0\",\n\"0.0.0.0/1\", \"128.0.0.0/1\" }", DIAG_WARNING,
	 3, "more specific"},
	/* Addresses of this host today are none tomorrow. */
	{"default = allow\ndeny = { \"192.0.2.6/31\", \"192.0.2.6\", \"@host\" }", DIAG_WARNING, 0,
	 NULL},
	{"default = allow\ndeny = { \"224.0.0.0/4\", \"255.255.255.255\", \"ff00::/8\", "
	 "\"@multicast\" }",
	 DIAG_WARNING, 0, NULL},
	{"default = allow\ndeny = { \"10.0.0.0/8:80/tcp\",\n\"10.0.0.0/9:80\", \"10.128.0.0/9:80\" "
	 "}",
	 DIAG_WARNING, 3, "more specific"},
	{"default = allow\ndeny = { \"240.67.71.78\" }", DIAG_WARNING, 3, "can never match"},
	{"default = allow\nallow = { \"240.67.71.78:9\" }\nloopback = deny", DIAG_ERROR, 3,
	 "the self-test needs this address"},
	{"default = deny\nallow = { \"128.0.0.0/1:443\" }", DIAG_WARNING, 3,
	 "port 443 of this host"},
	{"default = deny\nallow = { \"16.0.0.0/4:443\" }", DIAG_WARNING, 0, NULL},
};

static const struct message messages6[] = {
	{"default = allow\ndeny = { \"fd00::/8\",\n\"fd00::/9\", \"fd80::/9\" }", DIAG_WARNING, 3,
	 "can never match: more specific rules take all of it"},
	{"default = allow\ndeny = { \"::/0\",\n\"::/1\", \"8000::/1\" }", DIAG_WARNING, 3,
	 "more specific"},
	{"default = allow\ndeny = { \"::/0\",\n\"::/1\", \"8000::/2\" }", DIAG_WARNING, 0, NULL},
	{"default = allow\nallow = { \"100::6367:6e65\" }\nloopback = deny", DIAG_ERROR, 3,
	 "the self-test needs this address"},
};

static void check_messages(const struct message *rows, size_t n, bool v6)
{
	for (size_t i = 0; i < n; i++) {
		struct world w = {0};
		bool built;

		world_this_host(&w);
		built = world_build_class(&w, rows[i].body, v6);
		if (rows[i].part) {
			_cleanup_free_ char *part = world_twin(rows[i].part, v6);

			CHECK_ROW(built == (rows[i].kind == DIAG_WARNING) && w.diags.n == 1 &&
					  world_diag(&w, rows[i].kind, rows[i].line, part),
				  "row %zu lacks \"%s\", has \"%s\" on line %d", i, part,
				  w.diags.n ? w.diags.items[0].text : "",
				  w.diags.n ? w.diags.items[0].line : 0);
		} else {
			CHECK_ROW(!w.diags.n, "row %zu: \"%s\"", i,
				  w.diags.n ? w.diags.items[0].text : "");
		}
		world_free(&w);
	}
}

static void diagnostics_v4(void)
{
	check_messages(messages, ARRAY_SIZE(messages), false);
	check_messages(messages4, ARRAY_SIZE(messages4), false);
}

static void diagnostics_v6(void)
{
	check_messages(messages, ARRAY_SIZE(messages), true);
	check_messages(messages6, ARRAY_SIZE(messages6), true);
}

static void dynamic_sets_may_be_empty(void)
{
	struct world w = {0};

	CU_ASSERT(world_build_class(&w,
				    "default = allow\n deny = { \"@local\", \"@onlink:1\" }\n"
				    "allow = { \"@resolver\", \"@host:22\" }",
				    false));
	CU_ASSERT_EQUAL(w.diags.n, 0);
	world_free(&w);
}

/* What a mistyped protocol was to be is not known: no word about the rules. */
static void wrong_protocol(void)
{
	static const char text[] = "default_class = c\nclass c {\ndefault = deny\n"
				   "protocols = { imcp }\nallow = { \"10.0.0.1/icmp\" }\n}\n";
	struct world w = {0};

	w.policy = policy_parse("test.conf", text, strlen(text), POLICY_KEEP_WRONG, &w.diags);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w.policy);
	CU_ASSERT_PTR_NULL(compile_policy(w.policy, &w.facts, &w.diags));
	CU_ASSERT(w.diags.n == 1 && w.diags.errors == 1);
	CU_ASSERT_PTR_NOT_NULL(world_diag(&w, DIAG_ERROR, 4, "did you mean icmp?"));
	world_free(&w);
}

/* Two rules of sets that share many prefixes are one contradiction. */
static void contradiction_is_told_once(void)
{
	struct world w = {0};

	CU_ASSERT_FALSE(world_build(&w, "set a { members = { \"10.0.0.0/9\", \"10.128.0.0/9\" } }\n"
					"class c {\ndefault = deny\n"
					"deny = { \"@a\" }\nallow = { \"@a\",\n\"10.0.0.0/9\" } }\n"
					"class d {\ndefault = deny\n"
					"deny = { \"@a:80\" }\nallow = { \"@a:70-90\" } }\n"));
	CU_ASSERT_EQUAL(world_count(&w, DIAG_ERROR), 3);
	CU_ASSERT_PTR_NOT_NULL(world_diag(&w, DIAG_ERROR, 5, "both hold for 10.0.0.0/9"));
	CU_ASSERT_PTR_NOT_NULL(world_diag(&w, DIAG_ERROR, 6, "deny \"@a\" (line 4)"));
	CU_ASSERT_PTR_NOT_NULL(world_diag(&w, DIAG_ERROR, 10, "contradicts deny \"@a:80\""));
	world_free(&w);
}

/* Writes "deny = { PREFIX:1, PREFIX:3, ... }" with n rules. */
static void many_ports(FILE *out, const char *option, const char *prefix, int n, int first)
{
	fprintf(out, "%s = {\n", option);
	for (int i = 0; i < n; i++)
		fprintf(out, "\"%s:%d\",\n", prefix, first + 2 * i);
	fprintf(out, "}\n");
}

static bool build_many(struct world *w, int wide, int narrow)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	bool built;

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	fprintf(out, "class c {\ndefault = allow\n");
	many_ports(out, "deny", "10.0.0.0/8", wide, 1000);
	many_ports(out, "allow", "10.1.0.0/16", narrow, 1001);
	fprintf(out, "}\ndefault_class = \"c\"\n");
	fclose(out);
	built = world_build(w, text);
	free(text);
	return built;
}

static void too_many_ports(void)
{
	const int most = CGNET_PORTS_PER_PREFIX;
	char message[128];
	struct world w = {0};

	snprintf(message, sizeof(message), "\"10.0.0.0/8:%d\": more than %d", 1000 + 2 * most,
		 most);
	CU_ASSERT(build_many(&w, most, 0));
	world_free(&w);
	CU_ASSERT(build_many(&w, most - 28, 28));
	world_free(&w);
	CU_ASSERT_FALSE(build_many(&w, most + 1, 0));
	CU_ASSERT_PTR_NOT_NULL(world_diag(&w, DIAG_ERROR, 4 + most, message));
	CU_ASSERT_EQUAL(world_count(&w, DIAG_ERROR), 1);
	world_free(&w);
	CU_ASSERT_FALSE(build_many(&w, most - 28, 29));
	CU_ASSERT_EQUAL(world_count(&w, DIAG_ERROR), 1);
	CU_ASSERT(w.diags.n && strstr(w.diags.items[0].text, "hold for 10.1.0.0/16"));
	world_free(&w);
}

int suite_lint(void)
{
	static const struct unit_test tests[] = {
		{"diagnostics, v4", diagnostics_v4},
		{"diagnostics, v6", diagnostics_v6},
		{"dynamic sets may be empty", dynamic_sets_may_be_empty},
		{"wrong protocol", wrong_protocol},
		{"a contradiction is told once", contradiction_is_told_once},
		{"too many ports", too_many_ports},
	};

	return add_suite("lint", tests, ARRAY_SIZE(tests));
}
