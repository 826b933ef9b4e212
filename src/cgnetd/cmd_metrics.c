// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>

#include "ask.h"
#include "cmd.h"
#include "message.h"
#include "metrics.h"

#define ANSWER_MS 30000

static int metrics_here(const struct options *opt, struct why *why)
{
	_cleanup_free_ char *text = NULL;
	size_t n;
	int err = metrics_text(&opt->instance, NULL, &text, &n, why);

	if (!err && (fwrite(text, 1, n, stdout) != n || fflush(stdout) == EOF))
		err = why_set(why, -EIO, "cannot write");
	return err ? err : EXIT_DONE;
}

int cmd_metrics(const struct options *opt)
{
	struct why why;
	_cleanup_close_ int fd = ask_connect(opt->instance.run_dir, &why);
	struct cgnet_msg request;
	int status = fd;

	message_start(&request, CGNET_MSG_METRICS, sizeof(request));
	if (ask_nobody(fd))
		status = metrics_here(opt, &why);
	else if (fd >= 0)
		status = ask(fd, &request, ANSWER_MS, stdout, stderr, &why);
	if (status >= 0)
		return status;
	fprintf(stderr, "cgnetd: metrics: %s\n", why.text);
	return EXIT_REFUSED;
}
