// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * load [-n RUNS] -c CLASSES -p DIR CGNETD FIRST SECOND OPTION...
 *
 * Takes the time of `CGNETD load` of a policy of so many classes where nothing is loaded, and of
 * another policy in its place. The floor is what the kernel alone needs for the same number of
 * cgroups, made below DIR, with an empty program on each hook of a class.
 */
#include "cgnet_state.h"
#include "lab.h"
#include "process.h"
#include "ratio.h"

#define TARGET_NS 2e9

static const char floor_name[] = "cgroups with empty programs";

/* What every class has; the others are for classes that ask for them. */
static const enum cgnet_hook hooks[] = {
	CGNET_HOOK_CONNECT4, CGNET_HOOK_CONNECT6,   CGNET_HOOK_SENDMSG4,
	CGNET_HOOK_SENDMSG6, CGNET_HOOK_SETSOCKOPT, CGNET_HOOK_CREATE,
	CGNET_HOOK_EGRESS,   CGNET_HOOK_SYSCTL,	    CGNET_HOOK_DEVICE,
};

#define HOOKS ARRAY_SIZE(hooks)

#define MAX_CLASSES 1000
#define MAX_RUNS    100
#define MAX_WORDS   16

struct commands {
	char *first[MAX_WORDS];
	char *second[MAX_WORDS];
	char *unload[MAX_WORDS];
};

struct times {
	double first[MAX_RUNS], second[MAX_RUNS], floor[MAX_RUNS];
};

/* CGNETD COMMAND [FILE] OPTION... */
static void make_command(char *words[MAX_WORDS], char *cgnetd, char *command, char *file,
			 char **options)
{
	unsigned int n = 0;

	words[n++] = cgnetd;
	words[n++] = command;
	if (file)
		words[n++] = file;
	while (*options) {
		if (n == MAX_WORDS - 1)
			errx(2, "%s: too many options", *options);
		words[n++] = *options++;
	}
	words[n] = NULL;
}

static double floor_time(unsigned int classes, const char *parent)
{
	static int links[MAX_CLASSES][HOOKS];
	static char *dirs[MAX_CLASSES];
	uint64_t before = now_ns(), after;

	for (unsigned int c = 0; c < classes; c++) {
		char name[16];

		snprintf(name, sizeof(name), "%u", c);
		dirs[c] = cgroup_child(parent, name);
		for (unsigned int h = 0; h < HOOKS; h++)
			links[c][h] = empty_attach(dirs[c], cgnet_hooks[hooks[h]].type, 1);
	}
	after = now_ns();
	for (unsigned int c = 0; c < classes; c++) {
		for (unsigned int h = 0; h < HOOKS; h++)
			close(links[c][h]);
		rmdir(dirs[c]);
		free(dirs[c]);
	}
	return (double)(after - before);
}

static void measure(const struct commands *c, struct times *t, unsigned int runs,
		    unsigned int classes, const char *parent)
{
	for (unsigned int i = 0; i < runs; i++) {
		t->floor[i] = floor_time(classes, parent);
		t->first[i] = process_time(c->first);
		t->second[i] = process_time(c->second);
		process_time(c->unload);
	}
}

static void report(struct times *t, unsigned int runs, unsigned int classes)
{
	char what[64];

	snprintf(what, sizeof(what), "load, %u classes", classes);
	print_time(what, "cgnetd load, the first", floor_name, t->first, t->floor, runs, TARGET_NS);
	print_time(what, "cgnetd load, all changed", floor_name, t->second, t->floor, runs,
		   TARGET_NS);
}

int main(int argc, char **argv)
{
	static char load[] = "load", unload[] = "unload";
	unsigned int runs = 10, classes = 0;
	const char *parent = NULL;
	struct commands c;
	struct times t;
	int option;

	while ((option = getopt(argc, argv, "+n:c:p:")) != -1) {
		switch (option) {
		case 'n':
			runs = number(optarg, MAX_RUNS);
			break;
		case 'c':
			classes = number(optarg, MAX_CLASSES);
			break;
		case 'p':
			parent = optarg;
			break;
		default:
			return 2;
		}
	}
	if (!parent || !classes || argc - optind < 3)
		errx(2, "-c, -p, CGNETD, FIRST and SECOND are needed");
	argv += optind;
	make_command(c.first, argv[0], load, argv[1], argv + 3);
	make_command(c.second, argv[0], load, argv[2], argv + 3);
	make_command(c.unload, argv[0], unload, NULL, argv + 3);
	measure(&c, &t, runs, classes, parent);
	report(&t, runs, classes);
	return 0;
}
