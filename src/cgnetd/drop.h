/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the service gives up, and when:
 *
 *   1. at its start, before it reads anything: all capabilities but those below, also from the
 *      bounding set, and no_new_privs, so that nothing brings them back;
 *   2. when the first policy is in force and the control socket is there: CAP_DAC_OVERRIDE, and the
 *      system calls that neither a reload nor a session needs (seccomp), among them those that
 *      execute a program or mount.
 *
 * Its workers (reload.h) are forked from it and have what it has. The uid stays 0: pins, cgroups
 * and the run directory belong to root.
 */
#ifndef CGNETD_DROP_H
#define CGNETD_DROP_H

#include "util.h"

/* Stage 1. Returns 0 or a negative errno with the reason. */
int drop_first(struct why *why);

/* Stage 2. Returns 0 or a negative errno with the reason. */
int drop_more(struct why *why);

#endif
