/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* In which cgroup a process is, and which number it has. */
#ifndef CGNET_PROCFS_H
#define CGNET_PROCFS_H

#include <sys/types.h>

enum proc_place { PROC_OUTSIDE, PROC_INSIDE, PROC_BELOW };

/*
 * Whether the process (0: this one) is in the cgroup dir, a path without slashes at its ends, or
 * below it. dir may stand anywhere in the process's path, because the mount that dir is relative to
 * need not show the hierarchy from its root. Returns enum proc_place or -errno.
 */
int proc_place_in_cgroup(pid_t pid, const char *dir);

/*
 * Writes the process's path in cgroup v2, without the slash in front and "" for the root, to path
 * of size bytes. Returns 0 or -errno.
 */
int proc_cgroup(pid_t pid, char *path, size_t size);

/* Reads the real, effective, saved and file system uid of a process. Returns 0 or -errno. */
int proc_uids(pid_t pid, unsigned int ids[4]);

/* Writes the process's comm, made printable, to comm of size bytes. Returns 0 or -errno. */
int proc_comm(pid_t pid, char *comm, size_t size);

/* The parent of a process; -errno if it is not known. */
pid_t proc_parent(pid_t pid);

/*
 * The number that the process pid has in its own pid namespace, which is the sender's number in the
 * signals that it sends to those outside; -errno if it is not known.
 */
pid_t proc_own_pid(pid_t pid);

#endif
