// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "programs.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/types.h>

#include <sha2.h>

#include "bpffs.h"
#include "cgnet.skel.h"
#include "cgnet_unix.skel.h"
#include "event_maps.h"
#include "live_class.h"
#include "probe.h"

bool hook_is_wanted(enum cgnet_hook hook, const struct cgnet_settings *settings)
{
	switch (hook) {
	case CGNET_HOOK_INGRESS:
		return settings->flags & CGNET_INBOUND_DENY;
	case CGNET_HOOK_CONNECT_UNIX:
	case CGNET_HOOK_SENDMSG_UNIX:
		return settings->flags & CGNET_UNIX_NONE;
	default:
		return true;
	}
}

__u32 programs_build(void)
{
	size_t n;
	const void *object = cgnet__elf_bytes(&n);
	__u8 digest[SHA256_DIGEST_LENGTH];
	SHA2_CTX ctx;
	__u32 build;

	SHA256Init(&ctx);
	SHA256Update(&ctx, object, n);
	object = cgnet_unix__elf_bytes(&n);
	SHA256Update(&ctx, object, n);
	SHA256Final(digest, &ctx);
	memcpy(&build, digest, sizeof(build));
	return build ? build : 1;
}

/* Maps that the programs do not read are types only, or made for each policy. */
static void skip_templates(struct cgnet *skel)
{
	struct bpf_map *const templates[] = {
		skel->maps.deny4, skel->maps.deny6, skel->maps.ports,
		skel->maps.rules, skel->maps.info,  skel->maps.sets,
	};

	for (size_t i = 0; i < ARRAY_SIZE(templates); i++)
		bpf_map__set_autocreate(templates[i], false);
}

/* Takes over a map of the class as it was loaded before; one of another version is left alone. */
static void keep_map(struct bpf_map *map, const char *old_dir, const char *pin)
{
	_cleanup_close_ int fd = old_dir ? bpffs_open(old_dir, pin, NULL) : -1;
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);

	if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &len) &&
	    info.type == bpf_map__type(map) && info.value_size == bpf_map__value_size(map) &&
	    info.max_entries == bpf_map__max_entries(map))
		bpf_map__reuse_fd(map, fd);
}

static int refused(int err, struct why *why)
{
	return why_set(why, err, "the kernel refuses the BPF programs: %s%s", strerror(-err),
		       err == -EPERM ? " (CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON are needed)" : "");
}

static int load_inet(struct programs *p, const struct live_class_plan *plan, __u64 cgroup_id,
		     struct why *why)
{
	char core[32];
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = core);
	struct cgnet *skel;
	int err;

	snprintf(core, sizeof(core), "/proc/self/fd/%d", plan->core_btf);
	skel = p->inet = cgnet__open_opts(&opts);
	if (!skel)
		return why_set(why, -errno, "cannot open the BPF programs: %s", strerror(errno));
	skip_templates(skel);
	bpf_program__set_autoload(skel->progs.ingress,
				  hook_is_wanted(CGNET_HOOK_INGRESS, &plan->compiled->settings));
	keep_map(skel->maps.sockets, plan->old_dir, "sockets");
	keep_map(skel->maps.counters, plan->old_dir, "counters");
	keep_map(skel->maps.lost, plan->old_dir, CGNET_PIN_LOST);
	skel->rodata->config.class_cgroup = cgroup_id;
	skel->rodata->config.has_set_retval = probe_set_retval();
	err = bpf_map__reuse_fd(skel->maps.data_generation, plan->generation->fd);
	if (!err)
		err = event_maps_share(skel->obj, plan->in);
	if (!err)
		err = cgnet__load(skel);
	return err ? refused(err, why) : event_maps_pin(skel->obj, plan->in, why);
}

static struct bpf_program *find(const struct programs *p, enum cgnet_hook hook)
{
	const struct bpf_object *obj =
		cgnet_hooks[hook].layer == CGNET_LAYER_UNIX ? p->local->obj : p->inet->obj;

	return bpf_object__find_program_by_name(obj, cgnet_hooks[hook].name);
}

/* The maps of the other object that these programs read. */
static int share_maps(const struct programs *p, const struct live_class_plan *plan)
{
	const struct cgnet *from = p->inet;
	struct cgnet_unix *to = p->local;
	const struct {
		struct bpf_map *map;
		int fd;
	} shared[] = {
		{to->maps.data_generation, plan->generation->fd},
		{to->maps.settings, bpf_map__fd(from->maps.settings)},
		{to->maps.unix_names, bpf_map__fd(from->maps.unix_names)},
		{to->maps.counters, bpf_map__fd(from->maps.counters)},
	};
	struct bpf_map *map;
	int err = 0;

	bpf_object__for_each_map(map, to->obj) bpf_map__set_autocreate(map, false);
	for (size_t i = 0; i < ARRAY_SIZE(shared) && !err; i++) {
		bpf_map__set_autocreate(shared[i].map, true);
		err = bpf_map__reuse_fd(shared[i].map, shared[i].fd);
	}
	bpf_map__set_autocreate(to->maps.rodata, true);
	return err ? err : event_maps_share(to->obj, plan->in);
}

/* libbpf 1.1 does not know the sections' names. */
static int load_unix(struct programs *p, const struct live_class_plan *plan, __u64 cgroup_id,
		     struct why *why)
{
	int err;

	p->local = cgnet_unix__open();
	if (!p->local)
		return why_set(why, -errno, "cannot open the BPF programs: %s", strerror(errno));
	for (int hook = CGNET_HOOK_CONNECT_UNIX; hook <= CGNET_HOOK_SENDMSG_UNIX; hook++) {
		bpf_program__set_type(find(p, hook), BPF_PROG_TYPE_CGROUP_SOCK_ADDR);
		bpf_program__set_expected_attach_type(find(p, hook), cgnet_hooks[hook].type);
	}
	p->local->rodata->config.class_cgroup = cgroup_id;
	err = share_maps(p, plan);
	if (!err)
		err = cgnet_unix__load(p->local);
	return err ? refused(err, why) : 0;
}

int programs_load(struct programs *p, const struct live_class_plan *plan, __u64 cgroup_id,
		  struct why *why)
{
	int err = load_inet(p, plan, cgroup_id, why);

	if (!err && hook_is_wanted(CGNET_HOOK_CONNECT_UNIX, &plan->compiled->settings))
		err = load_unix(p, plan, cgroup_id, why);
	return err;
}

static int attach_one(const struct programs *p, enum cgnet_hook hook, int cgroup_fd,
		      const char *dir, __u32 *id, struct why *why)
{
	const char *name = cgnet_hooks[hook].name;
	struct bpf_program *prog = find(p, hook);
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);
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
	if (!err && bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &len) < 0)
		err = why_set(why, -errno, "%s: %s", name, strerror(errno));
	/* Closes the descriptor; the pin keeps the link. */
	bpf_link__destroy(link);
	*id = info.id;
	return err;
}

int programs_attach(const struct programs *p, const struct live_class_plan *plan, int cgroup_fd,
		    __u32 ids[CGNET_HOOKS], struct why *why)
{
	int err = 0;

	for (int hook = 0; hook < CGNET_HOOKS && !err; hook++)
		if (hook_is_wanted(hook, &plan->compiled->settings))
			err = attach_one(p, hook, cgroup_fd, plan->dir, &ids[hook], why);
	return err;
}

int programs_pin_maps(const struct programs *p, const char *dir, struct why *why)
{
	int err = 0;

	for (size_t i = 0; i < LIVE_CLASS_PINS && !err; i++) {
		const char *name = live_class_pins[i];
		int fd = bpf_object__find_map_fd_by_name(p->inet->obj, name);

		err = bpffs_pin(fd, dir, name, why);
	}
	return err;
}

void programs_close(struct programs *p)
{
	cgnet_unix__destroy(p->local);
	cgnet__destroy(p->inet);
	*p = (struct programs){};
}
