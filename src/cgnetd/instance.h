/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where an instance keeps its state, and the lock around changes of it. */
#ifndef CGNETD_INSTANCE_H
#define CGNETD_INSTANCE_H

#include <linux/limits.h>
#include <stdbool.h>

#include "cgnet_state.h"
#include "util.h"

struct instance {
	const char *bpffs;   /* --bpffs */
	const char *cgroup;  /* --cgroup, relative to the cgroup2 mount */
	const char *run_dir; /* --run-dir */
};

/* Writes "BPFFS/a" or "BPFFS/a/b" (b may be NULL). Returns 0 or -ENAMETOOLONG with the reason. */
int instance_path(const struct instance *in, char path[PATH_MAX], const char *a, const char *b,
		  struct why *why);

/* Writes "MOUNT/CGROUP/class", or "MOUNT/CGROUP" if class is NULL. Returns 0 or -ENAMETOOLONG. */
int instance_cgroup(const struct cgnet_info *info, char path[PATH_MAX], const char *class_name,
		    struct why *why);

/*
 * Takes the lock: LOCK_EX for changes, LOCK_SH for readers; waits a few seconds for others. With
 * make, mounts bpffs and makes the directory if need be. Returns a descriptor to close for the end
 * of the lock, -ENOENT if nothing is loaded, or another negative errno, with the reason.
 */
int instance_lock(const struct instance *in, int operation, bool make, struct why *why);

/* The same in one try and without make: -EBUSY if others hold it. */
int instance_try_lock(const struct instance *in, int operation, struct why *why);

/*
 * Removes what a `load` that was killed left half-built in the instance's directory. Only under the
 * exclusive lock. Returns 0 or a negative errno with the reason.
 */
int instance_clean(const struct instance *in, struct why *why);

/*
 * Removes the instance's directory if it is empty, and the bpffs mount if cgnetd made it; unlocks.
 */
void instance_remove(const struct instance *in, int *lock);

/* Removes the parts of the instance's cgroup that cgnetd made, the last one with what is empty
 * below. */
void instance_remove_root(const struct cgnet_info *info);

/*
 * Reads BPFFS/_info. Returns 0, -ENOENT if there is none, -EPROTO if another version wrote it, or
 * another negative errno, with the reason.
 */
int instance_info(const struct instance *in, struct cgnet_info *out, struct why *why);

/*
 * The same, but takes what an earlier version wrote: then out->abi is less than CGNET_ABI_VERSION,
 * and what that version did not know is zero.
 */
int instance_info_any(const struct instance *in, struct cgnet_info *out, struct why *why);

/*
 * Calls visit with the name of each loaded class, in order, until it returns non-zero, which is
 * returned. Returns 0 at the end or a negative errno.
 */
int instance_each_class(const struct instance *in, int (*visit)(const char *name, void *arg),
			void *arg);

#endif
