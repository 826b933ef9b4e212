/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Addresses and routes of the caller's network namespace, asked for over rtnetlink. */
#ifndef CGNET_NETLINK_H
#define CGNET_NETLINK_H

#include "addr.h"
#include "facts.h"

/*
 * Adds all that the kernel tells to host, onlink and broadcast of out, unsorted. Returns 0, or a
 * negative errno with the reason; out may then hold some of it.
 */
int netlink_read(struct facts *out, struct why *why);

#endif
