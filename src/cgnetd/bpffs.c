// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "bpffs.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <linux/limits.h>
#include <linux/magic.h>
#include <mntent.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#define STANDARD_MOUNT "/sys/fs/bpf"

/* The mount's source tells later that cgnetd made it. */
#define OUR_SOURCE "cgnet"

static bool is_bpffs(const char *path)
{
	struct statfs fs;

	return statfs(path, &fs) == 0 && (unsigned long)fs.f_type == BPF_FS_MAGIC;
}

static bool lies_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return !strncmp(path, dir, n) && path[n] == '/';
}

static int mount_at(const char *dir, struct why *why)
{
	if (mount(OUR_SOURCE, dir, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700") < 0)
		return why_set(why, -errno, "cannot mount bpffs at %s: %s", dir, strerror(errno));
	return 0;
}

static int make_one(const char *dir, struct why *why)
{
	struct stat st;

	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		return why_set(why, -errno, "cannot make %s: %s", dir, strerror(errno));
	if (lstat(dir, &st) < 0)
		return why_set(why, -errno, "%s: %s", dir, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return why_set(why, -ENOTDIR, "%s is not a directory", dir);
	return 0;
}

/* True if dir's parent, or an ancestor if the parent does not exist, is on a bpffs. */
static bool parent_is_bpffs(const char *dir)
{
	char parent[PATH_MAX];
	char *slash;

	strcpy(parent, dir);
	while ((slash = strrchr(parent, '/')) && slash != parent) {
		*slash = '\0';
		if (access(parent, F_OK) == 0)
			return is_bpffs(parent);
	}
	return false;
}

/* Removes path and the parts above it, so many in all, as far as they are empty. */
static void remove_parts(const char *path, int parts)
{
	char part[PATH_MAX];

	strcpy(part, path);
	while (parts-- > 0 && rmdir(part) == 0)
		*strrchr(part, '/') = '\0';
}

/* Makes path and what is missing above it, and adds to *made how many that were. */
static int make_parts(const char *path, int *made, struct why *why)
{
	char part[PATH_MAX];
	char *p = part;
	int err = 0;

	strcpy(part, path);
	while (!err && p) {
		bool missing;

		p = strchr(p + 1, '/');
		if (p)
			*p = '\0';
		missing = access(part, F_OK) < 0;
		if (missing || !p)
			err = make_one(part, why);
		*made += missing && !err;
		if (p)
			*p = '/';
	}
	return err;
}

static int make_mounted(const char *dir, int *made, struct why *why)
{
	struct stat st;
	int err = 0;

	if (!parent_is_bpffs(dir) && !is_bpffs(dir)) {
		bool standard = lies_below(dir, STANDARD_MOUNT);

		if (!standard)
			err = make_parts(dir, made, why);
		if (!err)
			err = mount_at(standard ? STANDARD_MOUNT : dir, why);
	}
	if (!err)
		err = make_parts(dir, made, why);
	if (err)
		return err;
	if (stat(dir, &st) < 0 || !is_bpffs(dir))
		return why_set(why, -ENODEV, "%s is not on a bpffs", dir);
	if (st.st_uid != geteuid() || (st.st_mode & (S_IRWXG | S_IRWXO)))
		return why_set(why, -EPERM, "%s is open to others than root", dir);
	return 0;
}

int bpffs_make_dir(const char *dir, struct why *why)
{
	int made = 0, no_lock = -1, err;

	if (dir[0] != '/' || strlen(dir) >= PATH_MAX)
		return why_set(why, -EINVAL, "%s: --bpffs takes an absolute path", dir);
	err = make_mounted(dir, &made, why);
	if (err) {
		remove_parts(dir, made);
		bpffs_remove_dir(dir, &no_lock);
	}
	return err;
}

/* True if the mount at exactly dir is one that cgnetd made. */
static bool is_our_mount(const char *dir)
{
	struct mntent entry;
	char buf[2 * PATH_MAX];
	FILE *f = setmntent("/proc/self/mounts", "re");
	bool ours = false;

	if (!f)
		return false;
	while (getmntent_r(f, &entry, buf, sizeof(buf)))
		if (!strcmp(entry.mnt_dir, dir))
			ours = !strcmp(entry.mnt_type, "bpf") &&
			       !strcmp(entry.mnt_fsname, OUR_SOURCE);
	endmntent(f);
	return ours;
}

/* The kernel puts two iterators into every new bpffs (CONFIG_BPF_PRELOAD). */
static bool is_preloaded(const char *name)
{
	return !strcmp(name, "maps.debug") || !strcmp(name, "progs.debug");
}

static bool is_empty(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool empty = dir != NULL;

	if (!dir)
		return false;
	while (empty && (entry = readdir(dir)))
		empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
			is_preloaded(entry->d_name);
	closedir(dir);
	return empty;
}

/* Directories above, which stand in the way of nothing but are of no use to anybody. */
static void remove_empty_above(const char *dir)
{
	char part[PATH_MAX];

	strcpy(part, dir);
	do {
		*strrchr(part, '/') = '\0';
	} while (is_bpffs(part) && rmdir(part) == 0);
}

void bpffs_remove_dir(const char *dir, int *lock)
{
	const char *at = lies_below(dir, STANDARD_MOUNT) ? STANDARD_MOUNT : dir;

	/* While locked: who waits for the lock sees that it is gone, and makes it anew. */
	if (rmdir(dir) == 0)
		remove_empty_above(dir);
	if (*lock >= 0)
		close(take_fd(lock));
	if (is_our_mount(at) && is_empty(at) && umount(at) == 0 && at == dir)
		rmdir(dir);
}

static int join(char path[PATH_MAX], const char *dir, const char *name, struct why *why)
{
	if (snprintf(path, PATH_MAX, "%s/%s", dir, name) >= PATH_MAX)
		return why_set(why, -ENAMETOOLONG, "%s/%s: path too long", dir, name);
	return 0;
}

int bpffs_pin(int fd, const char *dir, const char *name, struct why *why)
{
	char path[PATH_MAX], temp[PATH_MAX];
	int err = join(path, dir, name, why);

	if (!err)
		err = join(temp, dir, BPFFS_TEMP, why);
	if (err)
		return err;
	unlink(temp);
	if (bpf_obj_pin(fd, temp) < 0)
		return why_set(why, -errno, "cannot pin %s: %s", path, strerror(errno));
	if (rename(temp, path) < 0) {
		err = -errno;
		unlink(temp);
		return why_set(why, err, "cannot pin %s: %s", path, strerror(-err));
	}
	return 0;
}

int bpffs_open(const char *dir, const char *name, struct why *why)
{
	char path[PATH_MAX];
	int fd, err = join(path, dir, name, why);

	if (err)
		return err;
	fd = bpf_obj_get(path);
	if (fd < 0)
		return why_set(why, -errno, "cannot open %s: %s", path, strerror(errno));
	return fd;
}

int bpffs_remove_tree(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int err = 0;

	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	while ((entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		    unlinkat(dirfd(dir), entry->d_name, 0) < 0)
			err = -errno;
	closedir(dir);
	if (rmdir(path) < 0 && errno != ENOENT)
		err = -errno;
	return err;
}
