/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside sets.c: the contents of the sets that cgnet defines, as the registries state them. */
#ifndef CGNET_BUILTIN_H
#define CGNET_BUILTIN_H

#include <stdbool.h>

#include "facts.h"

struct builtin {
	const char *name;
	const char *const *blocks; /* prefixes, ended by NULL */
	const char *const *holes;  /* taken out of blocks again; NULL for none */
	/* What the host adds; NULL for a set that is the same everywhere. */
	const struct prefixes *(*live)(const struct facts *facts);
	bool in_local; /* part of @local, which itself has no blocks */
};

/* All of them, ended by an entry without a name. */
extern const struct builtin builtins[];

#endif
