// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "ask.h"
#include "cmd.h"
#include "event_follow.h"
#include "learn.h"
#include "message.h"
#include "name.h"
#include "runtime.h"

/* How often a signal is looked for while the service has nothing to say. */
#define TICK_MS 200

struct lesson {
	const struct options *opt;
	struct event_names *names;
	struct learn learn;
	bool done; /* out of memory */
};

static void take_event(const struct cgnet_event *event, void *arg)
{
	struct lesson *l = arg;
	struct event_view view;

	event_names_view(l->names, event, &view);
	if (strcmp(view.class, l->opt->class_name) != 0)
		event_names_lose(l->names, event);
	else if (learn_add(&l->learn, event))
		l->done = true;
}

static int from_kernel(struct lesson *l, uint64_t us, struct why *why)
{
	struct event_reader *r;
	int err = 0;

	l->names = event_names_new(&l->opt->instance, why);
	if (!l->names)
		return -EINVAL;
	r = event_reader_open(&l->opt->instance, l->names, false, &err, why);
	if (r) {
		event_follow(r, us, &l->done, take_event, l);
		event_reader_close(r, take_event, l);
	}
	event_names_free(l->names);
	return err;
}

/* A packet holds whole events. Returns 1 at the end of the reply. */
static int take_packet(struct lesson *l, const struct cgnet_reply *reply, size_t n, struct why *why)
{
	size_t size = n - sizeof(*reply);
	struct cgnet_event event;

	if (reply->flags & CGNET_REPLY_ERROR && !(reply->flags & CGNET_REPLY_MORE))
		return why_set(why, -EPERM, "%.*s", (int)size, reply->text);
	for (size_t at = 0; !(reply->flags & CGNET_REPLY_ERROR) && at + sizeof(event) <= size;
	     at += sizeof(event)) {
		memcpy(&event, reply->text + at, sizeof(event));
		if (learn_add(&l->learn, &event))
			return why_set(why, -ENOMEM, "out of memory");
	}
	return !(reply->flags & CGNET_REPLY_MORE);
}

static int from_service(struct lesson *l, int fd, uint64_t us, struct why *why)
{
	_cleanup_free_ struct cgnet_reply *reply = malloc(CGNET_REPLY_MAX);
	int64_t deadline = us ? event_follow_now() + (int64_t)us * 1000 : 0;
	struct cgnet_events request = {.form = CGNET_EVENTS_RAW};
	int n, err;

	if (!reply)
		return why_set(why, -ENOMEM, "out of memory");
	message_start(&request.msg, CGNET_MSG_EVENTS, sizeof(request));
	snprintf(request.class_name, sizeof(request.class_name), "%s", l->opt->class_name);
	err = ask_send(fd, &request.msg, why);
	while (!err && !event_follow_stopped() && !(deadline && event_follow_now() >= deadline)) {
		sigset_t none, old;

		/* Signals wait but here. */
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, &old);
		n = ask_receive(fd, reply, CGNET_REPLY_MAX, TICK_MS, why);
		sigprocmask(SIG_SETMASK, &old, NULL);
		if (n >= (int)sizeof(*reply))
			err = take_packet(l, reply, n, why);
		else if (n != -ETIMEDOUT)
			err = n < 0 ? n
				    : why_set(why, -EPROTO, "the service is of another version");
	}
	return err < 0 ? err : 0;
}

static int learn(struct lesson *l, uint64_t us, struct why *why)
{
	_cleanup_close_ int fd = ask_connect(l->opt->instance.run_dir, why);
	int err = fd;

	event_follow_signals();
	if (ask_nobody(fd))
		err = from_kernel(l, us, why);
	else if (fd >= 0)
		err = from_service(l, fd, us, why);
	if (!err && (l->done || learn_write(&l->learn, l->opt->class_name, stdout)))
		err = why_set(why, -ENOMEM, "out of memory");
	if (!err && fflush(stdout) == EOF)
		err = why_set(why, -errno, "cannot write: %s", strerror(errno));
	return err;
}

int cmd_learn(const struct options *opt)
{
	struct lesson l = {.opt = opt};
	uint64_t us = 0;
	struct why why;
	int err;

	if (!opt->class_name || !name_is_valid(opt->class_name)) {
		fprintf(stderr, "cgnetd: learn: --class CLASS is needed\n");
		return EXIT_USAGE;
	}
	if (opt->duration && duration_parse(opt->duration, &us, &why)) {
		fprintf(stderr, "cgnetd: learn: --for %s\n", why.text);
		return EXIT_USAGE;
	}
	err = learn(&l, us, &why);
	learn_free(&l.learn);
	if (!err)
		return EXIT_DONE;
	fprintf(stderr, "cgnetd: learn: %s\n", why.text);
	return EXIT_REFUSED;
}
