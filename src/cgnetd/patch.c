// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Both slots of a class hold the same maps (see generation.h), so that what is written here is in
 * force with each entry, and the order of a diff sees to it that no entry opens or closes what
 * neither policy does. The generation is raised at the end: sockets that were judged before are
 * judged again.
 */
#include "patch.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/file.h>

#include "bpffs.h"
#include "digest.h"
#include "flows.h"
#include "live_class.h"
#include "mapio.h"
#include "shared.h"

/* Above a quarter of a class's prefixes, new maps are as cheap, and switch in one step. */
#define MAX_ENTRIES(n) ((n) / 4 > 4096 ? (n) / 4 : 4096)

/* Lists of ports that nothing refers to any more stay until a class gets new maps. */
#define MAX_PORTS(n) (4 * (n) + 4096)

/* What one class needs. */
struct target {
	const struct instance *in;
	const struct cgnet_info *info;
	const struct compiled_class *from, *to;
	const __u8 *from_digest;
	__u8 *digest;
	char dir[PATH_MAX], cgroup[PATH_MAX];
	struct live_class live;
	struct policy_maps maps;
	struct cgnet_class_info record;
	struct class_diff diff;
	bool diffed, begun;
};

/* -ESTALE: apply() has to see to it. */
static int open_class(struct target *t, struct why *why)
{
	int err = instance_path(t->in, t->dir, t->to->name, NULL, why);

	if (!err)
		err = instance_cgroup(t->info, t->cgroup, t->to->name, why);
	if (err)
		return err;
	if (live_class_open(&t->live, t->dir, why) || live_class_read(&t->live, &t->record, why) ||
	    policy_maps_open(&t->maps, t->dir, why) ||
	    live_class_verify(t->dir, t->cgroup, &t->record, why) ||
	    memcmp(t->record.digest, t->from_digest, sizeof(t->record.digest)) != 0)
		return -ESTALE;
	return 0;
}

static int make_diff(struct target *t, struct why *why)
{
	_cleanup_free_ struct cgnet_port *live = NULL;
	size_t n = 0, size = t->from->n4 + t->from->n6;
	int err = map_read_array(t->maps.ports, sizeof(*live), (void **)&live, &n, why);

	if (!err)
		err = class_diff(t->from, t->to, live, n, &t->diff);
	if (err)
		return err;
	t->diffed = true;
	if (class_diff_size(&t->diff) > MAX_ENTRIES(size) ||
	    t->diff.nports > MAX_PORTS(t->to->nports) ||
	    !policy_maps_have_room(&t->maps, t->from, &t->diff))
		return -ESTALE;
	return 0;
}

/* The table of ports with what the new values need; the old ones find theirs where it was. */
static int extend_ports(struct target *t, const struct btf *btf, struct why *why)
{
	_cleanup_close_ int fd = policy_maps_make_ports(t->diff.ports, t->diff.nports, btf, why);

	if (fd < 0)
		return fd;
	for (__u32 slot = 0; slot < 2; slot++)
		if (bpf_map_update_elem(t->live.slots_ports, &slot, &fd, BPF_ANY) < 0)
			return why_set(why, -errno, "cannot put the ports into their slot: %s",
				       strerror(errno));
	return bpffs_pin(fd, t->dir, "ports", why);
}

static int replace_rules(const struct target *t, const struct btf *btf, struct why *why)
{
	_cleanup_close_ int fd = policy_maps_make_rules(t->to->rules, t->to->nrules, btf, why);
	int err = fd < 0 ? fd : bpffs_pin(fd, t->dir, "rules", why);

	return err ? err : live_class_tell_rules(&t->live, fd, why);
}

static int replace_tables(struct target *t, struct why *why)
{
	bool ports = t->diff.nports != t->diff.nlive;
	struct btf *btf;
	int err = 0;

	if (!ports && !t->diff.rules)
		return 0;
	btf = live_class_btf(&t->live);
	if (!btf)
		return why_set(why, -errno, "cannot read the programs' BTF: %s", strerror(errno));
	if (ports)
		err = extend_ports(t, btf, why);
	if (!err && t->diff.rules)
		err = replace_rules(t, btf, why);
	btf__free(btf);
	return err;
}

/* Until the record is written again, the next load does not believe what is there. */
static int begin(struct target *t, struct why *why)
{
	struct cgnet_class_info unknown = t->record;

	memset(unknown.digest, 0, sizeof(unknown.digest));
	t->begun = true;
	return live_class_write(&t->live, &unknown, why);
}

static int change(struct target *t, struct why *why)
{
	int err = begin(t, why);

	if (!err)
		err = replace_tables(t, why);
	if (!err)
		err = policy_maps_patch(&t->maps, &t->diff, why);
	return err;
}

static int record(struct target *t, struct why *why)
{
	class_digest(t->to, t->digest);
	memcpy(t->record.digest, t->digest, sizeof(t->record.digest));
	t->record.prefixes4 = t->to->n4;
	t->record.prefixes6 = t->to->n6;
	return live_class_write(&t->live, &t->record, why);
}

static int patch_class(struct target *t, struct patch_result *result, struct why *why)
{
	int err = class_diff_can(t->from, t->to) ? open_class(t, why) : -ESTALE;

	if (!err)
		err = make_diff(t, why);
	if (!err && !class_diff_size(&t->diff) && !t->diff.rules) {
		memcpy(t->digest, t->from_digest, sizeof(t->record.digest));
		result->kept++;
		return 0;
	}
	if (!err)
		err = change(t, why);
	if (err == -ESTALE)
		result->left++;
	if (err)
		return err == -ESTALE ? 0 : err;
	result->changed++;
	result->entries += class_diff_size(&t->diff);
	return 0;
}

static void close_target(struct target *t)
{
	live_class_close(&t->live);
	policy_maps_close(&t->maps);
	if (t->diffed)
		class_diff_free(&t->diff);
}

/* True if the classes and what the instance's record says are the same as before. */
static bool same_frame(const struct cgnet_info *info, const struct in_force *now,
		       const struct apply_request *request)
{
	const struct compiled *from = now->compiled, *to = request->compiled;

	if (strcmp(info->default_class, to->default_class) != 0 ||
	    strcmp(info->root_class, request->root_class) != 0 || from->nclasses != to->nclasses)
		return false;
	for (size_t i = 0; i < to->nclasses; i++)
		if (strcmp(from->classes[i].name, to->classes[i].name) != 0)
			return false;
	return true;
}

static int patch_classes(struct target *targets, const struct compiled *to,
			 struct patch_result *result, struct why *why)
{
	struct why inner = {};
	int err = 0;

	for (size_t i = 0; i < to->nclasses && !err; i++) {
		err = patch_class(&targets[i], result, &inner);
		if (err)
			why_set(why, err, "class %s: %.400s", to->classes[i].name, inner.text);
	}
	return err;
}

/* What was begun has to be judged anew, also where it ended in an error. */
static int conclude(struct target *targets, const struct compiled *to,
		    const struct generation *generation, int failed, struct why *why)
{
	bool any = false;
	int err = failed;

	for (size_t i = 0; i < to->nclasses; i++)
		any |= targets[i].begun;
	if (any)
		generation_flip((struct generation *)generation);
	for (size_t i = 0; i < to->nclasses && !err; i++)
		if (targets[i].begun)
			err = record(&targets[i], why);
	return err;
}

/* Connections that were allowed before. */
static size_t reset_flows(const struct target *targets, size_t n)
{
	size_t reset = 0;

	for (size_t i = 0; i < n; i++)
		if (targets[i].begun)
			reset += flows_reset(targets[i].to, targets[i].cgroup);
	return reset;
}

static int replace_sets(const struct instance *in, const struct cgnet_info *info,
			const struct apply_request *request, const struct live_class *live,
			struct why *why)
{
	struct btf *btf = live_class_btf(live);
	struct shared shared = SHARED_NONE;
	int err = shared_prepare(&shared, in, false, request->facts, btf, why);

	btf__free(btf);
	if (!err)
		err = shared_commit(&shared, in, info, why);
	shared_close(&shared);
	return err;
}

/* A frame that changed, and a generation that no program reads, are left to apply(). */
static int run_targets(const struct instance *in, const struct in_force *now,
		       const struct apply_request *request, struct target *targets, class_sum *sums,
		       struct patch_result *result, struct why *why)
{
	const struct compiled *to = request->compiled;
	struct generation generation = GENERATION_NONE;
	struct cgnet_info info;
	int err = instance_info(in, &info, why);

	result->left = err ? 0 : to->nclasses;
	if (err || !same_frame(&info, now, request))
		return err;
	err = generation_open(&generation, in, why);
	if (err || generation.made) {
		generation_close(&generation);
		return err;
	}
	result->left = 0;
	for (size_t i = 0; i < to->nclasses; i++)
		targets[i] = (struct target){.in = in,
					     .info = &info,
					     .from = &now->compiled->classes[i],
					     .to = &to->classes[i],
					     .from_digest = now->sums[i],
					     .digest = sums[i],
					     .live = LIVE_CLASS_NONE,
					     .maps = POLICY_MAPS_NONE};
	err = patch_classes(targets, to, result, why);
	err = conclude(targets, to, &generation, err, why);
	if (!err && !result->left)
		err = replace_sets(in, &info, request, &targets[0].live, why);
	if (!err)
		result->reset = reset_flows(targets, to->nclasses);
	for (size_t i = 0; i < to->nclasses; i++)
		close_target(&targets[i]);
	generation_close(&generation);
	return err;
}

int patch(const struct instance *in, const struct in_force *now,
	  const struct apply_request *request, class_sum *sums, struct patch_result *result,
	  struct why *why)
{
	_cleanup_close_ int lock = instance_lock(in, LOCK_EX, false, why);
	struct target *targets;
	int err;

	*result = (struct patch_result){};
	if (lock < 0)
		return lock;
	targets = calloc(request->compiled->nclasses + 1, sizeof(*targets));
	if (!targets)
		return why_set(why, -ENOMEM, "out of memory");
	err = run_targets(in, now, request, targets, sums, result, why);
	free(targets);
	return err;
}
