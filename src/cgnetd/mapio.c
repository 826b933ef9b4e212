// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "mapio.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

/* Elements per batch: bounds the kernel's working memory, and costs nothing beside the inserts. */
#define BATCH 65536

/* Entries that a trie can take in place on top of an eighth of its own. */
#define TRIE_ROOM 4096

/* What the kernel answers inside, and lets through, where a map type knows no batches. */
#define ENOTSUPP 524

static __s32 type_id(const struct btf *btf, const char *name)
{
	__s32 id = btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT);

	return id > 0 ? id : btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF);
}

/* A trie has room to grow in place; what is not used costs nothing. */
static size_t room(const struct map_spec *spec, size_t n)
{
	if (spec->type == BPF_MAP_TYPE_LPM_TRIE)
		return n + n / 8 + TRIE_ROOM;
	return n ? n : 1;
}

static int create(const struct map_spec *spec, size_t n, const struct btf *btf, struct why *why)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = spec->flags);
	__s32 key = btf ? type_id(btf, spec->key_type) : 0;
	__s32 value = btf ? type_id(btf, spec->value_type) : 0;
	int fd;

	if (room(spec, n) > UINT32_MAX)
		return why_set(why, -E2BIG, "%s: too many entries", spec->name);
	if (key > 0 && value > 0) {
		opts.btf_fd = btf__fd(btf);
		opts.btf_key_type_id = key;
		opts.btf_value_type_id = value;
	}
	fd = bpf_map_create(spec->type, spec->name, spec->key_size, spec->value_size, room(spec, n),
			    &opts);
	if (fd < 0)
		return why_set(why, -errno, "cannot create the map %s of %zu entries: %s",
			       spec->name, n, strerror(errno));
	return fd;
}

/* One element at a time, where a map type has no batches (LPM tries, before 5.13). */
static int fill_singly(int fd, const struct map_spec *spec, const char *keys, const char *values,
		       size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (bpf_map_update_elem(fd, keys + i * spec->key_size,
					values + i * spec->value_size, BPF_ANY) < 0)
			return -errno;
	return 0;
}

static int fill_batched(int fd, const struct map_spec *spec, const char *keys, const char *values,
			size_t n)
{
	for (size_t done = 0; done < n;) {
		__u32 count = n - done < BATCH ? n - done : BATCH;

		if (bpf_map_update_batch(fd, keys + done * spec->key_size,
					 values + done * spec->value_size, &count, NULL) < 0)
			return -errno;
		done += count;
	}
	return 0;
}

static int fill(int fd, const struct map_spec *spec, const void *keys, const void *values, size_t n,
		struct why *why)
{
	int err = fill_batched(fd, spec, keys, values, n);

	if (err == -ENOTSUPP || err == -EOPNOTSUPP || err == -EINVAL)
		err = fill_singly(fd, spec, keys, values, n);
	if (err)
		return why_set(why, err, "cannot fill the map %s: %s", spec->name, strerror(-err));
	return 0;
}

int map_make(const struct map_spec *spec, const void *keys, const void *values, size_t n,
	     const struct btf *btf, struct why *why)
{
	_cleanup_close_ int fd = create(spec, n, btf, why);
	int err;

	if (fd < 0)
		return fd;
	err = fill(fd, spec, keys, values, n, why);
	return err ? err : take_fd(&fd);
}

int map_make_array(const struct map_spec *spec, const void *values, size_t n, const struct btf *btf,
		   struct why *why)
{
	_cleanup_free_ __u32 *keys = malloc((n ? n : 1) * sizeof(*keys));

	if (!keys)
		return why_set(why, -ENOMEM, "out of memory");
	for (size_t k = 0; k < n; k++)
		keys[k] = k;
	return map_make(spec, keys, values, n, btf, why);
}

int map_read_array(int fd, size_t size, void **out, size_t *n, struct why *why)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);
	_cleanup_free_ char *items = NULL;

	if (bpf_obj_get_info_by_fd(fd, &info, &len) < 0)
		return why_set(why, -errno, "cannot ask for a map's size: %s", strerror(errno));
	if (info.type != BPF_MAP_TYPE_ARRAY || info.value_size != size)
		return why_set(why, -EPROTO, "pinned by another version of cgnetd");
	items = malloc(info.max_entries * size);
	if (!items)
		return why_set(why, -ENOMEM, "out of memory");
	for (__u32 i = 0; i < info.max_entries; i++)
		if (bpf_map_lookup_elem(fd, &i, items + i * size) < 0)
			return why_set(why, -errno, "cannot read a map: %s", strerror(errno));
	*out = take_ptr(&items);
	*n = info.max_entries;
	return 0;
}
