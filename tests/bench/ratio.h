/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From blocks of measurements to the rows of the report, one JSON object a line.
 *
 * A ratio is the median of the ratios of the blocks; its interval holds 95 % of the medians of the
 * same number of blocks drawn with replacement. Of a measurement, two variants are the same thing:
 * if their ratio is not 1 or not sharp, the machine has taken part, and the other ratios say
 * nothing either. Then all of it is made again, whatever those others say.
 */
#ifndef CGNET_BENCH_RATIO_H
#define CGNET_BENCH_RATIO_H

#include <stdio.h>

#include "bench.h"

#define RESAMPLES 4000

/* How far the interval of the same thing twice may reach, to either side. */
#define MAX_ERROR 0.03
#define MAX_TRIES 3
#define RETRY_NS  100e9 /* no further try after this */

enum row_kind {
	ROW_CONTEXT, /* shown beside the others */
	ROW_TARGET,  /* held to a target */
	ROW_SAME,    /* the same thing twice: what is not 1 here is the machine's doing */
};

struct row {
	const char *name;
	enum row_kind kind;
	unsigned int over, floor; /* variants: what is measured, and what it is measured against */
	const unsigned int *base; /* a variant taken off both first, or NULL */
	double target;		  /* the ratio may be at most this, for ROW_TARGET */
};

struct ratio {
	double middle, low, high;
};

static inline double block_ratio(const struct row *row, const double *medians)
{
	double base = row->base ? medians[*row->base] : 0;

	return (medians[row->over] - base) / (medians[row->floor] - base);
}

static inline void bootstrap(const double *ratios, unsigned int n, double *low, double *high)
{
	double draw[MAX_BLOCKS] = {0}, centre[RESAMPLES] = {0};
	uint64_t rng = 88172645463325252U;

	for (unsigned int i = 0; i < RESAMPLES; i++) {
		for (unsigned int j = 0; j < n; j++)
			draw[j] = ratios[random_below(&rng, n)];
		centre[i] = quantile(draw, n, 0.5);
	}
	*low = quantile(centre, RESAMPLES, 0.025);
	*high = quantile(centre, RESAMPLES, 0.975);
}

static inline double median_ns(const struct bench *b, unsigned int variant)
{
	double values[MAX_BLOCKS] = {0};

	for (unsigned int i = 0; i < b->blocks; i++)
		values[i] = b->medians[i][variant];
	return quantile(values, b->blocks, 0.5);
}

static inline struct ratio ratio_of(const struct bench *b, const struct row *row)
{
	double ratios[MAX_BLOCKS] = {0};
	struct ratio r;

	for (unsigned int i = 0; i < b->blocks; i++)
		ratios[i] = block_ratio(row, b->medians[i]);
	bootstrap(ratios, b->blocks, &r.low, &r.high);
	r.middle = quantile(ratios, b->blocks, 0.5);
	return r;
}

static inline bool is_one(const struct ratio *r)
{
	return r->low <= 1 && r->high >= 1 && r->high - r->low <= 2 * MAX_ERROR;
}

/* Runs b until the ratio of the row, a ROW_SAME, is 1; gives up after some tries, or after long. */
static inline void bench_run_sound(struct bench *b, const struct row *same)
{
	uint64_t start = now_ns();
	struct ratio r;

	b->tries = 0;
	do {
		bench_run(b);
		b->tries++;
		r = ratio_of(b, same);
	} while (!is_one(&r) && b->tries < MAX_TRIES && (double)(now_ns() - start) < RETRY_NS);
}

static inline void print_ratio(const struct bench *b, const struct row *row)
{
	static const char *const kinds[] = {"context", "target", "same"};
	struct ratio r = ratio_of(b, row);

	printf("{\"row\":\"%s\",\"kind\":\"%s\",\"over\":\"%s\",\"floor\":\"%s\"", row->name,
	       kinds[row->kind], b->variants[row->over].name, b->variants[row->floor].name);
	printf(",\"ratio\":%.4f,\"low\":%.4f,\"high\":%.4f", r.middle, r.low, r.high);
	if (row->kind == ROW_TARGET)
		printf(",\"target\":%g,\"ok\":%s", row->target,
		       r.middle <= row->target ? "true" : "false");
	if (row->kind == ROW_SAME)
		printf(",\"ok\":%s", is_one(&r) ? "true" : "false");
	if (row->base)
		printf(",\"base\":\"%s\",\"base_ns\":%.1f", b->variants[*row->base].name,
		       median_ns(b, *row->base));
	printf(",\"over_ns\":%.1f,\"floor_ns\":%.1f", median_ns(b, row->over),
	       median_ns(b, row->floor));
	printf(",\"blocks\":%u,\"rounds\":%u,\"dropped\":%u,\"tries\":%u}\n", b->blocks, b->rounds,
	       b->dropped, b->tries);
}

/* A time of which 99 in 100 have to stay below a target, beside the same quantiles of a floor. */
static inline void print_time(const char *name, const char *over_name, const char *floor_name,
			      double *over, double *floor, unsigned int n, double target_ns)
{
	double p99 = quantile(over, n, 0.99);

	printf("{\"row\":\"%s\",\"kind\":\"time\",\"over\":\"%s\",\"floor\":\"%s\",\"samples\":%u",
	       name, over_name, floor_name, n);
	printf(",\"over_ns\":%.0f,\"over_p99_ns\":%.0f,\"over_max_ns\":%.0f",
	       quantile(over, n, 0.5), p99, quantile(over, n, 1));
	printf(",\"floor_ns\":%.0f,\"floor_p99_ns\":%.0f,\"floor_max_ns\":%.0f",
	       quantile(floor, n, 0.5), quantile(floor, n, 0.99), quantile(floor, n, 1));
	printf(",\"target_ns\":%.0f,\"ok\":%s}\n", target_ns, p99 < target_ns ? "true" : "false");
}

#endif
