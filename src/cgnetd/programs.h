/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The BPF programs of a class: which it needs, loading and attaching them. */
#ifndef CGNETD_PROGRAMS_H
#define CGNETD_PROGRAMS_H

#include <stdbool.h>

#include "cgnet_state.h"
#include "util.h"

struct live_class_plan;

/* Start as {}; between load and close. */
struct programs {
	struct cgnet *inet;
	struct cgnet_unix *local; /* NULL where the class does not ask for it */
};

/* True if a class with these settings needs the hook's program. */
bool hook_is_wanted(enum cgnet_hook hook, const struct cgnet_settings *settings);

/* A number that changes with the programs, never 0: a class that has others gets these. */
__u32 programs_build(void);

/*
 * Loads what plan asks for; cgroup_id is the class's cgroup. Returns 0 or a negative errno with
 * the reason.
 */
int programs_load(struct programs *p, const struct live_class_plan *plan, __u64 cgroup_id,
		  struct why *why);

/* Attaches to the cgroup, pins the links and fills ids. Returns 0 or a negative errno. */
int programs_attach(const struct programs *p, const struct live_class_plan *plan, int cgroup_fd,
		    __u32 ids[CGNET_HOOKS], struct why *why);

/* Pins the maps of live_class_pins in dir. Returns 0 or a negative errno with the reason. */
int programs_pin_maps(const struct programs *p, const char *dir, struct why *why);

/* Lets go of the descriptors; what is pinned stays. */
void programs_close(struct programs *p);

#endif
