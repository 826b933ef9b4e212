/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A pid namespace for a root session, where Landlock does not keep it away from other processes. */
#ifndef CGNET_RUN_PIDNS_H
#define CGNET_RUN_PIDNS_H

#include "util.h"

/*
 * Makes a pid namespace, in which the children of the calling process are from now on. CMD stays a
 * child of the caller, and is not the namespace's init, for which many signals would do nothing:
 * that is a process which waits until the caller and all processes in the namespace are gone.
 * Returns 0 or -errno with a reason.
 */
int pidns_enter(struct why *why);

#endif
