/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside policy.c: what a policy means as a whole, names above all. */
#ifndef CGNET_CHECK_H
#define CGNET_CHECK_H

#include "policy.h"

/*
 * Adds to d what is wrong with p: names that nothing has, sets that contain themselves, classes
 * that deny nothing, and, as warnings, what has no use. Leaves out the rules that name an unknown
 * set. default_line is that of default_class. Returns true if p can be compiled after that.
 */
bool policy_check(struct policy *p, int default_line, struct diags *d);

#endif
