/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the service's workers hand on to the next one: the policy as it was loaded, its lists, what
 * the host was, and what that came to. So a change of the host is told from the policy in force,
 * and not from a file that somebody edits at the moment.
 *
 * It lives in two memfds that take turns; one that a worker did not complete is not valid.
 */
#ifndef CGNETD_SNAPSHOT_H
#define CGNETD_SNAPSHOT_H

#include "enforce.h"
#include "facts.h"

struct snapshot {
	int fds[2];
};

#define SNAPSHOT_NONE ((struct snapshot){{-1, -1}})

/* Everything in it belongs to the snapshot once it was read; pointers lead into the memfd. */
struct saved {
	void *map;
	size_t size;
	__u64 number;

	const char *file; /* NULL if there is none */
	const char *text; /* of the file, with a NUL */
	size_t text_size;
	const char *root_class;
	struct prefixes *lists; /* what the file: members of each set hold, in the order of sets */
	size_t nlists;
	struct facts facts;
	struct compiled compiled;
	class_sum *sums;
};

/* Returns 0 or a negative errno with the reason. */
int snapshot_open(struct snapshot *s, struct why *why);
void snapshot_close(struct snapshot *s);

/*
 * Reads the newest that is whole; out->file is NULL if there is none. Returns 0 or a negative errno
 * with the reason. Free with saved_free().
 */
int snapshot_read(const struct snapshot *s, struct saved *out, struct why *why);

/* Writes what comes after the snapshot last. Returns 0 or a negative errno with the reason. */
int snapshot_write(const struct snapshot *s, const struct saved *last, const struct saved *next,
		   struct why *why);

/* Makes the snapshot as good as empty, and takes that back where last was read from it. */
void snapshot_hold(const struct snapshot *s);
void snapshot_release(const struct snapshot *s, const struct saved *last);

void saved_free(struct saved *saved);

#endif
