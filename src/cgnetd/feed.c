// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "feed.h"

#include <errno.h>
#include <event2/event.h>
#include <string.h>
#include <time.h>

#include "event_reader.h"
#include "log.h"
#include "lookups.h"
#include "serve.h"
#include "syslog.h"

/* What may wait for one client until it misses events. */
#define QUEUE_MAX (1UL << 20)

#define METRICS_S 15

struct subscriber {
	struct subscriber *next, **at;
	struct feed *feed;
	struct client *client;
	struct cgnet_events want;
	bool first; /* wants the first denial of its own session, as a hint */
	__u64 missed;
};

struct feed {
	struct serve *serve;
	struct event_names *names;
	struct event_reader *reader; /* while somebody wants events */
	struct event *readable, *interval, *metrics;
	struct subscriber *all;
	struct syslog_socket *syslog;
	bool to_stderr;
	struct service_counts counts;
	bool got; /* somebody got the event under way */
};

/* --- handing out ---------------------------------------------------------------------------- */

static void subscriber_free(struct subscriber *s)
{
	*s->at = s->next;
	if (s->next)
		s->next->at = s->at;
	s->feed->counts.readers--;
	free(s);
}

static bool wants(const struct subscriber *s, const struct event_view *view)
{
	if (*s->want.class_name && strcmp(s->want.class_name, view->class) != 0)
		return false;
	if (!s->first)
		return true;
	/* Nobody is told what others do. */
	return !strcmp(s->want.session, view->session) &&
	       view->event.detail.uid == client_peer(s->client)->uid;
}

static void send_missed(struct subscriber *s)
{
	char text[80];
	int n;

	if (!s->missed)
		return;
	n = snprintf(text, sizeof(text), "cgnetd: events: read too slowly, missed %llu denials\n",
		     (unsigned long long)s->missed);
	s->missed = 0;
	client_text(s->client, true, text, n);
}

/* What is sent, to be freed; NULL if out of memory. Sets *n to its size. */
static char *render(const struct subscriber *s, const struct event_view *view, size_t *n)
{
	_cleanup_free_ char *json = NULL;
	char line[EVENT_LINE_SIZE], *text = NULL;
	int size;

	switch (s->want.form) {
	case CGNET_EVENTS_RAW:
		*n = sizeof(view->event);
		text = malloc(*n);
		return text ? memcpy(text, &view->event, *n) : NULL;
	case CGNET_EVENTS_JSON:
		json = event_json(view);
		size = json ? asprintf(&text, "%s\n", json) : -1;
		break;
	default:
		size = asprintf(&text, "%s\n",
				s->first ? event_hint(view, line) : event_line(view, line));
	}
	*n = (size_t)size;
	return size < 0 ? NULL : text;
}

static void send_to(struct subscriber *s, const struct event_view *view)
{
	_cleanup_free_ char *text = NULL;
	struct feed *f = s->feed;
	size_t n = 0;

	if (client_queued(s->client) <= QUEUE_MAX)
		text = render(s, view, &n);
	if (!text) {
		s->missed += view->event.detail.count;
		return;
	}
	send_missed(s);
	client_text(s->client, false, text, n);
	f->got |= !s->first;
	if (s->want.count && !--s->want.count) {
		struct client *c = s->client;

		subscriber_free(s);
		client_end(c, 0, NULL);
	}
}

static void hand_out(const struct cgnet_event *event, void *arg)
{
	struct feed *f = arg;
	struct subscriber *next;
	struct event_view view;
	char line[EVENT_LINE_SIZE];

	event_names_view(f->names, event, &view);
	f->got = false;
	for (struct subscriber *s = f->all; s; s = next) {
		next = s->next;
		if (wants(s, &view))
			send_to(s, &view);
	}
	if (f->to_stderr) {
		log_info("%s", event_line(&view, line));
		f->got = true;
	}
	if (f->syslog && syslog_send(f->syslog, event_line(&view, line)))
		f->got = true;
	if (!f->got)
		event_names_lose(f->names, event);
}

/* --- reading -------------------------------------------------------------------------------- */

static void close_reader(struct feed *f)
{
	if (f->readable)
		event_free(f->readable);
	f->readable = NULL;
	event_reader_close(f->reader, hand_out, f);
	f->reader = NULL;
	event_names_free(f->names);
	f->names = NULL;
}

static void close_unwanted(struct feed *f)
{
	if (f->reader && !f->all && !f->to_stderr && !f->syslog) {
		event_del(f->interval);
		close_reader(f);
	}
}

static void start_interval(struct feed *f)
{
	const struct timeval second = {.tv_sec = 1};

	if (!event_pending(f->interval, EV_TIMEOUT, NULL))
		event_add(f->interval, &second);
}

static void readable_event(evutil_socket_t fd, short what, void *arg)
{
	struct feed *f = arg;

	(void)fd;
	(void)what;
	if (event_reader_take(f->reader, hand_out, f))
		start_interval(f);
	close_unwanted(f);
}

static void interval_event(evutil_socket_t fd, short what, void *arg)
{
	struct feed *f = arg;

	(void)fd;
	(void)what;
	if (f->reader && event_reader_end_interval(f->reader, hand_out, f))
		start_interval(f);
	close_unwanted(f);
}

static int open_reader(struct feed *f, bool keep, struct why *why)
{
	const struct instance *in = serve_instance(f->serve);
	int err = 0;

	if (f->reader)
		return 0;
	f->names = event_names_new(in, why);
	if (!f->names)
		return -EINVAL;
	f->reader = event_reader_open(in, f->names, keep, &err, why);
	if (f->reader) {
		f->readable = event_new(serve_base(f->serve), event_reader_fd(f->reader),
					EV_READ | EV_PERSIST, readable_event, f);
		if (f->readable && !event_add(f->readable, NULL)) {
			start_interval(f);
			return 0;
		}
		err = why_set(why, -ENOMEM, "out of memory");
	}
	close_reader(f);
	return err;
}

/* --- requests ------------------------------------------------------------------------------- */

static void forget_client(void *arg)
{
	struct subscriber *s = arg;
	struct feed *f = s->feed;

	subscriber_free(s);
	close_unwanted(f);
}

static struct subscriber *subscribe(struct client *c)
{
	struct feed *f = serve_feed(client_serve(c));
	struct subscriber *s = calloc(1, sizeof(*s));
	struct why why;

	if (!s || open_reader(f, false, &why)) {
		client_end(c, EXIT_REFUSED, s ? why.text : "out of memory");
		free(s);
		return NULL;
	}
	s->feed = f;
	s->client = c;
	s->at = &f->all;
	s->next = f->all;
	if (s->next)
		s->next->at = &s->next;
	f->all = s;
	f->counts.readers++;
	client_on_close(c, forget_client, s);
	return s;
}

void feed_events_request(struct client *c, const struct cgnet_msg *msg)
{
	struct subscriber *s = subscribe(c);

	if (s)
		s->want = *(const struct cgnet_events *)msg;
}

void feed_first_request(struct client *c, const struct cgnet_msg *msg)
{
	const struct cgnet_first *first = (const struct cgnet_first *)msg;
	struct subscriber *s = subscribe(c);
	struct cgnet_event event;
	struct event_view view;

	if (!s)
		return;
	s->first = true;
	s->want.count = 1;
	memcpy(s->want.class_name, first->class_name, sizeof(s->want.class_name));
	memcpy(s->want.session, first->session, sizeof(s->want.session));
	/* It may have come before the question. */
	if (!event_names_first(s->feed->names, first->class_name, first->session, &event)) {
		event_names_view(s->feed->names, &event, &view);
		if (wants(s, &view))
			send_to(s, &view);
	}
}

/* As it is now. */
static const struct service_counts *counts_now(struct feed *f)
{
	f->counts.names = lookups_names(serve_lookups(f->serve));
	f->counts.now = serve_now_us();
	return &f->counts;
}

void feed_metrics_request(struct client *c, const struct cgnet_msg *msg)
{
	struct feed *f = serve_feed(client_serve(c));
	_cleanup_free_ char *text = NULL;
	struct why why;
	size_t n;

	(void)msg;
	if (metrics_text(serve_instance(f->serve), counts_now(f), &text, &n, &why)) {
		client_end(c, EXIT_REFUSED, why.text);
		return;
	}
	client_text(c, false, text, n);
	client_end(c, EXIT_DONE, NULL);
}

/* --- the service ---------------------------------------------------------------------------- */

static void metrics_event(evutil_socket_t fd, short what, void *arg)
{
	struct feed *f = arg;
	struct why why;

	(void)fd;
	(void)what;
	if (metrics_save(serve_metrics_file(f->serve), serve_instance(f->serve), counts_now(f),
			 &why))
		log_warning("metrics: %s", why.text);
}

void feed_ready(struct feed *f)
{
	const struct timeval period = {.tv_sec = METRICS_S};
	const char *to = serve_log_events(f->serve);
	struct why why;

	if (to && !strcmp(to, "stderr"))
		f->to_stderr = true;
	else if (to)
		f->syslog = syslog_open();
	if (to && open_reader(f, true, &why))
		log_error("events: %s", why.text);
	if (serve_metrics_file(f->serve)) {
		event_add(f->metrics, &period);
		metrics_event(-1, 0, f);
	}
}

void feed_count_load(struct feed *f, bool ok)
{
	if (ok)
		f->counts.loaded++;
	else
		f->counts.refused++;
	f->counts.last_time = time(NULL);
	f->counts.last_ok = ok;
}

struct feed *feed_new(struct serve *s, struct why *why)
{
	struct feed *f = calloc(1, sizeof(*f));

	if (f) {
		f->serve = s;
		f->interval = evtimer_new(serve_base(s), interval_event, f);
		f->metrics = event_new(serve_base(s), -1, EV_PERSIST, metrics_event, f);
		if (f->interval && f->metrics)
			return f;
		feed_free(f);
	}
	why_set(why, -ENOMEM, "out of memory");
	return NULL;
}

void feed_free(struct feed *f)
{
	if (!f)
		return;
	if (f->reader)
		close_reader(f);
	if (f->interval)
		event_free(f->interval);
	if (f->metrics)
		event_free(f->metrics);
	syslog_close(f->syslog);
	free(f);
}
