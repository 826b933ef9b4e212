// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "suites.h"
#include "world.h"

static void parse(void)
{
	static const struct {
		const char *text, *addr;
		uint16_t port;
		uint8_t proto;
	} rows[] = {
		{"10.0.0.1", "10.0.0.1", 0, IPPROTO_TCP},
		{"10.0.0.1:443", "10.0.0.1", 443, IPPROTO_TCP},
		{"10.0.0.1:53/udp", "10.0.0.1", 53, IPPROTO_UDP},
		{"10.0.0.1/icmp", "10.0.0.1", 0, IPPROTO_ICMP},
		{"fd00::1", "fd00::1", 0, IPPROTO_TCP},
		{"fd00::1/udp", "fd00::1", 0, IPPROTO_UDP},
		{"[fd00::1]:22/tcp", "fd00::1", 22, IPPROTO_TCP},
		{"[fd00::1]/icmp", "fd00::1", 0, IPPROTO_ICMP},
		{"[::ffff:10.0.0.1]:22", "10.0.0.1", 22, IPPROTO_TCP},
		{"::", "::", 0, IPPROTO_TCP},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct dest dest = {0};
		char addr[INET6_ADDRSTRLEN] = "";
		struct why why = {""};
		int err = dest_parse(rows[i].text, &dest, &why);

		inet_ntop(dest.family, dest.addr, addr, sizeof(addr));
		CHECK_ROW(!err && !strcmp(addr, rows[i].addr) && dest.port == rows[i].port &&
				  dest.proto == rows[i].proto,
			  "%s: %s port %u proto %u (%s)", rows[i].text, addr, dest.port, dest.proto,
			  why.text);
	}
}

static void parse_refuses(void)
{
	static const char *const rows[] = {
		"",
		"10.0.0.0/8",
		"@local",
		"@resolver",
		"example.org:443",
		"10.0.0.1:80,81",
		"10.0.0.1:1-2",
		"10.0.0.1:*",
		"10.0.0.1:65536",
		"10.0.0.1:0",
		"10.0.0.1/sctp",
		"10.0.0.1/tcp+udp",
		"10.0.0.1:1/icmp",
		"127.1",
		"010.0.0.1",
		"fe80::1%eth0",
		"file:/etc/hosts",
		"[fd00::1]:22:23",
		"10.0.0.1:",
		"10.0.0.1/",
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct dest dest = {.port = 7};
		struct why why = {""};

		CHECK_ROW(dest_parse(rows[i], &dest, &why) == -EINVAL && *why.text &&
				  dest.port == 7,
			  "\"%s\" is taken (%s)", rows[i], why.text);
	}
}

/* Forms of one address, and what is judged. */
static void forms(void)
{
	static const struct {
		const char *dest;
		enum cgnet_verdict verdict;
		const char *rule;
	} rows[] = {
		{"::ffff:10.1.2.3", CGNET_DENY, "10.0.0.0/8"},
		{"[::ffff:10.62.0.5]:443", CGNET_ALLOW, "10.62.0.5:443/tcp"},
		{"::ffff:8.8.8.8", CGNET_ALLOW, "default = allow"},
		/* NAT64, 6to4, Teredo, compatible: both forms. */
		{"64:ff9b::10.1.2.3", CGNET_DENY, "10.0.0.0/8"},
		{"64:ff9b::8.8.8.8", CGNET_ALLOW, "default = allow"},
		{"[64:ff9b::10.62.0.5]:443", CGNET_ALLOW, "default = allow"},
		{"[64:ff9b::10.62.0.5]:80", CGNET_DENY, "10.0.0.0/8"},
		{"2002:a01:203::1", CGNET_DENY, "10.0.0.0/8"},
		{"2002:808:808::1", CGNET_ALLOW, "default = allow"},
		{"2001::f5fe:fdfc", CGNET_DENY, "10.0.0.0/8"},
		{"2001:0:a01:203::f7f7:f7f7", CGNET_ALLOW, "default = allow"},
		{"::10.1.2.3", CGNET_DENY, "10.0.0.0/8"},
		{"::8.8.8.8", CGNET_ALLOW, "default = allow"},
		/* The v6 form first: it is denied whatever it carries. */
		{"2002:909:909::1", CGNET_DENY, "2002:909::/32"},
		{"2002:a0b:1::1", CGNET_DENY, "2002:a0b::/32"},
		/* A rule for the carrier opens no v4 address that is denied. */
		{"2002:a00:1::1", CGNET_DENY, "10.0.0.0/8"},
		{"2002:808:1::1", CGNET_ALLOW, "default = allow"},
		{"64:ff9b::127.0.0.1", CGNET_DENY, "loopback = session"},
		{"64:ff9b::240.67.71.78", CGNET_DENY, "self-test"},
		/* The unspecified address is this host's. */
		{"0.0.0.0:8000", CGNET_ALLOW, "127.0.0.1:8000"},
		{"[::ffff:0.0.0.0]:8000", CGNET_ALLOW, "127.0.0.1:8000"},
		{"0.0.0.0:8000/udp", CGNET_DENY, "loopback = session"},
		{"[::]:8000", CGNET_ALLOW, "[::1]:8000"},
		{"[::]:8000/udp", CGNET_ALLOW, "[::1]:8000"},
		{"[::]:8001", CGNET_DENY, "loopback = session"},
		{"0.0.0.0:8001", CGNET_DENY, "loopback = session"},
	};
	struct world w = {0};

	CU_ASSERT_FATAL(world_build(
		&w, "class c {\ndefault = allow\n"
		    "deny = { \"10.0.0.0/8\", \"2002:909::/32\", \"2002:a0b::/32\" }\n"
		    "allow = { \"10.62.0.5:443/tcp\", \"127.0.0.1:8000\", \"[::1]:8000\",\n"
		    "\"2002:a00::/32\" }\n}\n"));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *rule = NULL;
		enum cgnet_verdict verdict = world_ask(&w, rows[i].dest, &rule);

		CHECK_ROW(verdict == rows[i].verdict && !strcmp(rule, rows[i].rule),
			  "%s: %s by \"%s\"", rows[i].dest, verdict ? "allowed" : "denied", rule);
	}
	world_free(&w);
}

static void icmp6_is_icmp(void)
{
	struct dest dest = {.family = AF_INET6, .addr = {0xfd, [15] = 1}, .port = 9, .proto = 58};
	struct explain_source source;
	struct explanation e;
	struct world w = {0};

	CU_ASSERT_FATAL(world_build(&w, "class c {\ndefault = allow\ndeny = { \"fd00::/8/icmp\", "
					"\"[fd00::/8]:9\" }\n}\n"));
	source = explain_compiled(&w.compiled->classes[0]);
	CU_ASSERT_EQUAL(explain(&source, &dest, &e), 0);
	CU_ASSERT_EQUAL(e.verdict, CGNET_DENY);
	CU_ASSERT_EQUAL(e.rule, CGNET_RULE_FIRST);
	CU_ASSERT(e.prefix.family == AF_INET6 && e.prefix.len == 8 && e.prefix.bytes[0] == 0xfd);
	world_free(&w);
}

/* Longest matches among prefixes whose neighbours in the order do not enclose them. */
static void longest_match(void)
{
	static const struct {
		const char *dest, *rule;
	} rows[] = {
		{"10.0.0.5", "10.0.0.0/24"},	 {"10.0.0.255", "10.0.0.0/24"},
		{"10.0.0.16", "10.0.0.16/30"},	 {"10.0.0.20", "10.0.0.0/24"},
		{"10.0.1.0", "10.0.0.0/8"},	 {"10.255.255.255", "10.0.0.0/8"},
		{"11.0.0.0", "default = allow"}, {"255.255.255.255", "default = allow"},
		{"fd00:0:0:1::", "fd00::/16"},	 {"fd00::2", "fd00::/64"},
		{"fd00::1", "fd00::1"},		 {"fdff:ffff::", "default = allow"},
	};
	struct world w = {0};

	CU_ASSERT_FATAL(world_build(&w,
				    "class c {\ndefault = allow\n"
				    "deny = { \"10.0.0.0/8\", \"10.0.0.0/24\", \"10.0.0.16/30\", "
				    "\"fd00::/16\", \"fd00::/64\", \"fd00::1\" }\n}\n"));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *rule = NULL;

		world_ask(&w, rows[i].dest, &rule);
		CHECK_ROW(!strcmp(rule, rows[i].rule), "%s: \"%s\"", rows[i].dest, rule);
	}
	world_free(&w);
}

/* Asks for a destination in the one class of w. */
static struct explanation ask(const struct world *w, const char *text)
{
	struct explain_source source = explain_compiled(&w->compiled->classes[0]);
	struct explanation e = {0};
	struct dest dest;

	CU_ASSERT_EQUAL_FATAL(dest_parse(text, &dest, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(explain(&source, &dest, &e), 0);
	return e;
}

/* Where a denial leaves the session's own servers, as the programs have it. */
static void own_servers(void)
{
	static const struct {
		const char *body, *dest;
		bool own;
	} rows[] = {
		{"default = allow\ndeny = { \"@local\" }", "127.0.0.1:80", true},
		{"default = allow\ndeny = { \"@local\" }", "127.0.0.1:80/udp", true},
		{"default = allow\ndeny = { \"@local\" }", "127.0.0.1/icmp", false},
		{"default = allow\ndeny = { \"@local\" }", "[::1]:80", true},
		{"default = allow\ndeny = { \"@local\" }", "[::]:80", true},
		{"default = allow\ndeny = { \"@local\" }", "0.0.0.0:80/udp", true},
		{"default = allow\ndeny = { \"@local\" }", "[::ffff:127.0.0.1]:80", true},
		{"default = allow\ndeny = { \"@local\" }", "192.0.2.7:80", true},
		{"default = allow\ndeny = { \"@local\" }", "[2001:db8::7]:80", true},
		/* Not of this host, and what carries an address of it. */
		{"default = allow\ndeny = { \"@local\" }", "192.0.2.9:80", false},
		{"default = allow\ndeny = { \"@local\" }", "10.0.0.1:80", false},
		{"default = allow\ndeny = { \"@local\" }", "[64:ff9b::127.0.0.1]:80", false},
		{"default = allow\ndeny = { \"@local\" }", "[::127.0.0.1]:80", false},
		{"default = allow\ndeny = { \"@local\" }", "240.67.71.78:80", false},
		/* By whatever it is denied, and only where it is. */
		{"default = deny", "127.0.0.1:80", true},
		{"default = allow\nloopback = session", "[::1]:80", true},
		{"default = deny\nallow = { \"127.0.0.1:80\" }", "127.0.0.1:80", false},
		{"default = deny\nallow = { \"127.0.0.1:80\" }", "127.0.0.1:81", true},
		{"default = deny\ndeny = { \"127.0.0.1:80\" }", "127.0.0.1:80", true},
		{"default = deny\nloopback = deny", "127.0.0.1:80", false},
		{"default = deny\nloopback = allow", "127.0.0.1:80", false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct world w = {0};
		struct explanation e;

		world_this_host(&w);
		CU_ASSERT_FATAL(world_build_class(&w, rows[i].body, false));
		e = ask(&w, rows[i].dest);
		CHECK_ROW(e.own_servers == rows[i].own && !e.no_socket &&
				  (explain_note(&e) != NULL) == rows[i].own,
			  "row %zu: %s", i, rows[i].dest);
		world_free(&w);
	}
}

/* A protocol that no socket can be made for reaches nothing. */
static void no_socket(void)
{
	static const struct {
		const char *protocols, *dest;
		bool refused;
	} rows[] = {
		{"tcp, udp", "8.8.8.8/icmp", true},
		{"tcp, udp", "2606:4700::1/icmp", true},
		{"tcp, udp", "8.8.8.8:53/udp", false},
		{"tcp", "8.8.8.8:53/udp", true},
		{"tcp", "8.8.8.8:53", false},
		{"icmp, udp, sctp", "[::1]:53/tcp", true},
		{"raw", "8.8.8.8:53", false},
		{"udplite, sctp, dccp", "8.8.8.8:1", true},
		{"tcp, udp, raw", "8.8.8.8/icmp", false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct world w = {0};
		struct explanation e;
		char body[256];

		snprintf(body, sizeof(body),
			 "default = allow\nloopback = session\nprotocols = { %s }",
			 rows[i].protocols);
		CU_ASSERT_FATAL(world_build_class(&w, body, false));
		e = ask(&w, rows[i].dest);
		CHECK_ROW(e.no_socket == rows[i].refused && !e.own_servers &&
				  (e.verdict == CGNET_DENY) == rows[i].refused &&
				  (explain_note(&e) != NULL) == rows[i].refused,
			  "row %zu: %s", i, rows[i].dest);
		world_free(&w);
	}
}

static int failing_lookup(void *arg, uint8_t family, const uint8_t *addr, struct cgnet_prefix *out)
{
	(void)arg;
	(void)family;
	(void)addr;
	*out = (struct cgnet_prefix){.verdict = CGNET_ALLOW, .nports = 1};
	return *(int *)arg;
}

static int failing_port(void *arg, uint32_t index, struct cgnet_port *out)
{
	(void)arg;
	(void)index;
	(void)out;
	return -EIO;
}

static void errors_of_the_source(void)
{
	int err = -ENOENT;
	struct explain_source source = {
		.arg = &err, .lookup = failing_lookup, .port = failing_port};
	struct explanation e = {.rule = 77};
	struct dest dest;

	CU_ASSERT_EQUAL_FATAL(dest_parse("64:ff9b::1.1.1.1", &dest, NULL), 0);
	CU_ASSERT_EQUAL(explain(&source, &dest, &e), -ENOENT);
	err = 0;
	CU_ASSERT_EQUAL(explain(&source, &dest, &e), -EIO);
	CU_ASSERT_EQUAL(e.rule, 77);
}

int suite_explain(void)
{
	static const struct unit_test tests[] = {
		{"destinations", parse},	  {"bad destinations", parse_refuses},
		{"forms of an address", forms},	  {"icmp6 is icmp", icmp6_is_icmp},
		{"longest match", longest_match}, {"own servers", own_servers},
		{"no socket", no_socket},	  {"errors of the source", errors_of_the_source},
	};

	return add_suite("explain", tests, ARRAY_SIZE(tests));
}
