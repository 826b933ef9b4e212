// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "ask.h"
#include "cmd.h"
#include "event_reader.h"
#include "message.h"
#include "name.h"

#define INTERVAL_NS 1000000000LL

struct show {
	const struct options *opt;
	struct event_names *names;
	bool json;
	unsigned long left; /* events still to be shown */
};

static volatile sig_atomic_t stop;

static void on_signal(int signal)
{
	(void)signal;
	stop = 1;
}

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
		s->left--;
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INTERVAL_NS + t.tv_nsec;
}

/* Waits for events, a signal, the end of the interval, or whoever reads our output to go away. */
static void wait_for(const struct event_reader *r, int64_t until)
{
	struct pollfd fds[] = {{event_reader_fd(r), POLLIN, 0}, {STDOUT_FILENO, 0, 0}};
	int64_t ns = until - now_ns();
	struct timespec timeout = {.tv_sec = ns / INTERVAL_NS, .tv_nsec = ns % INTERVAL_NS};
	sigset_t none;

	if (until && ns <= 0)
		return;
	sigemptyset(&none);
	if (ppoll(fds, ARRAY_SIZE(fds), until ? &timeout : NULL, &none) > 0 &&
	    (fds[1].revents & (POLLERR | POLLHUP)))
		stop = 1;
}

static void follow(struct show *s, struct event_reader *r)
{
	int64_t until = 0; /* end of the interval; 0 while there is nothing to count */

	while (!stop && s->left) {
		wait_for(r, until);
		if (event_reader_take(r, show_event, s) && !until)
			until = now_ns() + INTERVAL_NS;
		if (until && now_ns() >= until)
			until = event_reader_end_interval(r, show_event, s) ? now_ns() + INTERVAL_NS
									    : 0;
		if (fflush(stdout) == EOF)
			stop = 1;
	}
}

static void catch_signals(void)
{
	const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = on_signal};
	sigset_t blocked;

	sigemptyset(&blocked);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		sigaction(signals[i], &action, NULL);
		sigaddset(&blocked, signals[i]);
	}
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	signal(SIGPIPE, SIG_IGN);
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
	catch_signals();
	r = event_reader_open(&opt->instance, s.names, false, &err, why);
	if (r) {
		follow(&s, r);
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
	request.json = opt->json || !isatty(STDOUT_FILENO);
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
