// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "filewatch.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>

/* As the kernel does it. */
#define MAX_LINKS 40

/* Of a directory: what comes, goes or is replaced in it. */
#define DIR_EVENTS                                                                                 \
	(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF |     \
	 IN_ONLYDIR)

/* Of the file itself, be it mounted from elsewhere: what is written. */
#define FILE_EVENTS (IN_CLOSE_WRITE | IN_MODIFY | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)

/* Events taken at a time: whoever can write to a directory should not hold up the caller. */
#define MAX_READS 64

int filewatch_open(struct filewatch *w, struct why *why)
{
	*w = FILEWATCH_NONE;
	w->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	return w->fd < 0 ? why_set(why, -errno, "inotify: %s", strerror(errno)) : 0;
}

/* A step of the walk along a path. */
struct walk {
	struct filewatch *w;
	size_t path;
	char dir[PATH_MAX];  /* where it is, without links; "" for the root */
	char rest[PATH_MAX]; /* what is still to go */
	int links;
};

static int add_point(struct walk *x, const char *where, const char *name, uint32_t events)
{
	struct filewatch *w = x->w;
	struct filewatch_point point = {.path = x->path};

	if (ARRAY_RESERVE(&w->points, &w->points_cap, w->npoints))
		return -ENOMEM;
	point.wd = inotify_add_watch(w->fd, where, events);
	if (point.wd < 0)
		return -errno;
	point.name = strdup(name);
	if (!point.name)
		return -ENOMEM;
	w->points[w->npoints++] = point;
	return 0;
}

/* Cuts the first component off the rest. Returns false at the end. */
static bool next_name(struct walk *x, char name[NAME_MAX + 1])
{
	const char *at = x->rest + strspn(x->rest, "/");
	size_t n = strcspn(at, "/");

	if (!n || n > NAME_MAX)
		return false;
	memcpy(name, at, n);
	name[n] = '\0';
	memmove(x->rest, at + n, strlen(at + n) + 1);
	return true;
}

/* Goes on where a link points. Returns 0 or a negative errno. */
static int follow_link(struct walk *x, const char *link)
{
	char target[PATH_MAX], rest[PATH_MAX];
	ssize_t n = readlink(link, target, sizeof(target) - 1);

	if (n < 0)
		return -errno;
	target[n] = '\0';
	if (++x->links > MAX_LINKS)
		return -ELOOP;
	if (snprintf(rest, sizeof(rest), "%s/%s", target, x->rest) >= (int)sizeof(rest))
		return -ENAMETOOLONG;
	strcpy(x->rest, rest);
	if (*target == '/')
		x->dir[0] = '\0';
	return 0;
}

static void go_up(struct walk *x)
{
	char *slash = strrchr(x->dir, '/');

	if (slash)
		*slash = '\0';
}

/* One component. Returns 1 to go on, 0 at the end of what is there, or a negative errno. */
static int step(struct walk *x)
{
	char name[NAME_MAX + 1], path[PATH_MAX];
	struct stat st;
	int err;

	if (!next_name(x, name))
		return 0;
	if (!strcmp(name, "."))
		return 1;
	if (!strcmp(name, "..")) {
		go_up(x);
		return 1;
	}
	if (snprintf(path, sizeof(path), "%s/%s", x->dir, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	err = add_point(x, *x->dir ? x->dir : "/", name, DIR_EVENTS);
	if (err)
		return err;
	if (lstat(path, &st) < 0)
		return 0;
	if (S_ISLNK(st.st_mode)) {
		err = follow_link(x, path);
		return err ? err : 1;
	}
	if (S_ISDIR(st.st_mode)) {
		strcpy(x->dir, path);
		return 1;
	}
	err = add_point(x, path, "", FILE_EVENTS);
	return err == -ENOENT ? 0 : err;
}

/* What goes away under the walk reports an event, since the directory is watched by then. */
static int walk(struct filewatch *w, size_t path)
{
	struct walk x = {.w = w, .path = path};
	int err = 1;

	if (snprintf(x.rest, sizeof(x.rest), "%s", w->paths[path]) >= (int)sizeof(x.rest))
		return -ENAMETOOLONG;
	while (err > 0)
		err = step(&x);
	return err == -ENOENT || err == -ENOTDIR ? 0 : err;
}

static bool has_point(const struct filewatch *w, int wd)
{
	for (size_t i = 0; i < w->npoints; i++)
		if (w->points[i].wd == wd)
			return true;
	return false;
}

/*
 * Walks all paths anew. Watches that no path needs any more are removed last: taking one away and
 * setting it again would lose what happens in between.
 */
static void rearm(struct filewatch *w)
{
	struct filewatch_point *old = w->points;
	size_t nold = w->npoints;

	w->err = 0;
	w->points = NULL;
	w->npoints = w->points_cap = 0;
	for (size_t i = 0; i < w->npaths; i++) {
		int err = walk(w, i);

		if (!w->err)
			w->err = err;
	}
	for (size_t i = 0; i < nold; i++) {
		if (!has_point(w, old[i].wd))
			inotify_rm_watch(w->fd, old[i].wd);
		free(old[i].name);
	}
	free(old);
}

int filewatch_add(struct filewatch *w, const char *path, struct why *why)
{
	char *copy = strdup(path);
	int err;

	if (!copy || ARRAY_RESERVE(&w->paths, &w->paths_cap, w->npaths)) {
		free(copy);
		return why_set(why, -ENOMEM, "out of memory");
	}
	w->paths[w->npaths++] = copy;
	err = walk(w, w->npaths - 1);
	if (err) {
		filewatch_truncate(w, w->npaths - 1);
		return why_set(why, err, "cannot watch %s: %s", path, strerror(-err));
	}
	return 0;
}

void filewatch_truncate(struct filewatch *w, size_t first)
{
	if (first >= w->npaths)
		return;
	for (size_t i = first; i < w->npaths; i++)
		free(w->paths[i]);
	w->npaths = first;
	rearm(w);
}

/* An event without a name is the watched thing's own. */
static bool concerns(const struct filewatch_point *point, const struct inotify_event *e)
{
	return point->wd == e->wd && (!e->len || !*point->name || !strcmp(point->name, e->name));
}

static bool take_event(const struct filewatch *w, const struct inotify_event *e, bool *changed)
{
	bool any = false;

	for (size_t i = 0; i < w->npoints; i++) {
		if (!(e->mask & IN_Q_OVERFLOW) && !concerns(&w->points[i], e))
			continue;
		changed[w->points[i].path] = true;
		any = true;
	}
	return any;
}

bool filewatch_read(struct filewatch *w, bool *changed)
{
	char buf[16384] __attribute__((aligned(__alignof__(struct inotify_event))));
	bool any = false;

	for (int i = 0; i < MAX_READS; i++) {
		ssize_t n = read(w->fd, buf, sizeof(buf));
		const struct inotify_event *e;

		if (n <= 0)
			break;
		for (char *at = buf; at < buf + n; at += sizeof(*e) + e->len) {
			e = (const struct inotify_event *)at;
			any |= take_event(w, e, changed);
		}
	}
	if (any)
		rearm(w);
	return any;
}

void filewatch_close(struct filewatch *w)
{
	for (size_t i = 0; i < w->npaths; i++)
		free(w->paths[i]);
	for (size_t i = 0; i < w->npoints; i++)
		free(w->points[i].name);
	free(w->paths);
	free(w->points);
	if (w->fd >= 0)
		close(w->fd);
	*w = FILEWATCH_NONE;
}
