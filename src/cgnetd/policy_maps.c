// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "policy_maps.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "bpffs.h"
#include "mapio.h"

/* Indices in specs. */
enum { DENY4, DENY6, PORTS, RULES };

static const struct map_spec specs[] = {
	{"deny4", BPF_MAP_TYPE_LPM_TRIE, BPF_F_NO_PREALLOC, "cgnet_key4", "cgnet_prefix",
	 sizeof(struct cgnet_key4), sizeof(struct cgnet_prefix)},
	{"deny6", BPF_MAP_TYPE_LPM_TRIE, BPF_F_NO_PREALLOC, "cgnet_key6", "cgnet_prefix",
	 sizeof(struct cgnet_key6), sizeof(struct cgnet_prefix)},
	{"ports", BPF_MAP_TYPE_ARRAY, BPF_F_INNER_MAP, "__u32", "cgnet_port", sizeof(__u32),
	 sizeof(struct cgnet_port)},
	{"rules", BPF_MAP_TYPE_ARRAY, 0, "__u32", "cgnet_rule", sizeof(__u32),
	 sizeof(struct cgnet_rule)},
};

/* The descriptor that belongs to specs[i]. */
static int *nth_fd(struct policy_maps *maps, size_t i)
{
	int *const fds[] = {&maps->deny4, &maps->deny6, &maps->ports, &maps->rules};

	return fds[i];
}

static bool denies(int fd, const void *key)
{
	struct cgnet_prefix found;

	return bpf_map_lookup_elem(fd, key, &found) == 0 && found.verdict == CGNET_DENY &&
	       found.rule == CGNET_RULE_SENTINEL;
}

/* A policy without its sentinels is not the compiler's: it must never come into force. */
static int check(const struct policy_maps *maps, struct why *why)
{
	const struct cgnet_key4 key4 = {32, CGNET_SENTINEL4};
	const struct cgnet_key6 key6 = {128, CGNET_SENTINEL6};

	if (!denies(maps->deny4, &key4) || !denies(maps->deny6, &key6))
		return why_set(why, -EIO, "the maps do not hold what was written to them");
	return 0;
}

int policy_maps_make_ports(const struct cgnet_port *ports, size_t n, const struct btf *btf,
			   struct why *why)
{
	return map_make_array(&specs[PORTS], ports, n, btf, why);
}

int policy_maps_make_rules(const struct cgnet_rule *rules, size_t n, const struct btf *btf,
			   struct why *why)
{
	return map_make_array(&specs[RULES], rules, n, btf, why);
}

int policy_maps_make(struct policy_maps *out, const struct compiled_class *c, const struct btf *btf,
		     struct why *why)
{
	struct policy_maps maps = POLICY_MAPS_NONE;
	int err = 0;

	maps.deny4 = map_make(&specs[DENY4], c->keys4, c->values4, c->n4, btf, why);
	if (maps.deny4 >= 0)
		maps.deny6 = map_make(&specs[DENY6], c->keys6, c->values6, c->n6, btf, why);
	if (maps.deny6 >= 0)
		maps.ports = policy_maps_make_ports(c->ports, c->nports, btf, why);
	if (maps.ports >= 0)
		maps.rules = policy_maps_make_rules(c->rules, c->nrules, btf, why);
	for (size_t i = 0; i < ARRAY_SIZE(specs) && !err; i++)
		if (*nth_fd(&maps, i) < 0)
			err = *nth_fd(&maps, i);
	if (!err)
		err = check(&maps, why);
	if (err)
		policy_maps_close(&maps);
	else
		*out = maps;
	return err;
}

int policy_maps_open(struct policy_maps *out, const char *dir, struct why *why)
{
	struct policy_maps maps = POLICY_MAPS_NONE;

	for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
		int fd = bpffs_open(dir, specs[i].name, why);

		if (fd < 0) {
			policy_maps_close(&maps);
			return fd;
		}
		*nth_fd(&maps, i) = fd;
	}
	*out = maps;
	return 0;
}

int policy_maps_pin(const struct policy_maps *maps, const char *dir, struct why *why)
{
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(specs) && !err; i++)
		err = bpffs_pin(*nth_fd((struct policy_maps *)maps, i), dir, specs[i].name, why);
	return err;
}

static int patch_trie(int fd, size_t key_size, const struct trie_diff *d)
{
	for (size_t i = 0; i < d->nput; i++)
		if (bpf_map_update_elem(fd, d->put_keys + i * key_size, &d->put_values[i],
					BPF_ANY) < 0)
			return -errno;
	for (size_t i = 0; i < d->ndrop; i++)
		if (bpf_map_delete_elem(fd, d->drop_keys + i * key_size) < 0)
			return -errno;
	return 0;
}

int policy_maps_patch(const struct policy_maps *maps, const struct class_diff *d, struct why *why)
{
	int err = patch_trie(maps->deny4, sizeof(struct cgnet_key4), &d->v4);

	if (!err)
		err = patch_trie(maps->deny6, sizeof(struct cgnet_key6), &d->v6);
	if (err)
		return why_set(why, err, "cannot change a trie: %s", strerror(-err));
	return check(maps, why);
}

static bool has_room(int fd, size_t n)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);

	return !bpf_obj_get_info_by_fd(fd, &info, &len) && n <= info.max_entries;
}

/* Old kernels want room for one more even where an entry is replaced. */
bool policy_maps_have_room(const struct policy_maps *maps, const struct compiled_class *from,
			   const struct class_diff *d)
{
	return has_room(maps->deny4, from->n4 + d->v4.nadded + 1) &&
	       has_room(maps->deny6, from->n6 + d->v6.nadded + 1);
}

int policy_maps_rules_id(const struct policy_maps *maps, __u32 *id)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(maps->rules, &info, &len) < 0)
		return -errno;
	*id = info.id;
	return 0;
}

void policy_maps_close(struct policy_maps *maps)
{
	for (size_t i = 0; i < ARRAY_SIZE(specs); i++)
		if (*nth_fd(maps, i) >= 0)
			close(*nth_fd(maps, i));
	*maps = POLICY_MAPS_NONE;
}
