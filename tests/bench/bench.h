/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Measures variants of one call against each other on a machine that does other things too.
 *
 * A slice is a millisecond or so of one variant, or one start of a program. A round has one slice
 * of every variant, in random order, so that whatever slows the machine down meets all of them. A
 * block has some rounds and yields the median of each variant. What is reported is made of
 * ratios within a block (ratio.h), never of times from different blocks.
 */
#ifndef CGNET_BENCH_H
#define CGNET_BENCH_H

#include <err.h>
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "util.h"

#define MAX_VARIANTS 8
#define MAX_BLOCKS   256
#define MAX_ROUNDS   64

/* Attempts at a slice without preemption, before the machine counts as too busy. */
#define MAX_ATTEMPTS 64

struct variant {
	const char *name;
	/*
	 * One slice: returns nanoseconds per call. Whatever seed chooses (sockets, destinations) is
	 * the same for every variant of a round. Ends the program on a wrong result.
	 */
	double (*slice)(void *arg, uint64_t seed);
	void *arg;
};

struct bench {
	const struct variant *variants;
	unsigned int n;
	unsigned int blocks, rounds;
	bool undisturbed; /* take a slice again if this thread lost its CPU meanwhile */
	/* Results: */
	double medians[MAX_BLOCKS][MAX_VARIANTS]; /* nanoseconds */
	unsigned int dropped;			  /* slices taken again */
	unsigned int tries;			  /* runs until the machine was quiet (ratio.h) */
};

static inline uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000U + (uint64_t)ts.tv_nsec;
}

/* xorshift64*: good enough for orders, addresses and the bootstrap. state is never 0. */
static inline uint64_t random_next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 2685821657736338717U;
}

static inline unsigned int random_below(uint64_t *state, unsigned int n)
{
	return (unsigned int)((random_next(state) >> 32) * n >> 32);
}

/* Stays on the CPU that this runs on; so does whatever is started. */
static inline void stay_on_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		err(1, "sched_setaffinity");
}

/* Stays on any other CPU that there is. */
static inline void leave_cpu(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int here = sched_getcpu();
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int cpu = 0; cpu < cpus; cpu++)
		if (cpu != here)
			CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		err(1, "sched_setaffinity: no other CPU");
}

static inline void *zalloc(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		err(1, "calloc");
	return p;
}

/* A number from the command line, 1 to max. */
static inline unsigned int number(const char *text, unsigned int max)
{
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(text, &end, 10);
	if (errno || *end || !n || n > max)
		errx(2, "%s: not a number from 1 to %u", text, max);
	return (unsigned int)n;
}

static inline int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The q-quantile, 0 to 1; sorts values. */
static inline double quantile(double *values, unsigned int n, double q)
{
	double at = q * (n - 1);
	unsigned int i = (unsigned int)at;

	qsort(values, n, sizeof(*values), compare_doubles);
	if (i + 1 >= n)
		return values[n - 1];
	return values[i] + (at - i) * (values[i + 1] - values[i]);
}

static inline void shuffle(unsigned int *order, unsigned int n, uint64_t *rng)
{
	for (unsigned int i = 0; i < n; i++)
		order[i] = i;
	for (unsigned int i = n; i > 1; i--) {
		unsigned int j = random_below(rng, i), last = order[i - 1];

		order[i - 1] = order[j];
		order[j] = last;
	}
}

static inline long preemptions(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nivcsw;
}

/* A slice in nanoseconds a call, taken again if it was disturbed. */
static inline double bench_slice(struct bench *b, const struct variant *v, uint64_t seed)
{
	for (unsigned int i = 0; i < MAX_ATTEMPTS; i++) {
		long before = preemptions();
		double ns = v->slice(v->arg, seed);

		if (!b->undisturbed || preemptions() == before)
			return ns;
		b->dropped++;
	}
	errx(1, "the machine is too busy: %d slices in a row were preempted", MAX_ATTEMPTS);
}

static inline void bench_round(struct bench *b, double *ns, uint64_t *rng)
{
	unsigned int order[MAX_VARIANTS];
	uint64_t seed = random_next(rng);

	shuffle(order, b->n, rng);
	for (unsigned int i = 0; i < b->n; i++)
		ns[order[i]] = bench_slice(b, &b->variants[order[i]], seed);
}

static inline void bench_block(struct bench *b, double medians[MAX_VARIANTS], uint64_t *rng)
{
	double column[MAX_VARIANTS][MAX_ROUNDS];

	for (unsigned int r = 0; r < b->rounds; r++) {
		double ns[MAX_VARIANTS];

		bench_round(b, ns, rng);
		for (unsigned int v = 0; v < b->n; v++)
			column[v][r] = ns[v];
	}
	for (unsigned int v = 0; v < b->n; v++)
		medians[v] = quantile(column[v], b->rounds, 0.5);
}

/* Fills the results; a block that warms up is thrown away. */
static inline void bench_run(struct bench *b)
{
	uint64_t rng = now_ns() | 1;

	bench_block(b, b->medians[0], &rng);
	b->dropped = 0;
	for (unsigned int i = 0; i < b->blocks; i++)
		bench_block(b, b->medians[i], &rng);
}

#endif
