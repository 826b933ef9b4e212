// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live_class.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "bpffs.h"
#include "cgnet.skel.h"
#include "cgroup.h"

static const char *const pins[] = {"slots4", "slots6", "slots_ports", "counters", CGNET_PIN_CLASS};

static int *nth_fd(struct live_class *lc, size_t i)
{
	int *const fds[] = {&lc->slots4, &lc->slots6, &lc->slots_ports, &lc->counters, &lc->record};

	return fds[i];
}

int live_class_open(struct live_class *out, const char *dir, struct why *why)
{
	struct live_class lc = LIVE_CLASS_NONE;

	for (size_t i = 0; i < ARRAY_SIZE(pins); i++) {
		int fd = bpffs_open(dir, pins[i], why);

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
	for (size_t i = 0; i < ARRAY_SIZE(pins); i++)
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
		_cleanup_close_ int fd = bpffs_open(dir, cgnet_hooks[hook].name, why);

		err = fd < 0 ? fd : verify_link(fd, hook, id, info, why);
	}
	return err;
}

int live_class_fill_slot(const struct live_class *lc, __u32 slot, const struct policy_maps *maps,
			 struct why *why)
{
	if (bpf_map_update_elem(lc->slots4, &slot, &maps->deny4, BPF_ANY) < 0 ||
	    bpf_map_update_elem(lc->slots6, &slot, &maps->deny6, BPF_ANY) < 0 ||
	    bpf_map_update_elem(lc->slots_ports, &slot, &maps->ports, BPF_ANY) < 0)
		return why_set(why, -errno, "cannot put the policy into its slot: %s",
			       strerror(errno));
	return 0;
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
	__u32 key = layer;

	if (cpus < 0)
		return cpus;
	each = calloc(cpus, sizeof(*each));
	if (!each)
		return -ENOMEM;
	if (bpf_map_lookup_elem(lc->counters, &key, each) < 0)
		return -errno;
	for (int i = 0; i < cpus; i++) {
		sum.allowed += each[i].allowed;
		sum.denied += each[i].denied;
		sum.selftest += each[i].selftest;
	}
	*out = sum;
	return 0;
}

/* Maps that the programs do not read are types only, or made for each policy. */
static void skip_templates(struct cgnet *skel)
{
	struct bpf_map *const templates[] = {skel->maps.deny4, skel->maps.deny6, skel->maps.ports,
					     skel->maps.rules, skel->maps.info,	 skel->maps.sets};

	for (size_t i = 0; i < ARRAY_SIZE(templates); i++)
		bpf_map__set_autocreate(templates[i], false);
}

static struct bpf_program *program(const struct cgnet *skel, enum cgnet_hook hook)
{
	return bpf_object__find_program_by_name(skel->obj, cgnet_hooks[hook].name);
}

static int load_programs(struct cgnet *skel, const struct generation *generation, struct why *why)
{
	int err;

	skip_templates(skel);
	err = bpf_map__reuse_fd(skel->maps.data_generation, generation->fd);
	if (!err)
		err = cgnet__load(skel);
	if (err)
		return why_set(why, err, "the kernel refuses the BPF programs: %s%s",
			       strerror(-err),
			       err == -EPERM ? " (CAP_BPF and CAP_NET_ADMIN are needed)" : "");
	return 0;
}

static int attach_one(struct cgnet *skel, enum cgnet_hook hook, int cgroup_fd, const char *dir,
		      struct cgnet_class_info *info, struct why *why)
{
	const char *name = cgnet_hooks[hook].name;
	struct bpf_program *prog = program(skel, hook);
	struct bpf_prog_info prog_info = {};
	__u32 len = sizeof(prog_info);
	struct bpf_link *link;
	int err;

	link = bpf_program__attach_cgroup(prog, cgroup_fd);
	if (!link) {
		err = -errno;
		return why_set(why, err, "cannot attach %s: %s%s", name, strerror(-err),
			       err == -EPERM
				       ? " (a program attached without BPF_F_ALLOW_MULTI to this "
					 "cgroup or one above it is in the way)"
				       : "");
	}
	err = bpffs_pin(bpf_link__fd(link), dir, name, why);
	if (!err && bpf_obj_get_info_by_fd(bpf_program__fd(prog), &prog_info, &len) < 0)
		err = why_set(why, -errno, "%s: %s", name, strerror(errno));
	/* Closes the descriptor; the pin keeps the link. */
	bpf_link__destroy(link);
	info->prog_ids[hook] = prog_info.id;
	return err;
}

static int attach(struct cgnet *skel, const char *dir, const char *cgroup,
		  struct cgnet_class_info *info, struct why *why)
{
	_cleanup_close_ int fd = open(cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;
	int err = 0;

	if (fd < 0 || fstat(fd, &st) < 0)
		return why_set(why, -errno, "cgroup %s: %s", cgroup, strerror(errno));
	info->cgroup_id = st.st_ino;
	for (int hook = 0; hook < CGNET_HOOKS && !err; hook++)
		err = attach_one(skel, hook, fd, dir, info, why);
	return err;
}

static int pin_maps(const struct cgnet *skel, const char *dir, struct why *why)
{
	const struct bpf_map *const maps[ARRAY_SIZE(pins)] = {
		skel->maps.slots4,   skel->maps.slots6, skel->maps.slots_ports,
		skel->maps.counters, skel->maps.class,
	};
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(pins) && !err; i++)
		err = bpffs_pin(bpf_map__fd(maps[i]), dir, pins[i], why);
	return err;
}

/* Everything but making dir: policy first, then the programs, so that none runs without. */
static int build_in(struct live_class *lc, struct cgnet *skel, const char *dir, const char *cgroup,
		    const struct compiled_class *compiled, const struct generation *generation,
		    struct policy_maps *maps, struct why *why)
{
	struct cgnet_class_info info = {.abi = CGNET_ABI_VERSION};
	struct btf *btf = NULL;
	int err = load_programs(skel, generation, why);

	if (!err)
		err = pin_maps(skel, dir, why);
	if (!err)
		err = live_class_open(lc, dir, why);
	if (err)
		return err;
	btf = live_class_btf(lc);
	if (!btf)
		return why_set(why, -errno, "cannot read the programs' BTF: %s", strerror(errno));
	err = policy_maps_make(maps, compiled, btf, why);
	btf__free(btf);
	for (__u32 slot = 0; slot < 2 && !err; slot++)
		err = live_class_fill_slot(lc, slot, maps, why);
	if (!err)
		err = policy_maps_pin(maps, dir, why);
	if (!err)
		err = attach(skel, dir, cgroup, &info, why);
	return err ? err : live_class_write(lc, &info, why);
}

int live_class_build(struct live_class *out, const char *dir, const char *cgroup,
		     const struct compiled_class *compiled, const struct generation *generation,
		     struct policy_maps *maps, struct why *why)
{
	struct live_class lc = LIVE_CLASS_NONE;
	struct policy_maps made = POLICY_MAPS_NONE;
	struct cgnet *skel;
	int err;

	/* What a killed `load` left there: programs on a cgroup that no session can enter. */
	bpffs_remove_tree(dir);
	if (mkdir(dir, 0700) < 0)
		return why_set(why, -errno, "cannot make %s: %s", dir, strerror(errno));
	skel = cgnet__open();
	if (skel)
		err = build_in(&lc, skel, dir, cgroup, compiled, generation, &made, why);
	else
		err = why_set(why, -errno, "cannot open the BPF programs: %s", strerror(errno));
	cgnet__destroy(skel);
	if (err) {
		bpffs_remove_tree(dir);
		live_class_close(&lc);
		policy_maps_close(&made);
		return err;
	}
	*out = lc;
	*maps = made;
	return 0;
}
