/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Changes the tries in force where a policy differs from the one before, and leaves the rest. */
#ifndef CGNETD_PATCH_H
#define CGNETD_PATCH_H

#include "enforce.h"

struct patch_result {
	size_t changed, kept; /* classes */
	size_t left;	      /* classes that apply() has to see to */
	size_t entries;	      /* of tries, written or removed */
	size_t reset;	      /* connections that are denied now */
};

/*
 * Goes from now to request->compiled, class by class; sums gets those of the new classes that are
 * in force. Takes the instance's lock. Returns 0, or a
 * negative errno with the reason; what is in force is then not known for the classes that differ,
 * and their records say so.
 */
int patch(const struct instance *in, const struct in_force *now,
	  const struct apply_request *request, class_sum *sums, struct patch_result *result,
	  struct why *why);

#endif
