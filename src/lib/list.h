/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists of prefixes in files of their own, one a line. */
#ifndef CGNET_LIST_H
#define CGNET_LIST_H

#include "addr.h"
#include "diag.h"

/*
 * Parses the NUL-terminated text of the list called name, which is cut into lines here, and appends
 * its prefixes to out. A line holds one prefix, or nothing, and may end in a comment (#). Adds an
 * error to d for each bad line, up to a limit. Returns 0 or -ENOMEM.
 */
int list_parse(const char *name, char *text, size_t size, struct prefixes *out, struct diags *d);

#endif
