// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The example policies: each compiles without a word, and decides as its comments say. */
#include <string.h>

#include "suites.h"
#include "text.h"
#include "world.h"

static const char *const files[] = {
	"policies/restricted.conf",
	"policies/proxy-only.conf",
	"policies/offline.conf",
	"policies/lan.conf",
};

/* On a host with 192.168.7.7/24 and 2001:db7::7/64, whose name servers are on the LAN and a
 * tailnet. */
static const struct {
	const char *dest;
	const char *verdicts; /* of each file: A or D */
} rows[] = {
	/* the public internet */
	{"1.1.1.1:443/tcp", "ADDA"},
	{"[2606:4700::1111]:443/tcp", "ADDA"},
	{"1.1.1.1:443/udp", "ADDA"},
	{"1.1.1.1:3128/tcp", "ADDA"},
	{"1.1.1.1/icmp", "ADDA"},
	{"[64:ff9b::1.1.1.1]:443/tcp", "ADDA"},
	/* the name server, port 53 only, and its neighbours */
	{"192.168.7.53:53/udp", "ADDA"},
	{"192.168.7.53:53/tcp", "ADDA"},
	{"[fd7a:115c:a1e0::53]:53/udp", "ADDA"},
	{"[fd7a:115c:a1e0::53]:53/tcp", "ADDA"},
	{"192.168.7.53:54/udp", "DDDA"},
	{"[fd7a:115c:a1e0::53]:54/udp", "DDDD"},
	{"[fd7a:115c:a1e0::54]:53/udp", "DDDD"},
	/* this host */
	{"127.0.0.1:80/tcp", "DDDD"},
	{"[::1]:80/tcp", "DDDD"},
	{"127.0.0.1:3128/tcp", "DADD"},
	{"127.0.0.1:3128/udp", "DDDD"},
	{"127.0.0.1:3127/tcp", "DDDD"},
	{"127.0.0.2:3128/tcp", "DDDD"},
	{"[::1]:3128/tcp", "DDDD"},
	{"0.0.0.0:80/tcp", "DDDD"},
	{"[::]:80/tcp", "DDDD"},
	{"192.168.7.7:80/tcp", "DDDD"},
	{"[2001:db7::7]:80/tcp", "DDDD"},
	/* the LAN */
	{"192.168.7.9:80/tcp", "DDDA"},
	{"[2001:db7::9]:80/tcp", "DDDA"},
	{"10.1.2.3:80/tcp", "DDDA"},
	{"172.17.0.1:80/tcp", "DDDA"},
	{"[fd00::9]:80/tcp", "DDDA"},
	{"[64:ff9b::192.168.7.9]:80/tcp", "DDDA"},
	/* tailnet, metadata, link-local, multicast, special */
	{"100.64.0.9:80/tcp", "DDDD"},
	{"[fd7a:115c:a1e0::9]:80/tcp", "DDDD"},
	{"169.254.169.254:80/tcp", "DDDD"},
	{"100.100.100.200:80/tcp", "DDDD"},
	{"168.63.129.16:80/tcp", "DDDD"},
	{"[fd00:ec2::254]:80/tcp", "DDDD"},
	{"[64:ff9b::169.254.169.254]:80/tcp", "DDDD"},
	{"169.254.1.1:80/tcp", "DDDD"},
	{"[fe80::9]:80/tcp", "DDDD"},
	{"224.0.0.251:5353/udp", "DDDD"},
	{"[ff02::fb]:5353/udp", "DDDD"},
	{"255.255.255.255:67/udp", "DDDD"},
	{"192.168.7.255:67/udp", "DDDD"},
	{"192.0.0.1:80/tcp", "DDDD"},
	{"203.0.113.1:80/tcp", "DDDD"},
	{"198.18.0.1:80/tcp", "DDDD"},
	{"240.0.0.1:80/tcp", "DDDD"},
	{"[2001:db8::1]:80/tcp", "DDDD"},
	{"[3fff::1]:80/tcp", "DDDD"},
	{"[5f00::1]:80/tcp", "DDDD"},
};

static void fill_facts(struct facts *facts)
{
	world_fact(&facts->host, "192.168.7.7");
	world_fact(&facts->host, "2001:db7::7");
	world_fact(&facts->onlink, "192.168.7.0/24");
	world_fact(&facts->onlink, "2001:db7::/64");
	world_fact(&facts->broadcast, "192.168.7.255");
	world_fact(&facts->resolver, "192.168.7.53");
	world_fact(&facts->resolver, "fd7a:115c:a1e0::53");
}

/* All of them leave a session its own servers, and other options as they are. */
static void check_options(const struct compiled_class *c, const char *file)
{
	CHECK_ROW(c->settings.loopback == CGNET_LOOPBACK_SESSION && !c->settings.flags &&
			  c->settings.protocols ==
				  (CGNET_PROTO_TCP | CGNET_PROTO_UDP | CGNET_PROTO_ICMP) &&
			  !c->keep_privileges,
		  "%s: options", file);
}

static void check_policy(size_t file)
{
	struct world w = {0};
	struct text text = {0};
	struct why why = {""};

	CHECK_ROW(!text_read(files[file], POLICY_MAX_SIZE, 0, &text, &why), "%s: %s", files[file],
		  why.text);
	fill_facts(&w.facts);
	CHECK_ROW(text.bytes && world_build(&w, text.bytes) && !w.diags.n, "%s: %s", files[file],
		  w.diags.n ? w.diags.items[0].text : "");
	for (size_t i = 0; w.compiled && i < ARRAY_SIZE(rows); i++) {
		const char *rule;
		enum cgnet_verdict verdict = world_ask(&w, rows[i].dest, &rule);

		CHECK_ROW((verdict == CGNET_ALLOW) == (rows[i].verdicts[file] == 'A'),
			  "%s: %s is %d by %s", files[file], rows[i].dest, verdict, rule);
	}
	if (w.compiled) {
		CU_ASSERT(!strcmp(w.compiled->default_class, w.compiled->classes[0].name));
		check_options(&w.compiled->classes[0], files[file]);
	}
	text_free(&text);
	world_free(&w);
}

static void test_policies(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		check_policy(i);
}

static const struct unit_test tests[] = {{"verdicts", test_policies}};

int suite_policies(void)
{
	return add_suite("policies", tests, ARRAY_SIZE(tests));
}
