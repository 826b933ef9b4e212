/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Cleanup attributes, the reason of a failure, and a few checked allocations. */
#ifndef CGNET_UTIL_H
#define CGNET_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Why something failed, in words for the one line that the program prints. */
struct why {
	char text[512];
};

/*
 * Writes the reason (printf style, no newline) and returns err, a negative errno. why may be NULL.
 */
int why_set(struct why *why, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Owners that clean up at the end of their scope; start them as NULL or -1. */
static inline void cleanup_freep(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_fclosep(FILE **f)
{
	if (*f)
		fclose(*f);
}

#define _cleanup_free_	 __attribute__((cleanup(cleanup_freep)))
#define _cleanup_close_	 __attribute__((cleanup(cleanup_closep)))
#define _cleanup_fclose_ __attribute__((cleanup(cleanup_fclosep)))

/* Hands an owner's content to the caller and disarms its cleanup. */
static inline int take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

static inline void *take_ptr_(void **p)
{
	void *taken = *p;

	*p = NULL;
	return taken;
}
#define take_ptr(p) ((__typeof__(*(p)))take_ptr_((void **)(p)))

/*
 * Makes room for one more element of size bytes in *items (of *cap elements, *n used).
 * Returns 0 or -ENOMEM, then nothing has changed.
 */
int array_reserve(void **items, size_t *cap, size_t n, size_t size);
#define ARRAY_RESERVE(items, cap, n) array_reserve((void **)(items), (cap), (n), sizeof(**(items)))

#endif
