/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* clone3(2) into a cgroup. */
#ifndef CGNET_RUN_CLONE_H
#define CGNET_RUN_CLONE_H

#include <sys/types.h>

/*
 * Starts a child in the cgroup, which runs child(arg), and returns its pid when the child has
 * executed a program or is gone, or -errno. Where the architecture is known the child shares the
 * parent's memory and stack, as with vfork(2): nothing is copied. It may change only what the
 * parent does not look at any more, and has to end with _exit() or exec, never to return.
 */
pid_t clone_into_cgroup(int cgroup_fd, void (*child)(void *arg), void *arg);

#endif
