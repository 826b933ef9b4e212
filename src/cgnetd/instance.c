// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "instance.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "bpffs.h"
#include "cgroup.h"

#define LOCK_ROUNDS   500
#define LOCK_PAUSE_NS 20000000

/* More than any version's record of an instance takes. */
#define RECORD_MAX 65536

int instance_path(const struct instance *in, char path[PATH_MAX], const char *a, const char *b,
		  struct why *why)
{
	int n = snprintf(path, PATH_MAX, "%s/%s%s%s", in->bpffs, a, b ? "/" : "", b ? b : "");

	if (n >= PATH_MAX)
		return why_set(why, -ENAMETOOLONG, "%s: path too long", in->bpffs);
	return 0;
}

int instance_cgroup(const struct cgnet_info *info, char path[PATH_MAX], const char *class_name,
		    struct why *why)
{
	int n = snprintf(path, PATH_MAX, "%s/%s%s%s", info->mount, info->cgroup,
			 class_name ? "/" : "", class_name ? class_name : "");

	if (n >= PATH_MAX)
		return why_set(why, -ENAMETOOLONG, "%s: path too long", info->cgroup);
	return 0;
}

/* True if the directory behind fd is still the one that path names. */
static bool is_current(int fd, const char *path)
{
	struct stat held, named;

	return fstat(fd, &held) == 0 && stat(path, &named) == 0 && held.st_dev == named.st_dev &&
	       held.st_ino == named.st_ino;
}

static int open_dir(const struct instance *in, bool make, struct why *why)
{
	int fd = -1, err;

	if (make) {
		err = bpffs_make_dir(in->bpffs, why);
		if (err)
			return err;
	}
	fd = open(in->bpffs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	err = -errno;
	if (make)
		bpffs_remove_dir(in->bpffs, &fd);
	if (err == -ENOENT)
		return why_set(why, err, "nothing is loaded (no %s)", in->bpffs);
	return why_set(why, err, "cannot open %s: %s", in->bpffs, strerror(-err));
}

/* One try. -EAGAIN: others hold it, or it was replaced meanwhile. */
static int try_lock(const struct instance *in, int operation, bool make, struct why *why)
{
	_cleanup_close_ int fd = open_dir(in, make, why);

	if (fd < 0)
		return fd;
	if (flock(fd, operation | LOCK_NB) == 0)
		/* `unload` may have removed it while we waited: then take the new one. */
		return is_current(fd, in->bpffs) ? take_fd(&fd) : -EAGAIN;
	if (errno != EWOULDBLOCK && errno != EINTR)
		return why_set(why, -errno, "cannot lock %s: %s", in->bpffs, strerror(errno));
	return -EAGAIN;
}

static int busy(const struct instance *in, struct why *why)
{
	return why_set(why, -EBUSY, "%s is being changed by another cgnetd", in->bpffs);
}

int instance_try_lock(const struct instance *in, int operation, struct why *why)
{
	int fd = try_lock(in, operation, false, why);

	return fd == -EAGAIN ? busy(in, why) : fd;
}

int instance_lock(const struct instance *in, int operation, bool make, struct why *why)
{
	const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};

	for (int i = 0; i < LOCK_ROUNDS; i++) {
		int fd = try_lock(in, operation, make, why);

		if (fd != -EAGAIN)
			return fd;
		nanosleep(&pause, NULL);
	}
	return busy(in, why);
}

/* _CLASS, or a pin that has not got its name yet (see bpffs_pin()). */
static int is_half_built(const struct dirent *entry)
{
	return entry->d_name[0] == '_' && strcmp(entry->d_name, CGNET_PIN_READER) != 0 &&
	       (entry->d_type == DT_DIR || !strcmp(entry->d_name, BPFFS_TEMP));
}

int instance_clean(const struct instance *in, struct why *why)
{
	struct dirent **names = NULL;
	int n = scandir(in->bpffs, &names, is_half_built, alphasort);
	int err = n < 0 ? why_set(why, -errno, "%s: %s", in->bpffs, strerror(errno)) : 0;

	for (int i = 0; i < n; i++) {
		char path[PATH_MAX];

		if (!err)
			err = instance_path(in, path, names[i]->d_name, NULL, why);
		if (!err && unlink(path) < 0)
			err = bpffs_remove_tree(path);
		if (err)
			why_set(why, err, "cannot remove %s/%s: %s", in->bpffs, names[i]->d_name,
				strerror(-err));
		free(names[i]);
	}
	free(names);
	return err;
}

void instance_remove(const struct instance *in, int *lock)
{
	bpffs_remove_dir(in->bpffs, lock);
}

void instance_remove_root(const struct cgnet_info *info)
{
	char path[PATH_MAX];

	if (instance_cgroup(info, path, NULL, NULL))
		return;
	for (__u32 i = 0; i < info->made_parts; i++) {
		if (i ? rmdir(path) : cgroup_remove(path))
			return;
		*strrchr(path, '/') = '\0';
	}
}

/* Reads as much of the record as both versions know; the rest is zero. */
static int read_info(int fd, struct cgnet_info *out)
{
	struct bpf_map_info map = {};
	__u32 len = sizeof(map), key = 0;
	_cleanup_free_ char *value = NULL;

	if (bpf_obj_get_info_by_fd(fd, &map, &len) < 0)
		return -errno;
	if (map.type != BPF_MAP_TYPE_ARRAY || map.value_size < sizeof(out->abi) ||
	    map.value_size > RECORD_MAX)
		return -EPROTO;
	/* The kernel rounds values up to eight bytes. */
	value = calloc(1, map.value_size + 8);
	if (!value)
		return -ENOMEM;
	if (bpf_map_lookup_elem(fd, &key, value) < 0)
		return -errno;
	*out = (struct cgnet_info){};
	memcpy(out, value, map.value_size < sizeof(*out) ? map.value_size : sizeof(*out));
	if (out->abi == CGNET_ABI_VERSION && map.value_size != sizeof(*out))
		return -EPROTO;
	return 0;
}

int instance_info_any(const struct instance *in, struct cgnet_info *out, struct why *why)
{
	struct cgnet_info info = {};
	_cleanup_close_ int fd = -1;
	char path[PATH_MAX];
	int err = instance_path(in, path, CGNET_PIN_INFO, NULL, why);

	if (err)
		return err;
	fd = bpf_obj_get(path);
	if (fd < 0 && errno == ENOENT)
		return why_set(why, -ENOENT, "nothing is loaded (no %s)", path);
	if (fd < 0)
		return why_set(why, -errno, "cannot open %s: %s", path, strerror(errno));
	err = read_info(fd, &info);
	if (err)
		return why_set(why, err, "%s: %s", path, strerror(-err));
	if (info.abi > CGNET_ABI_VERSION)
		return why_set(
			why, -EPROTO,
			"%s was pinned by a later version of cgnetd (%u, this is %u), which is "
			"needed to change it",
			in->bpffs, info.abi, CGNET_ABI_VERSION);
	*out = info;
	return 0;
}

int instance_info(const struct instance *in, struct cgnet_info *out, struct why *why)
{
	struct cgnet_info info = {};
	int err = instance_info_any(in, &info, why);

	if (err)
		return err;
	if (info.abi != CGNET_ABI_VERSION)
		return why_set(
			why, -EPROTO,
			"%s was pinned by an earlier version of cgnetd: cgnetd load FILE takes "
			"it over",
			in->bpffs);
	*out = info;
	return 0;
}

static int is_class(const struct dirent *entry)
{
	return entry->d_type == DT_DIR && entry->d_name[0] >= 'a' && entry->d_name[0] <= 'z';
}

int instance_each_class(const struct instance *in, int (*visit)(const char *name, void *arg),
			void *arg)
{
	struct dirent **names = NULL;
	int n = scandir(in->bpffs, &names, is_class, alphasort);
	int ret = n < 0 ? -errno : 0;

	for (int i = 0; i < n; i++) {
		if (!ret)
			ret = visit(names[i]->d_name, arg);
		free(names[i]);
	}
	free(names);
	return ret;
}
