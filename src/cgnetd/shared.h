/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The maps of an instance that belong to no class: BPFFS/_info and BPFFS/_sets. */
#ifndef CGNETD_SHARED_H
#define CGNETD_SHARED_H

#include <bpf/btf.h>

#include "facts.h"
#include "instance.h"

struct shared {
	int info, sets, old_sets; /* descriptors; sets is the new table, if one is needed */
	bool made;		  /* info is new */
};

#define SHARED_NONE ((struct shared){-1, -1, -1, false})

/*
 * For a first load, before it makes anything else: pins info without the classes' names, so that
 * `unload` knows what a killed load made. Returns 0 or a negative errno with the reason.
 */
int shared_announce(const struct instance *in, const struct cgnet_info *info, struct why *why);

/* Makes or opens the maps and fills the new table of sets; btf types them, NULL for none. first:
 * nothing was loaded before. Returns 0 or a negative errno with the reason. */
int shared_prepare(struct shared *s, const struct instance *in, bool first,
		   const struct facts *facts, const struct btf *btf, struct why *why);

/* Writes info and pins both. Returns 0 or a negative errno with the reason. */
int shared_commit(struct shared *s, const struct instance *in, const struct cgnet_info *info,
		  struct why *why);

/* Takes back shared_prepare() and shared_commit() where something was loaded before. */
void shared_undo(struct shared *s, const struct instance *in, const struct cgnet_info *old);

/* Unpins what a first load made, unless a class still uses it. */
void shared_remove(const struct instance *in);

void shared_close(struct shared *s);

/*
 * Calls visit for each prefix that a dynamic set held at load. Returns 0, what visit returned if
 * that was not 0, or a negative errno with the reason.
 */
int shared_each_set_member(const struct instance *in,
			   int (*visit)(const struct cgnet_set_member *m, void *arg), void *arg,
			   struct why *why);

#endif
