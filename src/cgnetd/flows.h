/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* TCP connections that a new policy denies. Their packets are dropped already; this ends the wait.
 */
#ifndef CGNETD_FLOWS_H
#define CGNETD_FLOWS_H

#include "compile.h"

/*
 * Resets the connections of the class whose cgroup is at dir that the policy denies: what a session
 * connected, in this network namespace; not what it accepted, whose replies may pass. Best effort:
 * needs CONFIG_INET_DIAG_DESTROY and Linux 5.8, which tells a socket's cgroup. Returns how many.
 */
size_t flows_reset(const struct compiled_class *c, const char *dir);

#endif
