/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside policy.c: the options of a class, but for its rules. */
#ifndef CGNET_OPTION_H
#define CGNET_OPTION_H

#include "conf.h"
#include "policy.h"

/* What a file says for one option. */
struct given {
	const char *file;
	const struct outline_option *option;
	const struct conf_value *values;
	size_t n; /* 0 for an empty list */
};

/* Sets what holds for options that the file does not state. */
void option_defaults(struct class *c);

/*
 * Sets an option of the schema other than deny and allow, each at most once after
 * option_defaults(). Adds an error to d for each wrong value, which makes c incomplete.
 */
void option_set(struct class *c, const struct given *given, struct diags *d);

#endif
