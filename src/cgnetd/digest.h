/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tells whether a compiled class is the one in force. */
#ifndef CGNETD_DIGEST_H
#define CGNETD_DIGEST_H

#include "compile.h"

/* Writes the SHA-256 of all that is loaded for c. */
void class_digest(const struct compiled_class *c, __u8 out[32]);

#endif
