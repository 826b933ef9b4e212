/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Moving a peer's process into a session's cgroup. */
#ifndef CGNETD_PLACE_H
#define CGNETD_PLACE_H

#include "peer.h"
#include "session.h"

/*
 * Moves the process that connected, and no other, into the session. Returns 0 or a negative errno
 * with the reason; nothing lives in the session then.
 */
int place_peer(const struct peer *p, const struct session *s, struct why *why);

/*
 * Checks that no program on connect governs the process that would not do so in the class at dir:
 * to move it would free it of a policy of somebody else's, another instance's for example. mount is
 * that of cgroup2. Returns 0, or a negative errno with the reason.
 */
int place_check_policy(const struct peer *p, const char *mount, const char *dir, struct why *why);

#endif
