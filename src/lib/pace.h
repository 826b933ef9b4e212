/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * When to act on changes that come in any number: soon after the first of a burst, and never so
 * often that it costs more than half of the time. Times are in microseconds of a clock that does
 * not jump.
 */
#ifndef CGNET_PACE_H
#define CGNET_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* From the first change of a burst, which often has several. */
#define PACE_SETTLE 50000

/* From the end of one run to the next: at least PACE_GAP, at most PACE_MAX_GAP, in between what the
 * run took. */
#define PACE_GAP     150000
#define PACE_MAX_GAP 5000000

struct pace {
	bool pending;
	uint64_t due;	    /* if pending */
	uint64_t not_until; /* from the last run */
};

/* Something has changed. Returns when to act; the same time until then, however much changes. */
uint64_t pace_change(struct pace *p, uint64_t now);

/* The caller has acted, from started to now. What changed meanwhile is not known to be covered. */
void pace_done(struct pace *p, uint64_t started, uint64_t now);

#endif
