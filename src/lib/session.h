/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A session's cgroup: made, removed, and what dead sessions left behind removed too. */
#ifndef CGNET_SESSION_H
#define CGNET_SESSION_H

#include <limits.h>

#include "cgnet_control.h"
#include "util.h"

struct session {
	char name[CGNET_SESSION_SIZE];
	char cgroup[PATH_MAX]; /* below the mount, "cgnet/restricted/s1" */
	char dir[PATH_MAX];
	int fd; /* the directory, locked while nothing lives in it yet; owned */
};

/* An empty one, for session_close(). */
#define SESSION_INIT                                                                               \
	{                                                                                          \
		.fd = -1                                                                           \
	}

/* Checks the name of a session. Returns 0 or -EINVAL with a reason. */
int session_check_name(const char *name, struct why *why);

/* The cgroup of a class: sessions are made in it. */
struct session_class {
	const char *cgroup; /* below the mount, "cgnet/restricted" */
	const char *dir;
};

/*
 * Makes the cgroup of a session. name is checked already, or NULL for one made up. An empty cgroup
 * of that name, left by a session that was killed, is replaced; -EEXIST if something lives in it.
 * Returns 0 or -errno with a reason; -EAGAIN if another process was faster and it pays to retry.
 */
int session_open(struct session *s, const struct session_class *c, const char *name,
		 struct why *why);

/* Closes the descriptor, which also gives up the lock. */
void session_close(struct session *s);

/*
 * Removes the cgroup and those that the session made in it, unless something is left alive there.
 * It then stays, and a later sweep takes it.
 */
void session_remove(const struct session *s);

/*
 * Removes the cgroup at path as session_remove() does, unless a session is being started in it.
 * Returns 0, also if it is gone; -EBUSY if something lives in it or starts, or another -errno.
 */
int session_remove_dead(const char *path);

/*
 * Removes cgroups that killed sessions left behind in the class at dir. Looks at a handful of
 * sessions each time, so that the cost does not grow with their number.
 */
void session_sweep(const char *dir);

#endif
