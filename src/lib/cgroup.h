/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* cgroup v2: where it is, class and session directories, what lives in them. */
#ifndef CGNET_CGROUP_H
#define CGNET_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cgnet_state.h"
#include "util.h"

/*
 * Finds where cgroup2 is mounted: through libcgroup, or, since that passes over a hierarchy without
 * controllers (usual on hybrid hosts), from mountinfo. Returns 0, or -ENODEV with the reason.
 */
int cgroup_find_mount(char *path, size_t size, struct why *why);

/*
 * Makes the directory path with mode 0755, or checks that it is root's directory on cgroup2. Made
 * by plain mkdir: libcgroup would switch on controllers up to the root, which classes do not need.
 * *made tells whether it was made here. Returns 0 or a negative errno with the reason.
 */
int cgroup_make(const char *path, bool *made, struct why *why);

/* The id that links and events show (the inode number). Returns 0 or a negative errno. */
int cgroup_id(const char *path, uint64_t *id);

/* 1 if a process lives in path or below, 0 if none does, or a negative errno. */
int cgroup_populated(const char *path);

/*
 * Calls visit with the name of each child cgroup until it returns non-zero, which is returned.
 * Returns 0 at the end or a negative errno.
 */
int cgroup_each_child(const char *path, int (*visit)(const char *name, void *arg), void *arg);

/* A limit's name in a policy, "pids_max", and its controller's, "pids". */
const char *cgroup_limit_name(enum cgnet_limit limit);
const char *cgroup_limit_controller(enum cgnet_limit limit);

/*
 * Whether the limit's controller is on cgroup2 here. Returns 0, or -EOPNOTSUPP with the reason,
 * which names the controller.
 */
int cgroup_limit_probe(enum cgnet_limit limit, struct why *why);

/*
 * Switches the limit's controller on for path, in every cgroup above it. It stays on: others may
 * count on it by the time that path is removed. Returns 0 or a negative errno with the reason.
 */
int cgroup_limit_enable(const char *path, enum cgnet_limit limit, struct why *why);

/*
 * Reads the limit of path and, if usage is not NULL, how much of it is in use; 0 for no limit. The
 * kernel counts memory in whole pages. Returns 0, or a negative errno: -ENOENT if the
 * controller is not on for path.
 */
int cgroup_limit_get(const char *path, enum cgnet_limit limit, uint64_t *value, uint64_t *usage);

/* Sets the limit of path; 0 for none. Returns 0 or a negative errno with the reason. */
int cgroup_limit_set(const char *path, enum cgnet_limit limit, uint64_t value, struct why *why);

/*
 * Removes path and the cgroups below it, deepest first. Never moves a process. Returns 0 (also if
 * path is gone), -EBUSY if processes remain, or another negative errno.
 */
int cgroup_remove(const char *path);

/*
 * Kills every process in path and below and waits until none is left, at most five seconds:
 * cgroup.kill (5.14), else SIGKILL to each until none is left. Returns 0 or a negative errno.
 */
int cgroup_kill(const char *path);

#endif
