// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * spawn [-1] [-b BLOCKS] [-r ROUNDS] [-g MILLISECONDS] [-w NAME] WORD... = WORD... = WORD...
 *
 * Starts `true`, and the same behind each of three commands: one that does nothing (env),
 * cgnet-run, and bwrap; waits for each and takes the time from before posix_spawn() to after
 * waitpid(). -g leaves the machine alone before each start, since what waits for the kernel's grace
 * periods is cheap back to back and dear after a pause.
 */
#include "process.h"
#include "ratio.h"

#define MAX_WORDS 32

#define ENV_TARGET   1.2
#define BWRAP_TARGET 0.45

enum starter { TRUE, TRUE_AGAIN, ENV, RUN, BWRAP, STARTERS };

static const char *const names[STARTERS] = {
	[TRUE] = "true",	  [TRUE_AGAIN] = "true, again", [ENV] = "env true",
	[RUN] = "cgnet-run true", [BWRAP] = "bwrap true",
};

static struct timespec gap;
static char command[] = "true";

static double start(void *arg, uint64_t seed)
{
	(void)seed;
	nanosleep(&gap, NULL);
	return process_time(arg);
}

/* Copies words up to "=" or the end, and appends "true". Returns what follows. */
static char **take_words(char **words, char *out[MAX_WORDS])
{
	unsigned int n = 0;

	while (*words && strcmp(*words, "=") != 0) {
		if (n == MAX_WORDS - 2)
			errx(2, "%s: too many words", *words);
		out[n++] = *words++;
	}
	out[n++] = command;
	out[n] = NULL;
	return *words ? words + 1 : words;
}

static void measure(struct bench *b, const char *what)
{
	static const unsigned int base = TRUE;
	const struct row same = {what, ROW_SAME, TRUE_AGAIN, TRUE, NULL, 0};
	const struct row rows[] = {
		{what, ROW_TARGET, RUN, ENV, NULL, ENV_TARGET},
		{what, ROW_TARGET, RUN, BWRAP, &base, BWRAP_TARGET},
		{what, ROW_CONTEXT, BWRAP, ENV, NULL, 0},
		same,
	};

	bench_run_sound(b, &same);
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++)
		print_ratio(b, &rows[i]);
}

int main(int argc, char **argv)
{
	struct bench b = {.n = STARTERS, .blocks = 40, .rounds = 15};
	struct variant variants[STARTERS];
	char *words[STARTERS][MAX_WORDS] = {{command}, {command}};
	const char *what = "start";
	char **rest;
	int option;

	while ((option = getopt(argc, argv, "+1b:r:g:w:")) != -1) {
		switch (option) {
		case '1':
			stay_on_cpu();
			break;
		case 'b':
			b.blocks = number(optarg, MAX_BLOCKS);
			break;
		case 'r':
			b.rounds = number(optarg, MAX_ROUNDS);
			break;
		case 'g':
			gap.tv_nsec = number(optarg, 999) * 1000000L;
			break;
		case 'w':
			what = optarg;
			break;
		default:
			return 2;
		}
	}
	rest = argv + optind;
	for (unsigned int i = ENV; i < STARTERS; i++)
		rest = take_words(rest, words[i]);
	for (unsigned int i = 0; i < STARTERS; i++)
		variants[i] = (struct variant){names[i], start, words[i]};
	b.variants = variants;
	measure(&b, what);
	return 0;
}
