/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The command line of cgnet-run. */
#ifndef CGNET_RUN_OPTS_H
#define CGNET_RUN_OPTS_H

#include <stdbool.h>
#include <stddef.h>

/* Strings point into argv; what was not given is NULL, but for bpffs and run_dir. */
struct opts {
	const char *class;
	const char *name;
	const char *bpffs;
	const char *cgroup;
	const char *run_dir;
	bool quiet; /* no word of denials */
	int *keep;  /* open descriptors that CMD gets, ascending; freed by opts_free() */
	size_t nkeep, keep_cap;
	char **cmd; /* NULL-terminated, not empty */
};

/*
 * Fills o. Has to come before anything is opened: a --keep-fd has to be open already. --help and
 * --version print and exit 0. On an error one line was printed, and -EINVAL is returned.
 */
int opts_parse(struct opts *o, int argc, char **argv);

void opts_free(struct opts *o);

#endif
