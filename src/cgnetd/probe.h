/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What this kernel can do, found by trying; `load` and `doctor` ask the same probes. */
#ifndef CGNETD_PROBE_H
#define CGNETD_PROBE_H

#include <stdbool.h>

#include "cgnet_state.h"
#include "util.h"

/* True if sock_addr programs may choose the errno of a refused call (5.18). */
bool probe_set_retval(void);

/*
 * Whether the kernel takes a program for the hook. Returns 0, or a negative errno with the reason
 * and the version that brings it.
 */
int probe_hook(enum cgnet_hook hook, struct why *why);

/*
 * Whether all that a class asks for can be had. Returns 0, or -EOPNOTSUPP with the option's name.
 */
int probe_settings(const struct cgnet_settings *settings, struct why *why);

#endif
