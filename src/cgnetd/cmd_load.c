// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "ask.h"
#include "cmd.h"
#include "load.h"
#include "message.h"
#include "service.h"

/* How long the service may take for it. */
#define ANSWER_MS (15 * 60 * 1000)

/* Without a service: reads, compiles and applies here. */
static int load_here(const struct options *opt, const char *file)
{
	struct why why = {.text = "out of memory"};
	struct load_result result = {};
	struct diags d = {};
	const struct load_request request = {.file = file, .force = opt->force};
	int err = load_policy(&opt->instance, &request, &d, &result, &why);

	if (!err)
		load_report(stdout, file, &result);
	diags_print(&d, stderr);
	/* What is wrong with the file has been said by now. */
	if (err && !d.errors)
		fprintf(stderr, "cgnetd: load %s: %s\n", file, why.text);
	diags_free(&d);
	load_result_free(&result);
	return err ? EXIT_REFUSED : EXIT_DONE;
}

/* Has the service do it, whose policy it is from then on. */
static int load_there(int fd, const struct options *opt, const char *file, struct why *why)
{
	_cleanup_free_ char *path = realpath(file, NULL);
	_cleanup_free_ struct cgnet_load *request = NULL;
	size_t size = sizeof(*request) + (path ? strlen(path) : 0) + 1;

	if (!path)
		return why_set(why, -errno, "%s", strerror(errno));
	if (size > CGNET_REQUEST_MAX)
		return why_set(why, -ENAMETOOLONG, "path too long");
	request = calloc(1, size);
	if (!request)
		return why_set(why, -ENOMEM, "out of memory");
	message_start(&request->msg, CGNET_MSG_LOAD, size);
	request->force = opt->force;
	strcpy(request->file, path);
	return ask(fd, &request->msg, ANSWER_MS, stdout, stderr, why);
}

int cmd_load(const struct options *opt, const char *file)
{
	_cleanup_close_ int fd = -1;
	struct why why;
	int status;

	if (geteuid() != 0) {
		fprintf(stderr, "cgnetd: load: must be run as root\n");
		return EXIT_REFUSED;
	}
	fd = service_connect(&opt->instance, &why);
	if (fd == -ENOENT)
		return load_here(opt, file);
	status = fd < 0 ? fd : load_there(fd, opt, file, &why);
	if (status >= 0)
		return status;
	fprintf(stderr, "cgnetd: load %s: %s\n", file, why.text);
	return EXIT_REFUSED;
}
