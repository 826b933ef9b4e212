/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which user may enter which class: the grants of a policy, with the numbers behind the names. */
#ifndef CGNETD_GRANTS_H
#define CGNETD_GRANTS_H

#include <stdint.h>

#include "cgnet_state.h"
#include "diag.h"
#include "peer.h"
#include "policy.h"

struct granted {
	uint32_t id; /* uid, or gid of a group */
	uint32_t line;
	bool group, is_operator;
	char class_name[CGNET_NAME_SIZE]; /* "" for none */
};

struct grants {
	struct granted *items; /* in the order of the file; flat, so that it can be sent */
	size_t n, cap;
};

/*
 * Looks up the names, as the name service knows them; who is not known there is left out with a
 * warning in d. May block. Returns 0 or -ENOMEM. Free with grants_free().
 */
int grants_resolve(const struct policy *p, struct diags *d, struct grants *out);
void grants_free(struct grants *g);

struct choice {
	char class_name[CGNET_NAME_SIZE];
	char warning[256]; /* "" for none */
};

/*
 * Chooses the peer's class: wanted ("" for none in particular) if it is granted to the user or to a
 * group, or is the default; without a wish the user's own grant, else the first of the groups',
 * else default_class. A grant of a class that exists() does not know leads to default_class, with a
 * warning. Root may have any. Returns 0, or -EPERM, or -ENOENT (no default), with the reason.
 */
int grants_choose(const struct grants *g, const struct peer *peer, const char *wanted,
		  const char *default_class, bool (*exists)(const char *name, void *arg), void *arg,
		  struct choice *out, struct why *why);

/* Whether the peer is one whom the policy calls an operator. */
bool grants_operator(const struct grants *g, const struct peer *peer);

#endif
