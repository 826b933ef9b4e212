// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "syslog.h"

#include <sys/socket.h>
#include <sys/un.h>

#include "util.h"

#define DEV_LOG "/dev/log"

/* Facility daemon (3), severity notice (5): RFC 3164. */
#define PRIORITY (3 << 3 | 5)

struct syslog_socket {
	int fd;
};

struct syslog_socket *syslog_open(void)
{
	struct syslog_socket *s = malloc(sizeof(*s));

	if (s)
		s->fd = -1;
	return s;
}

void syslog_close(struct syslog_socket *s)
{
	if (!s)
		return;
	cleanup_closep(&s->fd);
	free(s);
}

static bool try_to_send(struct syslog_socket *s, const char *text, size_t n)
{
	static const struct sockaddr_un addr = {.sun_family = AF_UNIX, .sun_path = DEV_LOG};

	if (s->fd < 0) {
		s->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (s->fd < 0 || connect(s->fd, (const struct sockaddr *)&addr, sizeof(addr)) < 0)
			return false;
	}
	return send(s->fd, text, n, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)n;
}

bool syslog_send(struct syslog_socket *s, const char *line)
{
	char text[2048];
	int n = snprintf(text, sizeof(text), "<%d>cgnetd[%d]: %s", PRIORITY, (int)getpid(), line);

	if (n >= (int)sizeof(text))
		n = sizeof(text) - 1;
	/* Syslog may have been started anew. */
	for (int i = 0; i < 2; i++) {
		if (try_to_send(s, text, n))
			return true;
		cleanup_closep(&s->fd);
		s->fd = -1;
	}
	return false;
}
