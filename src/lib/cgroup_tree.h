/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Cgroups that a session nested in its own, named and as deep as it liked: their paths can be
 * longer than any system call takes, so they are walked from directory to directory. That takes two
 * descriptors and no stack, however deep they are.
 */
#ifndef CGNET_CGROUP_TREE_H
#define CGNET_CGROUP_TREE_H

/* Whether a process lives in the cgroup or below: 1, 0, or a negative errno (-ENOENT: it is gone).
 */
int cgroup_dir_populated(int dir);

/*
 * Removes the cgroup called name in the directory parent (AT_FDCWD: name is a path), and those
 * below it, deepest first. Returns 0, also if it is gone, -EBUSY if a process lives there, in which
 * case nothing is removed, or another negative errno.
 */
int cgroup_tree_remove(int parent, const char *name);

/* Sends SIGKILL to every process in the cgroup or below, once. Returns 0 or a negative errno. */
int cgroup_tree_kill(int dir);

#endif
