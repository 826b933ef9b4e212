/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rules from what was denied, or would have been: exactly that, in as few rules as it takes. */
#ifndef CGNET_LEARN_H
#define CGNET_LEARN_H

#include "event.h"

/* Programs named behind a rule; more are counted. */
#define LEARN_USERS 3

struct learn_use {
	struct cgnet_event_key key; /* what it is about: other members are zero */
	__u64 count;
	struct learn_user {
		char comm[16];
		__u32 uid;
	} users[LEARN_USERS];
	size_t nusers; /* may be more than there is room for */
};

/* Start as {}; free with learn_free(). */
struct learn {
	struct learn_use *items;
	size_t n, cap;
	__u64 count;  /* denials */
	__u64 missed; /* those beyond LEARN_MAX different ones */
};

#define LEARN_MAX 8192

/* Adds an event. Returns 0 or -ENOMEM. */
int learn_add(struct learn *l, const struct cgnet_event *event);

/*
 * Writes the rules as the list "allow" of a class, each with who used it, and as comments what no
 * such rule could allow. Returns 0 or -ENOMEM.
 */
int learn_write(struct learn *l, const char *class_name, FILE *out);

void learn_free(struct learn *l);

#endif
