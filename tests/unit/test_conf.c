// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Policy files: each message of bad ones with its line. */
#include <string.h>

#include "policy.h"
#include "suites.h"

#define MAX_MESSAGES 12

struct message {
	int line;
	const char *text; /* the whole message; "warning: " before a warning */
};

struct conf_row {
	const char *text;
	struct message messages[MAX_MESSAGES]; /* in file order, ended by text NULL */
};

/* So that the row is about something else. */
#define DEFAULT "default_class = x\n"
#define CLASS	"class x { default = deny }\n"

#define PROTOCOL(name) "protocol \"" name "\" is not tcp, udp, icmp, udplite, sctp, dccp or raw"
#define PIDS(text)     "pids_max is a number from 1 to 4194304, not \"" text "\""
#define MEMORY(text)   "memory_max is a size of at least 1M, such as 512M or 4G, not \"" text "\""
#define A_PATH                                                                                     \
	"is a path, which a mount can show elsewhere; only abstract names, \"@NAME\", are taken"
#define WITHOUT_NONE                                                                               \
	"unix_allow stands beside \"unix = none\": without it every Unix socket is reached"
#define BYTES_100                                                                                  \
	"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567" \
	"890123456789"

/* Syntax: the first error is the only one. */
static const struct conf_row syntax[] = {
	{DEFAULT "class x { default = allow\n deny = \"@local\"\n", {{2, "\"{\" is never closed"}}},
	{DEFAULT "class x {\n deny = {\n \"@local\"\n", {{3, "\"{\" is never closed"}}},
	{DEFAULT CLASS "}\n", {{3, "\"}\" without its \"{\""}}},
	{DEFAULT "class x {\n default = \"deny\n}\n", {{3, "string is not closed on its line"}}},
	{DEFAULT "class x {\n default = 'deny\n}\n", {{3, "string is not closed on its line"}}},
	{DEFAULT CLASS "\"", {{3, "string is not closed on its line"}}},
	{DEFAULT CLASS "\n/* open\n\n", {{4, "comment is never closed"}}},
	{DEFAULT CLASS "class y\n", {{4, "the file ends within a statement"}}},
	{"default_class =\n", {{2, "the file ends within a statement"}}},
	{"default_class\n{ }\n", {{2, "a section is written KIND NAME { ... }"}}},
	{"class { default = deny }\n", {{1, "a section is written KIND NAME { ... }"}}},
	{"class x y { default = deny }\n", {{1, "unexpected \"y\""}}},
	{"class x {\n class y { }\n}\n", {{2, "a section cannot stand inside another"}}},
	{"class x {\n default =\n}\n", {{3, "\"}\" where a value is missing"}}},
	{"class x = y\n", {{1, "an option is written NAME = VALUE"}}},
	{"= y\n", {{1, "an option is written NAME = VALUE"}}},
	{"default_class = = x\n", {{1, "unexpected \"=\""}}},
	{"class x {\n deny = { {\n", {{2, "\"{\" inside of a list"}}},
	{"class x {\n default = deny,\n}\n", {{2, "\",\" outside of a list"}}},
	{"class x {\n default = { deny }\n}\n", {{2, "unexpected token '{'"}}},
	{"class x {\n deny = { \"@local\"\n \"@host\" }\n}\n", {{3, "unexpected token '@host'"}}},
	{"class x {\n deny = { , \"@host\" }\n}\n", {{2, "unexpected token ','"}}},
	{"include(\"other.conf\")\n", {{1, "\"(\" is refused outside of quotes"}}},
	{"class x {\n deny += { \"@local\" }\n}\n", {{2, "\"+\" is refused outside of quotes"}}},
	{"class x {\n deny = { 10.0.0.1:* }\n}\n", {{2, "\"*\" is refused outside of quotes"}}},
	{"class x {\n deny = { 10.0.0.0//8 }\n}\n",
	 {{2, "\"//\" within a word is refused outside of quotes"}}},
	{"class x {\n default = ${HOME}\n}\n",
	 {{2, "\"$\" is refused: variables are not expanded"}}},
	{"class x {\n default = \"${HOME:-deny}\"\n}\n",
	 {{2, "\"$\" is refused: variables are not expanded"}}},
	{"class x {\n deny = { \"10.0.0.0/8\\x00\" }\n}\n",
	 {{2, "\"\\\" is refused: there are no escapes"}}},
	{"class x {\n default = deny\\\n}\n", {{2, "\"\\\" is refused: there are no escapes"}}},
	/* Text. */
	{"class x {\r\n", {{1, "carriage return; lines end in a newline alone"}}},
	{"# \xc3\xa4\n# \xe4\n", {{2, "not valid UTF-8 (byte 0xe4)"}}},
	{"\n# \x1b[31m\n", {{2, "control character 0x1b"}}},
	{"", {{0, "there is no class"}}},
	{"# nothing\n", {{0, "there is no class"}}},
};

/* Everything else: all errors at once. */
static const struct conf_row semantics[] = {
	/* Names of options and sections. */
	{"defaul_class = x\n" DEFAULT CLASS,
	 {{1, "unknown option \"defaul_class\"; did you mean default_class?"}}},
	{DEFAULT CLASS "default = deny\n", {{3, "unknown option \"default\""}}},
	{DEFAULT "class x {\n default = allow\n dney = { \"@local\" }\n zzzzzzzz = 1\n}\n",
	 {{4, "unknown option \"dney\" in class; did you mean deny?"},
	  {5, "unknown option \"zzzzzzzz\" in class"}}},
	{DEFAULT CLASS "set y { member = { \"192.0.2.1\" } }\n",
	 {{3, "unknown option \"member\" in set; did you mean members?"},
	  {3, "warning: set @y is not used"}}},
	{DEFAULT CLASS "user y {\n clas = x }\n",
	 {{3, "warning: user \"y\" is granted no class and gets the default class"},
	  {4, "unknown option \"clas\" in user; did you mean class?"}}},
	{DEFAULT CLASS "clas y {\n bogus = 1 }\n",
	 {{3, "unknown section \"clas\"; did you mean class?"}}},
	{DEFAULT "class x {\n \"class=x|default\" = allow\n default = deny\n}\n",
	 {{3, "unknown option \"class=x|default\" in class"}}},
	/* Given twice. */
	{DEFAULT DEFAULT CLASS, {{2, "option \"default_class\" is given twice, first in line 1"}}},
	{DEFAULT
	 "class x {\n default = allow\n deny = \"@local\"\n default = deny\n deny = { }\n}\n",
	 {{5, "option \"default\" is given twice, first in line 3"},
	  {6, "option \"deny\" is given twice, first in line 4"}}},
	{DEFAULT CLASS CLASS, {{3, "class \"x\" is given twice, first in line 2"}}},
	{DEFAULT "class x { default = deny allow = \"@y\" }\nset y { members = \"192.0.2.1\" }\n"
		 "set y { members = { \"192.0.2.2\" } }\n",
	 {{4, "set \"y\" is given twice, first in line 3"}}},
	{DEFAULT CLASS "user y { class = x }\ngroup y { class = x }\nuser y { class = x }\n"
		       "group y { class = x }\n",
	 {{5, "user \"y\" is given twice, first in line 3"},
	  {6, "group \"y\" is given twice, first in line 4"}}},
	/* Titles. */
	{DEFAULT CLASS "class Y { default = deny }\nset 1 { members = \"192.0.2.1\" }\n"
		       "user \"\" { class = x }\n",
	 {{3, "\"Y\" cannot name a class: lower case letters, digits and \"-\", a letter first, at "
	      "most 32"},
	  {4, "\"1\" cannot name a set: lower case letters, digits and \"-\", a letter first, at "
	      "most 32"},
	  {4, "warning: set @1 is not used"},
	  {5, "a user has a name"}}},
	{DEFAULT CLASS "class abcdefghijklmnopqrstuvwxyz1234567 { default = deny }\n",
	 {{3, "\"abcdefghijklmnopqrstuvwxyz1234567\" cannot name a class: lower case letters, "
	      "digits and \"-\", a letter first, at most 32"}}},
	{DEFAULT "class x { default = deny allow = \"@private\" }\n"
		 "set private { members = \"192.0.2.1\" }\n",
	 {{3, "set @private is built in"}, {3, "warning: set @private is not used"}}},
	/* Values. */
	{DEFAULT "class x {\n default = Allow\n loopback = yes\n}\n",
	 {{3, "default is allow or deny, not \"Allow\""},
	  {4, "loopback is session, deny or allow, not \"yes\""}}},
	{DEFAULT "class x {\n default = deny\n inbound = none\n unix = deny\n unix_allow = \"@y\"\n"
		 " privileges = kept\n}\n",
	 {{4, "inbound is allow or deny, not \"none\""},
	  {5, "unix is any or none, not \"deny\""},
	  {7, "privileges is drop or keep, not \"kept\""}}},
	{DEFAULT "class x {\n default = deny\n pids_max = 0\n memory_max = 1023K\n}\n"
		 "class y {\n default = deny\n pids_max = 4194305\n memory_max = 8388608T\n}\n"
		 "class z {\n default = deny\n pids_max = max\n memory_max = 512m\n}\n"
		 "class w {\n default = deny\n pids_max = -1\n memory_max = M\n}\n"
		 "class v {\n default = deny\n pids_max = 010\n memory_max = 1.5G\n}\n"
		 "class u {\n default = deny\n pids_max = \"\"\n memory_max = \"\"\n}\n",
	 {{4, PIDS("0")},
	  {5, MEMORY("1023K")},
	  {9, PIDS("4194305")},
	  {10, MEMORY("8388608T")},
	  {14, PIDS("max")},
	  {15, MEMORY("512m")},
	  {19, PIDS("-1")},
	  {20, MEMORY("M")},
	  {24, PIDS("010")},
	  {25, MEMORY("1.5G")},
	  {29, PIDS("")},
	  {30, MEMORY("")}}},
	{DEFAULT "class x {\n default = deny\n privileges = keep\n}\n",
	 {{4, "warning: privileges = keep: a root session of class \"x\" can undo the policy"}}},
	{DEFAULT "class x {\n default = deny\n protocol = { tcp }\n unix-allow = \"@y\"\n}\n",
	 {{4, "unknown option \"protocol\" in class; did you mean protocols?"},
	  {5, "unknown option \"unix-allow\" in class; did you mean unix_allow?"}}},
	/* Protocols. */
	{DEFAULT "class x {\n default = deny\n protocols = {\n tcp, upd,\n \"mptcp\", TCP,\n tcp,\n"
		 " \"\" }\n}\n",
	 {{5, PROTOCOL("upd") "; did you mean udp?"},
	  {6, PROTOCOL("mptcp") "; did you mean tcp?"},
	  {6, PROTOCOL("TCP")},
	  {7, "protocol tcp is given twice"},
	  {8, PROTOCOL("")}}},
	{DEFAULT "class x {\n default = deny\n protocols = { }\n deny = \"10.0.0.1/8\"\n}\n",
	 {{4, "protocols is empty: class \"x\" could make no socket"},
	  {5, "\"10.0.0.1/8\" has host bits set; the prefix is 10.0.0.0/8"}}},
	/* Abstract names. */
	{DEFAULT "class x {\n default = deny\n unix = none\n unix_allow = { \"@y\", \"@\", \"y\",\n"
		 "\"@y\", \"@@y\",\n\"@" BYTES_100 "1234567\", \"@" BYTES_100 "12345678\",\n"
		 "\"/run/y\", \"@/run/y\",\n\"run/y\", \"\" }\n}\n",
	 {{5, "unix_allow: \"@\" has not 1 to 107 bytes behind its \"@\""},
	  {5, "unix_allow: \"y\" is not an abstract name, \"@NAME\""},
	  {6, "unix_allow: \"@y\" is given twice"},
	  {7, "unix_allow: \"@012345678901234567890123456789012345678901234567890123456789012\" "
	      "has not 1 to 107 bytes behind its \"@\""},
	  {8, "unix_allow: \"/run/y\" " A_PATH},
	  {9, "unix_allow: \"run/y\" " A_PATH},
	  {9, "unix_allow: \"\" is not an abstract name, \"@NAME\""}}},
	{DEFAULT "class x {\n default = deny\n unix_allow = {\n \"@y\" }\n}\n"
		 "class y {\n default = deny\n unix_allow = \"@y\"\n unix = any\n}\n"
		 "class z { default = deny unix_allow = { } }\n",
	 {{4, WITHOUT_NONE}, {9, WITHOUT_NONE}}},
	{DEFAULT "class x {\n default = deny\n unx = none\n unix_allow = { \"@y\" }\n}\n",
	 {{4, "unknown option \"unx\" in class; did you mean unix?"}}},
	{DEFAULT "class x { deny = \"@local\" }\nclass y { }\n",
	 {{2, "class \"x\" lacks \"default = allow\" or \"default = deny\""},
	  {3, "class \"y\" lacks \"default = allow\" or \"default = deny\""}}},
	/* Classes that deny nothing. */
	{DEFAULT "class x { default = allow }\n", {{2, "class \"x\" denies nothing"}}},
	{DEFAULT "class x {\n default = allow\n allow = \"@resolver\"\n deny = { }\n}\n",
	 {{2, "class \"x\" denies nothing"}}},
	{DEFAULT "class x {\n default = allow\n loopback = allow\n}\n",
	 {{2, "class \"x\" denies nothing"}}},
	{DEFAULT "class x {\n default = allow\n protocols = { tcp }\n privileges = drop\n}\n",
	 {{2, "class \"x\" denies nothing"}}},
	{DEFAULT "class x {\n default = allow\n loopback = session\n}\n"
		 "class y {\n default = allow\n loopback = deny\n}\n"
		 "class z {\n default = allow\n loopback = allow\n inbound = deny\n}\n"
		 "class w {\n default = allow\n loopback = allow\n unix = none\n}\n",
	 {{0, NULL}}},
	{DEFAULT "class x {\n default = allow\n deny = \"@y\"\n}\nset y { members = { \"@z\" } }\n"
		 "set z { }\n",
	 {{2, "class \"x\" denies nothing"},
	  {6, "warning: set @y is empty"},
	  {7, "warning: set @z is empty"}}},
	/* Rules, all wrong ones with their lines. */
	{DEFAULT "class x {\n default = allow\n deny = {\n  \"10.0.0.1/8\",\n  \"fd00::1/8\",\n"
		 "  \"@local\",\n  \"10.0.0.1:70000\",\n  \"[fd00::1]:70000\"\n }\n"
		 " allow = { \"example.com:443\",\n \"@resolver:53\" }\n}\n",
	 {{5, "\"10.0.0.1/8\" has host bits set; the prefix is 10.0.0.0/8"},
	  {6, "\"fd00::1/8\" has host bits set; the prefix is fd00::/8"},
	  {8, "port 70000 is above 65535"},
	  {9, "port 70000 is above 65535"},
	  {11, "\"example.com\" is a host name; names are taken only by `cgnetd serve`"},
	  {12, "@resolver carries its own ports (53, udp and tcp) and takes no others"}}},
	/* A wrong rule makes no class look empty. */
	{DEFAULT "class x { default = allow deny = \"10.0.0.1/8\" }\n",
	 {{2, "\"10.0.0.1/8\" has host bits set; the prefix is 10.0.0.0/8"}}},
	{DEFAULT "class x { default = allow deny = \"@y\" }\nset y { members = \"10.0.0.1/8\" }\n",
	 {{3, "\"10.0.0.1/8\" has host bits set; the prefix is 10.0.0.0/8"}}},
	{DEFAULT "class x { default = allow deni = \"@local\" }\n",
	 {{2, "unknown option \"deni\" in class; did you mean deny?"}}},
	/* Lines are those of the file, whatever comments stand before. */
	{"# one\n// two\n/* three\n four */ default_class = x # \"\n"
	 "class x { # { \"\n default = /* deny */ allow // }\n deny = { \"@local\", # one\n"
	 " /* two\n */ \"10.0.0.1/8\" }\n}\n",
	 {{9, "\"10.0.0.1/8\" has host bits set; the prefix is 10.0.0.0/8"}}},
	/* Sets. */
	{DEFAULT
	 "class x {\n default = allow\n deny = { \"@privat\",\n \"@blokced\", \"@zzz\" }\n}\n"
	 "set blocked { members = \"192.0.2.1\" }\n",
	 {{4, "unknown set @privat; did you mean @private?"},
	  {5, "unknown set @blokced; did you mean @blocked?"},
	  {5, "unknown set @zzz"},
	  {7, "warning: set @blocked is not used"}}},
	{DEFAULT "class x { default = deny allow = \"@y\" }\nset y { members = { \"192.0.2.1\",\n"
		 " \"@hots\", \"192.0.2.1:80\",\n \"192.0.2.1/tcp\", \"@resolver\" } }\n",
	 {{4, "a set holds addresses; ports and protocols follow its name in a rule"},
	  {4, "unknown set @hots; did you mean @host?"},
	  {5, "a set holds addresses; ports and protocols follow its name in a rule"},
	  {5, "@resolver carries its own ports and cannot be a member of a set"}}},
	{DEFAULT "class x { default = deny allow = \"@y\" }\nset y { members = \"@y\" }\n",
	 {{3, "set @y contains itself"}}},
	{DEFAULT "class x { default = deny allow = \"@a\" }\nset a { members = \"@b\" }\n"
		 "set b { members = { \"192.0.2.1\",\n \"@c\" } }\nset c { members = \"@a\" }\n",
	 {{6, "set @a contains itself"}}},
	{DEFAULT "class x { default = deny deny = \"file:list\" }\n",
	 {{2, "a file: member stands in a set, and the set in the class"}}},
	{DEFAULT "class x { default = deny allow = \"@y\" }\n"
		 "set y { members = \"file:/nonexistent/list\" }\n",
	 {{3, "/nonexistent/list: cannot open: No such file or directory"}}},
	/* default_class and grants. */
	{"default_class = restrictd\nclass restricted { default = deny }\n",
	 {{1, "default_class: there is no class \"restrictd\"; did you mean restricted?"}}},
	{"default_class = \"\"\n" CLASS, {{1, "default_class: there is no class \"\""}}},
	{CLASS, {{0, "warning: no default_class: a session without a grant is refused"}}},
	{DEFAULT CLASS "user y { class = zz }\ngroup z {\n class = \"\" }\nuser z { }\n",
	 {{3, "warning: user \"y\" gets the default class: there is no class \"zz\""},
	  {5, "warning: group \"z\" is granted no class and gets the default class"},
	  {6, "warning: user \"z\" is granted no class and gets the default class"}}},
};

static bool has_message(const struct diags *d, const struct message *wanted)
{
	static const char warning[] = "warning: ";
	bool warns = !strncmp(wanted->text, warning, strlen(warning));
	const char *text = wanted->text + (warns ? strlen(warning) : 0);

	for (size_t i = 0; i < d->n; i++)
		if (d->items[i].line == wanted->line && !strcmp(d->items[i].text, text) &&
		    (d->items[i].kind == DIAG_WARNING) == warns &&
		    !strcmp(d->items[i].file, "test.conf"))
			return true;
	return false;
}

static void check_messages(const struct diags *d, const struct conf_row *row, const char *table,
			   size_t index)
{
	size_t n = 0;

	for (; n < MAX_MESSAGES && row->messages[n].text; n++)
		CHECK_ROW(has_message(d, &row->messages[n]), "%s %zu lacks %d: %s", table, index,
			  row->messages[n].line, row->messages[n].text);
	CHECK_ROW(d->n == n, "%s %zu: %zu messages, not %zu; first %d: %s", table, index, d->n, n,
		  d->n ? d->items[0].line : 0, d->n ? d->items[0].text : "");
}

static void check_rows(const struct conf_row *rows, size_t n, const char *table)
{
	for (size_t i = 0; i < n; i++) {
		struct diags d = {0};
		struct policy *p =
			policy_parse("test.conf", rows[i].text, strlen(rows[i].text), 0, &d);

		check_messages(&d, &rows[i], table, i);
		CHECK_ROW(!p == !!d.errors, "%s %zu: a policy with errors, or none", table, i);
		policy_free(p);
		diags_free(&d);
	}
}

static void test_syntax(void)
{
	check_rows(syntax, ARRAY_SIZE(syntax), "syntax");
}

static void test_semantics(void)
{
	check_rows(semantics, ARRAY_SIZE(semantics), "semantics");
}

/* Many parses in one process: libconfuse's scanner keeps no state from a failed one. */
static void test_repeat(void)
{
	static const struct conf_row good = {DEFAULT CLASS, {{0, NULL}}};

	for (int i = 0; i < 100; i++) {
		test_syntax();
		check_rows(&good, 1, "good");
	}
}

static void test_limits(void)
{
	size_t size = POLICY_MAX_SIZE + 1;
	_cleanup_free_ char *text = malloc(size + 1);
	struct diags d = {0};
	size_t used = 0;

	memset(text, '\n', size);
	text[size] = '\0';
	CU_ASSERT(!policy_parse("test.conf", text, size, 0, &d));
	CU_ASSERT(d.n == 1 && !strcmp(d.items[0].text, "is larger than 4194304 bytes"));
	diags_free(&d);
	for (int i = 0; i < 1025; i++)
		used += sprintf(text + used, "class c%d { default = deny }\n", i);
	CU_ASSERT(!policy_parse("test.conf", text, used, 0, &d));
	CU_ASSERT(d.n == 1 && d.items[0].line == 1025 &&
		  !strcmp(d.items[0].text, "more than 1024 sections"));
	diags_free(&d);
	used = 0;
	for (int i = 0; i < 20000; i++)
		used += sprintf(text + used, "o%d = x\n", i);
	CU_ASSERT(!policy_parse("test.conf", text, used, 0, &d));
	CU_ASSERT(d.n == 1 && !strcmp(d.items[0].text, "more than 16384 options"));
	diags_free(&d);
	/* A class full of names that nothing has: a bounded number of them is reported. */
	used = sprintf(text, DEFAULT "class x { default = deny allow = {\n");
	for (int i = 0; i < 5000; i++)
		used += sprintf(text + used, "\"@set-%d\",\n", i);
	used += sprintf(text + used, "} }\n");
	CU_ASSERT(!policy_parse("test.conf", text, used, 0, &d));
	CU_ASSERT(d.n == 201 && strstr(d.items[200].text, "too many errors"));
	diags_free(&d);
	used = sprintf(text, DEFAULT "class x { default = deny unix = none unix_allow = {\n");
	for (int i = 0; i < UNIX_NAMES_MAX + 2; i++)
		used += sprintf(text + used, "\"@name-%d\",\n", i);
	used += sprintf(text + used, "} }\n");
	CU_ASSERT(!policy_parse("test.conf", text, used, 0, &d));
	CU_ASSERT(d.n == 1 && d.items[0].line == 3 + UNIX_NAMES_MAX &&
		  !strcmp(d.items[0].text, "unix_allow: more than 1024 names"));
	diags_free(&d);
}

/* Sorted by file and line, those of one line in the order of their making. */
static void test_print(void)
{
	static const char wanted[] = "a: 0th\na:1: 3rd\na:2: warning: 1st\na:2: 4th\nb:1: 2nd\n";
	char found[256] = "";
	FILE *out = fmemopen(found, sizeof(found), "w");
	struct diags d = {0};

	diag_warning(&d, "a", 2, "%dst", 1);
	diag_error(&d, "b", 1, "%dnd", 2);
	diag_error(&d, "a", 1, "%drd", 3);
	diag_error(&d, "a", 2, "%dth", 4);
	diag_error(&d, "a", 0, "%dth", 0);
	CU_ASSERT_EQUAL(d.errors, 4);
	diags_print(&d, out);
	fclose(out);
	CU_ASSERT_STRING_EQUAL(found, wanted);
	diags_free(&d);
	CU_ASSERT(!d.n && !d.errors);
}

static const struct unit_test tests[] = {
	{"syntax", test_syntax}, {"semantics", test_semantics},	   {"repeated parses", test_repeat},
	{"limits", test_limits}, {"printed messages", test_print},
};

int suite_conf(void)
{
	return add_suite("conf", tests, ARRAY_SIZE(tests));
}
