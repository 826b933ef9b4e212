/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a root session sees of the mounts through which the policy could be undone. */
#ifndef CGNET_RUN_MOUNTS_H
#define CGNET_RUN_MOUNTS_H

#include <stdbool.h>

#include "util.h"

/*
 * Gives the calling process a mount namespace of its own, in which every bpffs is hidden, and
 * cgroupfs, sysfs and what else the kernel is ruled by are read-only. Other mounts that the host
 * makes and removes later are made and removed there too. With own_pids /proc shows the pid
 * namespace of the caller instead of the one that it was mounted in. All that lasts as long as the
 * session cannot mount: needs CAP_SYS_ADMIN, which has to be dropped afterwards.
 *
 * -EXDEV if the current directory is on a mount of another namespace, where nothing of this holds.
 * Returns 0 or -errno with a reason.
 */
int mounts_confine(bool own_pids, struct why *why);

#endif
