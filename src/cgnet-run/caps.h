/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The capabilities of a root session. */
#ifndef CGNET_RUN_CAPS_H
#define CGNET_RUN_CAPS_H

#include <stdbool.h>

#include "util.h"

/* Whether the calling process has any capability. */
bool caps_any(void);

/*
 * Takes from the calling process, and from what it executes, the capabilities by which the policy
 * could be undone; what ordinary work of root needs stays. Returns 0 or -errno with a reason.
 */
int caps_drop(struct why *why);

#endif
