// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "confine.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

#include "caps.h"
#include "filter.h"
#include "landlock.h"
#include "mounts.h"
#include "pidns.h"

int confine_prepare(struct confine *c, bool keep_privileges, struct why *why)
{
	/* The files of cgroupfs are root's, capabilities or not. */
	bool root = geteuid() == 0 || caps_any();
	struct confine plan = {.drop = root && !keep_privileges};
	int err;

	if (plan.drop || !root) {
		plan.scope = landlock_has_scopes();
		plan.stand_in = !plan.scope;
	}
	if (plan.drop && plan.stand_in) {
		err = pidns_enter(why);
		if (err < 0)
			return err;
	}
	*c = plan;
	return 0;
}

static int no_new_privs(struct why *why)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return why_set(why, -errno, "no_new_privs: %s", strerror(errno));
	return 0;
}

int confine_self(const struct confine *c, struct why *why)
{
	unsigned int parts = (c->drop ? FILTER_DROP : 0) | (c->stand_in ? FILTER_STAND_IN : 0);
	int err = 0;

	/*
	 * Mounting takes capabilities, and the filter comes last since it could refuse the others.
	 */
	if (c->drop)
		err = mounts_confine(c->stand_in, why);
	if (!err && c->drop)
		err = caps_drop(why);
	if (!err)
		err = no_new_privs(why);
	if (!err && c->scope)
		err = landlock_scope(why);
	if (!err)
		err = filter_install(parts, why);
	return err;
}
