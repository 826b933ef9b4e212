// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "class_limits.h"

#include <errno.h>
#include <string.h>

#include "cgroup.h"

/* The option's name in front of a reason. */
static int name_limit(enum cgnet_limit limit, int err, struct why *why)
{
	struct why inner;

	if (!err || !why)
		return err;
	inner = *why;
	return why_set(why, err, "%s: %.400s", cgroup_limit_name(limit), inner.text);
}

int class_limits_prepare(const char *cgroup, const __u64 limits[CGNET_LIMITS], struct why *why)
{
	int err = 0;

	for (int i = 0; i < CGNET_LIMITS && !err; i++)
		if (limits[i])
			err = name_limit(i, cgroup_limit_enable(cgroup, i, why), why);
	return err;
}

bool class_limits_equal(enum cgnet_limit limit, __u64 in_force, __u64 wanted)
{
	if (limit == CGNET_LIMIT_MEMORY)
		wanted -= wanted % (__u64)sysconf(_SC_PAGESIZE);
	return in_force == wanted;
}

static int set_one(struct class_limits *l, enum cgnet_limit i, const char *cgroup, __u64 wanted,
		   struct why *why)
{
	uint64_t old;
	int err = cgroup_limit_get(cgroup, i, &old, NULL);

	/* Without its controller there is no limit to lift. */
	if (err == -ENOENT && !wanted)
		return 0;
	if (err)
		return why_set(why, err, "cannot read it in %s: %s", cgroup, strerror(-err));
	if (class_limits_equal(i, old, wanted))
		return 0;
	err = cgroup_limit_set(cgroup, i, wanted, why);
	if (!err && !l->changed[i]) {
		l->changed[i] = true;
		l->old[i] = old;
	}
	return err;
}

int class_limits_set(struct class_limits *l, const char *cgroup, const __u64 wanted[CGNET_LIMITS],
		     const __u64 before[CGNET_LIMITS], struct why *why)
{
	int err = 0;

	for (int i = 0; i < CGNET_LIMITS && !err; i++)
		if (wanted[i] || before[i])
			err = name_limit(i, set_one(l, i, cgroup, wanted[i], why), why);
	return err;
}

int class_limits_room(const char *cgroup, struct why *why)
{
	uint64_t max, usage;

	/* No controller, no limit. */
	if (cgroup_limit_get(cgroup, CGNET_LIMIT_PIDS, &max, &usage) || !max || usage < max)
		return 0;
	return why_set(why, -EBUSY, "no more processes (pids_max of the class is %llu)",
		       (unsigned long long)max);
}

void class_limits_restore(struct class_limits *l, const char *cgroup)
{
	for (int i = 0; i < CGNET_LIMITS; i++) {
		if (l->changed[i])
			cgroup_limit_set(cgroup, i, l->old[i], NULL);
		l->changed[i] = false;
	}
}
