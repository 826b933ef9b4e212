/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From what is known to be in force to a new policy, by the least change. */
#ifndef CGNETD_ENFORCE_H
#define CGNETD_ENFORCE_H

#include "apply.h"

/* SHA-256 of a class, as its record in the kernel has it. */
typedef __u8 class_sum[32];

/* What an earlier call put in force. */
struct in_force {
	const struct compiled *compiled; /* NULL where nothing is known */
	const class_sum *sums;		 /* of its classes */
};

/*
 * Makes what is enforced equal to request->compiled. Entries are changed in place where the change
 * is small and leaves the options alone, so that a class of millions of prefixes is touched where
 * it differs only; everything else goes by apply(). sums gets those of the new classes. Returns 0
 * or a negative errno with the reason; then each address is under the old policy or the new one,
 * and the next call writes all of it.
 */
int enforce(const struct instance *in, const struct in_force *now,
	    const struct apply_request *request, class_sum *sums, struct apply_result *result,
	    struct why *why);

#endif
