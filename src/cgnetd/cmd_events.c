// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <string.h>

#include "ask.h"
#include "cmd.h"
#include "event_follow.h"
#include "message.h"
#include "name.h"

struct show {
	const struct options *opt;
	struct event_names *names;
	bool json;
	unsigned long left; /* events still to be shown */
	bool done;	    /* none */
};

static bool print(const struct show *s, const struct event_view *view)
{
	char line[EVENT_LINE_SIZE];
	_cleanup_free_ char *json = s->json ? event_json(view) : NULL;

	if (s->json && !json)
		return false;
	return puts(json ? json : event_line(view, line)) >= 0;
}

/* What is not asked for, and what comes after the last that is, no reader gets. */
static void show_event(const struct cgnet_event *event, void *arg)
{
	struct show *s = arg;
	struct event_view view;

	event_names_view(s->names, event, &view);
	if (!s->left || (s->opt->class_name && strcmp(s->opt->class_name, view.class) != 0) ||
	    !print(s, &view))
		event_names_lose(s->names, event);
	else
		s->done = !--s->left;
}

static int drain_kernel(const struct options *opt, struct why *why)
{
	struct show s = {.opt = opt, .json = opt->json || !isatty(STDOUT_FILENO)};
	struct event_reader *r;
	int err = 0;

	s.left = opt->count ? opt->count : ~0UL;
	s.names = event_names_new(&opt->instance, why);
	if (!s.names)
		return -EINVAL;
	event_follow_signals();
	r = event_reader_open(&opt->instance, s.names, false, &err, why);
	if (r) {
		event_follow(r, 0, &s.done, show_event, &s);
		event_reader_close(r, show_event, &s);
	}
	event_names_free(s.names);
	if (!err && fflush(stdout) == EOF && errno != EPIPE)
		err = why_set(why, -errno, "cannot write: %s", strerror(errno));
	return err;
}

static int ask_service(int fd, const struct options *opt, struct why *why)
{
	struct cgnet_events request = {};

	message_start(&request.msg, CGNET_MSG_EVENTS, sizeof(request));
	request.form = opt->json || !isatty(STDOUT_FILENO) ? CGNET_EVENTS_JSON : CGNET_EVENTS_WORDS;
	request.count = opt->count;
	if (opt->class_name)
		snprintf(request.class_name, sizeof(request.class_name), "%s", opt->class_name);
	return ask(fd, &request.msg, -1, stdout, stderr, why);
}

int cmd_events(const struct options *opt)
{
	struct why why;
	_cleanup_close_ int fd = -1;
	int status;

	if (opt->class_name && !name_is_valid(opt->class_name)) {
		fprintf(stderr, "cgnetd: events: %s is not a class name\n", opt->class_name);
		return EXIT_USAGE;
	}
	fd = ask_connect(opt->instance.run_dir, &why);
	if (ask_nobody(fd))
		status = drain_kernel(opt, &why);
	else
		status = fd < 0 ? fd : ask_service(fd, opt, &why);
	if (status >= 0)
		return status;
	fprintf(stderr, "cgnetd: events: %s\n", why.text);
	return EXIT_REFUSED;
}
