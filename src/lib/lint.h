/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside the compiler: what is to be said about the rules of a class. */
#ifndef CGNET_LINT_H
#define CGNET_LINT_H

#include "diag.h"
#include "expand.h"

/*
 * Adds an error for each two rules that contradict each other, once however many prefixes they
 * share. Returns 0 or -ENOMEM.
 */
int lint_contradictions(struct expansion *x, struct diags *d);

/*
 * Adds what fold_class() noted of the rules of c: overflows as errors, useless and too broad rules
 * as warnings.
 */
void lint_rules(const struct expansion *x, const struct class *c, struct diags *d);

#endif
