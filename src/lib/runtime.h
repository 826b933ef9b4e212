/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rules that were given to the running service beside those of the file. Times are in microseconds
 * since boot, suspended time included (CLOCK_BOOTTIME), so that no change of the clock prolongs
 * one.
 */
#ifndef CGNET_RUNTIME_H
#define CGNET_RUNTIME_H

#include <stdint.h>

#include "policy.h"

/* In the file's place in explanations and events; the rule's number is its line. */
#define RUNTIME_FILE "run-time"

/* Of one class. */
#define RUNTIME_MAX_RULES 256

struct runtime_rule {
	uint32_t number; /* from 1, never given twice */
	enum cgnet_verdict verdict;
	uint32_t uid;  /* who gave it */
	bool keep;     /* survives reloads and restarts of the service */
	uint64_t ends; /* 0 for never */
	char class_name[CGNET_NAME_SIZE];
	char text[CGNET_RULE_SIZE];
};

struct runtime {
	struct runtime_rule *items; /* in the order of their numbers */
	size_t n, cap;
	uint32_t last;
};

/*
 * Adds a rule; its number is set here. One of the same class, verdict and text is replaced. Returns
 * the number, -EINVAL or -ENOSPC with the reason, or -ENOMEM.
 */
long runtime_add(struct runtime *r, const struct runtime_rule *rule, struct why *why);

/* NULL if there is none. */
const struct runtime_rule *runtime_find(const struct runtime *r, uint32_t number);

/* Returns false if there is none. */
bool runtime_drop(struct runtime *r, uint32_t number);

/* Drops those that have ended. Returns how many. */
size_t runtime_expire(struct runtime *r, uint64_t now);

/* Drops those up to number last that do not survive a reload. Returns how many. */
size_t runtime_reload(struct runtime *r, uint32_t last);

/* When the next one ends; 0 for never. */
uint64_t runtime_next_end(const struct runtime *r);

/*
 * Writes those that are kept to the file at path, by rename. boot names the boot (boot_id of the
 * kernel). Returns 0 or a negative errno with the reason; then the file is as it was.
 */
int runtime_save(const struct runtime *r, const char *path, const char *boot, struct why *why);

/*
 * Reads what runtime_save() wrote. Times of another boot mean nothing: what was allowed for a time
 * has ended, what was denied for a time is denied for good. Returns 0 (also without a file), or a
 * negative errno with the reason; then r is empty.
 */
int runtime_load(struct runtime *r, const char *path, const char *boot, uint64_t now,
		 struct why *why);

void runtime_free(struct runtime *r);

/*
 * Adds the rules to those of their classes in p. Those whose class or set is not there are left
 * out, with a warning in d. Returns 0 or -ENOMEM.
 */
int runtime_add_to(const struct runtime *r, struct policy *p, struct diags *d);

/* Whether the rule is among those of p. */
bool runtime_is_in(const struct policy *p, uint32_t number);

/* Returns 0 or -ENOMEM. */
int runtime_copy(const struct runtime *r, struct runtime *out);

/* Parses "90s", "10m", "8h", "7d". Returns 0, or -EINVAL with the reason. At most a year. */
int duration_parse(const char *text, uint64_t *us, struct why *why);

#endif
