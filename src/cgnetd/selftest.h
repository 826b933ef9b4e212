/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Proves that a class is enforced: a child in it tries what no policy allows, on every hook. */
#ifndef CGNETD_SELFTEST_H
#define CGNETD_SELFTEST_H

#include "live_class.h"

/*
 * The child runs in a cgroup of its own below the class's, and in a network namespace of its own
 * without a device, so that nothing leaves the host whatever the programs do. Every attempt has to
 * fail with EPERM and to be counted by the class's own programs, but for protocols that the class's
 * settings do not allow a socket of: those end at socket(), and egress goes untried without ICMP.
 * Returns 0, -EACCES if an attempt got through, or another negative errno, with the reason.
 */
int selftest(const struct live_class *lc, const char *cgroup, const struct cgnet_settings *settings,
	     struct why *why);

#endif
