// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "enter.h"

#include <errno.h>
#include <event2/event.h>
#include <string.h>
#include <sys/file.h>

#include "class_limits.h"
#include "ends.h"
#include "event_maps.h"
#include "live_class.h"
#include "log.h"
#include "message.h"
#include "place.h"
#include "serve.h"

/* While cgnetd changes something, a request waits: the pause between two tries, and how many. */
#define TRY_MS 10
#define TRIES  1000

/* Others may remove the cgroup, while it is empty, or take its name. */
#define START_TRIES 8

struct enters {
	struct serve *serve;
	struct ends *ends;
	struct entering *first;
};

/* A request that waits for the instance's lock. */
struct entering {
	struct entering **at, *next;
	struct enters *enters;
	struct client *client;
	struct cgnet_enter request;
	struct event *timer;
	int tries;
};

static int class_exists(const struct instance *in, const char *name)
{
	char path[PATH_MAX];

	return !instance_path(in, path, name, CGNET_PIN_CLASS, NULL) && !access(path, F_OK);
}

static bool exists(const char *name, void *arg)
{
	return class_exists(arg, name);
}

/* The class is enforced, in every hook. */
static int verify(const struct instance *in, const char *name, const char *cgroup, struct why *why)
{
	struct live_class live = LIVE_CLASS_NONE;
	struct cgnet_class_info info;
	char dir[PATH_MAX];
	struct why each;
	int err;

	if (!class_exists(in, name))
		return why_set(why, -ENOENT, "unknown class %s", name);
	err = instance_path(in, dir, name, NULL, &each);
	if (!err)
		err = live_class_open(&live, dir, &each);
	if (!err)
		err = live_class_read(&live, &info, &each);
	if (!err)
		err = live_class_verify(dir, cgroup, &info, &each);
	live_class_close(&live);
	return err ? why_set(why, err, "class %s: not enforced: %.400s", name, each.text) : 0;
}

static int make_session(struct enters *e, const struct peer *peer, const struct session_class *home,
			const char *name, struct session *s, struct why *why)
{
	int err = -EAGAIN;

	for (int i = 0; i < START_TRIES && err == -EAGAIN; i++) {
		err = session_open(s, home, *name ? name : NULL, why);
		if (err)
			continue;
		event_maps_announce(serve_instance(e->serve), s);
		err = place_peer(peer, s, why);
		if (!err)
			err = ends_watch(e->ends, s->dir);
		session_close(s);
		if (err)
			session_remove(s);
	}
	return err;
}

/* Under the shared lock, so that no `load` removes the class or the session meanwhile. */
static int enter(struct enters *e, const struct peer *peer, const struct cgnet_enter *request,
		 struct cgnet_entered *out, struct why *why)
{
	const struct instance *in = serve_instance(e->serve);
	struct session_class home = {};
	char cgroup[PATH_MAX], dir[PATH_MAX];
	struct session session = SESSION_INIT;
	struct cgnet_info info;
	struct choice choice;
	/* Once more: while the request waited, another one may have let the process in. */
	int err = peer_check_outside(peer, in->cgroup, why);

	if (!err)
		err = instance_info(in, &info, why);
	if (!err)
		err = grants_choose(serve_grants(e->serve), peer, request->class_name,
				    info.default_class, exists, (void *)in, &choice, why);
	if (!err)
		err = instance_cgroup(&info, dir, choice.class_name, why);
	if (!err)
		err = verify(in, choice.class_name, dir, why);
	if (!err)
		err = place_check_policy(peer, info.mount, dir, why);
	if (!err)
		err = class_limits_room(dir, why);
	if (err)
		return err;
	snprintf(cgroup, sizeof(cgroup), "%s/%s", info.cgroup, choice.class_name);
	home = (struct session_class){cgroup, dir};
	err = make_session(e, peer, &home, request->session, &session, why);
	if (err)
		return err;
	message_start(&out->msg, CGNET_MSG_ENTERED, sizeof(*out));
	snprintf(out->class_name, sizeof(out->class_name), "%s", choice.class_name);
	snprintf(out->session, sizeof(out->session), "%s", session.name);
	snprintf(out->mount, sizeof(out->mount), "%s", info.mount);
	snprintf(out->cgroup, sizeof(out->cgroup), "%.511s", session.cgroup);
	snprintf(out->warning, sizeof(out->warning), "%s", choice.warning);
	return 0;
}

/* Returns true if the request is answered, false if the lock is somebody's. */
static bool try_to_enter(struct enters *e, struct client *c, const struct cgnet_enter *request,
			 bool last)
{
	const struct peer *peer = client_peer(c);
	_cleanup_close_ int lock = -1;
	struct cgnet_entered reply = {};
	struct why why;
	int err;

	lock = instance_try_lock(serve_instance(e->serve), LOCK_SH, &why);
	if (lock == -EBUSY && !last)
		return false;
	err = lock < 0 ? lock : enter(e, peer, request, &reply, &why);
	if (err) {
		client_log(c, "uid %u, pid %d: enter refused: %s", peer->uid, peer->pid, why.text);
		client_end(c, EXIT_REFUSED, why.text);
		return true;
	}
	if (*reply.warning)
		client_log(c, "uid %u: %s", peer->uid, reply.warning);
	client_end_with(c, &reply.msg);
	return true;
}

static void entering_free(struct entering *w)
{
	*w->at = w->next;
	if (w->next)
		w->next->at = w->at;
	event_free(w->timer);
	free(w);
}

static void forget_client(void *arg)
{
	entering_free(arg);
}

static void wait_again(struct entering *w)
{
	const struct timeval pause = {.tv_usec = TRY_MS * 1000};

	event_add(w->timer, &pause);
}

static void timer_event(evutil_socket_t fd, short what, void *arg)
{
	struct entering *w = arg;

	(void)fd;
	(void)what;
	if (try_to_enter(w->enters, w->client, &w->request, ++w->tries == TRIES))
		entering_free(w);
	else
		wait_again(w);
}

void enter_request(struct client *c, const struct cgnet_msg *msg)
{
	const struct cgnet_enter *request = (const struct cgnet_enter *)msg;
	struct enters *e = serve_enters(client_serve(c));
	struct entering *w;

	if (try_to_enter(e, c, request, false))
		return;
	w = calloc(1, sizeof(*w));
	if (w)
		w->timer = evtimer_new(serve_base(e->serve), timer_event, w);
	if (!w || !w->timer) {
		free(w);
		client_end(c, EXIT_REFUSED, "out of memory");
		return;
	}
	w->enters = e;
	w->client = c;
	w->request = *request;
	w->at = &e->first;
	w->next = e->first;
	if (w->next)
		w->next->at = &w->next;
	e->first = w;
	client_on_close(c, forget_client, w);
	wait_again(w);
}

static int adopt_class(const char *name, void *arg)
{
	struct enters *e = arg;
	struct cgnet_info info;
	char dir[PATH_MAX];

	if (!instance_info(serve_instance(e->serve), &info, NULL) &&
	    !instance_cgroup(&info, dir, name, NULL))
		ends_adopt(e->ends, dir);
	return 0;
}

void enters_adopt(struct enters *e)
{
	instance_each_class(serve_instance(e->serve), adopt_class, e);
}

struct enters *enters_new(struct serve *s, struct why *why)
{
	struct enters *e = calloc(1, sizeof(*e));

	if (!e) {
		why_set(why, -ENOMEM, "out of memory");
		return NULL;
	}
	e->serve = s;
	e->ends = ends_new(serve_base(s), why);
	if (e->ends)
		return e;
	free(e);
	return NULL;
}

void enters_free(struct enters *e)
{
	if (!e)
		return;
	ends_free(e->ends);
	free(e);
}
