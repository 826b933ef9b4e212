// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Events in words and as JSON, whatever a session calls itself, and the rules learnt from them. */
#include <arpa/inet.h>
#include <json-c/json.h>
#include <netinet/in.h>
#include <string.h>

#include "learn.h"
#include "policy.h"
#include "suites.h"

/* An event of the hook connect4 or connect6 about dst, "-" for none. */
static struct event_view make(const char *dst, __u16 port, __u8 proto)
{
	struct event_view v = {.class = "net", .session = "s1", .time = 1767225600123456789};
	struct cgnet_event_key *key = &v.event.key;

	key->proto = proto;
	key->port = port;
	key->rule = CGNET_RULE_FIRST;
	v.event.detail.count = 1;
	v.event.detail.pid = 42;
	v.event.detail.uid = 1000;
	strcpy(v.event.detail.comm, "curl");
	strcpy(v.rule.text, "@private");
	strcpy(v.rule.file, "p.conf");
	v.rule.line = 7;
	if (inet_pton(AF_INET, dst, &key->dst[3]) == 1) {
		key->dst[2] = htonl(0xffff);
		key->form = 4;
		key->prefixlen = 8;
	} else if (inet_pton(AF_INET6, dst, key->dst) == 1) {
		key->hook = CGNET_HOOK_CONNECT6;
		key->form = 6;
		key->prefixlen = 32;
	} else {
		key->hook = CGNET_HOOK_CREATE;
		key->rule = CGNET_RULE_PROTOCOLS;
	}
	return v;
}

static void words(void)
{
	char time[EVENT_TIME_SIZE], proto[EVENT_PROTO_SIZE], text[PREFIX_STR_SIZE];
	char line[EVENT_LINE_SIZE], remedy[EVENT_REMEDY_SIZE];
	struct event_view v = make("10.1.2.3", 443, IPPROTO_TCP);

	CU_ASSERT_STRING_EQUAL(event_time(v.time, time), "2026-01-01T00:00:00.123456Z");
	CU_ASSERT_STRING_EQUAL(event_proto(IPPROTO_UDP, proto), "udp");
	CU_ASSERT_STRING_EQUAL(event_proto(99, proto), "99");
	CU_ASSERT_STRING_EQUAL(event_proto(0, proto), "");
	CU_ASSERT_STRING_EQUAL(event_dst(&v.event.key, text), "10.1.2.3");
	CU_ASSERT_STRING_EQUAL(event_prefix(&v.event.key, text), "10.0.0.0/8");
	CU_ASSERT_STRING_EQUAL(event_remedy(&v.event.key, remedy), "10.1.2.3:443/tcp");
	CU_ASSERT_STRING_EQUAL(event_line(&v, line),
			       "2026-01-01T00:00:00.123456Z net/s1: tcp connect4 to 10.1.2.3:443 "
			       "denied by @private (p.conf:7), curl[42] of uid 1000");
	CU_ASSERT_STRING_EQUAL(
		event_hint(&v, line),
		"cgnet-run: tcp to 10.1.2.3:443 denied by @private in class net "
		"(p.conf:7); to allow it: cgnetd allow --class net 10.1.2.3:443/tcp");
	v.event.key.verdict = CGNET_EVENT_WOULD_DENY;
	v.event.detail.count = 17;
	CU_ASSERT_PTR_NOT_NULL(strstr(event_line(&v, line), " would be denied by "));
	CU_ASSERT_PTR_NOT_NULL(strstr(line, ", 17 times"));
}

/* The form of an address that a prefix, and a rule, are about. */
static void forms(void)
{
	static const struct {
		const char *dst;
		__u8 proto, form, prefixlen;
		const char *shown, *prefix, *remedy;
	} rows[] = {
		{"2001:db8::1", IPPROTO_UDP, 6, 32, "2001:db8::1", "2001:db8::/32",
		 "[2001:db8::1]:443/udp"},
		/* NAT64: denied for the v4 address, or for the v6 one. */
		{"64:ff9b::a01:203", IPPROTO_TCP, 4, 8, "64:ff9b::a01:203", "10.0.0.0/8",
		 "10.1.2.3:443/tcp"},
		{"64:ff9b::a01:203", IPPROTO_TCP, 6, 16, "64:ff9b::a01:203", "64::/16",
		 "[64:ff9b::a01:203]:443/tcp"},
		{"2001:db8::1", IPPROTO_ICMP, 6, 128, "2001:db8::1", "2001:db8::1",
		 "2001:db8::1/icmp"},
		{"10.1.2.3", IPPROTO_SCTP, 4, 32, "10.1.2.3", "10.1.2.3", ""},
		{"10.1.2.3", IPPROTO_TCP, 0, 0, "10.1.2.3", "", "10.1.2.3:443/tcp"},
		{"10.1.2.3", IPPROTO_TCP, 4, 33, "10.1.2.3", "", "10.1.2.3:443/tcp"},
		{"-", IPPROTO_TCP, 0, 0, "", "", ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct event_view v = make(rows[i].dst, 443, rows[i].proto);
		char dst[PREFIX_STR_SIZE], prefix[PREFIX_STR_SIZE], remedy[EVENT_REMEDY_SIZE];

		v.event.key.form = rows[i].form;
		v.event.key.prefixlen = rows[i].prefixlen;
		event_dst(&v.event.key, dst);
		event_prefix(&v.event.key, prefix);
		event_remedy(&v.event.key, remedy);
		CHECK_ROW(!strcmp(dst, rows[i].shown) && !strcmp(prefix, rows[i].prefix) &&
				  !strcmp(remedy, rows[i].remedy),
			  "row %zu: %s, %s, %s", i, dst, prefix, remedy);
	}
}

/* Where who runs the session cannot be told what to do, he is not. */
static void no_remedy(void)
{
	char line[EVENT_LINE_SIZE];
	struct event_view v = make("10.1.2.3", 443, IPPROTO_TCP);

	v.event.key.hook = CGNET_HOOK_INGRESS;
	CU_ASSERT_PTR_NULL(strstr(event_hint(&v, line), "to allow it"));
	CU_ASSERT_PTR_NOT_NULL(strstr(line, " from 10.1.2.3 to port 443 denied"));
	v = make("-", 0, 136);
	CU_ASSERT_PTR_NULL(strstr(event_hint(&v, line), "to allow it"));
	CU_ASSERT_PTR_NOT_NULL(strstr(line, "cgnet-run: udplite denied by"));
}

static void chosen_names(void)
{
	static const struct {
		const char *comm, *words, *json;
	} rows[] = {
		{"curl", "curl", "curl"},
		{"a b", "a\\x20b", "a b"},
		{"a\n{\"x\":1}", "a\\x0a{\"x\":1}", "a\n{\"x\":1}"},
		{"\033[2J", "\\x1b[2J", "\033[2J"},
		{"a\\x0a", "a\\x5cx0a", "a\\x0a"},
		{"\x7f", "\\x7f", "\xef\xbf\xbd"},
		{"caf\xc3\xa9", "caf\\xc3\\xa9", "caf\xc3\xa9"},
		{"\xff\xfe", "\\xff\\xfe", "\xef\xbf\xbd\xef\xbf\xbd"},
		{"\xc2\x9b", "\\xc2\\x9b", "\xef\xbf\xbd\xef\xbf\xbd"},
		{"\xe2\x80\xae!", "\\xe2\\x80\\xae!", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd!"},
		{"\xed\xa0\x80", "\\xed\\xa0\\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
		{"\xc3", "\\xc3", "\xef\xbf\xbd"},
		{"123456789012345\xc3", "123456789012345\\xc3", "123456789012345\xef\xbf\xbd"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct event_view v = make("10.1.2.3", 443, IPPROTO_TCP);
		char comm[EVENT_COMM_SIZE], line[EVENT_LINE_SIZE];
		_cleanup_free_ char *json = NULL;
		json_object *parsed, *got = NULL;

		memset(v.event.detail.comm, 0, sizeof(v.event.detail.comm));
		memcpy(v.event.detail.comm, rows[i].comm, strlen(rows[i].comm));
		event_comm(v.event.detail.comm, sizeof(v.event.detail.comm), comm);
		CHECK_ROW(!strcmp(comm, rows[i].words), "row %zu: %s", i, comm);
		CHECK_ROW(!strpbrk(event_line(&v, line), "\n\r\033"), "row %zu: %s", i, line);
		json = event_json(&v);
		CU_ASSERT_PTR_NOT_NULL_FATAL(json);
		CHECK_ROW(json && !strpbrk(json, "\n\r\033"), "row %zu: %s", i, json);
		parsed = json_tokener_parse(json);
		json_object_object_get_ex(parsed, "comm", &got);
		CHECK_ROW(got && !strcmp(json_object_get_string(got), rows[i].json), "row %zu: %s",
			  i, json);
		json_object_put(parsed);
	}
}

/* The names are a contract. */
static void json_names(void)
{
	static const char *const names[] = {"time",  "class", "session", "verdict", "hook",
					    "proto", "dst",   "dport",	 "rule",    "prefix",
					    "pid",   "comm",  "uid",	 "cgroup"};
	struct event_view v = make("10.1.2.3", 443, IPPROTO_TCP);
	_cleanup_free_ char *json = event_json(&v);
	json_object *parsed;

	CU_ASSERT_PTR_NOT_NULL_FATAL(json);
	parsed = json_tokener_parse(json);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		CHECK_ROW(json_object_object_get_ex(parsed, names[i], NULL), "%s", names[i]);
	json_object_put(parsed);
}

static void add(struct learn *l, const char *dst, __u16 port, __u8 proto, const char *comm)
{
	struct event_view v = make(dst, port, proto);

	memset(v.event.detail.comm, 0, sizeof(v.event.detail.comm));
	memcpy(v.event.detail.comm, comm, strnlen(comm, sizeof(v.event.detail.comm)));
	CU_ASSERT_EQUAL(learn_add(l, &v.event), 0);
}

/* What was learnt, to be freed. */
static char *written(struct learn *l)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	CU_ASSERT_EQUAL(learn_write(l, "net", out), 0);
	fclose(out);
	learn_free(l);
	return text;
}

static void smallest(void)
{
	_cleanup_free_ char *text = NULL;
	struct learn l = {0};

	add(&l, "10.0.0.5", 443, IPPROTO_TCP, "curl");
	add(&l, "10.0.0.5", 443, IPPROTO_TCP, "curl");
	add(&l, "10.0.0.5", 80, IPPROTO_TCP, "wget");
	/* Two halves of a /31, and what is no half of it. */
	add(&l, "10.0.0.8", 53, IPPROTO_UDP, "dig");
	add(&l, "10.0.0.9", 53, IPPROTO_UDP, "dig");
	add(&l, "10.0.0.10", 53, IPPROTO_UDP, "dig");
	/* Both protocols. */
	add(&l, "fd00::1", 53, IPPROTO_TCP, "dig");
	add(&l, "fd00::1", 53, IPPROTO_UDP, "dig");
	/* A range. */
	for (__u16 port = 8000; port <= 8003; port++)
		add(&l, "10.0.0.6", port, IPPROTO_TCP, "node");
	add(&l, "10.0.0.7", 0, IPPROTO_ICMP, "ping");
	add(&l, "-", 0, 136, "evil");
	text = written(&l);
	CU_ASSERT_STRING_EQUAL(
		text,
		"# class net: 14 denials\n"
		"    allow = {\n"
		"        \"[fd00::1]:53\", # dig (uid 1000), 2 times\n"
		"        \"10.0.0.7/icmp\", # ping (uid 1000), 1 time\n"
		"        \"10.0.0.5:80,443/tcp\", # wget (uid 1000), curl (uid 1000), 3 times\n"
		"        \"10.0.0.6:8000-8003/tcp\", # node (uid 1000), 4 times\n"
		"        \"10.0.0.8/31:53/udp\", # dig (uid 1000), 2 times\n"
		"        \"10.0.0.10:53/udp\", # dig (uid 1000), 1 time\n"
		"    }\n"
		"    # create udplite: no rule can allow it; evil (uid 1000), 1 time\n");
}

/* What is printed is a policy, whatever a session calls itself, and allows nothing else. */
static void is_policy(void)
{
	static const char *const comms[] = {"\" }", "*/",  "#\n\"0.0.0.0/0\"", "${HOME}", "\\",
					    "",	    "\xff"};
	_cleanup_free_ char *text = NULL, *file = NULL;
	struct learn l = {0};
	struct diags d = {0};
	struct policy *p;

	for (size_t i = 0; i < ARRAY_SIZE(comms); i++)
		for (__u8 n = 0; n < 9; n++) {
			char dst[32];

			snprintf(dst, sizeof(dst), n % 2 ? "10.0.%zu.%u" : "fd00::%zu:%u", i, n);
			add(&l, dst, 1000 + n, n % 3 ? IPPROTO_TCP : IPPROTO_UDP, comms[i]);
		}
	text = written(&l);
	CU_ASSERT_FATAL(asprintf(&file,
				 "class net {\n default = allow\n deny = { \"@local\" }\n%s}\n",
				 text) > 0);
	p = policy_parse("learnt", file, strlen(file), 0, &d);
	CHECK_ROW(p && !d.errors, "%s: %s", d.n ? d.items[0].text : "", file);
	if (p)
		CU_ASSERT_EQUAL(p->classes[0].rules.n, ARRAY_SIZE(comms) * 9 + 1);
	policy_free(p);
	diags_free(&d);
}

/* A rule lists so many ports; more are left to a person. */
static void many_ports(void)
{
	_cleanup_free_ char *text = NULL;
	struct learn l = {0};

	for (unsigned int port = 1; port < 600; port += 2)
		add(&l, "10.0.0.5", port, IPPROTO_TCP, "nmap");
	text = written(&l);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "# 10.0.0.5/tcp: more ports than a rule may list; "
					    "nmap (uid 1000), 300 times"));
	CU_ASSERT_PTR_NULL(strchr(text, '"'));
}

int suite_event(void)
{
	static const struct unit_test tests[] = {
		{"words", words},
		{"forms", forms},
		{"no remedy", no_remedy},
		{"names that sessions chose", chosen_names},
		{"JSON names", json_names},
		{"learn: smallest set", smallest},
		{"learn: is a policy", is_policy},
		{"learn: many ports", many_ports},
	};

	return add_suite("event", tests, ARRAY_SIZE(tests));
}
