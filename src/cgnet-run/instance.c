// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "instance.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "bpf.h"
#include "procfs.h"

/* How long cgnetd may hold the instance: tries, and the pause between two. */
#define LOCK_TRIES    250
#define LOCK_PAUSE_NS 20000000L

/* Who is in a class may enter no other, nor the same again: a session does not nest. */
static int already_inside(const char *cgroup, struct why *why)
{
	return why_set(why, -EPERM, "already in a class of %s: may enter no other", cgroup);
}

static int check_outside(const char *cgroup, struct why *why)
{
	int place = proc_place_in_cgroup(0, cgroup);

	if (place < 0)
		return why_set(why, place, "/proc/self/cgroup: %s", strerror(-place));
	return place == PROC_BELOW ? already_inside(cgroup, why) : 0;
}

/* Why the pins could not be read. A session cannot, but it sees what its cgroup is called. */
static int unreadable(const char *bpffs, const char *cgroup, int err, struct why *why)
{
	if (!cgroup)
		cgroup = CGNET_DEFAULT_CGROUP;
	if (proc_place_in_cgroup(0, cgroup) == PROC_BELOW)
		return already_inside(cgroup, why);
	if (err == -ENOENT)
		return why_set(why, err, "no policy is loaded in %s: cgnetd load FILE", bpffs);
	return err;
}

static int open_instance(const char *bpffs, struct why *why)
{
	int fd = open(bpffs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	return why_set(why, -errno, "%s: %s", bpffs, strerror(errno));
}

/* Whether path still names the directory: `cgnetd unload` may have removed it before the lock. */
static bool is_current(int fd, const char *path)
{
	struct stat held, named;

	return !fstat(fd, &held) && !stat(path, &named) && held.st_dev == named.st_dev &&
	       held.st_ino == named.st_ino;
}

static int lock_instance(const char *bpffs, struct why *why)
{
	static const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};

	for (int i = 0; i < LOCK_TRIES; i++) {
		_cleanup_close_ int fd = open_instance(bpffs, why);

		if (fd < 0)
			return fd;
		if (!flock(fd, LOCK_SH | LOCK_NB)) {
			if (is_current(fd, bpffs))
				return take_fd(&fd);
		} else if (errno != EWOULDBLOCK) {
			return why_set(why, -errno, "%s: flock: %s", bpffs, strerror(errno));
		}
		nanosleep(&pause, NULL);
	}
	return why_set(why, -ETIMEDOUT, "%s: cgnetd is changing it and has not finished in %d s",
		       bpffs, (int)(LOCK_TRIES * (LOCK_PAUSE_NS / 1000000) / 1000));
}

int instance_read(const char *bpffs, const char *pin, void *value, size_t size, struct why *why)
{
	char path[PATH_MAX];
	int err;

	if (snprintf(path, sizeof(path), "%s/%s", bpffs, pin) >= (int)sizeof(path))
		return why_set(why, -ENAMETOOLONG, "--bpffs: name too long");
	err = bpf_read_pin(path, value, size);
	/* Both records start with the version. */
	if (!err && *(__u32 *)value != CGNET_ABI_VERSION)
		err = -EPROTO;
	if (err == -EPROTO)
		return why_set(why, err, "%s: not of this version of cgnet: cgnetd load FILE",
			       path);
	if (err < 0)
		return why_set(why, err, "%s: bpf: %s", path, strerror(-err));
	return 0;
}

/* Compares --cgroup with where the instance is, slashes at the ends aside. */
static int check_cgroup(const char *cgroup, const struct cgnet_info *info, struct why *why)
{
	size_t len;

	if (!cgroup)
		return 0;
	cgroup += strspn(cgroup, "/");
	len = strlen(cgroup);
	while (len && cgroup[len - 1] == '/')
		len--;
	if (len == strlen(info->cgroup) && !memcmp(cgroup, info->cgroup, len))
		return 0;
	return why_set(why, -EINVAL, "--cgroup %s: what is loaded uses %s", cgroup, info->cgroup);
}

int instance_open(struct instance *in, const char *bpffs, const char *cgroup, struct why *why)
{
	_cleanup_close_ int lock = -1;
	struct cgnet_info info = {0};
	int err;

	lock = lock_instance(bpffs, why);
	err = lock < 0 ? lock : instance_read(bpffs, CGNET_PIN_INFO, &info, sizeof(info), why);
	if (err < 0)
		return unreadable(bpffs, cgroup, err, why);
	err = check_cgroup(cgroup, &info, why);
	if (!err)
		err = check_outside(info.cgroup, why);
	if (err < 0)
		return err;
	*in = (struct instance){.bpffs = bpffs, .info = info, .lock = take_fd(&lock)};
	return 0;
}

void instance_close(struct instance *in)
{
	cleanup_closep(&in->lock);
	in->lock = -1;
}
