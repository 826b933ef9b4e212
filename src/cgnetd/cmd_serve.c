// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cmd.h"
#include "serve.h"

int cmd_serve(const struct options *opt, const char *file)
{
	if (geteuid() != 0) {
		fprintf(stderr, "cgnetd: serve: must be run as root\n");
		return EXIT_REFUSED;
	}
	return serve_run(opt, file);
}
