// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Policy files: what good ones come to. */
#include <string.h>

#include "policy.h"
#include "suites.h"
#include "tempdir.h"

/* So that the test is about something else. */
#define DEFAULT "default_class = x\n"
#define CLASS	"class x { default = deny }\n"

static struct policy *parse_good(const char *text)
{
	struct diags d = {0};
	struct policy *p = policy_parse("good.conf", text, strlen(text), 0, &d);

	CHECK_ROW(p && !d.n, "%s", d.n ? d.items[0].text : "no policy");
	diags_free(&d);
	return p;
}

static void check_rule(const struct rule *rule, const char *text, int line,
		       enum cgnet_verdict verdict)
{
	CHECK_ROW(!strcmp(rule->text, text) && rule->line == line && rule->verdict == verdict &&
			  !strcmp(rule->file, "good.conf"),
		  "%s:%d: %s", rule->file, rule->line, rule->text);
}

static void test_good(void)
{
	static const char text[] = "default_class = \"a\"\n"
				   "class a {\n"
				   "  allow = { \"@resolver\", 10.0.0.1:443/tcp,\n"
				   "            [fd00::1]:443/tcp, }\n"
				   "  deny = @local\n"
				   "  default = allow\n"
				   "  loopback = 'deny'\n"
				   "}\n"
				   "class \"b\" { default = deny allow = { \"@s\" } deny = { } }\n"
				   "set s { members = { \"192.0.2.0/24\", \"2001:db8::/32\" } }\n"
				   "user builder { class = b }\n"
				   "group \"dev ops\" { class = \"a\" }";
	struct policy *p = parse_good(text);

	CU_ASSERT_FATAL(p && p->nclasses == 2 && p->nsets == 1 && p->ngrants == 2);
	CU_ASSERT_STRING_EQUAL(p->file, "good.conf");
	CU_ASSERT_STRING_EQUAL(p->default_class, "a");
	CU_ASSERT(policy_class(p, "a") == &p->classes[0] && policy_class(p, "b") &&
		  !policy_class(p, "c"));
	CU_ASSERT_EQUAL(p->classes[0].fallback, CGNET_ALLOW);
	CU_ASSERT_EQUAL(p->classes[0].loopback, CGNET_LOOPBACK_DENY);
	CU_ASSERT(p->classes[0].line == 2 && p->classes[0].fallback_line == 6 &&
		  p->classes[0].loopback_line == 7);
	CU_ASSERT_EQUAL_FATAL(p->classes[0].rules.n, 4);
	check_rule(&p->classes[0].rules.items[0], "@resolver", 3, CGNET_ALLOW);
	check_rule(&p->classes[0].rules.items[1], "10.0.0.1:443/tcp", 3, CGNET_ALLOW);
	check_rule(&p->classes[0].rules.items[2], "[fd00::1]:443/tcp", 4, CGNET_ALLOW);
	check_rule(&p->classes[0].rules.items[3], "@local", 5, CGNET_DENY);
	CU_ASSERT_EQUAL(p->classes[1].fallback, CGNET_DENY);
	CU_ASSERT_EQUAL(p->classes[1].loopback, CGNET_LOOPBACK_SESSION);
	CU_ASSERT_EQUAL(p->classes[1].loopback_line, 0);
	CU_ASSERT_EQUAL_FATAL(p->classes[1].rules.n, 1);
	CU_ASSERT_EQUAL(p->sets[0].members.n, 2);
	CU_ASSERT(!p->grants[0].group && !strcmp(p->grants[0].who, "builder") &&
		  !strcmp(p->grants[0].class_name, "b") && p->grants[0].line == 11);
	CU_ASSERT(p->grants[1].group && !strcmp(p->grants[1].who, "dev ops") &&
		  !strcmp(p->grants[1].class_name, "a"));
	policy_free(p);
}

static void test_options(void)
{
	static const char text[] =
		"default_class = a\n"
		"class a {\n"
		"  default = deny\n"
		"  protocols = { sctp, \"udplite\", dccp, }\n"
		"  inbound = deny\n"
		"  unix_allow = {\n"
		"    \"@a b\", @/c }\n"
		"  unix = none\n"
		"}\n"
		"class b { default = deny inbound = allow unix = any privileges = drop }\n";
	struct policy *p = parse_good(text);
	const struct class *c;

	CU_ASSERT_FATAL(p && p->nclasses == 2);
	c = &p->classes[0];
	CU_ASSERT_EQUAL(c->protocols, CGNET_PROTO_SCTP | CGNET_PROTO_UDPLITE | CGNET_PROTO_DCCP);
	CU_ASSERT(c->inbound_deny && c->unix_none && !c->keep_privileges && !c->incomplete);
	CU_ASSERT_FATAL(c->nunix_allow == 2);
	CU_ASSERT_STRING_EQUAL(c->unix_allow[0], "a b");
	CU_ASSERT_STRING_EQUAL(c->unix_allow[1], "/c");
	CU_ASSERT_EQUAL(c->unix_allow_line, 6);
	c = &p->classes[1];
	CU_ASSERT_EQUAL(c->protocols, CGNET_PROTO_TCP | CGNET_PROTO_UDP | CGNET_PROTO_ICMP);
	CU_ASSERT(!c->inbound_deny && !c->unix_none && !c->keep_privileges && !c->nunix_allow);
	policy_free(p);
}

static void test_limits(void)
{
	static const struct {
		const char *options;
		uint64_t pids, memory;
	} rows[] = {
		{"", 0, 0},
		{"pids_max = 1", 1, 0},
		{"pids_max = 4194304", 4194304, 0},
		{"memory_max = 1048576", 0, 1 << 20},
		{"memory_max = 1024K", 0, 1 << 20},
		{"memory_max = 1M", 0, 1 << 20},
		{"memory_max = 1048577", 0, 1048577},
		{"memory_max = \"4G\" pids_max = \"7\"", 7, 4ULL << 30},
		{"memory_max = 8388607T", 0, 8388607ULL << 40},
		{"memory_max = 9223372036854775807", 0, INT64_MAX},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[256];
		struct policy *p;

		snprintf(text, sizeof(text), "default_class = a\nclass a { default = deny %s }\n",
			 rows[i].options);
		p = parse_good(text);
		CU_ASSERT_FATAL(p != NULL);
		CU_ASSERT_EQUAL(p->classes[0].limits[CGNET_LIMIT_PIDS], rows[i].pids);
		CU_ASSERT_EQUAL(p->classes[0].limits[CGNET_LIMIT_MEMORY], rows[i].memory);
		policy_free(p);
	}
}

/* Nothing comes from the environment, in values or in comments. */
static void test_environment(void)
{
	static const char text[] = DEFAULT CLASS "# ${CGNET_TEST} $HOME \\ \"\n";
	struct policy *p;

	CU_ASSERT(!setenv("CGNET_TEST", "\n} garbage {", 1));
	p = parse_good(text);
	CU_ASSERT(p && p->nclasses == 1);
	policy_free(p);
	unsetenv("CGNET_TEST");
}

static void test_files(void)
{
	struct tempdir dir;
	char path[PATH_MAX], list[PATH_MAX];
	struct diags d = {0};
	struct policy *p;

	CU_ASSERT_FATAL(!tempdir_make(&dir));
	tempdir_path(&dir, "p.conf", path);
	tempdir_path(&dir, "l.txt", list);
	/* A list is looked for beside the policy. */
	CU_ASSERT(!tempdir_write(&dir, "p.conf",
				 DEFAULT "class x { default = allow deny = \"@y\" }\n"
					 "set y { members = {\n \"file:l.txt\" } }\n",
				 0644));
	CU_ASSERT(!tempdir_write(&dir, "l.txt", "# list\n192.0.2.0/24\n2001:db8::/32\n", 0644));
	p = policy_read(path, POLICY_CHECK_OWNER, &d);
	CU_ASSERT_FATAL(p != NULL && !d.n);
	CU_ASSERT(p->sets[0].list.n == 2 && p->sets[0].members.n == 1);
	policy_free(p);
	/* Its errors are in its own file. */
	CU_ASSERT(!tempdir_write(&dir, "l.txt", "192.0.2.0/24\n192.0.2.1/24\n", 0644));
	CU_ASSERT(!policy_read(path, 0, &d));
	CU_ASSERT(d.n == 1 && d.items[0].line == 2 && !strcmp(d.items[0].file, list));
	diags_free(&d);
	/* A writable list is as good as a writable policy. */
	CU_ASSERT(!tempdir_write(&dir, "l.txt", "192.0.2.0/24\n", 0666));
	CU_ASSERT(!policy_read(path, POLICY_CHECK_OWNER, &d));
	CU_ASSERT(d.n == 1 && d.items[0].line == 4 && !strcmp(d.items[0].file, path) &&
		  strstr(d.items[0].text, list) &&
		  strstr(d.items[0].text, "writable for everybody"));
	diags_free(&d);
	/* An empty list denies nothing. */
	CU_ASSERT(!tempdir_write(&dir, "l.txt", "# empty\n", 0644));
	CU_ASSERT(!policy_read(path, 0, &d));
	CU_ASSERT(d.errors == 1 && d.n == 2);
	diags_free(&d);
	CU_ASSERT(!tempdir_write(&dir, "p.conf", DEFAULT CLASS, 0666));
	CU_ASSERT(!policy_read(path, POLICY_CHECK_OWNER, &d));
	CU_ASSERT(d.n == 1 && d.items[0].line == 0 &&
		  !strcmp(d.items[0].text, "is writable for everybody (mode 0666)"));
	diags_free(&d);
	tempdir_remove(&dir);
	CU_ASSERT(!policy_read(path, 0, &d));
	CU_ASSERT(d.n == 1 && !strcmp(d.items[0].text, "cannot open: No such file or directory"));
	diags_free(&d);
}

/* What `check` relies on to find all errors: the rules that are right are still there. */
static void test_keep_wrong(void)
{
	static const char text[] = DEFAULT "class x {\n default = allow\n deny = { \"10.0.0.1/8\", "
					   "\"@zzz\", \"10.0.0.0/8\" }\n}\n";
	struct diags d = {0};
	struct policy *p = policy_parse("x", text, strlen(text), POLICY_KEEP_WRONG, &d);

	CU_ASSERT_EQUAL(d.errors, 2);
	CU_ASSERT_FATAL(p && p->nclasses == 1 && p->classes[0].rules.n == 1);
	CU_ASSERT_STRING_EQUAL(p->classes[0].rules.items[0].text, "10.0.0.0/8");
	policy_free(p);
	diags_free(&d);
	CU_ASSERT(!policy_parse("x", "class {", 7, POLICY_KEEP_WRONG, &d));
	diags_free(&d);
}

static const struct unit_test tests[] = {
	{"good file", test_good},
	{"options of a class", test_options},
	{"limits of a class", test_limits},
	{"environment", test_environment},
	{"files", test_files},
	{"wrong rules left out", test_keep_wrong},
};

int suite_policy(void)
{
	return add_suite("policy", tests, ARRAY_SIZE(tests));
}
