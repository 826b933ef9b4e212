/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One line on the session's terminal about the first thing that it was denied. */
#ifndef CGNET_RUN_HINT_H
#define CGNET_RUN_HINT_H

#include "opts.h"
#include "session.h"

struct hint {
	int tty;    /* -1 where there is nothing to be said, or no longer */
	int source; /* root: the map of first denials; others: the service */
	bool root;
	const char *bpffs;
	__u64 session; /* root: the id of its cgroup */
	char class_name[CGNET_NAME_SIZE];
};

/* No hint will be given. */
#define HINT_NONE                                                                                  \
	{                                                                                          \
		.tty = -1, .source = -1                                                            \
	}

/*
 * Prepares to tell of the session in s, of which users other than root only have the cgroup. There
 * is nothing to be said without a terminal on stderr, with --quiet, or where nobody would know.
 */
void hint_open(struct hint *h, const struct opts *o, const struct session *s, bool root);

/* Says it if there is something to be said by now. */
void hint_tick(struct hint *h);

/* The same, for the last time: CMD has ended. */
void hint_last(struct hint *h);

/* How long to wait between two ticks, in nanoseconds. */
#define HINT_TICK_NS 250000000L

/* Moves the descriptors to 0 and 1. Returns the first one that is not used. */
int hint_move_down(struct hint *h);

#endif
