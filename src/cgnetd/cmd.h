/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The subcommands. Each prints its own errors, one line each, and returns the exit status. */
#ifndef CGNETD_CMD_H
#define CGNETD_CMD_H

#include "instance.h"

enum exit_status {
	EXIT_DONE = 0,
	EXIT_REFUSED = 1, /* or denied */
	EXIT_USAGE = 2,
};

struct options {
	struct instance instance;
	bool json, force;
	const char *policy;	  /* --policy FILE */
	const char *class_name;	  /* --class C */
	const char *duration;	  /* --for TIME */
	const char *log_events;	  /* --log-events stderr|syslog */
	const char *metrics_file; /* --metrics-file FILE */
	unsigned long count;	  /* --count N, 0 for no end */
	bool keep;		  /* --keep */
};

int cmd_check(int nfiles, char **files);
int cmd_load(const struct options *opt, const char *file);
int cmd_unload(const struct options *opt);
int cmd_status(const struct options *opt);
int cmd_sessions(const struct options *opt);
int cmd_kill(const struct options *opt, char *session); /* changes it */
int cmd_explain(const struct options *opt, const char *class_name, const char *dest);
int cmd_events(const struct options *opt);
int cmd_learn(const struct options *opt);
int cmd_metrics(const struct options *opt);
int cmd_allow(const struct options *opt, const char *rule);
int cmd_deny(const struct options *opt, const char *rule);
int cmd_rules(const struct options *opt);
int cmd_forget(const struct options *opt, const char *number);
int cmd_serve(const struct options *opt, const char *file);
int cmd_doctor(const struct options *opt);

#endif
