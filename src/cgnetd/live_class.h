/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A class in the kernel: its programs, links and the maps that outlive a policy. */
#ifndef CGNETD_LIVE_CLASS_H
#define CGNETD_LIVE_CLASS_H

#include <bpf/btf.h>

#include "generation.h"
#include "instance.h"
#include "policy_maps.h"

struct live_class {
	int slots4, slots6, slots_ports, settings, unix_names, sockets, counters, lost,
		record; /* fds */
};

#define LIVE_CLASS_NONE ((struct live_class){-1, -1, -1, -1, -1, -1, -1, -1, -1})

/* The pins behind these, in the same order; a map has its pin's name. */
#define LIVE_CLASS_PINS 9
extern const char *const live_class_pins[LIVE_CLASS_PINS];

struct live_class_plan {
	const struct instance *in;
	const char *dir; /* where to pin; made here */
	const char
		*old_dir; /* the class as it was loaded before, or NULL: its sockets stay known */
	const char *cgroup;
	const struct compiled_class *compiled;
	const struct generation *generation;
	int core_btf; /* see core_btf.h */
};

/*
 * Loads the programs for a class, puts its policy into both slots, attaches to the cgroup and pins
 * all of it. maps gets the policy's maps. On an error dir is removed again, and with it what was
 * attached. Returns 0 or a negative errno with the reason.
 */
int live_class_build(struct live_class *out, const struct live_class_plan *plan,
		     struct policy_maps *maps, struct why *why);

/* Opens what is pinned in dir. Returns 0 or a negative errno with the reason. */
int live_class_open(struct live_class *out, const char *dir, struct why *why);

/* Reads or writes BPFFS/CLASS/class. Returns 0 or a negative errno with the reason. */
int live_class_read(const struct live_class *lc, struct cgnet_class_info *out, struct why *why);
int live_class_write(const struct live_class *lc, const struct cgnet_class_info *info,
		     struct why *why);

/*
 * Checks that every link pinned in dir holds its program to the cgroup. Returns 0, or a negative
 * errno with the reason, which names the hook.
 */
int live_class_verify(const char *dir, const char *cgroup, const struct cgnet_class_info *info,
		      struct why *why);

/* Puts a policy into a slot that is not in force. Returns 0 or a negative errno with the reason. */
int live_class_fill_slot(const struct live_class *lc, __u32 slot, const struct policy_maps *maps,
			 const struct compiled_class *compiled, struct why *why);

/* The same with what is in force in the other slot; maps are its maps. */
int live_class_mirror_slot(const struct live_class *lc, __u32 slot, const struct policy_maps *maps,
			   struct why *why);

/* Has both slots name the table of rules behind fd in events. Returns 0 or a negative errno. */
int live_class_tell_rules(const struct live_class *lc, int fd, struct why *why);

/* The type information of a loaded class; free with btf__free(). NULL with errno set on failure. */
struct btf *live_class_btf(const struct live_class *lc);

/* Sums a layer's counters over all CPUs. Returns 0 or a negative errno. */
int live_class_counts(const struct live_class *lc, enum cgnet_layer layer,
		      struct cgnet_counts *out);

void live_class_close(struct live_class *lc);

#endif
