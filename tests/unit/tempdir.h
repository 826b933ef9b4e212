/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A directory of a test's own. */
#ifndef CGNET_TEST_TEMPDIR_H
#define CGNET_TEST_TEMPDIR_H

#include <limits.h>
#include <sys/types.h>

struct tempdir {
	char path[64];
};

/* Return 0 or -1. */
int tempdir_make(struct tempdir *dir);
int tempdir_write(const struct tempdir *dir, const char *name, const char *text, mode_t mode);

/* Writes the path of name in dir. Returns path. */
const char *tempdir_path(const struct tempdir *dir, const char *name, char path[PATH_MAX]);

/* Removes the directory with the files in it. */
void tempdir_remove(const struct tempdir *dir);

#endif
