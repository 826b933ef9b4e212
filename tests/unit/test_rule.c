// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The grammar of a rule, TARGET[:PORTS][/PROTO], and of the numbers in it. */
#include <errno.h>
#include <string.h>

#include "name.h"
#include "num.h"
#include "suites.h"

/* What a text parses to; target "@x" for a set, "file:x" for a list. */
struct good_row {
	const char *text;
	const char *target;
	const char *ports; /* "lo-hi lo-hi", "" for all */
	unsigned int protos;
};

static const struct good_row good[] = {
	{"10.0.0.1", "10.0.0.1", "", 0},
	{"fd00::1", "fd00::1", "", 0},
	{"[fd00::1]", "fd00::1", "", 0},
	{"10.0.0.0/8", "10.0.0.0/8", "", 0},
	{"fd00::/8", "fd00::/8", "", 0},
	{"[fd00::/8]", "fd00::/8", "", 0},
	{"10.0.0.1:443", "10.0.0.1", "443-443", 0},
	{"[fd00::1]:443", "fd00::1", "443-443", 0},
	{"10.0.0.1/tcp", "10.0.0.1", "", PROTO_TCP},
	{"fd00::1/tcp", "fd00::1", "", PROTO_TCP},
	{"[fd00::1]/tcp", "fd00::1", "", PROTO_TCP},
	{"10.0.0.1:443/tcp", "10.0.0.1", "443-443", PROTO_TCP},
	{"[fd00::1]:443/tcp", "fd00::1", "443-443", PROTO_TCP},
	{"10.0.0.0/8:443/udp", "10.0.0.0/8", "443-443", PROTO_UDP},
	{"[fd00::/8]:443/udp", "fd00::/8", "443-443", PROTO_UDP},
	{"10.0.0.0/8/icmp", "10.0.0.0/8", "", PROTO_ICMP},
	{"fd00::/8/icmp", "fd00::/8", "", PROTO_ICMP},
	{"10.0.0.1:80,443", "10.0.0.1", "80-80 443-443", 0},
	{"[fd00::1]:80,443", "fd00::1", "80-80 443-443", 0},
	{"10.0.0.1:8000-8100/tcp", "10.0.0.1", "8000-8100", PROTO_TCP},
	{"[fd00::1]:8000-8100/tcp", "fd00::1", "8000-8100", PROTO_TCP},
	{"10.0.0.1:*", "10.0.0.1", "", 0},
	{"[fd00::1]:*/udp", "fd00::1", "", PROTO_UDP},
	{"10.0.0.1:*/icmp", "10.0.0.1", "", PROTO_ICMP},
	{"10.0.0.1:88/udp+tcp", "10.0.0.1", "88-88", PROTO_UDP | PROTO_TCP},
	{"[fd00::1]:88/tcp+udp", "fd00::1", "88-88", PROTO_UDP | PROTO_TCP},
	{"10.0.0.1/tcp+udp+icmp", "10.0.0.1", "", PROTO_UDP | PROTO_TCP | PROTO_ICMP},
	{"::ffff:10.0.0.1", "10.0.0.1", "", 0},
	{"[::ffff:10.0.0.1]:443/tcp", "10.0.0.1", "443-443", PROTO_TCP},
	/* Ports come out sorted and disjoint. */
	{"10.0.0.1:443,80", "10.0.0.1", "80-80 443-443", 0},
	{"10.0.0.1:80,80", "10.0.0.1", "80-80", 0},
	{"10.0.0.1:80-90,85-100,101", "10.0.0.1", "80-101", 0},
	{"10.0.0.1:80-100,85", "10.0.0.1", "80-100", 0},
	{"10.0.0.1:1-65535", "10.0.0.1", "1-65535", 0},
	{"10.0.0.1:65535,1", "10.0.0.1", "1-1 65535-65535", 0},
	/* Sets and lists. */
	{"@local", "@local", "", 0},
	{"@a-1", "@a-1", "", 0},
	{"@local:443/tcp", "@local", "443-443", PROTO_TCP},
	{"@local/udp", "@local", "", PROTO_UDP},
	{"@resolver", "@resolver", "", 0},
	{"file:list.txt", "file:list.txt", "", 0},
	{"example.com", "example.com", "", 0},
	{"API.Example.com.:443/tcp", "api.example.com", "443-443", PROTO_TCP},
	{"a_b.c-d.example:80", "a_b.c-d.example", "80-80", 0},
	{"nas.example:445/tcp private", "nas.example", "445-445", PROTO_TCP},
	{"file:/srv/a b:80/tcp", "file:/srv/a b:80/tcp", "", 0},
};

static const struct {
	const char *text, *reason;
} bad[] = {
	{"", "starts with an address"},
	{":443", "starts with an address"},
	{"/tcp", "starts with an address"},
	{"[]", "starts with an address"},
	{"10.0.0.1:", "is not a port"},
	{"[fd00::1]:", "is not a port"},
	{"10.0.0.1:0", "port 0"},
	{"[fd00::1]:0", "port 0"},
	{"10.0.0.1:65536", "port 65536 is above 65535"},
	{"[fd00::1]:65536", "port 65536 is above 65535"},
	{"10.0.0.1:99999999999999999999999999", "is above 65535"},
	{"10.0.0.1:0443", "is not a port"},
	{"10.0.0.1:+443", "is not a port"},
	{"10.0.0.1: 443", "is not a port"},
	{"10.0.0.1:http", "is not a port"},
	{"10.0.0.1:80,", "is not a port"},
	{"10.0.0.1:,80", "is not a port"},
	{"10.0.0.1:80,*", "is not a port"},
	{"10.0.0.1:80-", "is not a port"},
	{"10.0.0.1:-80", "is not a port"},
	{"10.0.0.1:80-70", "port range 80-70 runs backwards"},
	{"[fd00::1]:80-70", "port range 80-70 runs backwards"},
	{"10.0.0.1:80-0", "port 0"},
	{"10.0.0.1/sctp", "protocol \"sctp\" is not tcp, udp or icmp"},
	{"[fd00::1]/sctp", "protocol \"sctp\" is not tcp, udp or icmp"},
	{"10.0.0.1:443/TCP", "protocol \"TCP\""},
	{"10.0.0.1:443/", "protocol \"\""},
	{"[fd00::1]:443/", "protocol \"\""},
	{"10.0.0.1/tcp+", "protocol \"\""},
	{"10.0.0.1/tcp+tcp", "tcp is given twice"},
	{"10.0.0.1/tcp/udp", "the prefix length is a number"},
	{"10.0.0.1:443/icmp", "icmp has no ports"},
	{"[fd00::1]:443/icmp", "icmp has no ports"},
	{"10.0.0.1:443/tcp+icmp", "icmp has no ports"},
	{"10.0.0.1/8", "the prefix is 10.0.0.0/8"},
	{"[fd00::1/8]:443", "the prefix is fd00::/8"},
	{"[10.0.0.1]:443", "brackets are for IPv6"},
	{"[fd00::1", "lacks its closing bracket"},
	{"[fd00::1]443", "only :PORTS and /PROTO follow a bracket"},
	{"[fd00::]/8", "the prefix length stands inside the brackets"},
	{"[fd00::]/8:443", "the prefix length stands inside the brackets"},
	{"[fe80::1%eth0]:443", "takes no zone"},
	{"fd00:1:2:3:4:5:6:7:443", "a port follows an IPv6 address in brackets"},
	{"fd00::1:65535/tcp", "a port follows an IPv6 address in brackets"},
	{"fd00::1:2:3:4:5:6:7:8", "not an IPv6 address"},
	{"[@local]:443", "brackets are for IPv6"},
	{"localhost", "is this host: write @loopback"},
	{"localhost.:80", "is this host"},
	{"app.localhost", "is this host"},
	{"host_1", "is not a full host name"},
	{"example.com/24", "takes no prefix length"},
	{"example..com", "is not a host name"},
	{"-a.example", "is not a host name"},
	{"a-.example:443", "is not a host name"},
	{".example.com", "is not a host name"},
	{"a234567890123456789012345678901234567890123456789012345678901234.example",
	 "is not a host name"},
	{"10.0.0.1 private", "only a host name can be private"},
	{"@local private", "only a host name can be private"},
	{"example.com:443 private ", "is not a port"},
	{"0x7f.1", "not an IP address"},
	{"127.1", "four numbers"},
	{"2130706433", "four numbers"},
	{"017700000001", "four numbers"},
	{"https://example.com", "is a URL"},
	{"*", "not an IP address"},
	{"10.0.0.*", "not an IP address"},
	{"b\xc3\xbc.example", "not an IP address"},
	{"@", "is not the name of a set"},
	{"@:443", "is not the name of a set"},
	{"@Local", "is not the name of a set"},
	{"@1a", "is not the name of a set"},
	{"@local ", "is not the name of a set"},
	{"@local/8", "is not the name of a set"},
	{"@abcdefghijklmnopqrstuvwxyz1234567", "is not the name of a set"},
	{"@resolver:53", "carries its own ports"},
	{"@resolver/udp", "carries its own ports"},
	{"@resolver:*", "carries its own ports"},
	{"file:", "lacks its path"},
};

static void format_target(const struct rule *rule, char *out, size_t size)
{
	char buf[PREFIX_STR_SIZE];

	if (rule->host)
		snprintf(out, size, "%s", rule->host);
	else if (rule->list)
		snprintf(out, size, "file:%s", rule->list);
	else if (rule->set)
		snprintf(out, size, "@%s", rule->set);
	else
		snprintf(out, size, "%s", prefix_format(&rule->prefix, buf));
}

static void format_ports(const struct rule *rule, char *out, size_t size)
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < rule->nports; i++)
		used += snprintf(out + used, size - used, "%s%u-%u", i ? " " : "",
				 rule->ports[i].lo, rule->ports[i].hi);
}

static void test_good(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		const struct good_row *row = &good[i];
		struct why why = {""};
		char target[128], ports[128];
		struct rule rule;
		int err = rule_parse(row->text, &rule, &why);

		CHECK_ROW(!err, "%s: %s", row->text, why.text);
		if (err)
			continue;
		format_target(&rule, target, sizeof(target));
		format_ports(&rule, ports, sizeof(ports));
		CHECK_ROW(!strcmp(rule.text, row->text), "%s: text %s", row->text, rule.text);
		CHECK_ROW(!strcmp(target, row->target), "%s: target %s", row->text, target);
		CHECK_ROW(!strcmp(ports, row->ports), "%s: ports %s", row->text, ports);
		CHECK_ROW(rule.protos == row->protos, "%s: protocols %u", row->text, rule.protos);
		rule_free(&rule);
	}
}

static void test_bad(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct why why = {""};
		struct rule rule;
		int err = rule_parse(bad[i].text, &rule, &why);

		CHECK_ROW(err == -EINVAL && strstr(why.text, bad[i].reason), "%s: %s", bad[i].text,
			  why.text);
		CHECK_ROW(!rule.text && !rule.set && !rule.list && !rule.host && !rule.ports,
			  "%s: out is not zero", bad[i].text);
	}
}

static void test_num(void)
{
	static const struct {
		const char *text;
		unsigned long max;
		int err;
		unsigned long value;
	} rows[] = {
		{"0", 0, 0, 0},
		{"7", 7, 0, 7},
		{"8", 7, -ERANGE, 0},
		{"65535", 65535, 0, 65535},
		{"65536", 65535, -ERANGE, 0},
		{"18446744073709551615", -1UL, 0, -1UL},
		{"18446744073709551616", -1UL, -ERANGE, 0},
		{"99999999999999999999", 65535, -ERANGE, 0},
		{"", 9, -EINVAL, 0},
		{"00", 9, -EINVAL, 0},
		{"01", 9, -EINVAL, 0},
		{"-1", 9, -EINVAL, 0},
		{"+1", 9, -EINVAL, 0},
		{" 1", 9, -EINVAL, 0},
		{"1 ", 9, -EINVAL, 0},
		{"0x1", 9, -EINVAL, 0},
		{"1e1", 99, -EINVAL, 0},
		/* What is no number is never reported as one that is too large. */
		{"99999x", 9, -EINVAL, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned long value = 0;
		int err = num_parse(rows[i].text, strlen(rows[i].text), rows[i].max, &value);

		CHECK_ROW(err == rows[i].err && value == rows[i].value, "%s: %d, %lu", rows[i].text,
			  err, value);
	}
}

static void test_names(void)
{
	static const struct {
		const char *name;
		bool valid;
	} rows[] = {
		{"a", true},
		{"a-1", true},
		{"restricted", true},
		{"abcdefghijklmnopqrstuvwxyz123456", true},
		{"abcdefghijklmnopqrstuvwxyz1234567", false},
		{"", false},
		{"-a", false},
		{"1a", false},
		{"A", false},
		{"a_b", false},
		{"a.b", false},
		{"a/b", false},
		{"\xc3\xa4", false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_ROW(name_is_valid(rows[i].name) == rows[i].valid, "%s", rows[i].name);
}

static void test_suggest(void)
{
	static const char *const known[] = {"local", "loopback", "private", "resolver", "lan", "x"};
	static const struct {
		const char *wrong, *hint;
	} rows[] = {
		{"privat", "; did you mean @private?"},
		{"prviate", "; did you mean @private?"},
		{"resolvers", "; did you mean @resolver?"},
		{"locla", "; did you mean @local?"},
		{"loopbakc", "; did you mean @loopback?"},
		{"lam", "; did you mean @lan?"},
		{"y", ""},
		{"", ""},
		{"something-else", ""},
		{"resolverresolverresolverresolverresolver", ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct suggestion s;
		char hint[HINT_SIZE];

		suggest_start(&s, rows[i].wrong);
		for (size_t j = 0; j < ARRAY_SIZE(known); j++)
			suggest_offer(&s, known[j]);
		CHECK_ROW(!strcmp(suggest_hint(&s, "@", hint), rows[i].hint), "%s: %s",
			  rows[i].wrong, hint);
	}
}

static const struct unit_test tests[] = {
	{"good rules", test_good}, {"bad rules", test_bad},	 {"numbers", test_num},
	{"names", test_names},	   {"suggestion", test_suggest},
};

int suite_rule(void)
{
	return add_suite("rule", tests, ARRAY_SIZE(tests));
}
