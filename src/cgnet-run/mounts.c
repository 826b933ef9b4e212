// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "mountinfo.h"

#define MOUNTINFO "/proc/self/mountinfo"

#define PLAIN (MS_NOSUID | MS_NODEV | MS_NOEXEC)

enum action {
	LOCK, /* make it read-only */
	HIDE, /* and put something empty in front of it */
	RENEW /* put a new one in front of it, if asked for */
};

/*
 * cgroup2 is how a process leaves its class, the others are how root makes the kernel do things: a
 * program that it is to start, a function that it is to fail, a register of a device. procfs is not
 * among them, since in a user namespace it can only be mounted while all of it is visible and
 * writable, and sandboxes do that.
 */
static const struct kind {
	const char *type;
	unsigned long magic;
	enum action action;
} kinds[] = {
	{"bpf", BPF_FS_MAGIC, HIDE},
	{"cgroup2", CGROUP2_SUPER_MAGIC, LOCK},
	{"cgroup", CGROUP_SUPER_MAGIC, LOCK},
	{"sysfs", SYSFS_MAGIC, LOCK},
	{"debugfs", DEBUGFS_MAGIC, LOCK},
	{"tracefs", TRACEFS_MAGIC, LOCK},
	{"securityfs", SECURITYFS_MAGIC, LOCK},
	{"binfmt_misc", BINFMTFS_MAGIC, LOCK},
	{"proc", PROC_SUPER_MAGIC, RENEW},
};

struct target {
	const struct kind *kind;
	char *path;
};

struct targets {
	struct target *items;
	size_t n, cap;
	unsigned long long cwd_mount; /* its id, as in mountinfo */
	bool cwd_found;
};

static void targets_free(struct targets *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->items[i].path);
	free(t->items);
}

static const struct kind *find_kind(const char *type)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i].type, type))
			return &kinds[i];
	return NULL;
}

/* Whether options, as "rw,nosuid,relatime", say that the mount is read-only. */
static bool is_read_only(const char *options)
{
	return !strncmp(options, "ro", 2) && (options[2] == ',' || !options[2]);
}

static int add_target(struct targets *t, const struct kind *kind, const char *path)
{
	struct target *target;

	if (ARRAY_RESERVE(&t->items, &t->cap, t->n) < 0)
		return -ENOMEM;
	target = &t->items[t->n];
	target->kind = kind;
	target->path = strdup(path);
	if (!target->path)
		return -ENOMEM;
	t->n++;
	return 0;
}

/* A line is "ID PARENT MAJOR:MINOR ROOT PATH OPTIONS [TAG]... - TYPE SOURCE OPTIONS". */
static int read_line(struct targets *t, char *line, bool own_pids)
{
	char *id, *path, *options, *type, *rest;
	const struct kind *kind;

	rest = strstr(line, " - ");
	if (!rest)
		return -EPROTO;
	*rest = '\0';
	rest += strlen(" - ");
	type = strsep(&rest, " ");
	rest = line;
	id = strsep(&rest, " ");
	for (int i = 0; i < 3; i++)
		strsep(&rest, " ");
	path = strsep(&rest, " ");
	options = strsep(&rest, " ");
	if (!options)
		return -EPROTO;
	if (strtoull(id, NULL, 10) == t->cwd_mount)
		t->cwd_found = true;
	kind = find_kind(type);
	if (!kind || (kind->action == LOCK && is_read_only(options)) ||
	    (kind->action == RENEW && !own_pids))
		return 0;
	mountinfo_unescape(path);
	return add_target(t, kind, path);
}

static int read_mounts(struct targets *t, bool own_pids)
{
	_cleanup_fclose_ FILE *f = NULL;
	_cleanup_free_ char *line = NULL;
	size_t size = 0;
	int err = 0;

	f = fopen(MOUNTINFO, "re");
	if (!f)
		return -errno;
	while (!err && getline(&line, &size, f) >= 0)
		err = read_line(t, line, own_pids);
	if (!err && !feof(f))
		err = -errno;
	return err;
}

/* It stays so in a user namespace of the session, and when the host remounts its own mount. */
static int lock(const char *path)
{
	return mount(NULL, path, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | PLAIN, NULL) ? -errno : 0;
}

static int hide(const char *path)
{
	int err;

	/* The current directory may be below. */
	err = lock(path);
	if (err < 0)
		return err;
	return mount("none", path, "tmpfs", MS_RDONLY | PLAIN, "mode=0555,nr_blocks=1,nr_inodes=1")
		       ? -errno
		       : 0;
}

static int apply(const struct target *target)
{
	const struct kind *kind = target->kind;
	struct statfs fs;

	/* Another mount may be in front of it: then it cannot be reached, nor what is below it. */
	if (statfs(target->path, &fs) < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	if ((unsigned long)fs.f_type != kind->magic)
		return 0;
	switch (kind->action) {
	case LOCK:
		return lock(target->path);
	case HIDE:
		return hide(target->path);
	case RENEW:
		return mount("proc", target->path, "proc", PLAIN, NULL) ? -errno : 0;
	}
	return 0;
}

static int make_namespace(struct why *why)
{
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};

	if (unshare(CLONE_NEWNS) < 0)
		return why_set(why, -errno, "mount namespace: %s", strerror(errno));
	/* Private: a bpffs or a cgroupfs that the host mounts later is not to appear here. */
	if (mount(NULL, "/", NULL, MS_PRIVATE | MS_REC, NULL) < 0)
		return why_set(why, -errno, "mount namespace: cannot detach it from the host: %s",
			       strerror(errno));
	/*
	 * Most of what matters is mounted below /sys, and one call makes all of it read-only. Each
	 * mount is looked at afterwards: nothing is lost where /sys is none, or without that call
	 * (Linux 5.12).
	 */
	mount_setattr(AT_FDCWD, "/sys", AT_RECURSIVE, &attr, sizeof(attr));
	return 0;
}

static int find_cwd(struct targets *t, struct why *why)
{
	struct statx st;

	if (statx(AT_FDCWD, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT, STATX_MNT_ID, &st) < 0)
		return why_set(why, -errno, "current directory: %s", strerror(errno));
	t->cwd_mount = st.stx_mnt_id;
	return 0;
}

static int read_targets(struct targets *t, bool own_pids, struct why *why)
{
	int err;

	err = find_cwd(t, why);
	if (err < 0)
		return err;
	err = read_mounts(t, own_pids);
	if (err < 0)
		return why_set(why, err, MOUNTINFO ": %s", strerror(-err));
	if (!t->cwd_found)
		return why_set(why, -EXDEV,
			       "the current directory is on no mount of this namespace");
	return 0;
}

int mounts_confine(bool own_pids, struct why *why)
{
	struct targets t = {0};
	int err;

	err = make_namespace(why);
	if (err < 0)
		return err;
	err = read_targets(&t, own_pids, why);
	for (size_t i = 0; !err && i < t.n; i++) {
		err = apply(&t.items[i]);
		if (err < 0)
			why_set(why, err, "%s: cannot be kept from the session: %s",
				t.items[i].path, strerror(-err));
	}
	targets_free(&t);
	return err;
}
