// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "lookups.h"

#include <errno.h>
#include <event2/event.h>
#include <json-c/json.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "cmd.h"
#include "follow.h"
#include "log.h"
#include "resolver.h"
#include "serve.h"

#define SECOND UINT64_C(1000000)

/* A child that ended is started again after this. */
#define RESTART_US (5 * SECOND)

/* A lookup that takes longer than c-ares gives it: the child is stuck. */
#define STUCK_US (60 * SECOND)

struct pending {
	__u32 id; /* 0 for none */
	uint64_t asked;
	char host[NAME_HOST_SIZE];
};

struct lookups {
	struct serve *serve;
	struct names names;
	pid_t child; /* 0 if there is none */
	int fd;
	struct event *answers, *timer;
	uint64_t start_at; /* the child is not started before */
	__u32 last;
	struct pending pending[RESOLVER_MAX];
};

const struct names *lookups_names(const struct lookups *l)
{
	return &l->names;
}

/* --- the child --- */

static void stop_child(struct lookups *l)
{
	if (!l->child)
		return;
	event_free(l->answers);
	l->answers = NULL;
	cleanup_closep(&l->fd);
	l->fd = -1;
	kill(l->child, SIGKILL);
	while (waitpid(l->child, NULL, 0) < 0 && errno == EINTR)
		;
	l->child = 0;
	for (size_t i = 0; i < RESOLVER_MAX; i++)
		l->pending[i].id = 0;
	for (size_t i = 0; i < l->names.n; i++)
		l->names.items[i].asking = false;
}

static void answer_event(evutil_socket_t fd, short what, void *arg);

static void start_child(struct lookups *l, uint64_t now)
{
	struct why why;
	pid_t pid = resolver_start(&l->fd, &why);

	l->start_at = now + RESTART_US;
	if (pid < 0) {
		log_error("%s", why.text);
		return;
	}
	l->child = pid;
	l->answers = event_new(serve_base(l->serve), l->fd, EV_READ | EV_PERSIST, answer_event, l);
	if (!l->answers || event_add(l->answers, NULL)) {
		log_error("names: out of memory");
		if (l->answers)
			stop_child(l);
	}
}

/* --- questions --- */

static struct pending *free_pending(struct lookups *l)
{
	for (size_t i = 0; i < RESOLVER_MAX; i++)
		if (!l->pending[i].id)
			return &l->pending[i];
	return NULL;
}

static bool ask(struct lookups *l, struct name *name, uint64_t now)
{
	struct pending *p = free_pending(l);
	struct resolver_question q = {};

	if (!p)
		return false;
	if (!++l->last)
		l->last = 1;
	q.id = l->last;
	memcpy(q.host, name->host, sizeof(q.host));
	if (send(l->fd, &q, sizeof(q), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return false;
	p->id = q.id;
	p->asked = now;
	memcpy(p->host, name->host, sizeof(p->host));
	name->asking = true;
	return true;
}

static bool is_stuck(const struct lookups *l, uint64_t now)
{
	for (size_t i = 0; i < RESOLVER_MAX; i++)
		if (l->pending[i].id && now - l->pending[i].asked > STUCK_US)
			return true;
	return false;
}

static void ask_due(struct lookups *l, uint64_t now)
{
	if (is_stuck(l, now)) {
		log_warning("names: the child that looks them up is stuck, and is replaced");
		stop_child(l);
	}
	if (!l->child && l->names.n && now >= l->start_at)
		start_child(l, now);
	for (size_t i = 0; i < l->names.n && l->child; i++) {
		struct name *name = &l->names.items[i];

		if (!name->asking && name->ask_at <= now && !ask(l, name, now))
			break;
	}
}

static bool is_full(const struct lookups *l)
{
	for (size_t i = 0; i < RESOLVER_MAX; i++)
		if (!l->pending[i].id)
			return false;
	return true;
}

/* What is due and cannot be done now waits for an answer or for the next child. */
static void set_timer(struct lookups *l, uint64_t now)
{
	uint64_t next = names_next(&l->names), us;
	struct timeval wait;

	event_del(l->timer);
	if (!next)
		return;
	us = next > now ? next - now : SECOND / 10;
	if (next <= now && (is_full(l) || !l->child))
		us = SECOND;
	wait = (struct timeval){(time_t)(us / SECOND), (suseconds_t)(us % SECOND)};
	event_add(l->timer, &wait);
}

static void work(struct lookups *l)
{
	uint64_t now = serve_now_us();

	if (names_expire(&l->names, now))
		follow_changed(serve_follow(l->serve), LOAD_NAMES);
	ask_due(l, now);
	set_timer(l, now);
}

static void timer_event(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	work(arg);
}

/* --- answers --- */

static size_t read_addrs(const struct resolver_answer *a, struct prefix *out)
{
	size_t n = 0;

	for (size_t i = 0; i < a->n && i < RESOLVER_MAX_ADDRS; i++) {
		struct prefix p = {.family = a->addrs[i].family};

		if (p.family != AF_INET && p.family != AF_INET6)
			continue;
		p.len = prefix_width(&p);
		memcpy(p.bytes, a->addrs[i].addr, p.len / 8);
		out[n++] = p;
	}
	return n;
}

static void take_answer(struct lookups *l, const struct resolver_answer *a)
{
	struct prefix addrs[RESOLVER_MAX_ADDRS];
	uint64_t now = serve_now_us();
	size_t n = read_addrs(a, addrs);

	for (size_t i = 0; i < RESOLVER_MAX; i++) {
		struct pending *p = &l->pending[i];
		struct name *name;

		if (!p->id || p->id != a->id)
			continue;
		p->id = 0;
		name = names_find(&l->names, p->host);
		if (!name)
			return;
		if (a->status || !n) {
			if (!name->retry)
				log_warning("%s: cannot be looked up (%d)", name->host, a->status);
			name_failure(name, now);
		} else if (name_answer(name, addrs, n, a->ttl, now)) {
			follow_changed(serve_follow(l->serve), LOAD_NAMES);
		}
		return;
	}
}

static void answer_event(evutil_socket_t fd, short what, void *arg)
{
	struct lookups *l = arg;
	struct resolver_answer a;
	ssize_t n = recv(fd, &a, sizeof(a), MSG_DONTWAIT);

	(void)what;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n == sizeof(a)) {
		take_answer(l, &a);
	} else {
		log_warning("names: the child that looks them up has ended");
		stop_child(l);
	}
	work(l);
}

/* --- from outside --- */

void lookups_listed(struct lookups *l, const struct texts *hosts)
{
	uint64_t now = serve_now_us();

	names_begin(&l->names);
	for (const char *at = texts_next(hosts, NULL); at; at = texts_next(hosts, at))
		if (names_want(&l->names, at, now))
			log_error("%s: out of memory, is not looked up", at);
	names_set(&l->names);
	if (!l->names.n)
		stop_child(l);
	work(l);
}

void lookups_resolver_changed(struct lookups *l)
{
	uint64_t now = serve_now_us();

	stop_child(l);
	l->start_at = now;
	for (size_t i = 0; i < l->names.n; i++)
		if (l->names.items[i].retry)
			l->names.items[i].ask_at = now;
	work(l);
}

static json_object *name_object(const struct name *name, uint64_t now)
{
	json_object *o = json_object_new_object(), *list = json_object_new_array();
	char text[PREFIX_STR_SIZE];

	for (size_t i = 0; i < name->n; i++)
		json_object_array_add(
			list, json_object_new_string(prefix_format(&name->addrs[i].prefix, text)));
	json_object_object_add(o, "name", json_object_new_string(name->host));
	json_object_object_add(o, "addresses", list);
	json_object_object_add(
		o, "age",
		name->answered ? json_object_new_uint64((now - name->answered) / SECOND) : NULL);
	json_object_object_add(o, "failing", json_object_new_boolean(name->retry != 0));
	return o;
}

static void send_json(struct client *c, const struct names *names)
{
	json_object *list = json_object_new_array();
	uint64_t now = serve_now_us();
	const char *text;

	for (size_t i = 0; i < names->n; i++)
		json_object_array_add(list, name_object(&names->items[i], now));
	text = json_object_to_json_string_ext(list, JSON_C_TO_STRING_PLAIN |
							    JSON_C_TO_STRING_NOSLASHESCAPE);
	if (text)
		client_text(c, false, text, strlen(text));
	json_object_put(list);
}

static void send_words(struct client *c, const struct name *name)
{
	char text[NAME_HOST_SIZE + 64], addr[PREFIX_STR_SIZE];
	int n = snprintf(text, sizeof(text), "%s:", name->host);

	client_text(c, false, text, n);
	for (size_t i = 0; i < name->n; i++) {
		n = snprintf(text, sizeof(text), " %s",
			     prefix_format(&name->addrs[i].prefix, addr));
		client_text(c, false, text, n);
	}
	if (name->answered)
		n = snprintf(text, sizeof(text), " (%llu s ago%s)\n",
			     (unsigned long long)((serve_now_us() - name->answered) / SECOND),
			     name->retry ? ", cannot be looked up now" : "");
	else
		n = snprintf(text, sizeof(text), " (not looked up yet)\n");
	client_text(c, false, text, n);
}

void lookups_request(struct client *c, const struct cgnet_msg *msg)
{
	const struct names *names = lookups_names(serve_lookups(client_serve(c)));

	if (((const struct cgnet_names *)msg)->json)
		send_json(c, names);
	else
		for (size_t i = 0; i < names->n; i++)
			send_words(c, &names->items[i]);
	client_end(c, EXIT_DONE, NULL);
}

struct lookups *lookups_new(struct serve *s)
{
	struct lookups *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	*l = (struct lookups){.serve = s, .fd = -1};
	l->timer = evtimer_new(serve_base(s), timer_event, l);
	if (l->timer)
		return l;
	free(l);
	return NULL;
}

void lookups_free(struct lookups *l)
{
	if (!l)
		return;
	stop_child(l);
	event_free(l->timer);
	names_free(&l->names);
	free(l);
}
