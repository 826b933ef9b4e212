/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What CMD gives up when it starts, so that it cannot leave its class, undo the policy, or borrow
 * from a process outside:
 *
 *   every session      no_new_privs, the seccomp filter (seccomp_gen.c)
 *   all but "keep"     reaches no process outside (landlock.c, or the nearest: FILTER_STAND_IN,
 * pidns.c) root, "drop"       capabilities (caps.c), its own view of the mounts (mounts.c)
 */
#ifndef CGNET_RUN_CONFINE_H
#define CGNET_RUN_CONFINE_H

#include <stdbool.h>

#include "util.h"

struct confine {
	bool drop;     /* a root session that loses its privileges */
	bool scope;    /* by Landlock */
	bool stand_in; /* where Landlock cannot */
};

/*
 * Finds out what is to be done in this process's child, and what the kernel can. With
 * keep_privileges a root session stays as powerful as it is. May put the children of this process
 * in a pid namespace. Returns 0 or -errno with a reason; c is untouched then.
 */
int confine_prepare(struct confine *c, bool keep_privileges, struct why *why);

/*
 * Confines the calling process, which is to execute CMD next; all or nothing of it must run. Leaves
 * no descriptor open. Returns 0 or -errno with a reason.
 */
int confine_self(const struct confine *c, struct why *why);

#endif
