// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live_class.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "bpffs.h"
#include "cgroup.h"
#include "programs.h"

const char *const live_class_pins[LIVE_CLASS_PINS] = {
	"slots4",  "slots6",   "slots_ports",  "settings",	"unix_names",
	"sockets", "counters", CGNET_PIN_LOST, CGNET_PIN_CLASS,
};

static int *nth_fd(struct live_class *lc, size_t i)
{
	int *const fds[] = {&lc->slots4,   &lc->slots6,	    &lc->slots_ports,
			    &lc->settings, &lc->unix_names, &lc->sockets,
			    &lc->counters, &lc->lost,	    &lc->record};

	return fds[i];
}

int live_class_open(struct live_class *out, const char *dir, struct why *why)
{
	struct live_class lc = LIVE_CLASS_NONE;

	for (size_t i = 0; i < LIVE_CLASS_PINS; i++) {
		int fd = bpffs_open(dir, live_class_pins[i], why);

		if (fd < 0) {
			live_class_close(&lc);
			return fd;
		}
		*nth_fd(&lc, i) = fd;
	}
	*out = lc;
	return 0;
}

void live_class_close(struct live_class *lc)
{
	for (size_t i = 0; i < LIVE_CLASS_PINS; i++)
		if (*nth_fd(lc, i) >= 0)
			close(*nth_fd(lc, i));
	*lc = LIVE_CLASS_NONE;
}

int live_class_read(const struct live_class *lc, struct cgnet_class_info *out, struct why *why)
{
	struct bpf_map_info map = {};
	__u32 key = 0, len = sizeof(map);

	if (bpf_obj_get_info_by_fd(lc->record, &map, &len) < 0)
		return why_set(why, -errno, "cannot read the class's record: %s", strerror(errno));
	if (map.value_size != sizeof(*out) || bpf_map_lookup_elem(lc->record, &key, out) < 0 ||
	    out->abi != CGNET_ABI_VERSION)
		return why_set(why, -EPROTO, "pinned by another version of cgnetd");
	return 0;
}

int live_class_write(const struct live_class *lc, const struct cgnet_class_info *info,
		     struct why *why)
{
	__u32 key = 0;

	if (bpf_map_update_elem(lc->record, &key, info, BPF_ANY) < 0)
		return why_set(why, -errno, "cannot write the class's record: %s", strerror(errno));
	return 0;
}

static int verify_link(int fd, enum cgnet_hook hook, __u64 cgroup,
		       const struct cgnet_class_info *info, struct why *why)
{
	const char *name = cgnet_hooks[hook].name;
	struct bpf_link_info link = {};
	__u32 len = sizeof(link);

	if (bpf_obj_get_info_by_fd(fd, &link, &len) < 0)
		return why_set(why, -errno, "%s: %s", name, strerror(errno));
	if (link.type != BPF_LINK_TYPE_CGROUP ||
	    link.cgroup.attach_type != cgnet_hooks[hook].type || link.cgroup.cgroup_id != cgroup ||
	    link.prog_id != info->prog_ids[hook])
		return why_set(why, -ENOLINK,
			       "the %s program is not attached to the class's cgroup", name);
	return 0;
}

int live_class_verify(const char *dir, const char *cgroup, const struct cgnet_class_info *info,
		      struct why *why)
{
	uint64_t id;
	int err = cgroup_id(cgroup, &id);

	if (err)
		return why_set(why, err, "cgroup %s: %s", cgroup, strerror(-err));
	if (id != info->cgroup_id)
		return why_set(why, -ENOLINK, "cgroup %s was made anew by somebody else", cgroup);
	for (int hook = 0; hook < CGNET_HOOKS && !err; hook++) {
		_cleanup_close_ int fd = -1;

		if (!hook_is_wanted(hook, &info->settings))
			continue;
		fd = bpffs_open(dir, cgnet_hooks[hook].name, why);
		err = fd < 0 ? fd : verify_link(fd, hook, id, info, why);
	}
	return err;
}

static int fill_maps(const struct live_class *lc, __u32 slot, const struct policy_maps *maps,
		     const struct cgnet_settings *settings, struct why *why)
{
	struct cgnet_settings in_force = *settings;
	int err = policy_maps_rules_id(maps, &in_force.rules);

	if (err)
		return why_set(why, err, "cannot read the map rules: %s", strerror(-err));
	if (bpf_map_update_elem(lc->slots4, &slot, &maps->deny4, BPF_ANY) < 0 ||
	    bpf_map_update_elem(lc->slots6, &slot, &maps->deny6, BPF_ANY) < 0 ||
	    bpf_map_update_elem(lc->slots_ports, &slot, &maps->ports, BPF_ANY) < 0 ||
	    bpf_map_update_elem(lc->settings, &slot, &in_force, BPF_ANY) < 0)
		return why_set(why, -errno, "cannot put the policy into its slot: %s",
			       strerror(errno));
	return 0;
}

static int add_name(const struct live_class *lc, __u32 slot, const struct cgnet_unix_name *from,
		    struct why *why)
{
	struct cgnet_unix_name name = *from;
	__u8 present = 1;

	name.slot = slot;
	if (bpf_map_update_elem(lc->unix_names, &name, &present, BPF_ANY) < 0)
		return why_set(why, -errno, "cannot add a Unix name: %s", strerror(errno));
	return 0;
}

/* Removes the names of a slot. Starts anew after each: the key that the walk stood on is gone. */
static int clear_names(const struct live_class *lc, __u32 slot, struct why *why)
{
	struct cgnet_unix_name name, last, *at = NULL;

	while (!bpf_map_get_next_key(lc->unix_names, at, &name)) {
		if (name.slot != slot) {
			last = name;
			at = &last;
			continue;
		}
		if (bpf_map_delete_elem(lc->unix_names, &name) < 0)
			return why_set(why, -errno, "cannot remove a Unix name: %s",
				       strerror(errno));
		at = NULL;
	}
	return 0;
}

int live_class_fill_slot(const struct live_class *lc, __u32 slot, const struct policy_maps *maps,
			 const struct compiled_class *compiled, struct why *why)
{
	int err = fill_maps(lc, slot, maps, &compiled->settings, why);

	if (!err)
		err = clear_names(lc, slot, why);
	for (size_t i = 0; i < compiled->nunix_names && !err; i++)
		err = add_name(lc, slot, &compiled->unix_names[i], why);
	return err;
}

int live_class_mirror_slot(const struct live_class *lc, __u32 slot, const struct policy_maps *maps,
			   struct why *why)
{
	struct cgnet_unix_name name, last, *at = NULL;
	struct cgnet_settings settings;
	__u32 other = 1 - slot;
	int err;

	if (bpf_map_lookup_elem(lc->settings, &other, &settings) < 0)
		return why_set(why, -errno, "cannot read the settings: %s", strerror(errno));
	err = fill_maps(lc, slot, maps, &settings, why);
	if (!err)
		err = clear_names(lc, slot, why);
	while (!err && !bpf_map_get_next_key(lc->unix_names, at, &name)) {
		last = name;
		at = &last;
		if (name.slot == other)
			err = add_name(lc, slot, &name, why);
	}
	return err;
}

int live_class_tell_rules(const struct live_class *lc, int fd, struct why *why)
{
	const struct policy_maps maps = {.rules = fd};
	struct cgnet_settings settings;
	int err = 0;

	for (__u32 slot = 0; slot < 2 && !err; slot++) {
		if (bpf_map_lookup_elem(lc->settings, &slot, &settings) < 0)
			err = -errno;
		if (!err)
			err = policy_maps_rules_id(&maps, &settings.rules);
		if (!err && bpf_map_update_elem(lc->settings, &slot, &settings, BPF_ANY) < 0)
			err = -errno;
	}
	return err ? why_set(why, err, "cannot write the settings: %s", strerror(-err)) : 0;
}

struct btf *live_class_btf(const struct live_class *lc)
{
	struct bpf_map_info map = {};
	__u32 len = sizeof(map);
	struct btf *btf;
	int fd;

	if (bpf_obj_get_info_by_fd(lc->record, &map, &len) < 0)
		return NULL;
	fd = bpf_btf_get_fd_by_id(map.btf_id);
	btf = fd < 0 ? NULL : btf__load_from_kernel_by_id(map.btf_id);
	if (btf)
		btf__set_fd(btf, fd); /* btf__free() closes it */
	else if (fd >= 0)
		close(fd);
	return btf;
}

int live_class_counts(const struct live_class *lc, enum cgnet_layer layer, struct cgnet_counts *out)
{
	int cpus = libbpf_num_possible_cpus();
	_cleanup_free_ struct cgnet_counts *each = NULL;
	struct cgnet_counts sum = {};
	__u64 lost;
	__u32 key = layer;

	if (cpus < 0)
		return cpus;
	each = calloc(cpus, sizeof(*each));
	if (!each)
		return -ENOMEM;
	if (bpf_map_lookup_elem(lc->counters, &key, each) < 0 ||
	    bpf_map_lookup_elem(lc->lost, &key, &lost) < 0)
		return -errno;
	for (int i = 0; i < cpus; i++) {
		sum.allowed += each[i].allowed;
		sum.denied += each[i].denied;
		sum.selftest += each[i].selftest;
		sum.would_deny += each[i].would_deny;
		sum.dropped += each[i].dropped;
	}
	sum.dropped += lost;
	*out = sum;
	return 0;
}

static int fill(struct live_class *lc, const struct live_class_plan *plan, struct policy_maps *maps,
		struct why *why)
{
	struct btf *btf = live_class_btf(lc);
	int err;

	if (!btf)
		return why_set(why, -errno, "cannot read the programs' BTF: %s", strerror(errno));
	err = policy_maps_make(maps, plan->compiled, btf, why);
	btf__free(btf);
	for (__u32 slot = 0; slot < 2 && !err; slot++)
		err = live_class_fill_slot(lc, slot, maps, plan->compiled, why);
	return err ? err : policy_maps_pin(maps, plan->dir, why);
}

/*
 * Everything but making the directory: policy first, then the programs, so that none runs without.
 */
static int build_in(struct live_class *lc, struct programs *programs,
		    const struct live_class_plan *plan, struct policy_maps *maps, struct why *why)
{
	struct cgnet_class_info info = {.abi = CGNET_ABI_VERSION};
	_cleanup_close_ int fd = open(plan->cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;
	int err;

	if (fd < 0 || fstat(fd, &st) < 0)
		return why_set(why, -errno, "cgroup %s: %s", plan->cgroup, strerror(errno));
	info.cgroup_id = st.st_ino;
	err = programs_load(programs, plan, info.cgroup_id, why);
	if (!err)
		err = programs_pin_maps(programs, plan->dir, why);
	if (!err)
		err = live_class_open(lc, plan->dir, why);
	if (!err)
		err = fill(lc, plan, maps, why);
	if (!err)
		err = programs_attach(programs, plan, fd, info.prog_ids, why);
	return err ? err : live_class_write(lc, &info, why);
}

int live_class_build(struct live_class *out, const struct live_class_plan *plan,
		     struct policy_maps *maps, struct why *why)
{
	struct live_class lc = LIVE_CLASS_NONE;
	struct policy_maps made = POLICY_MAPS_NONE;
	struct programs programs = {};
	int err;

	/* What a killed `load` left there: programs on a cgroup that no session can enter. */
	bpffs_remove_tree(plan->dir);
	if (mkdir(plan->dir, 0700) < 0)
		return why_set(why, -errno, "cannot make %s: %s", plan->dir, strerror(errno));
	err = build_in(&lc, &programs, plan, &made, why);
	programs_close(&programs);
	if (err) {
		bpffs_remove_tree(plan->dir);
		live_class_close(&lc);
		policy_maps_close(&made);
		return err;
	}
	*out = lc;
	*maps = made;
	return 0;
}
