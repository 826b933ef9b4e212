// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "ask.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

static int no_service(int err, const char *path, struct why *why)
{
	if (ask_nobody(err))
		return why_set(why, err, "no service runs (no answer at %s)", path);
	return why_set(why, err, "%s: %s", path, strerror(-err));
}

bool ask_nobody(int err)
{
	return err == -ENOENT || err == -ECONNREFUSED || err == -ENOTDIR;
}

int ask_connect(const char *run_dir, struct why *why)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	_cleanup_close_ int fd = -1;

	if (snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/" CGNET_CONTROL_SOCKET, run_dir) >=
	    (int)sizeof(addr.sun_path))
		return why_set(why, -ENAMETOOLONG, "--run-dir %s: path too long", run_dir);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return why_set(why, -errno, "socket: %s", strerror(errno));
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		return no_service(-errno, addr.sun_path, why);
	return take_fd(&fd);
}

int ask_send(int fd, const struct cgnet_msg *msg, struct why *why)
{
	ssize_t n;

	do
		n = send(fd, msg, msg->length, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	/* The service may have said why it closed the connection: that is still there to be read.
	 */
	if (n < 0 && errno != EPIPE)
		return why_set(why, -errno, "cannot ask the service: %s", strerror(errno));
	return 0;
}

static int wait_readable(int fd, int timeout_ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int n;

	do
		n = poll(&p, 1, timeout_ms);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n ? 0 : -ETIMEDOUT;
}

int ask_receive(int fd, void *packet, size_t size, int timeout_ms, struct why *why)
{
	const struct cgnet_msg *msg = packet;
	int err = wait_readable(fd, timeout_ms);
	ssize_t n;

	if (err)
		return why_set(why, err, "no answer from the service: %s", strerror(-err));
	do
		n = recv(fd, packet, size, 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return why_set(why, -errno, "no answer from the service: %s", strerror(errno));
	if (!n)
		return why_set(why, -ECONNRESET, "the service closed the connection");
	if ((size_t)n < sizeof(*msg) || msg->magic != CGNET_CONTROL_MAGIC ||
	    msg->version != CGNET_CONTROL_VERSION || msg->length != n)
		return why_set(why, -EPROTO, "the service is of another version");
	return (int)n;
}

/* Copies packets until the last one. Returns its status or a negative errno with the reason. */
static int copy_reply(int fd, struct cgnet_reply *reply, int timeout_ms, FILE *out, FILE *err,
		      struct why *why)
{
	for (;;) {
		int n = ask_receive(fd, reply, CGNET_REPLY_MAX, timeout_ms, why);
		FILE *to;

		if (n < 0)
			return n;
		if ((size_t)n < sizeof(*reply) || reply->msg.type != CGNET_MSG_REPLY)
			return why_set(why, -EPROTO, "the service is of another version");
		to = reply->flags & CGNET_REPLY_ERROR ? err : out;
		fwrite(reply->text, 1, (size_t)n - sizeof(*reply), to);
		if (fflush(to))
			return why_set(why, -errno, "cannot write: %s", strerror(errno));
		if (!(reply->flags & CGNET_REPLY_MORE))
			return reply->status < 0 ? 1 : reply->status;
	}
}

int ask(int fd, const struct cgnet_msg *msg, int timeout_ms, FILE *out, FILE *err, struct why *why)
{
	_cleanup_free_ struct cgnet_reply *reply = calloc(1, CGNET_REPLY_MAX);
	int ret;

	if (!reply)
		return why_set(why, -ENOMEM, "out of memory");
	ret = ask_send(fd, msg, why);
	return ret ? ret : copy_reply(fd, reply, timeout_ms, out, err, why);
}
