// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "peer.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "procfs.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

/* The kernel would take 65536, which is a lot to keep for each of a thousand connections. */
#define GROUPS_MAX 4096

static int read_pidfd(int fd, struct peer *p)
{
	socklen_t len = sizeof(p->pidfd);

	if (!getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &p->pidfd, &len))
		return 0;
	p->pidfd = -1;
	if (errno != ENOPROTOOPT)
		return -errno;
	p->pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	return p->pidfd < 0 ? -errno : 0;
}

/* The groups as the kernel knows them: no name service is asked, which could block. */
static int read_groups(int fd, struct peer *p)
{
	socklen_t len = 0;

	if (!getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &len) || !len)
		return 0;
	if (errno != ERANGE || len > GROUPS_MAX * sizeof(gid_t))
		return -errno;
	p->groups = malloc(len);
	if (!p->groups)
		return -ENOMEM;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, p->groups, &len))
		return -errno;
	p->ngroups = len / sizeof(gid_t);
	return 0;
}

int peer_read(int fd, struct peer *out, struct why *why)
{
	struct peer p = PEER_NONE;
	struct ucred cred;
	socklen_t len = sizeof(cred);
	int err = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		err = -errno;
	else if (cred.pid <= 0)
		err = -ESRCH;
	p.pid = cred.pid;
	p.uid = cred.uid;
	p.gid = cred.gid;
	if (!err)
		err = read_pidfd(fd, &p);
	if (!err)
		err = read_groups(fd, &p);
	if (err) {
		peer_free(&p);
		return why_set(why, err, "cannot tell who asks: %s", strerror(-err));
	}
	*out = p;
	return 0;
}

void peer_free(struct peer *p)
{
	cleanup_closep(&p->pidfd);
	free(p->groups);
	*p = PEER_NONE;
}

/* Whether the process with the peer's pid has its uid, and only that. */
static bool has_uid(const struct peer *p)
{
	unsigned int ids[4];

	if (proc_uids(p->pid, ids) < 0)
		return false;
	return ids[0] == p->uid && ids[1] == p->uid && ids[2] == p->uid;
}

bool peer_lives(const struct peer *p)
{
	struct pollfd poll_fd = {.fd = p->pidfd, .events = POLLIN};

	/* In this order: what has the pid while the pidfd lives is that process. */
	return has_uid(p) && poll(&poll_fd, 1, 0) == 0;
}

bool peer_has_group(const struct peer *p, gid_t gid)
{
	if (p->gid == gid)
		return true;
	for (size_t i = 0; i < p->ngroups; i++)
		if (p->groups[i] == gid)
			return true;
	return false;
}

int peer_cgroup(const struct peer *p, char *path, size_t size)
{
	int err = proc_cgroup(p->pid, path, size);

	return err || peer_lives(p) ? err : -ESRCH;
}

int peer_check_outside(const struct peer *p, const char *cgroup, struct why *why)
{
	int place = proc_place_in_cgroup(p->pid, cgroup);

	if (place >= 0 && !peer_lives(p))
		place = -ESRCH;
	if (place < 0)
		return why_set(why, place, "cannot tell who asks: %s", strerror(-place));
	if (place != PROC_OUTSIDE)
		return why_set(why, -EPERM, "already in a class of %s: may enter no other", cgroup);
	return 0;
}
