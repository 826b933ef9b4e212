/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The name servers of a resolv.conf(5). */
#ifndef CGNET_RESOLV_H
#define CGNET_RESOLV_H

#include "addr.h"

/*
 * Adds the address of each nameserver line of the NUL-terminated text to out, without its zone;
 * 127.0.0.1 if there is none, as the C library does. Lines that the C library would skip are
 * skipped. Returns 0 or -ENOMEM.
 */
int resolv_parse(const char *text, struct prefixes *out);

/* The same from the file at path. Returns 0, -ENOENT if there is none, or another errno, and why.
 */
int resolv_read(const char *path, struct prefixes *out, struct why *why);

#endif
