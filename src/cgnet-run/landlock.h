/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Landlock, which keeps a session away from the processes outside. */
#ifndef CGNET_RUN_LANDLOCK_H
#define CGNET_RUN_LANDLOCK_H

#include <stdbool.h>

#include "util.h"

/* Whether the kernel has it on, with scopes (Linux 6.12). */
bool landlock_has_scopes(void);

/*
 * Puts the calling process, which has no_new_privs set, in a domain of its own: from there on
 * neither it nor its descendants can signal or trace processes outside, read their memory or
 * descriptors, or follow what is theirs in /proc. All else is as it was, mounts, files and abstract
 * Unix sockets too. Returns 0 or -errno with a reason.
 */
int landlock_scope(struct why *why);

#endif
