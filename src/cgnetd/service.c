// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "service.h"

#include <errno.h>

#include "ask.h"
#include "message.h"

#define ANSWER_MS 15000

int service_connect(const struct instance *in, struct why *why)
{
	_cleanup_close_ int fd = ask_connect(in->run_dir, why);
	struct cgnet_instance request = {};
	int status;

	if (fd < 0)
		return ask_nobody(fd) ? -ENOENT : fd;
	message_start(&request.msg, CGNET_MSG_INSTANCE, sizeof(request));
	if (snprintf(request.bpffs, sizeof(request.bpffs), "%s", in->bpffs) >=
	    (int)sizeof(request.bpffs))
		return why_set(why, -ENAMETOOLONG, "%s: path too long", in->bpffs);
	status = ask(fd, &request.msg, ANSWER_MS, stdout, stderr, why);
	if (status < 0)
		return status;
	if (status)
		return why_set(why, -ENOENT, "the service in %s is not that of %s", in->run_dir,
			       in->bpffs);
	return take_fd(&fd);
}
