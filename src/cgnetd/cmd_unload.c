// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <string.h>
#include <sys/file.h>

#include "bpffs.h"
#include "cgroup.h"
#include "cmd.h"
#include "service.h"
#include "sessions.h"
#include "shared.h"

struct unload {
	const struct instance *in;
	struct cgnet_info info;
	bool force;
	size_t killed;
	struct why *why;
};

/* A load that was killed early leaves classes without the record of where they are. */
static int find(struct unload *u)
{
	int err = instance_info_any(u->in, &u->info, u->why);

	if (err != -ENOENT)
		return err;
	snprintf(u->info.cgroup, sizeof(u->info.cgroup), "%s", u->in->cgroup);
	return cgroup_find_mount(u->info.mount, sizeof(u->info.mount), u->why);
}

/* Refuses while sessions live, or, forced, counts them. */
static int look(const char *name, void *arg)
{
	struct unload *u = arg;
	struct sessions live;
	char path[PATH_MAX], names[256];
	int err = instance_cgroup(&u->info, path, name, u->why);

	if (!err)
		err = sessions_list(path, &live);
	if (err)
		return why_set(u->why, err, "class %s: cannot list its sessions", name);
	u->killed += live.n;
	if (live.n && !u->force)
		err = why_set(u->why, -EBUSY, "class %s has sessions: %s (--force ends them)", name,
			      sessions_format(&live, names, sizeof(names)));
	sessions_free(&live);
	return err;
}

/* Processes first, programs last: at no moment does a process of the class run without them. */
static int remove_class(const char *name, void *arg)
{
	struct unload *u = arg;
	char cgroup[PATH_MAX], dir[PATH_MAX];
	int err = instance_cgroup(&u->info, cgroup, name, u->why);

	if (!err)
		err = instance_path(u->in, dir, name, NULL, u->why);
	if (err)
		return err;
	if (u->force)
		err = cgroup_kill(cgroup);
	if (!err)
		err = cgroup_remove(cgroup);
	if (!err)
		err = bpffs_remove_tree(dir);
	if (err)
		return why_set(u->why, err, "class %s: cannot remove it: %s", name, strerror(-err));
	return 0;
}

static int unload(struct unload *u)
{
	int err = find(u);

	if (!err)
		err = instance_each_class(u->in, look, u);
	if (!err)
		err = instance_each_class(u->in, remove_class, u);
	if (!err)
		err = instance_clean(u->in, u->why);
	if (err)
		return err;
	instance_remove_root(&u->info);
	shared_remove(u->in);
	return 0;
}

/* A service would load its policy again at the next change. */
static int check_service(const struct instance *in, struct why *why)
{
	_cleanup_close_ int fd = service_connect(in, NULL);

	if (fd < 0)
		return 0;
	return why_set(why, -EBUSY, "a service runs in %s: end it first", in->run_dir);
}

int cmd_unload(const struct options *opt)
{
	struct why why;
	struct unload u = {.in = &opt->instance, .force = opt->force, .why = &why};
	_cleanup_close_ int lock = -1;
	int err;

	if (geteuid() != 0) {
		fprintf(stderr, "cgnetd: unload: must be run as root\n");
		return EXIT_REFUSED;
	}
	err = check_service(u.in, &why);
	if (err) {
		fprintf(stderr, "cgnetd: unload: %s\n", why.text);
		return EXIT_REFUSED;
	}
	lock = instance_lock(u.in, LOCK_EX, false, &why);
	if (lock == -ENOENT) {
		printf("%s\n", why.text);
		return EXIT_DONE;
	}
	err = lock < 0 ? lock : unload(&u);
	if (err) {
		fprintf(stderr, "cgnetd: unload: %s\n", why.text);
		return EXIT_REFUSED;
	}
	instance_remove(u.in, &lock);
	if (u.killed)
		printf("ended %zu session%s\n", u.killed, u.killed == 1 ? "" : "s");
	printf("unloaded\n");
	return EXIT_DONE;
}
