// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "hint.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "bpf.h"
#include "event.h"
#include "service.h"

/* What the service has to say about a session that ends is on its way for so long at most. */
#define LAST_MS 20

/* Waits until there is something to read, or room to write. */
static bool is_ready(int fd, short events, int timeout_ms)
{
	struct pollfd p = {fd, events, 0};

	return poll(&p, 1, timeout_ms) > 0;
}

/* Splits ".../CLASS/SESSION". */
static bool find_names(const char *cgroup, char class_name[CGNET_NAME_SIZE],
		       char session[CGNET_SESSION_SIZE])
{
	const char *last = strrchr(cgroup, '/'), *p = last;

	while (p && p > cgroup && p[-1] != '/')
		p--;
	return p &&
	       snprintf(class_name, CGNET_NAME_SIZE, "%.*s", (int)(last - p), p) <
		       CGNET_NAME_SIZE &&
	       snprintf(session, CGNET_SESSION_SIZE, "%s", last + 1) < CGNET_SESSION_SIZE;
}

static int open_map(struct hint *h, const struct session *s)
{
	char path[PATH_MAX];
	struct stat st;

	if (stat(s->dir, &st) < 0)
		return -errno;
	h->session = st.st_ino;
	if (snprintf(path, sizeof(path), "%s/" CGNET_PIN_FIRST, h->bpffs) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	return bpf_open_pin(path, sizeof(h->session), sizeof(struct cgnet_event));
}

void hint_open(struct hint *h, const struct opts *o, const struct session *s, bool root)
{
	char session[CGNET_SESSION_SIZE];

	*h = (struct hint)HINT_NONE;
	if (o->quiet || !isatty(STDERR_FILENO) || !find_names(s->cgroup, h->class_name, session))
		return;
	h->root = root;
	h->bpffs = o->bpffs;
	h->source = root ? open_map(h, s) : service_ask_first(o, h->class_name, session);
	if (h->source >= 0)
		h->tty = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

/* The rule is known as long as the policy is in force by which it denied. */
static void read_rule(const struct hint *h, const struct cgnet_event_key *key,
		      struct cgnet_rule *out)
{
	_cleanup_close_ int fd = -1;
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s/rules", h->bpffs, h->class_name) >=
	    (int)sizeof(path))
		return;
	fd = bpf_open_pin(path, sizeof(key->rule), sizeof(*out));
	if (fd < 0 || bpf_map_id(fd) != key->rules || bpf_lookup(fd, &key->rule, out) < 0)
		memset(out, 0, sizeof(*out));
}

/* Returns the length of the line, 0 for none so far. */
static int read_map(const struct hint *h, char line[EVENT_LINE_SIZE])
{
	struct event_view view = {};

	if (bpf_lookup(h->source, &h->session, &view.event) < 0)
		return 0;
	memcpy(view.class, h->class_name, sizeof(view.class));
	read_rule(h, &view.event.key, &view.rule);
	return (int)strlen(event_hint(&view, line));
}

/* The same from the service, -1 if it will not come. */
static int read_service(const struct hint *h, char line[EVENT_LINE_SIZE])
{
	struct {
		struct cgnet_reply reply;
		char text[EVENT_LINE_SIZE];
	} packet;
	ssize_t n = recv(h->source, &packet, sizeof(packet), MSG_DONTWAIT);
	size_t len;

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	if ((size_t)n <= sizeof(packet.reply) || packet.reply.msg.type != CGNET_MSG_REPLY ||
	    packet.reply.flags & CGNET_REPLY_ERROR)
		return -1;
	len = strcspn(packet.text, "\n");
	len = len < (size_t)n - sizeof(packet.reply) ? len : (size_t)n - sizeof(packet.reply);
	snprintf(line, EVENT_LINE_SIZE, "%.*s", (int)len, packet.text);
	return (int)strlen(line);
}

void hint_tick(struct hint *h)
{
	char line[EVENT_LINE_SIZE];
	int n;

	/* A terminal that was stopped must not stop us. */
	if (h->tty < 0 || !is_ready(h->tty, POLLOUT, 0))
		return;
	n = h->root ? read_map(h, line) : read_service(h, line);
	if (n > 0)
		dprintf(h->tty, "%s\n", line);
	if (n) {
		close(h->tty);
		close(h->source);
		*h = (struct hint)HINT_NONE;
	}
}

void hint_last(struct hint *h)
{
	if (h->tty >= 0 && !h->root)
		is_ready(h->source, POLLIN, LAST_MS);
	hint_tick(h);
}

int hint_move_down(struct hint *h)
{
	if (h->tty < 0)
		return 0;
	h->tty = dup2(h->tty, 0);
	h->source = dup2(h->source, 1);
	return 2;
}
