/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From a policy file to what is enforced: read, compile, apply. */
#ifndef CGNETD_LOAD_H
#define CGNETD_LOAD_H

#include "apply.h"
#include "diag.h"
#include "grants.h"

struct load_result {
	struct apply_result apply;
	size_t nclasses;
	struct grants grants; /* owned */
};

/*
 * Makes what is enforced equal to the file; force ends the sessions of classes that are dropped.
 * What is wrong with the file is added to d. Returns 0, or a negative errno with d's errors or else
 * the reason. Blocks: file, name service, and other cgnetd's.
 */
int load_policy(const struct instance *in, const char *file, bool force, struct diags *d,
		struct load_result *out, struct why *why);

/* Prints what was done. */
void load_report(FILE *out, const char *file, const struct load_result *r);

#endif
