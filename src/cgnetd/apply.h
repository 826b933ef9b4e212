/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes what is enforced equal to a compiled policy, or changes nothing. */
#ifndef CGNETD_APPLY_H
#define CGNETD_APPLY_H

#include "compile.h"
#include "facts.h"
#include "instance.h"

struct apply_request {
	const struct compiled *compiled;
	const struct facts *facts; /* kept for `status` */
	const char *root_class;	   /* for uid 0 without --class; "" for none */
	bool force;		   /* end the sessions of classes that are dropped */
};

struct apply_result {
	size_t added, changed, kept, dropped; /* classes */
	size_t killed;			      /* sessions */
	size_t reset;			      /* connections that the new policy denies */
	bool info_changed;		      /* default class or the like */
};

/*
 * Prepares everything beside what is in force, proves it, switches by one store, then removes the
 * old. Takes the instance's lock. Returns 0, or a negative errno with the reason and with nothing
 * changed; only the removal of dropped classes, which comes last, can fail after the switch, and
 * the reason says so.
 */
int apply(const struct instance *in, const struct apply_request *request,
	  struct apply_result *result, struct why *why);

#endif
