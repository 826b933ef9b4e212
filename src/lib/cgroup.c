// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libcgroup.h>
#include <linux/limits.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>

#include "cgroup_tree.h"
#include "mountinfo.h"

/* The limits of a class, and the files that they stand in. */
static const struct {
	const char *name, *controller, *file, *usage;
} limits[CGNET_LIMITS] = {
	[CGNET_LIMIT_PIDS] = {"pids_max", "pids", "pids.max", "pids.current"},
	[CGNET_LIMIT_MEMORY] = {"memory_max", "memory", "memory.max", "memory.current"},
};

#define KILL_ROUNDS   500
#define KILL_PAUSE_NS 10000000

static bool is_cgroup2(const char *path)
{
	struct statfs fs;

	return statfs(path, &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC;
}

static int copy_path(char *path, size_t size, const char *from)
{
	if (strlen(from) >= size)
		return -ENAMETOOLONG;
	strcpy(path, from);
	return 0;
}

/* The mount of any controller that is bound to v2. */
static int find_by_libcgroup(char *path, size_t size)
{
	struct cgroup_mount_point mount;
	void *handle = NULL;
	int err = -ENODEV;
	int end;

	if (cgroup_init())
		return -ENODEV;
	for (end = cgroup_get_controller_begin(&handle, &mount); !end && err;
	     end = cgroup_get_controller_next(&handle, &mount))
		if (is_cgroup2(mount.path))
			err = copy_path(path, size, mount.path);
	cgroup_get_controller_end(&handle);
	return err;
}

/* The first mount of the whole hierarchy (root "/"), not of a part of it. */
static int find_by_mountinfo(char *path, size_t size)
{
	_cleanup_fclose_ FILE *f = fopen("/proc/self/mountinfo", "re");
	_cleanup_free_ char *line = NULL;
	size_t cap = 0;

	if (!f)
		return -errno;
	while (getline(&line, &cap, f) > 0) {
		char root[8], mount[PATH_MAX + 1];
		const char *type = strstr(line, " - ");

		if (!type || strncmp(type + 3, "cgroup2 ", 8) != 0)
			continue;
		if (sscanf(line, "%*d %*d %*s %7s %4096s", root, mount) != 2 ||
		    strcmp(root, "/") != 0)
			continue;
		mountinfo_unescape(mount);
		if (is_cgroup2(mount))
			return copy_path(path, size, mount);
	}
	return -ENODEV;
}

int cgroup_find_mount(char *path, size_t size, struct why *why)
{
	if (!find_by_libcgroup(path, size) || !find_by_mountinfo(path, size))
		return 0;
	return why_set(why, -ENODEV,
		       "no cgroup2 is mounted here (mount -t cgroup2 cgroup2 /sys/fs/cgroup)");
}

int cgroup_make(const char *path, bool *made, struct why *why)
{
	struct stat st;

	*made = false;
	if (mkdir(path, 0755) == 0)
		*made = true;
	else if (errno != EEXIST)
		return why_set(why, -errno, "cannot make cgroup %s: %s", path, strerror(errno));
	if (lstat(path, &st) < 0)
		return why_set(why, -errno, "cgroup %s: %s", path, strerror(errno));
	if (!S_ISDIR(st.st_mode) || !is_cgroup2(path))
		return why_set(why, -ENOTDIR, "%s is not a cgroup2 directory", path);
	if (st.st_uid != 0 || (st.st_mode & (S_IWGRP | S_IWOTH)))
		return why_set(why, -EPERM, "cgroup %s could be changed by others than root", path);
	return 0;
}

int cgroup_id(const char *path, uint64_t *id)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -errno;
	*id = st.st_ino;
	return 0;
}

int cgroup_populated(const char *path)
{
	_cleanup_close_ int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return dir < 0 ? -errno : cgroup_dir_populated(dir);
}

int cgroup_each_child(const char *path, int (*visit)(const char *name, void *arg), void *arg)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int ret = 0;

	if (!dir)
		return -errno;
	while (!ret && (entry = readdir(dir)))
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
			ret = visit(entry->d_name, arg);
	closedir(dir);
	return ret;
}

const char *cgroup_limit_name(enum cgnet_limit limit)
{
	return limits[limit].name;
}

const char *cgroup_limit_controller(enum cgnet_limit limit)
{
	return limits[limit].controller;
}

/* Where the controller's hierarchy is mounted, v1 or v2. Returns 0 or -ENODEV. */
static int find_controller(const char *controller, char path[PATH_MAX])
{
	struct cgroup_mount_point mount;
	void *handle = NULL;
	int err = -ENODEV;
	int end;

	if (cgroup_init())
		return err;
	for (end = cgroup_get_controller_begin(&handle, &mount); !end && err;
	     end = cgroup_get_controller_next(&handle, &mount))
		if (!strcmp(mount.name, controller))
			err = copy_path(path, PATH_MAX, mount.path);
	cgroup_get_controller_end(&handle);
	return err;
}

static int limit_mount(enum cgnet_limit limit, char mount[PATH_MAX], struct why *why)
{
	const char *controller = limits[limit].controller;

	if (find_controller(controller, mount))
		return why_set(why, -EOPNOTSUPP, "there is no cgroup controller %s here",
			       controller);
	if (!is_cgroup2(mount))
		return why_set(why, -EOPNOTSUPP,
			       "the cgroup controller %s is on cgroup v1 (%s), not on cgroup2",
			       controller, mount);
	return 0;
}

int cgroup_limit_probe(enum cgnet_limit limit, struct why *why)
{
	char mount[PATH_MAX];

	return limit_mount(limit, mount, why);
}

/* path below the mount, "cgnet/restricted": libcgroup's name for it. NULL if it is not below. */
static const char *name_below(const char *mount, const char *path)
{
	size_t n = strlen(mount);

	return !strncmp(path, mount, n) && path[n] == '/' ? path + n + 1 : NULL;
}

/*
 * By hand: libcgroup does this only while it makes a cgroup, and where that fails it removes the
 * cgroup, sessions moved out of their class first.
 */
static int enable_below(const char *path, const char *controller, struct why *why)
{
	_cleanup_close_ int fd = -1;
	char file[PATH_MAX], text[64];

	if ((size_t)snprintf(file, sizeof(file), "%s/cgroup.subtree_control", path) >= sizeof(file))
		return why_set(why, -ENAMETOOLONG, "%s: path too long", path);
	snprintf(text, sizeof(text), "+%s", controller);
	fd = open(file, O_WRONLY | O_CLOEXEC);
	if (fd >= 0 && write(fd, text, strlen(text)) > 0)
		return 0;
	if (errno == ENOENT)
		return why_set(why, -EOPNOTSUPP, "the cgroup controller %s is not given to %s",
			       controller, path);
	if (errno == EBUSY)
		return why_set(
			why, -EBUSY,
			"cannot switch on the cgroup controller %s below %s: processes live in it",
			controller, path);
	return why_set(why, -errno, "cannot switch on the cgroup controller %s below %s: %s",
		       controller, path, strerror(errno));
}

int cgroup_limit_enable(const char *path, enum cgnet_limit limit, struct why *why)
{
	char mount[PATH_MAX], part[PATH_MAX];
	const char *name;
	int err = limit_mount(limit, mount, why);

	if (err)
		return err;
	name = name_below(mount, path);
	if (!name || copy_path(part, sizeof(part), path))
		return why_set(why, -EOPNOTSUPP, "cgroup %s is not below %s", path, mount);
	/* MOUNT, MOUNT/a, ... up to what path is a child of. */
	for (size_t at = strlen(mount); !err; at += strcspn(path + at + 1, "/") + 1) {
		memcpy(part, path, at);
		part[at] = '\0';
		if (!path[at])
			break;
		err = enable_below(part, limits[limit].controller, why);
	}
	return err;
}

/* Opens a file of the cgroup for reading, or returns NULL with errno set. */
static FILE *open_file(const char *path, const char *name)
{
	char file[PATH_MAX];

	if ((size_t)snprintf(file, sizeof(file), "%s/%s", path, name) >= sizeof(file)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	return fopen(file, "re");
}

/* Reads a file with one number, or "max", which reads as 0. */
static int read_number(const char *path, const char *name, uint64_t *out)
{
	_cleanup_fclose_ FILE *f = open_file(path, name);
	unsigned long long value = 0;
	char word[32];

	if (!f)
		return -errno;
	if (fscanf(f, "%31s", word) != 1)
		return -EIO;
	if (strcmp(word, "max") != 0 && sscanf(word, "%llu", &value) != 1)
		return -EIO;
	*out = value;
	return 0;
}

int cgroup_limit_get(const char *path, enum cgnet_limit limit, uint64_t *value, uint64_t *usage)
{
	uint64_t max = 0, now = 0;
	int err = read_number(path, limits[limit].file, &max);

	if (!err && usage)
		err = read_number(path, limits[limit].usage, &now);
	if (err)
		return err;
	*value = max;
	if (usage)
		*usage = now;
	return 0;
}

/* Values only; nothing is made or removed. Returns a code of libcgroup's. */
static int modify(const char *name, enum cgnet_limit limit, uint64_t value)
{
	struct cgroup *group = cgroup_new_cgroup(name);
	struct cgroup_controller *controller =
		group ? cgroup_add_controller(group, limits[limit].controller) : NULL;
	int err = ECGFAIL;

	if (controller)
		err = value ? cgroup_set_value_uint64(controller, limits[limit].file, value)
			    : cgroup_set_value_string(controller, limits[limit].file, "max");
	if (!err)
		err = cgroup_modify_cgroup(group);
	cgroup_free(&group);
	return err;
}

int cgroup_limit_set(const char *path, enum cgnet_limit limit, uint64_t value, struct why *why)
{
	char mount[PATH_MAX];
	int err = limit_mount(limit, mount, why);

	if (err)
		return err;
	if (!name_below(mount, path))
		return why_set(why, -EOPNOTSUPP, "cgroup %s is not below %s", path, mount);
	err = modify(name_below(mount, path), limit, value);
	if (err)
		return why_set(why, -EIO, "cannot set %s of %s: %s", limits[limit].file, path,
			       err == ECGOTHER ? strerror(cgroup_get_last_errno())
					       : cgroup_strerror(err));
	return 0;
}

int cgroup_remove(const char *path)
{
	return cgroup_tree_remove(AT_FDCWD, path);
}

static int kill_at_once(int dir)
{
	_cleanup_close_ int fd = openat(dir, "cgroup.kill", O_WRONLY | O_CLOEXEC);

	return fd < 0 || write(fd, "1", 1) != 1 ? -errno : 0;
}

int cgroup_kill(const char *path)
{
	_cleanup_close_ int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct timespec pause = {.tv_nsec = KILL_PAUSE_NS};
	int populated, err;
	bool at_once;

	if (dir < 0)
		return errno == ENOENT ? 0 : -errno;
	at_once = kill_at_once(dir) == 0;
	for (int i = 0; i < KILL_ROUNDS; i++) {
		populated = cgroup_dir_populated(dir);
		if (populated <= 0)
			return populated == -ENOENT || populated == -ENODEV ? 0 : populated;
		/* A process may fork while its list is read: hence again until none is left. */
		err = at_once ? 0 : cgroup_tree_kill(dir);
		if (err)
			return err;
		nanosleep(&pause, NULL);
	}
	return -EBUSY;
}
