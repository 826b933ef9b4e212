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
