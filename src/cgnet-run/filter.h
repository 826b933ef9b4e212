/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The seccomp filter of a session: what it refuses is in seccomp_gen.c, run when cgnet is built. */
#ifndef CGNET_RUN_FILTER_H
#define CGNET_RUN_FILTER_H

#include "util.h"

/* What a filter refuses beyond what is refused to every session; bits. */
enum filter_part {
	FILTER_DROP = 1,     /* what a root session has to lose with its capabilities */
	FILTER_STAND_IN = 2, /* what Landlock would refuse */
	FILTERS = 4,	     /* combinations */
};

/*
 * Puts the calling process, which has no_new_privs set, under the filter with these parts; it
 * cannot be taken off. Returns 0 or -errno with a reason.
 */
int filter_install(unsigned int parts, struct why *why);

#endif
