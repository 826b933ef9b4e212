// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "opts.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cgnet_state.h"
#include "util.h"

const char *argp_program_version = "cgnet-run " CGNET_VERSION;

enum {
	OPT_CLASS = 256,
	OPT_NAME,
	OPT_KEEP_FD,
	OPT_QUIET,
	OPT_BPFFS,
	OPT_CGROUP,
	OPT_RUN_DIR,
};

static const struct argp_option options[] = {
	{"class", OPT_CLASS, "CLASS", 0, "Run in this class (default: the policy's)", 0},
	{"name", OPT_NAME, "NAME", 0, "Name of the session (default: made up)", 0},
	{"keep-fd", OPT_KEEP_FD, "FD", 0, "Leave this descriptor open for CMD; may be repeated", 0},
	{"quiet", OPT_QUIET, NULL, 0, "Say nothing on the terminal when something is denied", 0},
	{"bpffs", OPT_BPFFS, "DIR", 0, "Pins of the instance (default " CGNET_DEFAULT_BPFFS ")", 1},
	{"cgroup", OPT_CGROUP, "PATH", 0,
	 "Cgroup of the instance, which has to be the one that is loaded", 1},
	{"run-dir", OPT_RUN_DIR, "DIR", 0,
	 "Run-time directory of the instance (default " CGNET_DEFAULT_RUN_DIR ")", 1},
	{0},
};

static const char doc[] =
	"Run CMD in a new session of a class of networks, as loaded by cgnetd."
	"\vExit status: CMD's; 128+N if signal N ended it; 126 if it cannot be executed, 127 if it "
	"is not found; 125 if it was not started because cgnet refuses.";

/* Prints the one line of a usage error. */
__attribute__((format(printf, 1, 2))) static error_t usage_error(const char *fmt, ...)
{
	va_list ap;

	fputs("cgnet-run: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return EINVAL;
}

/* Inserts fd in ascending order; a descriptor named twice is kept once. */
static error_t keep_fd(struct opts *o, const char *arg)
{
	char *end;
	long fd;
	size_t i;

	errno = 0;
	fd = strtol(arg, &end, 10);
	if (*arg < '0' || *arg > '9' || *end || errno || fd > INT_MAX)
		return usage_error("--keep-fd %s: not a descriptor's number", arg);
	if (fcntl((int)fd, F_GETFD) < 0)
		return usage_error("--keep-fd %s: not open", arg);

	for (i = 0; i < o->nkeep && o->keep[i] < fd; i++)
		;
	if (i < o->nkeep && o->keep[i] == fd)
		return 0;
	if (ARRAY_RESERVE(&o->keep, &o->keep_cap, o->nkeep) < 0)
		return usage_error("--keep-fd: out of memory");
	memmove(&o->keep[i + 1], &o->keep[i], (o->nkeep - i) * sizeof(*o->keep));
	o->keep[i] = (int)fd;
	o->nkeep++;
	return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct opts *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		/* Drops argp's "Try --help" line, which would be a second one. */
		state->err_stream = NULL;
		return 0;
	case OPT_CLASS:
		o->class = arg;
		return 0;
	case OPT_NAME:
		o->name = arg;
		return 0;
	case OPT_KEEP_FD:
		return keep_fd(o, arg);
	case OPT_QUIET:
		o->quiet = true;
		return 0;
	case OPT_BPFFS:
		o->bpffs = arg;
		return 0;
	case OPT_CGROUP:
		o->cgroup = arg;
		return 0;
	case OPT_RUN_DIR:
		o->run_dir = arg;
		return 0;
	case ARGP_KEY_ARG:
		/* The rest is CMD's. */
		o->cmd = &state->argv[state->next - 1];
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		return usage_error("no command given");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp parser = {
	.options = options,
	.parser = parse_option,
	.args_doc = "-- CMD ARG...",
	.doc = doc,
};

int opts_parse(struct opts *o, int argc, char **argv)
{
	struct opts parsed = {
		.bpffs = CGNET_DEFAULT_BPFFS,
		.run_dir = CGNET_DEFAULT_RUN_DIR,
	};

	/* getopt's messages start with it. */
	if (argc > 0)
		argv[0] = program_invocation_short_name;
	if (argp_parse(&parser, argc, argv, ARGP_IN_ORDER, NULL, &parsed)) {
		opts_free(&parsed);
		return -EINVAL;
	}
	*o = parsed;
	return 0;
}

void opts_free(struct opts *o)
{
	free(o->keep);
	o->keep = NULL;
	o->nkeep = o->keep_cap = 0;
}
