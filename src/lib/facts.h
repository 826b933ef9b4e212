/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What this host is now: the contents of @host, @onlink, @resolver and of broadcast. */
#ifndef CGNET_FACTS_H
#define CGNET_FACTS_H

#include "addr.h"

struct names;

struct facts {
	struct prefixes host;	   /* addresses that are delivered locally, @loopback left out */
	struct prefixes onlink;	   /* directly connected networks */
	struct prefixes broadcast; /* their broadcast addresses */
	struct prefixes resolver;  /* name servers in use */
	const struct names *names; /* what host names lead to; not owned, NULL without */
};

/*
 * Takes a snapshot of the caller's network namespace over rtnetlink (libmnl) and of resolv_conf
 * (NULL for /etc/resolv.conf). Needs no privilege. Without a name server line, or without the file,
 * the C library asks 127.0.0.1, and so the set holds that. Returns 0 or a negative errno with the
 * reason; then out is unchanged.
 */
int facts_read(struct facts *out, const char *resolv_conf, struct why *why);

/*
 * The same for a host that was asked before: if resolv_conf is not there or cannot be read, the
 * name servers of last stay, and kept says why (else its text is empty). Returns 0 or a negative
 * errno with the reason; then out is unchanged.
 */
int facts_read_again(struct facts *out, const struct facts *last, const char *resolv_conf,
		     struct why *kept, struct why *why);

bool facts_equal(const struct facts *a, const struct facts *b);

void facts_free(struct facts *facts);

#endif
