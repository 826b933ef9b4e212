/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Signals and job control as if CMD ran alone. */
#ifndef CGNET_RUN_SIGNALS_H
#define CGNET_RUN_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "hint.h"
#include "util.h"

/* What cgnet-run got from its caller, and CMD is to get. */
struct signals {
	sigset_t mask;
	bool chld_ignored;
};

/*
 * Blocks all signals, which then wait for supervise(), and takes SIGCHLD. Dispositions stay as
 * they are: a blocked signal arrives even if it is ignored. Returns 0 or -errno with a reason.
 */
int signals_hold(struct signals *s, struct why *why);

/* In the child, before it executes CMD: gives back what was. Returns 0 or -errno. */
int signals_restore(const struct signals *s);

/*
 * Waits for the child in the session cgroup (below the mount, "cgnet/restricted/s1"), passes
 * signals on to it, stops and continues with it, and says what it was denied first. Returns its
 * exit status, 128+N for signal N.
 */
int supervise(pid_t child, const char *cgroup, struct hint *hint);

#endif
