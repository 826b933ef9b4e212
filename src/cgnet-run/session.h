/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A session's cgroup: made, removed, and what dead sessions left behind removed too. */
#ifndef CGNET_RUN_SESSION_H
#define CGNET_RUN_SESSION_H

#include <limits.h>

#include "class.h"

struct session {
	char name[72];
	char cgroup[PATH_MAX]; /* below the mount, "cgnet/restricted/s1" */
	char dir[PATH_MAX];
	int fd; /* the directory, locked while nothing lives in it yet; owned */
};

/* An empty one, for session_close(). */
#define SESSION_INIT                                                                               \
	{                                                                                          \
		.fd = -1                                                                           \
	}

/* Checks a --name. Returns 0 or -EINVAL with a reason. */
int session_check_name(const char *name, struct why *why);

/*
 * Makes the cgroup of a session. name is checked already, or NULL for one made up. An empty cgroup
 * of that name, left by a session that was killed, is replaced; -EEXIST if something lives in it.
 * Returns 0 or -errno with a reason; -EAGAIN if another process was faster and it pays to retry.
 */
int session_open(struct session *s, const struct class *c, const char *name, struct why *why);

/*
 * Tells under which name events are to show the session. One that cannot be told is shown by its
 * number, so this does not fail.
 */
void session_announce(const struct session *s, const char *bpffs);

/* Closes the descriptor, which also gives up the lock. */
void session_close(struct session *s);

/*
 * Removes the cgroup and those that the session made in it, unless something is left alive there.
 * It then stays, and a later sweep takes it.
 */
void session_remove(const struct session *s);

/*
 * Removes cgroups that killed sessions of this class left behind. Looks at a handful of sessions
 * each time, so that the cost does not grow with their number.
 */
void session_sweep(const struct class *c);

#endif
