/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The maps that hold one compiled policy: made anew for every policy, then put into a slot. */
#ifndef CGNETD_POLICY_MAPS_H
#define CGNETD_POLICY_MAPS_H

#include <bpf/btf.h>

#include "compile.h"
#include "diff.h"

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

/*
 * Writes a diff to the tries, entry by entry, in its order. Its ports have to be in force already.
 * Returns 0 or a negative errno with the reason; the tries are then somewhere in between, each
 * address under the old policy or the new one.
 */
int policy_maps_patch(const struct policy_maps *maps, const struct class_diff *d, struct why *why);

/* True if the tries have room for the entries that d adds. */
bool policy_maps_have_room(const struct policy_maps *maps, const struct compiled_class *from,
			   const struct class_diff *d);

/*
 * Makes a table of ports or of rules like that of policy_maps_make(). Returns a descriptor or a
 * negative errno with the reason.
 */
int policy_maps_make_ports(const struct cgnet_port *ports, size_t n, const struct btf *btf,
			   struct why *why);
int policy_maps_make_rules(const struct cgnet_rule *rules, size_t n, const struct btf *btf,
			   struct why *why);

void policy_maps_close(struct policy_maps *maps);

#endif
