// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "serve.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "control.h"
#include "drop.h"
#include "enter.h"
#include "feed.h"
#include "follow.h"
#include "log.h"
#include "lookups.h"
#include "notify.h"
#include "quota.h"
#include "reload.h"
#include "rules.h"

/* Descriptors besides those of clients, which take two each. */
#define FILES_MORE 256

static const int signals[] = {SIGHUP, SIGTERM, SIGINT};

enum { NSIGNALS = ARRAY_SIZE(signals) };

struct serve {
	const struct options *opt;
	char *file;
	int lock; /* of the run directory */
	struct event_base *base;
	struct event *signals[NSIGNALS];
	struct event *watchdog;
	struct reloads *reloads;
	struct follow *follow;
	struct rules_set *rules;
	struct lookups *lookups;
	struct control *control;
	struct enters *enters;
	struct feed *feed;
	struct grants grants;
	bool ready;
	int status;
};

struct event_base *serve_base(struct serve *s)
{
	return s->base;
}

const struct instance *serve_instance(const struct serve *s)
{
	return &s->opt->instance;
}

const char *serve_run_dir(const struct serve *s)
{
	return s->opt->instance.run_dir;
}

const char *serve_cgroup(const struct serve *s)
{
	return s->opt->instance.cgroup;
}

const char *serve_file(const struct serve *s)
{
	return s->file;
}

const struct grants *serve_grants(const struct serve *s)
{
	return &s->grants;
}

struct reloads *serve_reloads(struct serve *s)
{
	return s->reloads;
}

struct follow *serve_follow(struct serve *s)
{
	return s->follow;
}

struct rules_set *serve_rules(struct serve *s)
{
	return s->rules;
}

struct lookups *serve_lookups(struct serve *s)
{
	return s->lookups;
}

struct enters *serve_enters(struct serve *s)
{
	return s->enters;
}

struct feed *serve_feed(struct serve *s)
{
	return s->feed;
}

const char *serve_log_events(const struct serve *s)
{
	return s->opt->log_events;
}

const char *serve_metrics_file(const struct serve *s)
{
	return s->opt->metrics_file;
}

bool serve_is_operator(const struct serve *s, const struct peer *peer)
{
	return grants_operator(&s->grants, peer);
}

uint64_t serve_now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000ULL + now.tv_nsec / 1000;
}

static void stop(struct serve *s, int status)
{
	s->status = status;
	event_base_loopbreak(s->base);
}

static void reload(struct serve *s)
{
	if (reload_start(s->reloads))
		log_error("reload: out of memory");
}

static void signal_event(evutil_socket_t signo, short what, void *arg)
{
	struct serve *s = arg;

	(void)what;
	if (signo == SIGHUP)
		reload(s);
	else
		stop(s, EXIT_DONE);
}

static void watchdog_event(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	notify("WATCHDOG=1");
}

void serve_loading(struct serve *s)
{
	if (s->ready)
		notify_reloading();
}

/* The first policy is in force: from now on there is somebody to talk to. */
static int become_ready(struct serve *s, struct why *why)
{
	int err = control_open(&s->control, s, why);

	if (!err)
		err = drop_more(why);
	if (err)
		return err;
	enters_adopt(s->enters);
	feed_ready(s->feed);
	s->ready = true;
	log_info("ready: %s, control socket %s/" CGNET_CONTROL_SOCKET, s->file, serve_run_dir(s));
	return 0;
}

void serve_loaded(struct serve *s, const char *file, struct load_result *result)
{
	struct why why;

	if (strcmp(file, s->file) != 0) {
		char *copy = strdup(file);

		if (copy) {
			log_info("follows %s from now on, not %s", copy, s->file);
			free(s->file);
			s->file = copy;
		}
	}
	grants_free(&s->grants);
	s->grants = result->grants;
	result->grants = (struct grants){};
	feed_count_load(s->feed, true);
	if (!s->ready && become_ready(s, &why)) {
		log_error("%s", why.text);
		stop(s, EXIT_REFUSED);
		return;
	}
	notify_ready();
}

void serve_not_loaded(struct serve *s, const char *reason)
{
	(void)reason;
	feed_count_load(s->feed, false);
	if (!s->ready)
		stop(s, EXIT_REFUSED);
	else
		notify_ready();
}

/* Makes the run directory, which nobody but root may change, and takes its lock. */
static int take_run_dir(struct serve *s, struct why *why)
{
	const char *dir = serve_run_dir(s);
	struct stat st;

	if (mkdir(dir, 0755) && errno != EEXIST)
		return why_set(why, -errno, "cannot make %s: %s", dir, strerror(errno));
	s->lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->lock < 0 || fstat(s->lock, &st))
		return why_set(why, -errno, "%s: %s", dir, strerror(errno));
	if (st.st_uid != 0 || st.st_mode & (S_IWGRP | S_IWOTH))
		return why_set(why, -EPERM, "%s can be changed by others than root", dir);
	if (flock(s->lock, LOCK_EX | LOCK_NB))
		return why_set(why, -EBUSY, "another service runs in %s", dir);
	return 0;
}

/* Before the capability for it is gone. Maps count against the second one before Linux 5.11. */
static void raise_limits(void)
{
	const struct rlimit locked = {RLIM_INFINITY, RLIM_INFINITY};
	const rlim_t want = 2 * LIMIT_CLIENTS + FILES_MORE;
	struct rlimit files;

	setrlimit(RLIMIT_MEMLOCK, &locked);
	if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur >= want)
		return;
	files.rlim_cur = want;
	if (files.rlim_max < want)
		files.rlim_max = want;
	if (setrlimit(RLIMIT_NOFILE, &files))
		log_warning("cannot raise the number of open files to %u", (unsigned int)want);
}

static int start_events(struct serve *s)
{
	uint64_t watchdog_us = notify_watchdog_us() / 2;
	const struct timeval interval = {watchdog_us / 1000000, watchdog_us % 1000000};

	for (size_t i = 0; i < NSIGNALS; i++) {
		s->signals[i] = evsignal_new(s->base, signals[i], signal_event, s);
		if (!s->signals[i] || event_add(s->signals[i], NULL))
			return -ENOMEM;
	}
	s->watchdog = event_new(s->base, -1, EV_PERSIST, watchdog_event, s);
	if (!s->watchdog || (watchdog_us && event_add(s->watchdog, &interval)))
		return -ENOMEM;
	return 0;
}

static int start(struct serve *s, const char *file, struct why *why)
{
	int err = take_run_dir(s, why);

	if (err)
		return err;
	s->file = realpath(file, NULL);
	if (!s->file)
		return why_set(why, -errno, "%s: %s", file, strerror(errno));
	signal(SIGPIPE, SIG_IGN);
	raise_limits();
	err = drop_first(why);
	if (err)
		return err;
	s->base = event_base_new();
	if (s->base) {
		s->follow = follow_new(s, why);
		s->rules = s->follow ? rules_new(s, why) : NULL;
		if (!s->rules)
			return -EIO;
		s->lookups = lookups_new(s);
		s->reloads = s->lookups ? reloads_new(s) : NULL;
	}
	if (!s->reloads || start_events(s) || reload_start(s->reloads))
		return why_set(why, -ENOMEM, "out of memory");
	s->enters = enters_new(s, why);
	if (s->enters)
		s->feed = feed_new(s, why);
	return s->feed ? 0 : -ENOMEM;
}

static void finish(struct serve *s)
{
	control_close(s->control);
	reloads_free(s->reloads);
	follow_free(s->follow);
	rules_free(s->rules);
	lookups_free(s->lookups);
	enters_free(s->enters);
	feed_free(s->feed);
	for (size_t i = 0; i < NSIGNALS; i++)
		if (s->signals[i])
			event_free(s->signals[i]);
	if (s->watchdog)
		event_free(s->watchdog);
	if (s->base)
		event_base_free(s->base);
	grants_free(&s->grants);
	free(s->file);
	cleanup_closep(&s->lock);
	libevent_global_shutdown();
}

int serve_run(const struct options *opt, const char *file)
{
	struct serve s = {.opt = opt, .lock = -1};
	struct why why;
	int err = start(&s, file, &why);

	if (err) {
		log_error("%s", why.text);
		s.status = EXIT_REFUSED;
	} else {
		event_base_dispatch(s.base);
	}
	if (s.ready)
		notify_stopping();
	finish(&s);
	return s.status;
}
