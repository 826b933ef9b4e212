/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A reference matcher: decides straight from a policy by looking at every prefix of every rule. It
 * shares no code with the compiler, with `explain`, or with the programs.
 */
#ifndef CGNET_TEST_REFERENCE_H
#define CGNET_TEST_REFERENCE_H

#include "explain.h"
#include "facts.h"
#include "policy.h"

struct reference;

/* Free with reference_free(). NULL if out of memory. policy and c must outlive it. */
struct reference *reference_new(const struct policy *policy, const struct class *c,
				const struct facts *facts);
void reference_free(struct reference *r);

/*
 * What has to become of dest, and by which rule; out->prefix is the longest that holds dest. Looks
 * at rules, default and loopback, not at protocols.
 */
void reference_decide(const struct reference *r, const struct dest *dest, struct explanation *out);

/* True if two rules that come from no dynamic set contradict each other. */
bool reference_contradicts(const struct reference *r);

#endif
