/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs a program and takes the time. */
#ifndef CGNET_BENCH_PROCESS_H
#define CGNET_BENCH_PROCESS_H

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include "bench.h"

/*
 * Runs words (NULL at the end; found through PATH) and returns the nanoseconds from before it was
 * started to after it had ended. Its standard output goes nowhere, since ours is the report. Ends
 * this program unless that one succeeds.
 */
static inline double process_time(char *const words[])
{
	posix_spawn_file_actions_t actions;
	uint64_t before, after;
	int status, e;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	before = now_ns();
	e = posix_spawnp(&pid, words[0], &actions, NULL, words, environ);
	if (e)
		errx(1, "%s: %s", words[0], strerror(e));
	if (waitpid(pid, &status, 0) < 0)
		err(1, "waitpid");
	after = now_ns();
	posix_spawn_file_actions_destroy(&actions);
	if (status)
		errx(1, "%s: wait status %#x", words[0], (unsigned int)status);
	return (double)(after - before);
}

#endif
