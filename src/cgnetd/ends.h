/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The end of sessions: their cgroups are removed when the last process is gone. */
#ifndef CGNETD_ENDS_H
#define CGNETD_ENDS_H

#include "util.h"

struct event_base;
struct ends;

/* NULL with the reason on failure. */
struct ends *ends_new(struct event_base *base, struct why *why);
void ends_free(struct ends *e);

/*
 * Watches the session whose cgroup is at dir; it has a process, or had one. Returns 0 or a negative
 * errno.
 */
int ends_watch(struct ends *e, const char *dir);

/* Watches all sessions of the class whose cgroup is at dir, and removes those that are over. */
void ends_adopt(struct ends *e, const char *dir);

#endif
