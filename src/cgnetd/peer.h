/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who is at the other end of a control connection. */
#ifndef CGNETD_PEER_H
#define CGNETD_PEER_H

#include <stdbool.h>
#include <sys/types.h>

#include "cgnet_state.h"
#include "util.h"

/* The process that connected, as it was then. */
struct peer {
	pid_t pid;
	uid_t uid;
	gid_t gid;
	gid_t *groups; /* supplementary ones; owned */
	size_t ngroups;
	int pidfd; /* owned */
};

#define PEER_NONE ((struct peer){.pidfd = -1})

/*
 * Reads who connected fd. Returns 0 or a negative errno with the reason: -ESRCH if the process is
 * gone or is in another pid namespace.
 */
int peer_read(int fd, struct peer *out, struct why *why);

void peer_free(struct peer *p);

/*
 * True while the process lives, and is the one that connected: with pidfds from the kernel
 * (SO_PEERPIDFD, Linux 6.5) for certain; before that a process of the same user at least, by its
 * real, effective and saved uid.
 */
bool peer_lives(const struct peer *p);

/* Whether the group is one of the peer's. */
bool peer_has_group(const struct peer *p, gid_t gid);

/*
 * Writes the peer's cgroup below the mount, "user.slice/session-1.scope" ("" for the root), to path
 * of size bytes. Returns 0 or a negative errno; -ESRCH if the process is gone.
 */
int peer_cgroup(const struct peer *p, char *path, size_t size);

/*
 * Checks that the peer is in no class of the instance, whose cgroup is given below the mount.
 * Returns 0, -EPERM if it is in one, or another negative errno, with the reason.
 */
int peer_check_outside(const struct peer *p, const char *cgroup, struct why *why);

#endif
