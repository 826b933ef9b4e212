/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tells when addresses or routes of the caller's network namespace change (rtnetlink). */
#ifndef CGNET_NETWATCH_H
#define CGNET_NETWATCH_H

#include "util.h"

/*
 * Returns a descriptor, non-blocking, that is readable when something changed; a negative errno
 * with the reason otherwise. Needs no privilege.
 */
int netwatch_open(struct why *why);

/*
 * Takes what is there to be read. Returns true if it may change what facts_read() reports; messages
 * that were lost count as such. Routes through a gateway, which a router has by the million, do
 * not.
 */
bool netwatch_read(int fd);

#endif
