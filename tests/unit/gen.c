// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "gen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#define PICK(g, list) ((list)[gen_below((g), ARRAY_SIZE(list))])

/* True in one of n cases. */
#define ONE_IN(g, n) (!gen_below((g), (n)))

/* splitmix64 */
static uint64_t next(struct gen *g)
{
	uint64_t z = g->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

unsigned int gen_below(struct gen *g, unsigned int n)
{
	return next(g) % n;
}

/* Addresses that the others are near to. */
static void anchor4(struct gen *g, uint8_t addr[4])
{
	static const char *const anchors[] = {
		"0.0.0.0",   "240.67.71.78",	"10.62.0.0",	   "10.62.0.8",	    "127.0.0.1",
		"127.0.0.0", "100.100.100.200", "169.254.169.254", "168.63.129.16", "172.16.0.1",
		"192.0.2.0", "192.0.2.4",	"198.51.100.0",	   "224.0.0.1",	    "8.8.8.0",
		"8.8.8.8",   "255.255.255.255", "192.168.255.255",
	};

	inet_pton(AF_INET, PICK(g, anchors), addr);
}

static void addr4(struct gen *g, uint8_t addr[4])
{
	anchor4(g, addr);
	if (ONE_IN(g, 2))
		addr[3] = (addr[3] & 0xf0) | gen_below(g, 16);
	if (ONE_IN(g, 12))
		addr[1] ^= 1 << gen_below(g, 8);
}

/* A v4 address in one of the v6 forms that carry it; mapped is the first. */
static void carrier6(struct gen *g, unsigned int form, const uint8_t v4[4], uint8_t addr[16])
{
	memset(addr, 0, 16);
	memcpy(addr + 12, v4, 4);
	switch (form) {
	case 0:
		addr[10] = addr[11] = 0xff;
		break;
	case 1:
		addr[1] = 0x64;
		addr[2] = 0xff;
		addr[3] = 0x9b;
		break;
	case 2:
		addr[0] = 0x20;
		addr[1] = 0x02;
		memcpy(addr + 2, v4, 4);
		addr[15] = gen_below(g, 2);
		break;
	case 3:
		addr[0] = 0x20;
		addr[1] = 0x01;
		for (int i = 12; i < 16; i++)
			addr[i] ^= 0xff;
		break;
	default: /* compatible */
		break;
	}
}

static void addr6(struct gen *g, uint8_t addr[16])
{
	static const char *const anchors[] = {
		"::",	       "::1",		"100::6367:6e65", "fd00::10",
		"fd00::",      "fd00:ec2::254", "fe80::1",	  "ff02::1",
		"2001:db8::1", "2606:4700::1",	"2606:4700:1::1", "fd7a:115c:a1e0::53",
	};
	uint8_t v4[4];

	if (ONE_IN(g, 3)) {
		addr4(g, v4);
		carrier6(g, gen_below(g, 5), v4, addr);
		return;
	}
	inet_pton(AF_INET6, PICK(g, anchors), addr);
	if (ONE_IN(g, 2))
		addr[15] = (addr[15] & 0xf0) | gen_below(g, 16);
	if (ONE_IN(g, 12))
		addr[gen_below(g, 8)] ^= 1 << gen_below(g, 8);
}

/* A prefix that can be written in a policy: no host bits, no sentinel by itself. */
static void gen_prefix(struct gen *g, struct prefix *out)
{
	static const uint8_t lens4[] = {32, 32, 32, 31, 30, 29, 28, 24, 16, 9, 8, 7, 1, 0};
	static const uint8_t lens6[] = {128, 128, 128, 127, 126, 124, 120, 112, 104, 103, 96,
					64,  48,  32,  20,  16,	 15,  8,   7,	1,   0};
	static const uint8_t sentinel4[] = CGNET_SENTINEL4, sentinel6[] = CGNET_SENTINEL6;

	*out = (struct prefix){.family = ONE_IN(g, 2) ? AF_INET : AF_INET6};
	if (out->family == AF_INET) {
		addr4(g, out->bytes);
		out->len = PICK(g, lens4);
		if (!memcmp(out->bytes, sentinel4, sizeof(sentinel4)))
			out->len = 24;
	} else {
		addr6(g, out->bytes);
		out->len = PICK(g, lens6);
		if (!memcmp(out->bytes, sentinel6, sizeof(sentinel6)) ||
		    !memcmp(out->bytes + 12, sentinel4, sizeof(sentinel4)))
			out->len = 96;
	}
	prefix_mask(out);
}

/* Prefixes that the rules of one policy have in common. */
#define POOL 6

struct writer {
	struct gen *g;
	FILE *out;
	struct prefix pool[POOL];
};

static void write_prefix(struct writer *w, bool brackets)
{
	struct prefix p = PICK(w->g, w->pool);
	char text[PREFIX_STR_SIZE];

	if (ONE_IN(w->g, 3))
		gen_prefix(w->g, &p);
	brackets &= p.family == AF_INET6;
	fprintf(w->out, "%s%s%s", brackets ? "[" : "", prefix_format(&p, text),
		brackets ? "]" : "");
}

/* Ports and protocols that meet in some cases and not in others. */
static void write_rule(struct writer *w)
{
	static const char *const sets[] = {
		"local",   "loopback", "private", "tailnet", "linklocal", "metadata", "multicast",
		"special", "host",     "host",	  "onlink",  "onlink",	  "sa",	      "sb",
	};
	static const char *const ports[] = {
		"443", "80,443", "53", "22-443", "8000-8010", "8005-8020", "1-65535", "80-81", "*",
	};
	static const char *const protos[] = {"tcp", "tcp", "udp", "tcp+udp", "icmp", "tcp+icmp"};
	bool with_ports = ONE_IN(w->g, 2), with_proto = ONE_IN(w->g, 3);

	if (ONE_IN(w->g, 12)) {
		fprintf(w->out, "\t\t\"@resolver\",\n");
		return;
	}
	fprintf(w->out, "\t\t\"");
	if (ONE_IN(w->g, 4))
		fprintf(w->out, "@%s", PICK(w->g, sets));
	else
		write_prefix(w, with_ports);
	if (with_ports)
		fprintf(w->out, ":%s", PICK(w->g, ports));
	if (with_proto)
		fprintf(w->out, "/%s",
			protos[gen_below(w->g, with_ports ? 4 : (unsigned int)ARRAY_SIZE(protos))]);
	fprintf(w->out, "\",\n");
}

static void write_rules(struct writer *w, const char *option, unsigned int n)
{
	if (!n)
		return;
	fprintf(w->out, "\t%s = {\n", option);
	while (n--)
		write_rule(w);
	fprintf(w->out, "\t}\n");
}

static void write_set(struct writer *w, const char *name, const char *nested)
{
	static const char *const sets[] = {"loopback", "private", "host", "onlink", "metadata"};

	fprintf(w->out, "set %s {\n\tmembers = {\n", name);
	for (unsigned int n = 1 + gen_below(w->g, 5); n; n--) {
		fprintf(w->out, "\t\t\"");
		write_prefix(w, false);
		fprintf(w->out, "\",\n");
	}
	if (ONE_IN(w->g, 4))
		fprintf(w->out, "\t\t\"@%s\",\n", PICK(w->g, sets));
	if (nested && ONE_IN(w->g, 2))
		fprintf(w->out, "\t\t\"@%s\",\n", nested);
	fprintf(w->out, "\t}\n}\n");
}

static void write_class(struct writer *w)
{
	static const char *const loopbacks[] = {"", "\tloopback = session\n", "\tloopback = deny\n",
						"\tloopback = allow\n"};

	fprintf(w->out, "class %s {\n\tdefault = %s\n%s", GEN_CLASS,
		ONE_IN(w->g, 3) ? "deny" : "allow", PICK(w->g, loopbacks));
	write_rules(w, "deny", 1 + gen_below(w->g, 6));
	write_rules(w, "allow", gen_below(w->g, 6));
	fprintf(w->out, "}\n");
}

char *gen_policy(struct gen *g)
{
	char *text = NULL;
	size_t size;
	struct writer w = {.g = g, .out = open_memstream(&text, &size)};

	if (!w.out)
		return NULL;
	for (size_t i = 0; i < POOL; i++)
		gen_prefix(g, &w.pool[i]);
	fprintf(w.out, "default_class = \"%s\"\n", GEN_CLASS);
	write_set(&w, "sa", NULL);
	write_set(&w, "sb", "sa");
	write_class(&w);
	if (fclose(w.out)) {
		free(text);
		return NULL;
	}
	return text;
}

static int gen_addrs(struct gen *g, struct prefixes *out, unsigned int max, bool networks)
{
	for (unsigned int n = gen_below(g, max + 1); n; n--) {
		struct prefix p;

		gen_prefix(g, &p);
		if (!networks)
			p.len = prefix_width(&p);
		if (p.len && prefixes_add(out, &p))
			return -ENOMEM;
	}
	prefixes_sort(out);
	return 0;
}

int gen_facts(struct gen *g, struct facts *out)
{
	if (gen_addrs(g, &out->host, 3, false) || gen_addrs(g, &out->onlink, 3, true) ||
	    gen_addrs(g, &out->broadcast, 2, false) || gen_addrs(g, &out->resolver, 2, false))
		return -ENOMEM;
	return 0;
}

void gen_dest(struct gen *g, struct dest *out)
{
	static const uint16_t ports[] = {0,   1,   22,	 23,   53,   79,   80,	 81,
					 443, 444, 8000, 8005, 8010, 8011, 8020, 65535};
	static const uint8_t protos[] = {IPPROTO_TCP, IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMP};

	*out = (struct dest){.family = ONE_IN(g, 2) ? AF_INET : AF_INET6};
	if (out->family == AF_INET)
		addr4(g, out->addr);
	else
		addr6(g, out->addr);
	out->proto = PICK(g, protos);
	out->port = out->proto == IPPROTO_ICMP ? 0 : PICK(g, ports);
}
