/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The way of an ordinary user into a class: the service moves the calling process. */
#ifndef CGNET_RUN_SERVICE_H
#define CGNET_RUN_SERVICE_H

#include "opts.h"
#include "util.h"

/*
 * Asks the service for a session as o wants it and verifies that the calling process lives in it
 * now. Says on stderr what the service warns of. Returns 0 or -errno with a reason; the process may
 * be in a session then, and must not execute CMD.
 */
int service_enter(const struct opts *o, struct why *why);

/*
 * Asks the service to tell what is first denied in the caller's session. Returns a descriptor to
 * read the answer from, or -errno.
 */
int service_ask_first(const struct opts *o, const char *class_name, const char *session);

#endif
