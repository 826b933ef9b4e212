// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "event_maps.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "bpffs.h"

static const struct {
	const char *map, *pin;
} shared[] = {
	{"events", CGNET_PIN_EVENTS},
	{"pending", CGNET_PIN_PENDING},
	{".data.interval", CGNET_PIN_INTERVAL},
	{"sessions", CGNET_PIN_SESSIONS},
	{"first", CGNET_PIN_FIRST},
};

/* What a pinned outer map holds already. */
static const char *const inner[] = {"pending0", "pending1"};

static struct bpf_map *find(const struct bpf_object *obj, size_t i)
{
	return bpf_object__find_map_by_name(obj, shared[i].map);
}

static int share(struct bpf_object *obj, struct bpf_map *map, int fd)
{
	int err = 0;

	if (!map)
		return -ENOENT;
	bpf_map__set_autocreate(map, true);
	if (bpf_map__type(map) != BPF_MAP_TYPE_ARRAY_OF_MAPS)
		return bpf_map__reuse_fd(map, fd);
	for (size_t i = 0; i < ARRAY_SIZE(inner) && !err; i++)
		err = bpf_map__set_autocreate(bpf_object__find_map_by_name(obj, inner[i]), false);
	return err ? err : bpf_map__reuse_fd(map, fd);
}

int event_maps_share(struct bpf_object *obj, const struct instance *in)
{
	for (size_t i = 0; i < ARRAY_SIZE(shared); i++) {
		_cleanup_close_ int fd = bpffs_open(in->bpffs, shared[i].pin, NULL);
		int err = 0;

		if (fd >= 0)
			err = share(obj, find(obj, i), fd);
		else if (fd != -ENOENT)
			err = fd;
		if (err)
			return err;
	}
	return 0;
}

static int make_lock_dir(const struct instance *in, struct why *why)
{
	char path[PATH_MAX];
	int err = instance_path(in, path, CGNET_PIN_READER, NULL, why);

	if (!err && mkdir(path, 0700) < 0 && errno != EEXIST)
		err = why_set(why, -errno, "cannot make %s: %s", path, strerror(errno));
	return err;
}

int event_maps_pin(const struct bpf_object *obj, const struct instance *in, struct why *why)
{
	int err = make_lock_dir(in, why);

	for (size_t i = 0; i < ARRAY_SIZE(shared) && !err; i++) {
		_cleanup_close_ int fd = bpffs_open(in->bpffs, shared[i].pin, NULL);

		if (fd < 0)
			err = bpffs_pin(bpf_map__fd(find(obj, i)), in->bpffs, shared[i].pin, why);
	}
	return err;
}

void event_maps_announce(const struct instance *in, const struct session *s)
{
	_cleanup_close_ int fd = bpffs_open(in->bpffs, CGNET_PIN_SESSIONS, NULL);
	struct cgnet_session record = {};
	struct stat st;
	__u64 id;

	if (fd < 0 || fstat(s->fd, &st) < 0)
		return;
	id = st.st_ino;
	snprintf(record.name, sizeof(record.name), "%s", s->name);
	bpf_map_update_elem(fd, &id, &record, BPF_ANY);
}

void event_maps_remove(const struct instance *in)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(shared); i++)
		if (!instance_path(in, path, shared[i].pin, NULL, NULL))
			unlink(path);
	if (!instance_path(in, path, CGNET_PIN_READER, NULL, NULL))
		rmdir(path);
}
