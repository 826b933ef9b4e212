// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Other views of cgroupfs and bpffs than the one that a session is given. ADDR PORT come first. */
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "attack.h"

/* In a user namespace of one's own, as its root, if asked for; always in a mount namespace. */
static void new_view(struct outcome *o, const char *user)
{
	char map[32];
	int uid = (int)getuid();

	if (user) {
		step(o, "unshare user", made(unshare(CLONE_NEWUSER | CLONE_NEWCGROUP)));
		snprintf(map, sizeof(map), "0 %d 1", uid);
		write_file("/proc/self/setgroups", "deny");
		write_file("/proc/self/uid_map", map);
	}
	step(o, "unshare mnt", made(unshare(CLONE_NEWNS)));
	mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

/* DIR TYPE FILE [user]: a fresh mount, and FILE below it. */
static void attack_fresh(struct outcome *o, char **args)
{
	char path[512];

	new_view(o, args[5]);
	step(o, "mount", made(mount("none", args[2], args[3], 0, NULL)));
	snprintf(path, sizeof(path), "%s/%s", args[2], args[4]);
	step(o, "write", write_file(path, "0"));
	try_tcp(o, args[0], args[1]);
}

/* DIR DEPTH: cgroups in cgroups, deeper than a path can say, and this process in the last one. */
static void attack_nest_deep(struct outcome *o, char **args)
{
	char name[200];
	int e = 0;

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	new_view(o, "user");
	step(o, "mount", made(mount("none", args[2], "cgroup2", 0, NULL)));
	e = made(chdir(args[2]));
	for (unsigned long i = number_arg(args[3]); i && !e; i--) {
		e = made(mkdir(name, 0755));
		if (!e)
			e = made(chdir(name));
	}
	step(o, "nest", e);
	step(o, "write", write_file("cgroup.procs", "0"));
	try_tcp(o, args[0], args[1]);
}

static void remove_below(int dir)
{
	DIR *list = fdopendir(dir);
	struct dirent *d;

	while (list && (d = readdir(list))) {
		int fd;

		if (d->d_type != DT_DIR || d->d_name[0] == '.')
			continue;
		fd = openat(dir, d->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0)
			remove_below(fd);
		unlinkat(dir, d->d_name, AT_REMOVEDIR);
	}
	if (list)
		closedir(list);
	else
		close(dir);
}

/* DIR: no attack, but what removes such cgroups afterwards, from outside. */
static void attack_remove_tree(struct outcome *o, char **args)
{
	int fd = open(args[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	end(o, made(fd));
	if (fd >= 0)
		remove_below(fd);
}

/* DIR FILE [user]: an existing mount made writable. */
static void attack_remount(struct outcome *o, char **args)
{
	new_view(o, args[4]);
	step(o, "remount", made(mount("none", args[2], NULL, MS_REMOUNT | MS_BIND, NULL)));
	step(o, "write", write_file(args[3], "0"));
	try_tcp(o, args[0], args[1]);
}

/* DIR FILE [user]: an existing mount taken off what it hides. */
static void attack_uncover(struct outcome *o, char **args)
{
	new_view(o, args[4]);
	step(o, "umount", made(umount2(args[2], MNT_DETACH)));
	step(o, "unlink", made(unlink(args[3])));
	try_tcp(o, args[0], args[1]);
}

struct handle {
	struct file_handle h;
	unsigned char bytes[MAX_HANDLE_SZ];
};

static int handle_of(const char *path, struct handle *h)
{
	int id;

	h->h.handle_bytes = MAX_HANDLE_SZ;
	return made(name_to_handle_at(AT_FDCWD, path, &h->h, &id, 0));
}

/* FILE DIR [TYPE]: FILE by its handle, through the mount at DIR, or through a fresh one there. */
static void attack_handle(struct outcome *o, char **args)
{
	struct handle h;
	int dir, fd;

	step(o, "handle", handle_of(args[2], &h));
	if (args[4]) {
		new_view(o, "user");
		step(o, "mount", made(mount("none", args[3], args[4], 0, NULL)));
	}
	dir = open(args[3], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = open_by_handle_at(dir, &h.h, O_WRONLY | O_CLOEXEC);
	if (!step(o, "open by handle", made(fd)))
		step(o, "write", made(write(fd, "0", 1)));
	try_tcp(o, args[0], args[1]);
}

/* FILE...: pins, each removed. */
static void attack_unlink(struct outcome *o, char **args)
{
	for (char **path = args + 2; *path; path++)
		step(o, "unlink", made(unlink(*path)));
	try_tcp(o, args[0], args[1]);
}

const struct attack mount_attacks[] = {
	{"fresh", 5, attack_fresh},
	{"nest-deep", 4, attack_nest_deep},
	{"remove-tree", 1, attack_remove_tree},
	{"remount", 4, attack_remount},
	{"uncover", 4, attack_uncover},
	{"handle", 4, attack_handle},
	{"unlink", 3, attack_unlink},
	{NULL, 0, NULL},
};
