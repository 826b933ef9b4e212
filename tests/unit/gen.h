/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Random policies, hosts and destinations from a seed. The addresses come from a small universe, so
 * that prefixes nest and collide and destinations hit them. Needs nothing but the C library and
 * src/lib: the live tests use it, too.
 */
#ifndef CGNET_TEST_GEN_H
#define CGNET_TEST_GEN_H

#include "explain.h"
#include "facts.h"

/* The class of every generated policy. */
#define GEN_CLASS "random"

struct gen {
	uint64_t state; /* start with the seed */
};

/* A number below n, which must not be 0. */
unsigned int gen_below(struct gen *g, unsigned int n);

/*
 * Text of a policy file with one class, each rule on a line of its own. Rules may contradict each
 * other, in which case the policy is refused. The caller frees it; NULL if out of memory.
 */
char *gen_policy(struct gen *g);

/* Fills out (empty before). Returns 0 or -ENOMEM. */
int gen_facts(struct gen *g, struct facts *out);

/* A destination as a session might name it; ports of ICMP are 0. */
void gen_dest(struct gen *g, struct dest *out);

#endif
