// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#include "cgroup_tree.h"

#define MAX_SESSION_NAME 64

/* How many sessions a sweep looks at. */
#define SWEEP_FEW 8

/* An empty cgroup of this age in whole seconds is not one whose CMD is just being started. */
#define SWEEP_AGE_S 2

static unsigned int random_word(void)
{
	unsigned int word = 0;

	/* It only has to be seldom the same; a collision is noticed. */
	if (getrandom(&word, sizeof(word), GRND_NONBLOCK) < 0)
		word = (unsigned int)clock();
	return word;
}

/* The kernel's own files in a cgroup are called CONTROLLER.SOMETHING, or cgroup.SOMETHING. */
static bool is_kernel_name(const char *name)
{
	static const char *const owners[] = {
		"cgroup", "cpu",    "cpuset", "debug",	    "dmem", "hugetlb", "io",
		"irq",	  "memory", "misc",   "perf_event", "pids", "rdma",
	};
	size_t len = strcspn(name, ".");

	if (!name[len])
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(owners); i++)
		if (strlen(owners[i]) == len && !memcmp(owners[i], name, len))
			return true;
	return false;
}

int session_check_name(const char *name, struct why *why)
{
	size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789._-");

	if (!isalnum((unsigned char)name[0]) || name[len] || len > MAX_SESSION_NAME)
		return why_set(why, -EINVAL, "--name \"%s\": not [a-z0-9][a-z0-9._-]{0,63}", name);
	if (is_kernel_name(name))
		return why_set(why, -EINVAL, "--name %s: the kernel's own files are called so",
			       name);
	return 0;
}

/* Opens the directory and locks it. A lock that somebody has means that a session is starting. */
static int open_locked(const char *path)
{
	_cleanup_close_ int fd = -1;

	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return -errno;
	return take_fd(&fd);
}

/*
 * As open_locked(), for a directory just made whose name others may want too. Before it is locked
 * one of them could have removed it and made it again, and his CMD be in it already: -EBUSY.
 */
static int open_empty(const char *path)
{
	_cleanup_close_ int fd = -1;

	fd = open_locked(path);
	if (fd >= 0 && cgroup_dir_populated(fd) != 0)
		return -EBUSY;
	return take_fd(&fd);
}

/*
 * Makes room for a session of a given name. The lock keeps two who find the same leftover apart;
 * otherwise one of them could remove what the other has just made in its place.
 */
static int remove_leftover(const struct session *s, struct why *why)
{
	_cleanup_close_ int fd = -1;
	int err;

	fd = open_locked(s->dir);
	err = fd < 0 ? fd : cgroup_tree_remove(AT_FDCWD, s->dir);
	if (!err || err == -ENOENT)
		return why_set(why, -EAGAIN, "%s: made and removed at once by others", s->dir);
	if (err == -EBUSY || err == -EWOULDBLOCK)
		return why_set(why, -EEXIST, "session %s: exists already", s->name);
	return why_set(why, err, "%s: left by an earlier session, cannot be removed: %s", s->dir,
		       strerror(-err));
}

static int make_dir(const char *path)
{
	mode_t mask = umask(022);
	int err = mkdir(path, 0755) ? -errno : 0;

	umask(mask);
	return err;
}

static int set_names(struct session *s, const struct session_class *c, const char *name)
{
	if (name)
		snprintf(s->name, sizeof(s->name), "%s", name);
	else
		snprintf(s->name, sizeof(s->name), "s%d-%08x", (int)getpid(), random_word());
	if (snprintf(s->cgroup, sizeof(s->cgroup), "%s/%s", c->cgroup, s->name) >=
	    (int)sizeof(s->cgroup))
		return -ENAMETOOLONG;
	if (snprintf(s->dir, sizeof(s->dir), "%s/%s", c->dir, s->name) >= (int)sizeof(s->dir))
		return -ENAMETOOLONG;
	return 0;
}

int session_open(struct session *s, const struct session_class *c, const char *name,
		 struct why *why)
{
	int err;

	err = set_names(s, c, name);
	if (!err)
		err = make_dir(s->dir);
	if (err == -EEXIST && name)
		return remove_leftover(s, why);
	if (err == -EEXIST)
		err = -EAGAIN;
	if (err < 0)
		return why_set(why, err, "%s: mkdir: %s", s->dir, strerror(-err));
	err = name ? open_empty(s->dir) : open_locked(s->dir);
	if (err >= 0) {
		s->fd = err;
		return 0;
	}
	if (err == -ENOENT || err == -EWOULDBLOCK || err == -EBUSY)
		return why_set(why, -EAGAIN, "%s: removed at once by others", s->dir);
	rmdir(s->dir);
	return why_set(why, err, "%s: %s", s->dir, strerror(-err));
}

void session_close(struct session *s)
{
	cleanup_closep(&s->fd);
	s->fd = -1;
}

void session_remove(const struct session *s)
{
	cgroup_tree_remove(AT_FDCWD, s->dir);
}

int session_remove_dead(const char *path)
{
	_cleanup_close_ int fd = open_locked(path);
	int err = fd < 0 ? fd : cgroup_tree_remove(AT_FDCWD, path);

	if (err == -EWOULDBLOCK)
		return -EBUSY;
	return err == -ENOENT ? 0 : err;
}

static void sweep_one(int dir, const char *name, time_t now)
{
	struct stat st;

	/* The times of a cgroup may be later than its making, but never earlier. */
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || now - st.st_ctime < SWEEP_AGE_S)
		return;
	/* Most are alive: one call tells, if there is nothing nested to be removed first. */
	if (st.st_nlink <= 2)
		unlinkat(dir, name, AT_REMOVEDIR);
	else
		cgroup_tree_remove(dir, name);
}

void session_sweep(const char *dir)
{
	time_t now = time(NULL);
	struct dirent *d;
	struct stat st;
	DIR *list;
	int left;

	/* A directory has two links and one for each directory in it. */
	if (stat(dir, &st) < 0 || st.st_nlink <= 2)
		return;
	list = opendir(dir);
	if (!list)
		return;
	/* Of many sessions a few are taken by chance: offsets are hashes of the names there. */
	if (st.st_nlink - 2 > SWEEP_FEW)
		seekdir(list, random_word() & INT_MAX);
	for (left = SWEEP_FEW; left && (d = readdir(list));) {
		if (d->d_type != DT_DIR || d->d_name[0] == '.')
			continue;
		sweep_one(dirfd(list), d->d_name, now);
		left--;
	}
	closedir(list);
}
