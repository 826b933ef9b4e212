/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The word that says which slots are in force. */
#ifndef CGNETD_GENERATION_H
#define CGNETD_GENERATION_H

#include <linux/types.h>

#include "instance.h"

struct generation {
	int fd;
	__u32 *word; /* mapped; shared with the programs */
	bool made;   /* just now: no loaded program reads it */
};

#define GENERATION_NONE ((struct generation){.fd = -1})

/* Opens the pinned word, or makes and pins it. Returns 0 or a negative errno with the reason. */
int generation_open(struct generation *g, const struct instance *in, struct why *why);

/*
 * Makes a new word, for programs that are to take the place of all that read the pinned one; and
 * puts it in that one's place. Both return 0 or a negative errno with the reason.
 */
int generation_make(struct generation *g, struct why *why);
int generation_pin(const struct generation *g, const struct instance *in, struct why *why);

/* The slot in force, and the one that is not. */
__u32 generation_slot(const struct generation *g);
__u32 generation_standby(const struct generation *g);

/* Puts the standby slots in force, everywhere and at once. */
void generation_flip(struct generation *g);

/*
 * Waits until no program runs that read the generation before this call. Returns 0 or a negative
 * errno with the reason.
 */
int generation_wait(struct why *why);

void generation_close(struct generation *g);

#endif
