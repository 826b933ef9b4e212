// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "follow.h"

#include <errno.h>
#include <event2/event.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "filewatch.h"
#include "log.h"
#include "lookups.h"
#include "netwatch.h"
#include "pace.h"
#include "reload.h"
#include "rules.h"
#include "serve.h"

#define RESOLV_CONF "/etc/resolv.conf"

/* After a wake-up the watches rest, so that a flood of changes does not cost a wake-up each. */
#define REST_US 50000

/* A worker that failed is tried again even if nothing changes. */
#define RETRY_US 30000000

/* Path 0 of the watch; those of the lists follow. */
enum { RESOLV_PATH, FIRST_LIST };

struct watch {
	struct follow *follow;
	struct event *event, *rest;
	void (*read)(struct follow *f);
};

struct follow {
	struct serve *serve;
	struct snapshot snapshot;
	int net;
	struct filewatch files;
	struct watch net_watch, files_watch;

	struct texts lists;   /* of the policy in force */
	bool *changed, *busy; /* by path of the watch: to be done, and taken on by the worker */
	size_t npaths;
	unsigned int changes, busy_changes;

	struct pace pace;
	struct event *timer;
	bool loaded; /* a policy is in force: before, there is nothing to follow */
	bool working;
	uint64_t started;
	time_t started_time;
	bool kept;	   /* the name servers are those of a file that is gone */
	bool watch_failed; /* was logged */
};

/* --- when to act --- */

static void set_timer(struct event *timer, uint64_t us)
{
	const struct timeval wait = {(time_t)(us / 1000000), (suseconds_t)(us % 1000000)};

	event_add(timer, &wait);
}

static void schedule(struct follow *f)
{
	uint64_t now = serve_now_us(), due;

	if (!f->loaded || f->working || !f->changes)
		return;
	due = pace_change(&f->pace, now);
	set_timer(f->timer, due > now ? due - now : 0);
}

static void timer_event(evutil_socket_t fd, short what, void *arg)
{
	struct follow *f = arg;

	(void)fd;
	(void)what;
	if (f->changes && !f->working && reload_again(serve_reloads(f->serve)))
		log_error("cannot follow a change: out of memory");
}

void follow_changed(struct follow *f, unsigned int changes)
{
	f->changes |= changes;
	schedule(f);
}

/* --- what changes --- */

static void read_net(struct follow *f)
{
	if (netwatch_read(f->net))
		follow_changed(f, LOAD_HOST);
}

static void report_watch(struct follow *f)
{
	if (f->files.err && !f->watch_failed)
		log_warning("cannot watch all of resolv.conf and the sets' files: %s",
			    strerror(-f->files.err));
	f->watch_failed = f->files.err;
}

static void read_files(struct follow *f)
{
	unsigned int changes = 0;

	if (filewatch_read(&f->files, f->changed)) {
		if (f->changed[RESOLV_PATH]) {
			changes |= LOAD_HOST;
			lookups_resolver_changed(serve_lookups(f->serve));
		}
		f->changed[RESOLV_PATH] = false;
		for (size_t i = FIRST_LIST; i < f->npaths; i++)
			if (f->changed[i])
				changes |= LOAD_LISTS;
	}
	report_watch(f);
	if (changes)
		follow_changed(f, changes);
}

static void watch_event(evutil_socket_t fd, short what, void *arg)
{
	struct watch *w = arg;

	(void)fd;
	(void)what;
	w->read(w->follow);
	set_timer(w->rest, REST_US);
}

static void rest_event(evutil_socket_t fd, short what, void *arg)
{
	struct watch *w = arg;

	(void)fd;
	(void)what;
	event_add(w->event, NULL);
}

static int watch_start(struct watch *w, struct follow *f, int fd, void (*read)(struct follow *f))
{
	struct event_base *base = serve_base(f->serve);

	*w = (struct watch){.follow = f, .read = read};
	w->event = event_new(base, fd, EV_READ, watch_event, w);
	w->rest = evtimer_new(base, rest_event, w);
	return w->event && w->rest && !event_add(w->event, NULL) ? 0 : -ENOMEM;
}

static void watch_stop(struct watch *w)
{
	if (w->event)
		event_free(w->event);
	if (w->rest)
		event_free(w->rest);
}

/* --- the lists of the policy in force --- */

static bool same_texts(const struct texts *a, const struct texts *b)
{
	return a->size == b->size && (!a->size || !memcmp(a->bytes, b->bytes, a->size));
}

static int make_flags(struct follow *f, size_t n)
{
	bool *changed = calloc(n, sizeof(*changed)), *busy = calloc(n, sizeof(*busy));

	if (!changed || !busy) {
		free(changed);
		free(busy);
		return -ENOMEM;
	}
	free(f->changed);
	free(f->busy);
	f->changed = changed;
	f->busy = busy;
	f->npaths = n;
	return 0;
}

/* The worker may have read the file before a change that is not watched yet. */
static bool changed_since(const char *path, time_t when)
{
	struct stat link, file;

	return lstat(path, &link) < 0 || stat(path, &file) < 0 || link.st_ctime >= when ||
	       file.st_ctime >= when;
}

/* Watches the lists of another policy. */
static void take_lists(struct follow *f, struct texts *lists)
{
	size_t n = FIRST_LIST;
	struct why why;

	if (same_texts(&f->lists, lists))
		return;
	for (const char *at = texts_next(lists, NULL); at; at = texts_next(lists, at))
		n++;
	filewatch_truncate(&f->files, FIRST_LIST);
	free(f->lists.bytes);
	f->lists = (struct texts){};
	if (make_flags(f, n)) {
		log_error("cannot follow the sets' files: out of memory");
		return;
	}
	f->lists = *lists;
	*lists = (struct texts){};
	n = FIRST_LIST;
	for (const char *at = texts_next(&f->lists, NULL); at; at = texts_next(&f->lists, at)) {
		if (filewatch_add(&f->files, at, &why))
			log_warning("%s", why.text);
		f->changed[n] = changed_since(at, f->started_time - 1);
		if (f->changed[n++])
			f->changes |= LOAD_LISTS;
	}
}

/* --- workers --- */

const struct snapshot *follow_snapshot(const struct follow *f)
{
	return &f->snapshot;
}

void follow_describe(const struct follow *f, struct load_request *out)
{
	out->snapshot = &f->snapshot;
	out->changes = f->busy_changes;
	out->lists = f->busy + FIRST_LIST;
	out->nlists = f->npaths - FIRST_LIST;
	out->names = lookups_names(serve_lookups(f->serve));
	out->runtime = rules_runtime(serve_rules(f->serve));
}

void follow_started(struct follow *f, unsigned int more)
{
	f->working = true;
	f->started = serve_now_us();
	f->started_time = time(NULL);
	f->busy_changes = f->changes | more;
	f->changes = 0;
	for (size_t i = 0; i < f->npaths; i++) {
		f->busy[i] = f->changed[i];
		f->changed[i] = false;
	}
	event_del(f->timer);
}

static void report_kept(struct follow *f, const struct why *kept)
{
	bool is_kept = *kept->text;

	if (is_kept && !f->kept)
		log_warning("%s: the name servers of before stay", kept->text);
	else if (!is_kept && f->kept)
		log_info("%s is back", RESOLV_CONF);
	f->kept = is_kept;
}

void follow_loaded(struct follow *f, struct load_result *result)
{
	f->working = false;
	f->loaded = true;
	pace_done(&f->pace, f->started, serve_now_us());
	report_kept(f, &result->kept);
	take_lists(f, &result->lists);
	lookups_listed(serve_lookups(f->serve), &result->hosts);
	schedule(f);
}

void follow_failed(struct follow *f, bool again)
{
	unsigned int more = f->changes;

	f->working = false;
	pace_done(&f->pace, f->started, serve_now_us());
	f->changes |= f->busy_changes;
	for (size_t i = 0; i < f->npaths; i++)
		f->changed[i] |= f->busy[i];
	if (more || !again)
		schedule(f);
	else if (f->loaded && f->changes)
		set_timer(f->timer, RETRY_US);
}

/* --- start and end --- */

static int open_all(struct follow *f, struct why *why)
{
	int err = snapshot_open(&f->snapshot, why);

	if (!err) {
		f->net = netwatch_open(why);
		err = f->net < 0 ? f->net : 0;
	}
	if (!err)
		err = filewatch_open(&f->files, why);
	if (!err)
		err = filewatch_add(&f->files, RESOLV_CONF, why);
	if (err)
		return err;
	f->timer = evtimer_new(serve_base(f->serve), timer_event, f);
	if (!f->timer || make_flags(f, FIRST_LIST) ||
	    watch_start(&f->net_watch, f, f->net, read_net) ||
	    watch_start(&f->files_watch, f, f->files.fd, read_files))
		return why_set(why, -ENOMEM, "out of memory");
	return 0;
}

struct follow *follow_new(struct serve *s, struct why *why)
{
	struct follow *f = calloc(1, sizeof(*f));

	if (!f) {
		why_set(why, -ENOMEM, "out of memory");
		return NULL;
	}
	*f = (struct follow){
		.serve = s, .snapshot = SNAPSHOT_NONE, .net = -1, .files = FILEWATCH_NONE};
	if (!open_all(f, why))
		return f;
	follow_free(f);
	return NULL;
}

void follow_free(struct follow *f)
{
	if (!f)
		return;
	watch_stop(&f->net_watch);
	watch_stop(&f->files_watch);
	if (f->timer)
		event_free(f->timer);
	if (f->net >= 0)
		close(f->net);
	filewatch_close(&f->files);
	snapshot_close(&f->snapshot);
	free(f->lists.bytes);
	free(f->changed);
	free(f->busy);
	free(f);
}
