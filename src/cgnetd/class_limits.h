/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the sessions of a class may use together: limits on the class's cgroup. */
#ifndef CGNETD_CLASS_LIMITS_H
#define CGNETD_CLASS_LIMITS_H

#include <stdbool.h>

#include "cgnet_state.h"
#include "util.h"

/* What class_limits_set() found and changed. */
struct class_limits {
	bool changed[CGNET_LIMITS];
	__u64 old[CGNET_LIMITS];
};

/*
 * Switches on the controllers of the limits that are not 0 for the class's cgroup, which exists.
 * Returns 0, or a negative errno with the reason, which names the option.
 */
int class_limits_prepare(const char *cgroup, const __u64 limits[CGNET_LIMITS], struct why *why);

/*
 * Makes the cgroup's limits those that are wanted. One that the class neither has nor had (before)
 * is left alone: it may be the operator's. Adds to l what changed. Returns 0 or a negative errno
 * with the reason, which names the option.
 */
int class_limits_set(struct class_limits *l, const char *cgroup, const __u64 wanted[CGNET_LIMITS],
		     const __u64 before[CGNET_LIMITS], struct why *why);

/*
 * Whether a process may be moved into the class: moving is no fork, which the kernel would refuse
 * at pids_max by itself. Returns 0 or -EBUSY with the reason.
 */
int class_limits_room(const char *cgroup, struct why *why);

/* Puts back what class_limits_set() changed. Best effort. */
void class_limits_restore(struct class_limits *l, const char *cgroup);

/* Whether a limit in force is the one wanted, as far as the kernel's whole pages tell. */
bool class_limits_equal(enum cgnet_limit limit, __u64 in_force, __u64 wanted);

#endif
