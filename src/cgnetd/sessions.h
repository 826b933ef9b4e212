/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sessions are the cgroups below a class's. */
#ifndef CGNETD_SESSIONS_H
#define CGNETD_SESSIONS_H

#include <linux/limits.h>
#include <stddef.h>

#include "cgnet_control.h"
#include "util.h"

struct sessions {
	char **names;
	size_t n, cap;
};

/* A session as `cgnetd sessions` shows it. */
struct live_session {
	char class_name[CGNET_NAME_SIZE];
	char name[CGNET_SESSION_SIZE];
	char cgroup[PATH_MAX];
	size_t processes;
	int pid; /* of its first process; 0 if there is none any more */
	unsigned int uid;
	char comm[16];
};

struct live_sessions {
	struct live_session *items;
	size_t n, cap;
};

/*
 * Lists the sessions of the class at path that have processes, sorted. No path, no sessions.
 * Returns 0 or a negative errno; free with sessions_free().
 */
int sessions_list(const char *path, struct sessions *out);
void sessions_free(struct sessions *s);

/* Writes the first names, as "a, b, c and 4 more". Returns buf. */
char *sessions_format(const struct sessions *s, char *buf, size_t size);

/*
 * Removes the empty cgroups that killed cgnet-runs left in the class at path. Only under the
 * exclusive lock: a session that is being started is empty for a moment.
 */
void sessions_sweep(const char *path);

#endif
