// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "shared.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "bpffs.h"
#include "event_maps.h"
#include "mapio.h"

static const struct map_spec info_spec = {
	"info",	       BPF_MAP_TYPE_ARRAY,	  0, "__u32", "cgnet_info",
	sizeof(__u32), sizeof(struct cgnet_info),
};

static const struct map_spec sets_spec = {
	"sets",
	BPF_MAP_TYPE_ARRAY,
	0,
	"__u32",
	"cgnet_set_member",
	sizeof(__u32),
	sizeof(struct cgnet_set_member),
};

static void add_set(struct cgnet_set_member *out, size_t *n, const char *name,
		    const struct prefixes *list)
{
	for (size_t i = 0; i < list->n; i++) {
		struct cgnet_set_member *m = &out[(*n)++];

		snprintf(m->set, sizeof(m->set), "%s", name);
		m->family = list->items[i].family;
		m->len = list->items[i].len;
		memcpy(m->addr, list->items[i].bytes, sizeof(m->addr));
	}
}

/* True if the table behind fd holds these members and no more. */
static bool holds(int fd, const struct cgnet_set_member *members, size_t n)
{
	struct cgnet_set_member found;

	for (__u32 i = 0; i <= n; i++)
		if (bpf_map_lookup_elem(fd, &i, &found) < 0 ||
		    memcmp(&found, &members[i], sizeof(found)) != 0)
			return false;
	return true;
}

/* Leaves s->sets at -1 where the table that is pinned will do. The last row is empty. */
static int make_sets(struct shared *s, const struct facts *f, const struct btf *btf,
		     struct why *why)
{
	size_t room = f->host.n + f->onlink.n + f->broadcast.n + f->resolver.n + 1, n = 0;
	_cleanup_free_ struct cgnet_set_member *members = calloc(room, sizeof(*members));

	if (!members)
		return why_set(why, -ENOMEM, "out of memory");
	add_set(members, &n, "host", &f->host);
	add_set(members, &n, "onlink", &f->onlink);
	add_set(members, &n, "broadcast", &f->broadcast);
	add_set(members, &n, "resolver", &f->resolver);
	if (s->old_sets >= 0 && holds(s->old_sets, members, n))
		return 0;
	s->sets = map_make_array(&sets_spec, members, room, btf, why);
	return s->sets < 0 ? s->sets : 0;
}

int shared_announce(const struct instance *in, const struct cgnet_info *info, struct why *why)
{
	struct cgnet_info early = *info;
	_cleanup_close_ int fd = -1;

	early.default_class[0] = '\0';
	early.root_class[0] = '\0';
	fd = map_make_array(&info_spec, &early, 1, NULL, why);
	return fd < 0 ? fd : bpffs_pin(fd, in->bpffs, CGNET_PIN_INFO, why);
}

int shared_prepare(struct shared *s, const struct instance *in, bool first,
		   const struct facts *facts, const struct btf *btf, struct why *why)
{
	const struct cgnet_info none = {};

	s->made = first;
	s->info = first ? map_make_array(&info_spec, &none, 1, btf, why)
			: bpffs_open(in->bpffs, CGNET_PIN_INFO, why);
	if (s->info < 0)
		return s->info;
	/* What an earlier version pinned is made anew as well. */
	s->old_sets = first ? -1 : bpffs_open(in->bpffs, CGNET_PIN_SETS, NULL);
	return make_sets(s, facts, btf, why);
}

int shared_commit(struct shared *s, const struct instance *in, const struct cgnet_info *info,
		  struct why *why)
{
	__u32 key = 0;
	int err = 0;

	if (bpf_map_update_elem(s->info, &key, info, BPF_ANY) < 0)
		return why_set(why, -errno, "cannot write %s/%s: %s", in->bpffs, CGNET_PIN_INFO,
			       strerror(errno));
	if (s->sets >= 0)
		err = bpffs_pin(s->sets, in->bpffs, CGNET_PIN_SETS, why);
	/* Last: where it is pinned, something is loaded. */
	if (!err && s->made)
		err = bpffs_pin(s->info, in->bpffs, CGNET_PIN_INFO, why);
	return err;
}

void shared_undo(struct shared *s, const struct instance *in, const struct cgnet_info *old)
{
	__u32 key = 0;

	if (s->info >= 0)
		bpf_map_update_elem(s->info, &key, old, BPF_ANY);
	if (s->sets >= 0 && s->old_sets >= 0)
		bpffs_pin(s->old_sets, in->bpffs, CGNET_PIN_SETS, NULL);
}

static int stop_at_first(const char *name, void *arg)
{
	(void)name;
	(void)arg;
	return 1;
}

void shared_remove(const struct instance *in)
{
	const char *const pins[] = {CGNET_PIN_INFO, CGNET_PIN_SETS, CGNET_PIN_GENERATION};
	char path[PATH_MAX];

	if (instance_each_class(in, stop_at_first, NULL))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(pins); i++)
		if (!instance_path(in, path, pins[i], NULL, NULL))
			unlink(path);
	event_maps_remove(in);
}

void shared_close(struct shared *s)
{
	const int fds[] = {s->info, s->sets, s->old_sets};

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	*s = SHARED_NONE;
}

int shared_each_set_member(const struct instance *in,
			   int (*visit)(const struct cgnet_set_member *m, void *arg), void *arg,
			   struct why *why)
{
	_cleanup_close_ int fd = bpffs_open(in->bpffs, CGNET_PIN_SETS, why);
	struct cgnet_set_member m;
	int ret = 0;

	if (fd < 0)
		return fd;
	for (__u32 i = 0; !ret && !bpf_map_lookup_elem(fd, &i, &m) && m.family; i++)
		ret = visit(&m, arg);
	return ret;
}
