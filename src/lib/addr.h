/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Addresses and prefixes of both families in one form; bytes in network byte order. */
#ifndef CGNET_ADDR_H
#define CGNET_ADDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util.h"

/* Room for "[v6 address]/128" and its NUL. */
#define PREFIX_STR_SIZE 64

struct prefix {
	uint8_t family;	   /* AF_INET or AF_INET6 */
	uint8_t len;	   /* bits */
	uint8_t bytes[16]; /* v4 in the first four; bits past len are zero */
};

struct prefixes {
	struct prefix *items;
	size_t n, cap;
};

/* Width of a family's addresses: 32 or 128. */
static inline unsigned int prefix_width(const struct prefix *p)
{
	return p->family == 2 /* AF_INET */ ? 32 : 128;
}

/*
 * Parses "10.0.0.0/8", "10.0.0.1", "fd00::/8" (strict: no octal, no short forms, no zone, no
 * brackets). Mapped v4 (::ffff:a.b.c.d, /96 and longer) becomes the v4 it carries. Returns 0, or
 * -EINVAL with the reason in why; host bits are an error that names the prefix meant.
 */
int prefix_parse(const char *text, struct prefix *out, struct why *why);

/* Writes the prefix, without "/32" or "/128" for a whole address. Returns buf. */
char *prefix_format(const struct prefix *p, char buf[PREFIX_STR_SIZE]);

/* Clears the bits past p->len. Returns true if there were any. */
bool prefix_mask(struct prefix *p);

/* True if outer covers inner (same family, at most as long, same leading bits). */
bool prefix_contains(const struct prefix *outer, const struct prefix *inner);

/* Order: family, address, length; so an enclosing prefix stands before what it encloses. */
int prefix_compare(const struct prefix *a, const struct prefix *b);

/* Appends p. Returns 0 or -ENOMEM. */
int prefixes_add(struct prefixes *list, const struct prefix *p);

/* Sorts and removes duplicates. */
void prefixes_sort(struct prefixes *list);

/*
 * Removes hole from every member of list by splitting the members that contain it.
 * Returns 0 or -ENOMEM.
 */
int prefixes_subtract(struct prefixes *list, const struct prefix *hole);

void prefixes_free(struct prefixes *list);

#endif
