/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which rule decides for a destination: the verdict function of the programs, run on the host. */
#ifndef CGNET_EXPLAIN_H
#define CGNET_EXPLAIN_H

#include "addr.h"
#include "cgnet_abi.h"
#include "compile.h"

/* A destination as a session would name it. */
struct dest {
	uint8_t family; /* AF_INET or AF_INET6 */
	uint8_t addr[16];
	uint16_t port; /* host byte order; 0 where none is meant (icmp) */
	uint8_t proto; /* IPPROTO_TCP, _UDP, _ICMP */
};

/*
 * Parses ADDR[:PORT][/PROTO], v6 in brackets when a port follows. Without PROTO tcp is meant,
 * without PORT port 0 is kept and only rules for all ports match. Returns 0, or -EINVAL and why.
 */
int dest_parse(const char *text, struct dest *out, struct why *why);

struct explanation {
	enum cgnet_verdict verdict;
	uint32_t rule;	      /* index in the class's rule table */
	struct prefix prefix; /* the one that matched */
	bool own_servers;     /* denied, but for servers of the session itself */
	bool no_socket;	      /* denied, whatever rule says: by the class's protocols */
};

/* Where the tables are: in a compiled class or in pinned maps. */
struct explain_source {
	void *arg;
	struct cgnet_settings settings; /* of the class */
	/* Longest match of addr (4 or 16 bytes). Return 0, or a negative errno. */
	int (*lookup)(void *arg, uint8_t family, const uint8_t *addr, struct cgnet_prefix *out);
	/* Port entry at index. Return 0, or a negative errno. */
	int (*port)(void *arg, uint32_t index, struct cgnet_port *out);
};

/* Decides as the programs do, carried v4 addresses included. Returns 0 or the source's error. */
int explain(const struct explain_source *source, const struct dest *dest, struct explanation *out);

/* What is to be said beside verdict and rule, without a full stop; NULL if there is nothing. */
const char *explain_note(const struct explanation *e);

/* A source over a compiled class, which must outlive it. */
struct explain_source explain_compiled(const struct compiled_class *c);

#endif
