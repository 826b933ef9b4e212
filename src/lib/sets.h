/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the names behind "@" stand for. */
#ifndef CGNET_SETS_H
#define CGNET_SETS_H

#include "facts.h"
#include "policy.h"

/* True for the names that cgnet defines: "local", "private", "resolver", ... */
bool set_is_builtin(const char *name);

/* Names for messages: calls visit for each builtin set. */
void set_each_builtin(void (*visit)(const char *name, void *arg), void *arg);

/* True if the contents come from the host and may change: host, onlink, resolver. */
bool set_is_dynamic(const char *name);

/* A prefix of a set, and whether it came from a dynamic one (possibly nested in another). */
struct set_member {
	struct prefix prefix;
	bool dynamic;
};

struct set_members {
	struct set_member *items;
	size_t n, cap;
};

/*
 * Appends all prefixes of set name: a builtin one, filled from facts, or one of policy's, with
 * nested sets followed. Returns 0, -ENOMEM, -ENOENT for an unknown name, -ELOOP for a cycle.
 */
int set_expand(const struct policy *policy, const char *name, const struct facts *facts,
	       struct set_members *out);

void set_members_free(struct set_members *m);

#endif
