/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The start of CMD inside its cgroup. */
#ifndef CGNET_RUN_LAUNCH_H
#define CGNET_RUN_LAUNCH_H

#include "confine.h"
#include "opts.h"
#include "session.h"
#include "signals.h"

/* Exit statuses of cgnet-run itself; all others are CMD's. */
enum {
	EXIT_REFUSED = 125,
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
};

/*
 * Starts the command of o as a child that is in the session's cgroup from its first instruction,
 * and confined before CMD is executed.
 * Returns its pid once CMD is executed, or has failed: then the child has printed why, and its exit
 * status is the one to end with. On failure -errno with a reason; -EAGAIN if the cgroup was removed
 * in between.
 */
pid_t launch(const struct session *s, const struct opts *o, const struct confine *confine,
	     const struct signals *signals, struct why *why);

/*
 * The same without a session of the caller's: the child has the service let it in, see service.h.
 * -errno with a reason if it cannot be started at all.
 */
pid_t launch_by_service(const struct opts *o, const struct confine *confine,
			const struct signals *signals, struct why *why);

#endif
