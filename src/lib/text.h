/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading a text file that somebody else may have put there. */
#ifndef CGNET_TEXT_H
#define CGNET_TEXT_H

#include "util.h"

struct text {
	char *bytes; /* size bytes and a NUL */
	size_t size;
};

/*
 * Reads the regular file at path, of at most max bytes; never waits for a FIFO or a device. flags
 * as policy_read(). Returns 0, or a negative errno with the reason; then out is unchanged.
 */
int text_read(const char *path, size_t max, unsigned int flags, struct text *out, struct why *why);

/*
 * Checks that the bytes are UTF-8 (RFC 3629) without control characters other than tab and newline.
 * Returns 0, or -EINVAL with the reason and the number of the bad line, from 1.
 */
int text_check(const char *bytes, size_t size, int *line, struct why *why);

void text_free(struct text *text);

#endif
