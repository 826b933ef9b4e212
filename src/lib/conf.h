/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The syntax of a policy file: which sections and options there are, and the values given. */
#ifndef CGNET_CONF_H
#define CGNET_CONF_H

#include "diag.h"
#include "outline.h"

/* One value of an option; an option with a list has several. */
struct conf_value {
	int section;	    /* index in outline.sections, -1 at top level */
	const char *option; /* in outline, and a name of the schema */
	int line;
	char *text;
};

struct conf {
	struct outline outline;
	struct conf_value *values; /* in file order, those of an option together */
	size_t n, cap;
};

/*
 * Fills out (zeroed by the caller, who frees it in any case) from the NUL-terminated text of the
 * file called name; comments in text become blanks. Adds what is wrong to d. What is not in
 * the schema or is given twice is an error and dropped from the outline. Returns 0, or
 * -EINVAL or -ENOMEM if there is nothing to go on with. Not reentrant: libconfuse has one scanner.
 */
int conf_parse(const char *name, char *text, struct conf *out, struct diags *d);

void conf_free(struct conf *conf);

#endif
