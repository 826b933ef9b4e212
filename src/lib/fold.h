/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside the compiler: folds what is inherited into each prefix. */
#ifndef CGNET_FOLD_H
#define CGNET_FOLD_H

#include "compile.h"
#include "expand.h"

/*
 * Fills the tries and the port entries of out from the pairs in x; out->fallback and
 * out->loopback are set already. What comes to light about the rules is noted in x->infos; if one
 * of them overflows, the result is not to be used. Returns 0 or -ENOMEM.
 */
int fold_class(struct expansion *x, struct compiled_class *out);

#endif
