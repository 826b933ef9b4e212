// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The kernel's verdicts against the compiler's, for a random policy. "policy SEED" prints the
 * policy; "connect SEED COUNT FILE", run inside its class, connects to random destinations, which
 * with UDP and ping sockets sends nothing, and compares. It ends with one line: how many UDP, TCP
 * and ICMP sockets were connected, how many were denied, and how many differed.
 */
#include <err.h>
#include <inttypes.h>

#include "../unit/gen.c" // NOLINT(bugprone-suspicious-include): each file here is a program
#include "compile.h"
#include "sock.h"

#define MAX_SHOWN 3

struct tally {
	unsigned long udp, tcp, icmp, denied, wrong;
};

static struct peer peer_of(const struct dest *d)
{
	struct peer p = {0};

	if (d->family == AF_INET) {
		p.v4.sin_family = AF_INET;
		p.v4.sin_port = htons(d->port);
		memcpy(&p.v4.sin_addr, d->addr, sizeof(p.v4.sin_addr));
		p.len = sizeof(p.v4);
	} else {
		p.v6.sin6_family = AF_INET6;
		p.v6.sin6_port = htons(d->port);
		memcpy(&p.v6.sin6_addr, d->addr, sizeof(p.v6.sin6_addr));
		p.len = sizeof(p.v6);
	}
	return p;
}

static int open_for(const struct dest *d)
{
	int type = d->proto == IPPROTO_TCP ? SOCK_STREAM : SOCK_DGRAM;
	int proto = d->proto;

	if (proto == IPPROTO_ICMP && d->family == AF_INET6)
		proto = IPPROTO_ICMPV6;
	return socket(d->family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, proto);
}

/* The errno of a connect, or 0. */
static int try_connect(const struct dest *d)
{
	struct linger reset = {.l_onoff = 1};
	struct peer p = peer_of(d);
	int fd = open_for(d), e;

	if (fd < 0)
		err(1, "socket for protocol %u", d->proto);
	if (d->proto == IPPROTO_TCP)
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	e = connect(fd, &p.sa, p.len) ? errno : 0;
	close(fd);
	return e;
}

static struct explanation ask_compiler(const struct compiled_class *c, const struct dest *d)
{
	struct explain_source source = explain_compiled(c);
	struct explanation e;

	if (explain(&source, d, &e))
		errx(1, "explain");
	return e;
}

/*
 * The hooks come before whatever else the kernel has against an address. Where a session reaches
 * its own servers only, and it has none here, TCP is refused by one errno or the other, and a UDP
 * connect says nothing.
 */
static bool agree(const struct explanation *e, const struct dest *d, int error)
{
	if (e->own_servers)
		return d->proto == IPPROTO_UDP || error == EPERM || error == ECONNREFUSED;
	return (e->verdict == CGNET_DENY) == (error == EPERM);
}

static void compare(const struct compiled_class *c, const struct dest *d, struct tally *t)
{
	struct explanation e = ask_compiler(c, d);
	int error = try_connect(d);
	struct peer p = peer_of(d);
	char text[PEER_STR_SIZE];

	if (d->proto == IPPROTO_UDP)
		t->udp++;
	else if (d->proto == IPPROTO_TCP)
		t->tcp++;
	else
		t->icmp++;
	t->denied += error == EPERM;
	if (agree(&e, d, error))
		return;
	if (t->wrong++ < MAX_SHOWN)
		printf("%s port %u protocol %u: kernel says %s, compiler %s\n",
		       peer_format(&p, text), d->port, d->proto, strerror(error),
		       e.verdict == CGNET_DENY ? "denies" : "allows");
}

/* Mostly UDP, which is what the count is about; TCP sends, and is slower. */
static void next_dest(struct gen *g, struct dest *d)
{
	do
		gen_dest(g, d);
	while (d->proto == IPPROTO_ICMP && gen_below(g, 4));
	if (d->proto == IPPROTO_TCP && gen_below(g, 8))
		d->proto = IPPROTO_UDP;
}

static int connect_all(struct gen *g, unsigned long count, const char *file)
{
	struct diags diags = {0};
	struct facts facts = {0};
	struct tally t = {0};
	struct why why;
	struct policy *policy = policy_read(file, 0, &diags);
	struct compiled *compiled;

	if (!policy || facts_read(&facts, NULL, &why))
		errx(1, "%s: cannot read it, or this host", file);
	compiled = compile_policy(policy, &facts, &diags);
	if (!compiled)
		errx(1, "%s: cannot compile it", file);
	while (count--) {
		struct dest d;

		next_dest(g, &d);
		compare(&compiled->classes[0], &d, &t);
	}
	printf("%lu %lu %lu %lu %lu\n", t.udp, t.tcp, t.icmp, t.denied, t.wrong);
	compiled_free(compiled);
	facts_free(&facts);
	policy_free(policy);
	diags_free(&diags);
	return t.wrong ? 1 : 0;
}

int main(int argc, char **argv)
{
	unsigned long seed, count;
	struct gen g;
	char *text;

	if (argc >= 3 && number_parse(argv[2], UINT32_MAX, &seed)) {
		g.state = seed;
		if (argc == 3 && !strcmp(argv[1], "policy")) {
			text = gen_policy(&g);
			if (!text)
				errx(1, "out of memory");
			fputs(text, stdout);
			free(text);
			return 0;
		}
		if (argc == 5 && !strcmp(argv[1], "connect") &&
		    number_parse(argv[3], UINT32_MAX, &count))
			return connect_all(&g, count, argv[4]);
	}
	errx(2, "usage: random policy SEED | random connect SEED COUNT FILE");
}
