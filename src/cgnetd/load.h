/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From a policy file to what is enforced: read, compile, apply. */
#ifndef CGNETD_LOAD_H
#define CGNETD_LOAD_H

#include "apply.h"
#include "diag.h"
#include "grants.h"
#include "runtime.h"
#include "snapshot.h"

/* Bits of load_request.changes: what may have changed since the policy was loaded. */
enum load_change {
	LOAD_HOST = 1,	/* addresses, routes, name servers */
	LOAD_LISTS = 2, /* files of sets; see load_request.lists */
	LOAD_RULES = 4, /* those given at run time */
	LOAD_NAMES = 8, /* addresses of host names */
};

/* Texts, each with its NUL, one behind the other. */
struct texts {
	char *bytes;
	size_t size;
};

/* The next of the texts, from NULL on; NULL at the end. */
const char *texts_next(const struct texts *t, const char *at);

struct load_request {
	const char *file; /* NULL: the policy that was loaded last, for what changed since */
	bool force;	  /* end the sessions of classes that are dropped */

	/* Of the service. */
	const struct snapshot *snapshot; /* NULL without one: then there is nothing to go by */
	unsigned int changes;		 /* enum load_change, if file is NULL */
	const bool *lists;		 /* which of load_result.lists changed */
	size_t nlists;
	const struct runtime *runtime;
	const struct names *names; /* what host names lead to */
	uint32_t rule;		   /* of runtime, one that has to find its place; 0 if none */
};

struct load_result {
	struct apply_result apply;
	size_t nclasses;
	bool again;	      /* the policy is the one of before, and so are its grants */
	struct why kept;      /* why the last name servers were kept; "" if they were not */
	struct grants grants; /* owned */
	struct texts lists;   /* owned: the files of sets, absolute */
	struct texts hosts;   /* owned: the host names in its rules */
};

/*
 * Makes what is enforced equal to a file, or follows what changed since. What is wrong with the
 * file is added to d. Returns 0, or a negative errno with d's errors or else the reason; -ESTALE if
 * there is nothing to follow. Blocks: file, name service, and other cgnetd's.
 */
int load_policy(const struct instance *in, const struct load_request *request, struct diags *d,
		struct load_result *out, struct why *why);

void load_result_free(struct load_result *r);

/* Prints what was done. */
void load_report(FILE *out, const char *file, const struct load_result *r);

#endif
