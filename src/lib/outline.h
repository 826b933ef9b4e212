/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The first pass over a policy file. libconfuse skips over much without a word: an unclosed quote,
 * comment or brace at the end, stray characters, an option given twice. This pass refuses the first
 * kind, blanks out comments (which would shift libconfuse's line numbers), and notes which sections
 * and options there are and where.
 */
#ifndef CGNET_OUTLINE_H
#define CGNET_OUTLINE_H

#include "util.h"

/* Where a statement stands in the text. */
struct outline_place {
	char *start, *end;
	int line;     /* from 1 */
	bool dropped; /* by outline_drop() */
};

/* KIND TITLE { ... } at top level. */
struct outline_section {
	char *kind;
	char *title;
	struct outline_place place;
};

/* NAME = ..., at top level or in a section. */
struct outline_option {
	char *name;
	int section; /* index in sections, -1 at top level */
	struct outline_place place;
};

struct outline {
	struct outline_section *sections;
	size_t nsections, sections_cap;
	struct outline_option *options;
	size_t noptions, options_cap;
};

/*
 * Fills out (zeroed by the caller, who frees it in any case) from the NUL-terminated text, in which
 * comments become blanks. Returns 0, -ENOMEM, or -EINVAL with the reason and the line of a syntax
 * error.
 */
int outline_scan(char *text, struct outline *out, int *line, struct why *why);

/* Blanks a statement out of the text. */
void outline_drop(struct outline_place *place);

void outline_free(struct outline *outline);

#endif
