/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of classes and sets, and the nearest known one to a mistyped name. */
#ifndef CGNET_NAME_H
#define CGNET_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* True for [a-z][a-z0-9-]{0,31}. */
bool name_is_valid(const char *name);

/* The search for the known name that is nearest to a wrong one. Start with suggest_start(). */
struct suggestion {
	const char *wrong;
	const char *best; /* NULL while none is near enough */
	size_t distance;  /* of best; else the first that is too far */
};

void suggest_start(struct suggestion *s, const char *wrong);

/* Offers a known name, which must stay valid as long as s. */
void suggest_offer(struct suggestion *s, const char *known);

/* Room for "; did you mean @NAME?" and its NUL. */
#define HINT_SIZE 64

/* Writes "; did you mean MARK NAME?" (mark "@" or ""), or nothing if none was near. Returns buf. */
const char *suggest_hint(const struct suggestion *s, const char *mark, char buf[HINT_SIZE]);

#endif
