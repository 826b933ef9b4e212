// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <sys/syscall.h>

#include "cmd.h"
#include "serve.h"

int cmd_serve(const struct options *opt, const char *file)
{
	if (geteuid() != 0) {
		fprintf(stderr, "cgnetd: serve: must be run as root\n");
		return EXIT_REFUSED;
	}
	/* It stays; what its caller had open by chance need not. */
	syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0);
	return serve_run(opt, file);
}
