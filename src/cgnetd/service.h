/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The service of an instance, as its commands see it. */
#ifndef CGNETD_SERVICE_H
#define CGNETD_SERVICE_H

#include "instance.h"

/*
 * Connects to the service of the instance. Returns a descriptor for ask() of ask.h, or a negative
 * errno with the reason: -ENOENT if none runs, or only another instance's in the same run
 * directory.
 */
int service_connect(const struct instance *in, struct why *why);

#endif
