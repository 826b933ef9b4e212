/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The maps that hold one compiled policy: made anew for every policy, then put into a slot. */
#ifndef CGNETD_POLICY_MAPS_H
#define CGNETD_POLICY_MAPS_H

#include <bpf/btf.h>

#include "compile.h"

struct policy_maps {
	int deny4, deny6, ports, rules; /* descriptors, -1 where there is none */
};

#define POLICY_MAPS_NONE ((struct policy_maps){-1, -1, -1, -1})

/*
 * Makes and fills the maps of c, typed by btf (the programs', loaded into the kernel), and reads
 * the sentinels back. Returns 0 or a negative errno with the reason; then out is unchanged.
 */
int policy_maps_make(struct policy_maps *out, const struct compiled_class *c, const struct btf *btf,
		     struct why *why);

/* Opens those pinned in dir. Returns 0 or a negative errno with the reason. */
int policy_maps_open(struct policy_maps *out, const char *dir, struct why *why);

/* Pins all in dir, each replacing what is there. Returns 0 or a negative errno with the reason. */
int policy_maps_pin(const struct policy_maps *maps, const char *dir, struct why *why);

/* The number by which events name the map of rules. Returns 0 or a negative errno. */
int policy_maps_rules_id(const struct policy_maps *maps, __u32 *id);

void policy_maps_close(struct policy_maps *maps);

#endif
