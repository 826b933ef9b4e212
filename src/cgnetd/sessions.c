// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sessions.h"

#include <errno.h>
#include <linux/limits.h>
#include <string.h>

#include "cgroup.h"

struct walk {
	const char *path;
	struct sessions *sessions;
};

static int child_path(const char *path, const char *name, char out[PATH_MAX])
{
	return snprintf(out, PATH_MAX, "%s/%s", path, name) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static int add_live(const char *name, void *arg)
{
	struct walk *walk = arg;
	struct sessions *s = walk->sessions;
	char path[PATH_MAX];
	int err = child_path(walk->path, name, path);

	if (err || cgroup_populated(path) != 1)
		return err;
	err = ARRAY_RESERVE(&s->names, &s->cap, s->n);
	if (err)
		return err;
	s->names[s->n] = strdup(name);
	return s->names[s->n++] ? 0 : -ENOMEM;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int sessions_list(const char *path, struct sessions *out)
{
	struct sessions found = {};
	struct walk walk = {path, &found};
	int err = cgroup_each_child(path, add_live, &walk);

	if (err && err != -ENOENT) {
		sessions_free(&found);
		return err;
	}
	if (found.n)
		qsort(found.names, found.n, sizeof(*found.names), by_name);
	*out = found;
	return 0;
}

void sessions_free(struct sessions *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->names[i]);
	free(s->names);
	*s = (struct sessions){};
}

char *sessions_format(const struct sessions *s, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < s->n && used < size; i++) {
		if (used > 100 && i + 1 < s->n) {
			snprintf(buf + used, size - used, " and %zu more", s->n - i);
			break;
		}
		used += snprintf(buf + used, size - used, "%s%s", i ? ", " : "", s->names[i]);
	}
	return buf;
}

static int remove_empty(const char *name, void *arg)
{
	char path[PATH_MAX];

	if (!child_path(arg, name, path) && cgroup_populated(path) == 0)
		cgroup_remove(path);
	return 0;
}

void sessions_sweep(const char *path)
{
	cgroup_each_child(path, remove_empty, (void *)path);
}
