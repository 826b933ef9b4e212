/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The instance that `cgnetd load` pinned, held still while a session is set up. */
#ifndef CGNET_RUN_INSTANCE_H
#define CGNET_RUN_INSTANCE_H

#include "cgnet_state.h"
#include "util.h"

struct instance {
	const char *bpffs;
	struct cgnet_info info;
	int lock; /* shared lock on bpffs, for as long as it is open; owned */
};

/* An empty one, for instance_close(). */
#define INSTANCE_INIT                                                                              \
	{                                                                                          \
		.lock = -1                                                                         \
	}

/*
 * Locks and reads the instance pinned in bpffs, a string that has to last. cgroup, if not NULL, has
 * to be the instance's. Waits a few seconds at most while cgnetd changes something. Refuses a
 * process that is in a class already. Returns 0 or -errno with a reason.
 */
int instance_open(struct instance *in, const char *bpffs, const char *cgroup, struct why *why);

/*
 * Reads the record of size bytes pinned as bpffs/pin and checks its version. Returns 0 or -errno
 * with a reason, -ENOENT if there is none.
 */
int instance_read(const char *bpffs, const char *pin, void *value, size_t size, struct why *why);

/* Gives up the lock. */
void instance_close(struct instance *in);

#endif
