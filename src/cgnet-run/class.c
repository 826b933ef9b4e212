// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "class.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "bpf.h"
#include "name.h"

static int is_class(const struct dirent *d)
{
	return d->d_type == DT_DIR && name_is_valid(d->d_name);
}

/* Names the classes that there are. */
static int unknown_class(const char *bpffs, const char *name, struct why *why)
{
	struct dirent **list;
	char known[256] = "";
	size_t len = 0;
	int n;

	n = scandir(bpffs, &list, is_class, alphasort);
	for (int i = 0; i < n; i++) {
		if (len < sizeof(known))
			len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%s",
						i ? ", " : "", list[i]->d_name);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	return why_set(why, -ENOENT, "unknown class %s; known: %s", name, n > 0 ? known : "none");
}

static int read_class(const char *bpffs, const char *name, struct cgnet_class_info *info,
		      struct why *why)
{
	char pin[CGNET_NAME_SIZE + sizeof("/" CGNET_PIN_CLASS)];
	int err;

	if (!name_is_valid(name))
		return why_set(why, -EINVAL, "class \"%s\": not a name, [a-z][a-z0-9-]{0,31}",
			       name);
	snprintf(pin, sizeof(pin), "%s/" CGNET_PIN_CLASS, name);
	err = instance_read(bpffs, pin, info, sizeof(*info), why);
	return err == -ENOENT ? unknown_class(bpffs, name, why) : err;
}

/* The class's cgroup is the one that was loaded, and nobody but root can change it. */
static int verify_dir(int fd, const struct class *c, const struct cgnet_class_info *info,
		      struct why *why)
{
	struct statfs fs;
	struct stat st;

	if (fstatfs(fd, &fs) < 0 || fstat(fd, &st) < 0)
		return why_set(why, -errno, "%s: %s", c->dir, strerror(errno));
	if (fs.f_type != CGROUP2_SUPER_MAGIC)
		return why_set(why, -ENODEV, "%s: not a cgroup2", c->dir);
	if (st.st_ino != info->cgroup_id)
		return why_set(why, -ESTALE, "class %s: %s is not the cgroup that was loaded",
			       c->name, c->dir);
	if (st.st_uid != 0 || st.st_mode & (S_IWGRP | S_IWOTH))
		return why_set(why, -EPERM, "class %s: %s can be changed by others than root",
			       c->name, c->dir);
	return 0;
}

static int verify(const struct class *c, const struct cgnet_class_info *info, struct why *why)
{
	_cleanup_close_ int fd = -1;
	int err;

	fd = open(c->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return why_set(why, -errno, "class %s: its cgroup %s: %s", c->name, c->dir,
			       strerror(errno));
	err = verify_dir(fd, c, info, why);
	if (err < 0)
		return err;
	for (int i = 0; i < CGNET_HOOKS; i++) {
		/* The first layers are on in every class; further programs only where asked for. */
		if (i > CGNET_HOOK_EGRESS && !info->prog_ids[i])
			continue;
		err = bpf_cgroup_has_prog(fd, cgnet_hooks[i].type, info->prog_ids[i]);
		if (err < 0)
			return why_set(why, err, "class %s: cannot ask for the %s program: %s",
				       c->name, cgnet_hooks[i].name, strerror(-err));
		if (!err)
			return why_set(why, -ENOENT,
				       "class %s: not enforced, its %s program is not attached",
				       c->name, cgnet_hooks[i].name);
	}
	return 0;
}

/* Which class it is when none was asked for. */
static const char *default_class(const struct cgnet_info *info)
{
	return info->root_class[0] ? info->root_class : info->default_class;
}

static int set_paths(struct class *c, const struct cgnet_info *info, const char *name)
{
	snprintf(c->name, sizeof(c->name), "%s", name);
	if (snprintf(c->cgroup, sizeof(c->cgroup), "%s/%s", info->cgroup, name) >=
	    (int)sizeof(c->cgroup))
		return -ENAMETOOLONG;
	if (snprintf(c->dir, sizeof(c->dir), "%s/%s", info->mount, c->cgroup) >=
	    (int)sizeof(c->dir))
		return -ENAMETOOLONG;
	return 0;
}

int class_find(struct class *c, const struct instance *in, const char *name, struct why *why)
{
	struct cgnet_class_info info = {0};
	struct class found;
	int err;

	if (!name) {
		name = default_class(&in->info);
		if (!name[0])
			return why_set(why, -EINVAL,
				       "the policy has no default_class: use --class");
	}
	err = read_class(in->bpffs, name, &info, why);
	if (err < 0)
		return err;
	err = set_paths(&found, &in->info, name);
	if (err < 0)
		return why_set(why, err, "class %s: path of its cgroup is too long", name);
	err = verify(&found, &info, why);
	if (err < 0)
		return err;
	found.keep_privileges = info.keep_privileges;
	*c = found;
	return 0;
}
