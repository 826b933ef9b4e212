/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is loaded, gathered once, then shown to people or machines. */
#ifndef CGNETD_STATUS_H
#define CGNETD_STATUS_H

#include "facts.h"
#include "instance.h"
#include "sessions.h"

struct class_limit {
	uint64_t wanted;   /* what the policy says; 0 for no limit, and then the rest is 0, too */
	uint64_t in_force; /* what the cgroup says; 0 for no limit */
	uint64_t usage;
	bool lost; /* what is in force is not what the policy says */
};

struct class_status {
	char name[CGNET_NAME_SIZE];
	char cgroup[PATH_MAX];
	struct cgnet_class_info info;
	struct sessions sessions;
	struct cgnet_counts counts[CGNET_LAYERS];
	struct why off[CGNET_LAYERS]; /* why a layer is off; "" if it is on */
	struct class_limit limits[CGNET_LIMITS];
};

struct status {
	struct cgnet_info info;
	struct class_status *classes;
	size_t n;
	struct facts sets; /* what the dynamic sets hold in the policy in force */
};

/*
 * Gathers it; wait: under the shared lock, else without, when what a load is about to replace may
 * be missing. Returns 0, -ENOENT if nothing is loaded, or another negative errno, with the reason.
 * Free with status_free().
 */
int status_read(const struct instance *in, bool wait, struct status *out, struct why *why);
void status_free(struct status *s);

/* "4194304" for a number of tasks, "512M" for bytes, "none" for 0. Returns buf. */
#define LIMIT_STR_SIZE 24
const char *limit_format(enum cgnet_limit limit, uint64_t value, char buf[LIMIT_STR_SIZE]);
/* The counters of all layers together. */
struct cgnet_counts status_sum(const struct class_status *c);

/* True if the class refuses nothing. */
static inline bool status_audits(const struct class_status *c)
{
	return c->info.settings.flags & CGNET_AUDIT;
}

/* A layer's name, "connect". */
const char *layer_name(enum cgnet_layer layer);

/* What a class says of this host: "session", "deny", "allow". */
const char *loopback_name(enum cgnet_loopback loopback);

#endif
