/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What turns the policy in force of a class into another one of the same class, so that a changed
 * address of the host costs two entries and not a trie.
 *
 * The entries are in an order in which they can be written to a trie that programs read: first all
 * of put, the longest prefixes first, then all of drop, the shortest first. After each of them,
 * every address has the verdict of the old policy or that of the new one. (While the old prefixes
 * are all there, the longest prefix of an address is either new, and then nothing longer is to
 * come, or it is the one that the old policy had. While they go, the one that the old policy had is
 * the last of those that hold the address.)
 */
#ifndef CGNET_DIFF_H
#define CGNET_DIFF_H

#include "compile.h"

/* Keys are struct cgnet_key4 or cgnet_key6. */
struct trie_diff {
	char *put_keys, *drop_keys;
	struct cgnet_prefix *put_values;
	size_t nput, ndrop;
	size_t nadded; /* of put, those that replace nothing */
};

struct class_diff {
	struct trie_diff v4, v6;
	/* What the values refer to: the live table with the lists that it lacked behind it. */
	struct cgnet_port *ports;
	size_t nports, nlive; /* the same number if it lacked none */
	bool rules;	      /* the rule tables differ */
};

/* True if a diff can express the change: the options are the same. */
bool class_diff_can(const struct compiled_class *from, const struct compiled_class *to);

/*
 * Fills out, to be freed with class_diff_free(). live is the table of ports in the kernel, where
 * earlier diffs may have left lists that nothing refers to; those of from are in it. Returns 0 or
 * -ENOMEM.
 */
int class_diff(const struct compiled_class *from, const struct compiled_class *to,
	       const struct cgnet_port *live, size_t nlive, struct class_diff *out);

/* Number of entries to write or remove. */
static inline size_t class_diff_size(const struct class_diff *d)
{
	return d->v4.nput + d->v4.ndrop + d->v6.nput + d->v6.ndrop;
}

void class_diff_free(struct class_diff *d);

#endif
