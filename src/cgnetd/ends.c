// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "ends.h"

#include <errno.h>
#include <event2/event.h>
#include <linux/limits.h>
#include <string.h>
#include <sys/inotify.h>

#include "cgroup.h"
#include "session.h"

#define SLOTS 1024

struct watch {
	struct watch *next;
	int wd;
	char dir[];
};

struct ends {
	struct watch *slots[SLOTS]; /* by wd */
	struct event *event;
	int fd;
};

static struct watch **find(struct ends *e, int wd)
{
	struct watch **at = &e->slots[(unsigned int)wd % SLOTS];

	while (*at && (*at)->wd != wd)
		at = &(*at)->next;
	return at;
}

static void forget(struct ends *e, int wd)
{
	struct watch **at = find(e, wd), *w = *at;

	if (!w)
		return;
	*at = w->next;
	free(w);
}

/*
 * A session that is over is removed, and its watch with it: the kernel keeps the watch, and the
 * inode, of a file of a cgroup that is gone.
 */
static void look(struct ends *e, int wd)
{
	const struct watch *w = *find(e, wd);
	int populated = w ? cgroup_populated(w->dir) : 1;

	if (populated == 0 && session_remove_dead(w->dir) == 0)
		populated = -ENOENT;
	if (populated != -ENOENT)
		return;
	inotify_rm_watch(e->fd, wd);
	forget(e, wd);
}

static void ends_event(evutil_socket_t fd, short what, void *arg)
{
	_Alignas(struct inotify_event) char buf[4096];
	struct ends *e = arg;
	ssize_t n;

	(void)what;
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		for (char *p = buf; p < buf + n;) {
			struct inotify_event *event = (struct inotify_event *)p;

			if (event->mask & IN_MODIFY)
				look(e, event->wd);
			p += sizeof(*event) + event->len;
		}
}

struct ends *ends_new(struct event_base *base, struct why *why)
{
	struct ends *e = calloc(1, sizeof(*e));

	if (!e) {
		why_set(why, -ENOMEM, "out of memory");
		return NULL;
	}
	e->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (e->fd >= 0)
		e->event = event_new(base, e->fd, EV_READ | EV_PERSIST, ends_event, e);
	if (e->event && !event_add(e->event, NULL))
		return e;
	why_set(why, -errno, "inotify: %s", strerror(errno));
	ends_free(e);
	return NULL;
}

void ends_free(struct ends *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < SLOTS; i++)
		while (e->slots[i]) {
			struct watch *next = e->slots[i]->next;

			free(e->slots[i]);
			e->slots[i] = next;
		}
	if (e->event)
		event_free(e->event);
	cleanup_closep(&e->fd);
	free(e);
}

int ends_watch(struct ends *e, const char *dir)
{
	size_t size = strlen(dir) + 1;
	char path[PATH_MAX];
	struct watch *w;
	int wd;

	if (snprintf(path, sizeof(path), "%s/cgroup.events", dir) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	wd = inotify_add_watch(e->fd, path, IN_MODIFY);
	if (wd < 0)
		return -errno;
	if (!*find(e, wd)) {
		w = malloc(sizeof(*w) + size);
		if (!w)
			return -ENOMEM;
		w->wd = wd;
		memcpy(w->dir, dir, size);
		w->next = e->slots[(unsigned int)wd % SLOTS];
		e->slots[(unsigned int)wd % SLOTS] = w;
	}
	/* It may have come to an end before. */
	look(e, wd);
	return 0;
}

struct adoption {
	struct ends *ends;
	const char *dir;
};

static int adopt_one(const char *name, void *arg)
{
	const struct adoption *a = arg;
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", a->dir, name) < (int)sizeof(path))
		ends_watch(a->ends, path);
	return 0;
}

void ends_adopt(struct ends *e, const char *dir)
{
	struct adoption a = {e, dir};

	cgroup_each_child(dir, adopt_one, &a);
}
