// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What stands outside of the class: servers, helpers that do for others what these ask, and a watch
 * that counts packets. Each says "ready" once it can be used.
 */
#include "outside.h"

#include <err.h>
#include <signal.h>
#include <sys/prctl.h>

static const struct {
	const char *name;
	int (*run)(char **args);
} roles[] = {
	{"serve", role_serve}, {"deputy", role_deputy}, {"unix", role_unix},
	{"watch", role_watch}, {"fds", role_fds},	{"stdin", role_stdin},
	{"link", role_link},   {"hold", role_hold},	{"terminal", role_terminal},
};

void ready(void)
{
	puts("ready");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (argc > 1 && !strcmp(argv[1], roles[i].name))
			return roles[i].run(argv + 2);
	errx(2, "usage: outside serve|deputy|unix|watch|hold|terminal|fds|stdin|link WORD...");
}
