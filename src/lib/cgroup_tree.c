// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cgroup_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util.h"

#define DIRECTORY (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* How often a cgroup may turn out to be empty and still not be removed: others remove them too. */
#define MAX_VAIN 100

int cgroup_dir_populated(int dir)
{
	_cleanup_close_ int fd = openat(dir, "cgroup.events", O_RDONLY | O_CLOEXEC);
	static const char key[] = "populated ";
	char text[128], *at;
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0) /* removed since it was opened */
		return errno == ENODEV ? -ENOENT : -errno;
	text[n] = '\0';
	at = strstr(text, key);
	return at ? at[sizeof(key) - 1] == '1' : -EIO;
}

/* The stream does not share its position with dir, nor with another stream of it. */
static DIR *list_of(int dir)
{
	int fd = openat(dir, ".", DIRECTORY);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);

	if (!list && fd >= 0)
		close(fd);
	return list;
}

/* A session may have begun a name with a dot. */
static const struct dirent *next_cgroup(DIR *list)
{
	const struct dirent *d;

	do
		d = readdir(list);
	while (d && (d->d_type != DT_DIR || !strcmp(d->d_name, ".") || !strcmp(d->d_name, "..")));
	return d;
}

/* Goes to another directory. Returns 0 or the error that next is. */
static int go(int *at, int next)
{
	if (next < 0)
		return next;
	close(*at);
	*at = next;
	return 0;
}

static int open_parent(int dir)
{
	int fd = openat(dir, "..", DIRECTORY);

	return fd < 0 ? -errno : fd;
}

/* Opens a cgroup that cannot be removed although nothing lives there: there are more below it. */
static int open_nesting(int parent, const char *name)
{
	_cleanup_close_ int fd = openat(parent, name, DIRECTORY);
	int populated;

	if (fd < 0)
		return -errno;
	populated = cgroup_dir_populated(fd);
	if (populated)
		return populated < 0 ? populated : -EBUSY;
	return take_fd(&fd);
}

/*
 * Removes the cgroups in dir up to one with others in it, and opens that. -ENOENT at the end.
 * *removed is set if there were any.
 */
static int remove_up_to_nesting(int dir, bool *removed)
{
	DIR *list = list_of(dir);
	const struct dirent *d;
	int ret = list ? -ENOENT : -errno;

	while (list && ret == -ENOENT && (d = next_cgroup(list))) {
		if (!unlinkat(dir, d->d_name, AT_REMOVEDIR))
			*removed = true;
		else if (errno == EBUSY || errno == ENOTEMPTY)
			ret = open_nesting(dir, d->d_name);
		else if (errno != ENOENT)
			ret = -errno;
	}
	if (list)
		closedir(list);
	return ret;
}

static int remove_below(int top)
{
	_cleanup_close_ int at = fcntl(top, F_DUPFD_CLOEXEC, 0);
	size_t depth = 0, vain = 0;
	int err = at < 0 ? -errno : 0;

	while (!err && vain < MAX_VAIN) {
		bool removed = false;
		int next = remove_up_to_nesting(at, &removed);

		if (next != -ENOENT) {
			err = go(&at, next);
			depth++;
			continue;
		}
		vain = removed ? 0 : vain + 1;
		if (!depth--)
			return 0;
		err = go(&at, open_parent(at));
	}
	return err ? err : -EBUSY;
}

int cgroup_tree_remove(int parent, const char *name)
{
	_cleanup_close_ int top = -1;
	int err;

	if (!unlinkat(parent, name, AT_REMOVEDIR) || errno == ENOENT)
		return 0;
	if (errno != EBUSY && errno != ENOTEMPTY)
		return -errno;
	top = open_nesting(parent, name);
	err = top < 0 ? top : remove_below(top);
	if (err)
		return err == -ENOENT ? 0 : err;
	return !unlinkat(parent, name, AT_REMOVEDIR) || errno == ENOENT ? 0 : -errno;
}

/* One that was removed meanwhile has no processes; those of a threaded one are listed above it. */
static int kill_listed(int dir)
{
	_cleanup_close_ int fd = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	_cleanup_fclose_ FILE *f = NULL;
	int pid;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	f = fdopen(fd, "re");
	if (!f)
		return -errno;
	take_fd(&fd);
	while (fscanf(f, "%d", &pid) == 1)
		if (pid > 0)
			kill(pid, SIGKILL);
	return 0;
}

/* Opens the next cgroup in dir from *offset on, which is then behind it. -ENOENT at the end. */
static int open_next(int dir, long *offset)
{
	DIR *list = list_of(dir);
	const struct dirent *d;
	int fd = -1;

	if (!list)
		return errno == ENOENT ? -EIO : -errno;
	seekdir(list, *offset);
	while (fd < 0 && (d = next_cgroup(list)))
		fd = openat(dir, d->d_name, DIRECTORY);
	*offset = telldir(list);
	closedir(list);
	return fd < 0 ? -ENOENT : fd;
}

int cgroup_tree_kill(int dir)
{
	_cleanup_close_ int at = fcntl(dir, F_DUPFD_CLOEXEC, 0);
	_cleanup_free_ long *offsets = NULL;
	size_t depth = 0, cap = 0;
	long offset = 0;
	int err = at < 0 ? -errno : kill_listed(at);

	while (!err) {
		int next = open_next(at, &offset);

		if (next == -ENOENT) {
			if (!depth)
				return 0;
			offset = offsets[--depth];
			err = go(&at, open_parent(at));
			continue;
		}
		err = ARRAY_RESERVE(&offsets, &cap, depth);
		if (err < 0 && next >= 0)
			close(next);
		if (!err)
			err = go(&at, next);
		if (!err)
			err = kill_listed(at);
		if (!err) {
			offsets[depth++] = offset;
			offset = 0;
		}
	}
	return err;
}
