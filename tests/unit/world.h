/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A policy compiled for a host, as the tests of compiler and explain need it. */
#ifndef CGNET_TEST_WORLD_H
#define CGNET_TEST_WORLD_H

#include "explain.h"

struct world {
	struct facts facts; /* filled by the test before world_build() */
	struct policy *policy;
	struct diags diags;
	struct compiled *compiled; /* NULL if diags holds an error */
};

/* Adds a prefix to one list of facts. */
void world_fact(struct prefixes *list, const char *prefix);

/* Parses and compiles text. Returns false if that gave an error. */
bool world_build(struct world *w, const char *text);

/*
 * Tables hold for both families: "$H:443/tcp" stands for a v4 or a v6 address, which a port may
 * follow; the names are in world.c. Returns text with them replaced, to be freed.
 */
char *world_twin(const char *text, bool v6);

/* Builds a class with these lines, which world_twin() replaces, as its body, from line 2 on. */
bool world_build_class(struct world *w, const char *body, bool v6);

/* Fills facts with the host, network and name server that $S, $D and $R stand for. */
void world_this_host(struct world *w);

/* What the first class says of dest ("10.0.0.1:443/tcp"); the rule's text is written to *rule. */
enum cgnet_verdict world_ask(const struct world *w, const char *dest, const char **rule);

/* The first message of a kind on a line that contains part; NULL if there is none. */
const struct diag *world_diag(const struct world *w, enum diag_kind kind, int line,
			      const char *part);

/* Number of messages of a kind. */
size_t world_count(const struct world *w, enum diag_kind kind);

/* The value of the trie entry for a prefix of the first class; NULL if there is none. */
const struct cgnet_prefix *world_entry(const struct world *w, const char *prefix);

void world_free(struct world *w);

#endif
