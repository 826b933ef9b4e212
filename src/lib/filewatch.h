/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tells when what a path leads to changes (inotify): written, replaced by rename, removed, come
 * back, and the same for each symbolic link and each directory on the way there.
 */
#ifndef CGNET_FILEWATCH_H
#define CGNET_FILEWATCH_H

#include "util.h"

struct filewatch_point {
	int wd;
	size_t path; /* index in paths */
	char *name;  /* of interest in that directory; "" for the file itself */
};

struct filewatch {
	int fd; /* readable when something happened; non-blocking */
	char **paths;
	size_t npaths, paths_cap;
	struct filewatch_point *points;
	size_t npoints, points_cap;
	int err; /* why not all that the paths lead to is watched; 0 if it is */
};

#define FILEWATCH_NONE ((struct filewatch){.fd = -1})

/* Returns 0 or a negative errno with the reason. */
int filewatch_open(struct filewatch *w, struct why *why);

/* Watches one more path, which is absolute, and has the next index. Returns 0 or a negative errno.
 */
int filewatch_add(struct filewatch *w, const char *path, struct why *why);

/* Stops watching all paths from index first on. */
void filewatch_truncate(struct filewatch *w, size_t first);

/*
 * Takes what is there to be read, and watches what the paths lead to now; so what the caller reads
 * afterwards is the newest, or there will be another event. Sets changed[i] for each path that may
 * have changed (and leaves it otherwise). Returns true if there is one.
 */
bool filewatch_read(struct filewatch *w, bool *changed);

void filewatch_close(struct filewatch *w);

#endif
