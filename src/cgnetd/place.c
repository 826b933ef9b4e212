// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "place.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <signal.h>
#include <string.h>

#include "log.h"
#include "procfs.h"

/* Programs of one kind that may govern a cgroup; the kernel allows 64 to be attached to each. */
#define PROGRAMS_MAX 256

/* Rounds in which strangers are moved out: one may fork meanwhile. */
#define ROUNDS 8

static int write_pid(int dir, const char *path, pid_t pid)
{
	_cleanup_close_ int fd = openat(dir, path, O_WRONLY | O_CLOEXEC);
	char text[16];
	int n = snprintf(text, sizeof(text), "%d", (int)pid);

	return fd >= 0 && write(fd, text, n) == n ? 0 : -errno;
}

/* Moves a process to where its parent is, which is where it was if it has just been forked. */
static int move_to_parent(pid_t pid, const char *mount)
{
	char cgroup[PATH_MAX], procs[PATH_MAX];
	pid_t parent = proc_parent(pid);
	int err = parent < 0 ? parent : proc_cgroup(parent, cgroup, sizeof(cgroup));

	if (err)
		return err;
	if (snprintf(procs, sizeof(procs), "%s/%s/cgroup.procs", mount, cgroup) >=
	    (int)sizeof(procs))
		return -ENAMETOOLONG;
	return write_pid(AT_FDCWD, procs, pid);
}

/*
 * What the peer left behind is ended: were it moved to where its parent is, which may be the first
 * process by now, it would have left the cgroup that it was in. Others go back.
 */
static void end_or_move(const struct peer *p, pid_t pid, const char *mount)
{
	unsigned int ids[4];
	int err;

	if (proc_uids(pid, ids) < 0)
		return;
	if (ids[0] == p->uid) {
		kill(pid, SIGKILL);
		return;
	}
	err = move_to_parent(pid, mount);
	log_warning("pid %d got the number of a process that asked and died: %s", (int)pid,
		    err ? strerror(-err) : "moved back");
}

/*
 * The peer died while it was moved, and a process that got its number may have been moved instead.
 * Nobody else is in a session that is just being made.
 */
static void put_back(const struct peer *p, const struct session *s)
{
	size_t len = strlen(s->dir) - strlen(s->cgroup) - 1;
	char mount[PATH_MAX];

	snprintf(mount, sizeof(mount), "%.*s", (int)len, s->dir);
	for (int round = 0; round < ROUNDS; round++) {
		_cleanup_close_ int fd = openat(s->fd, "cgroup.procs", O_RDONLY | O_CLOEXEC);
		char text[4096];
		ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

		if (n <= 0)
			return;
		text[n] = '\0';
		for (char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n')
			end_or_move(p, (pid_t)strtol(at, NULL, 10), mount);
	}
}

int place_peer(const struct peer *p, const struct session *s, struct why *why)
{
	int err = peer_lives(p) ? write_pid(s->fd, "cgroup.procs", p->pid) : -ESRCH;
	int place;

	/* While the pidfd lives, its number belongs to nobody else: then it was the right one. */
	if (!err && !peer_lives(p))
		err = -ESRCH;
	place = err ? err : proc_place_in_cgroup(p->pid, s->cgroup);
	if (place == PROC_INSIDE)
		return 0;
	if (place >= 0)
		err = -EXDEV;
	else
		err = place;
	put_back(p, s);
	if (err == -ESRCH || err == -ENOENT)
		return why_set(why, -ESRCH, "the process that asked is gone");
	return why_set(why, err, "cannot move pid %d to %s: %s", (int)p->pid, s->dir,
		       strerror(-err));
}

/* Fills ids with what governs the cgroup on connect. Returns their number or a negative errno. */
static int effective(const char *path, __u32 ids[PROGRAMS_MAX])
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	__u32 flags = 0, n = PROGRAMS_MAX;

	if (fd < 0)
		return -errno;
	if (bpf_prog_query(fd, BPF_CGROUP_INET4_CONNECT, BPF_F_QUERY_EFFECTIVE, &flags, ids, &n))
		return -errno;
	return (int)n;
}

static bool is_in(__u32 id, const __u32 *ids, int n)
{
	for (int i = 0; i < n; i++)
		if (ids[i] == id)
			return true;
	return false;
}

int place_check_policy(const struct peer *p, const char *mount, const char *dir, struct why *why)
{
	__u32 here[PROGRAMS_MAX] = {}, there[PROGRAMS_MAX] = {};
	char cgroup[PATH_MAX], path[PATH_MAX];
	int err = peer_cgroup(p, cgroup, sizeof(cgroup)), nhere = 0, nthere = 0;

	if (!err) {
		if (snprintf(path, sizeof(path), "%s/%s", mount, cgroup) >= (int)sizeof(path))
			return why_set(why, -ENAMETOOLONG, "%s: path too long", cgroup);
		nhere = effective(path, here);
		nthere = nhere < 0 ? nhere : effective(dir, there);
		err = nthere < 0 ? nthere : 0;
	}
	if (err)
		return why_set(why, err, "cannot tell which policy the process has: %s",
			       strerror(-err));
	for (int i = 0; i < nhere; i++)
		if (!is_in(here[i], there, nthere))
			return why_set(why, -EPERM,
				       "cgroup %s is under another policy on connect (program %u), "
				       "which a session would leave",
				       cgroup, here[i]);
	return 0;
}
