// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "apply.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "bpffs.h"
#include "cgroup.h"
#include "core_btf.h"
#include "flows.h"
#include "sessions.h"
#include "shared.h"
#include "step.h"

struct load {
	const struct instance *in;
	const struct apply_request *request;
	struct cgnet_info info, old_info;
	bool first;   /* nothing was loaded before */
	bool older;   /* what is loaded is of an earlier version */
	bool flipped; /* the switch has happened */
	struct generation generation;
	struct shared shared;
	struct step *steps;
	size_t n;
};

static int next_step(struct load *l, const char *name, const struct compiled_class *compiled,
		     struct why *why)
{
	struct step *grown = realloc(l->steps, (l->n + 1) * sizeof(*grown));

	if (!grown)
		return why_set(why, -ENOMEM, "out of memory");
	l->steps = grown;
	return step_plan(&l->steps[l->n++], l->in, &l->info, &l->generation, name, compiled, why);
}

struct drop_walk {
	struct load *load;
	struct why *why;
};

static int plan_drop(const char *name, void *arg)
{
	struct drop_walk *walk = arg;

	if (compiled_class(walk->load->request->compiled, name))
		return 0;
	return next_step(walk->load, name, NULL, walk->why);
}

static int plan(struct load *l, struct why *why)
{
	const struct compiled *c = l->request->compiled;
	struct drop_walk walk = {l, why};
	int err = 0;

	for (size_t i = 0; i < c->nclasses && !err; i++)
		err = next_step(l, c->classes[i].name, &c->classes[i], why);
	return err ? err : instance_each_class(l->in, plan_drop, &walk);
}

/* Sessions of a dropped class are named, not ended behind the operator's back. */
static int check_drop(const struct load *l, const struct step *s, struct why *why)
{
	struct sessions live;
	char names[256];
	int err;

	if (s->action != STEP_DROP || l->request->force)
		return 0;
	err = sessions_list(s->cgroup, &live);
	if (err)
		return why_set(why, err, "class %s: cannot list its sessions: %s", s->name,
			       strerror(-err));
	if (live.n)
		err = why_set(
			why, -EBUSY,
			"class %s is not in the file but has sessions: %s (--force ends them)",
			s->name, sessions_format(&live, names, sizeof(names)));
	sessions_free(&live);
	return err;
}

static int describe(struct load *l, struct why *why)
{
	const struct compiled *c = l->request->compiled;
	struct cgnet_info *info = &l->info;
	int err;

	*info = (struct cgnet_info){.abi = CGNET_ABI_VERSION};
	err = cgroup_find_mount(info->mount, sizeof(info->mount), why);
	if (err)
		return err;
	if (snprintf(info->cgroup, sizeof(info->cgroup), "%s", l->in->cgroup) >=
	    (int)sizeof(info->cgroup))
		return why_set(why, -ENAMETOOLONG, "--cgroup %s: too long", l->in->cgroup);
	snprintf(info->default_class, sizeof(info->default_class), "%s", c->default_class);
	snprintf(info->root_class, sizeof(info->root_class), "%s", l->request->root_class);
	return 0;
}

static int check_old(struct load *l, struct why *why)
{
	int err = instance_info_any(l->in, &l->old_info, why);

	l->first = err == -ENOENT;
	if (l->first)
		return 0;
	l->older = !err && l->old_info.abi != CGNET_ABI_VERSION;
	if (!err && (strcmp(l->info.mount, l->old_info.mount) != 0 ||
		     strcmp(l->info.cgroup, l->old_info.cgroup) != 0))
		err = why_set(why, -EEXIST, "%s is loaded for cgroup %s/%s, not %s/%s",
			      l->in->bpffs, l->old_info.mount, l->old_info.cgroup, l->info.mount,
			      l->info.cgroup);
	return err;
}

/* Visits MOUNT/a, MOUNT/a/b, ... of the instance's cgroup until visit returns non-zero. */
static int each_part(struct load *l,
		     int (*visit)(struct load *l, const char *path, struct why *why),
		     struct why *why)
{
	char path[PATH_MAX];
	int err = instance_cgroup(&l->info, path, NULL, why);
	char *p = path + strlen(l->info.mount);

	while (!err && p) {
		p = strchr(p + 1, '/');
		if (p)
			*p = '\0';
		err = visit(l, path, why);
		if (p)
			*p = '/';
	}
	return err;
}

static int count_missing(struct load *l, const char *path, struct why *why)
{
	(void)why;
	l->info.made_parts += access(path, F_OK) < 0;
	return 0;
}

static int make_part(struct load *l, const char *path, struct why *why)
{
	bool made;

	(void)l;
	return cgroup_make(path, &made, why);
}

/*
 * `unload` removes as many of the last parts as were made here. The record of that comes first, for
 * a load that is killed.
 */
static int make_root(struct load *l, struct why *why)
{
	int err = 0;

	l->info.made_parts = l->old_info.made_parts;
	if (l->first) {
		err = each_part(l, count_missing, why);
		if (!err)
			err = shared_announce(l->in, &l->info, why);
	}
	return err ? err : each_part(l, make_part, why);
}

static size_t how_many(const struct load *l, enum step_action action)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		n += l->steps[i].action == action;
	return n;
}

static int prepare(struct load *l, struct why *why)
{
	_cleanup_close_ int core_btf = -1;
	int err = 0;

	/* A load that was killed may have flipped a moment ago. */
	if (how_many(l, STEP_CHANGE))
		err = generation_wait(why);
	for (size_t i = 0; i < l->n && !err; i++) {
		sessions_sweep(l->steps[i].cgroup);
		err = check_drop(l, &l->steps[i], why);
	}
	if (!err && how_many(l, STEP_ADD) + how_many(l, STEP_REPLACE)) {
		core_btf = core_btf_open(why);
		err = core_btf < 0 ? core_btf : 0;
	}
	for (size_t i = 0; i < l->n && !err; i++)
		err = step_prepare(&l->steps[i], &l->generation, core_btf, why);
	return err;
}

static int prepare_shared(struct load *l, struct why *why)
{
	struct btf *btf = l->n ? live_class_btf(&l->steps[0].live) : NULL;
	int err = shared_prepare(&l->shared, l->in, l->first || l->older, l->request->facts, btf,
				 why);

	btf__free(btf);
	return err;
}

static int commit(struct load *l, struct why *why)
{
	int err = 0;

	/* New programs have their policy in both slots, but what sockets remember is of the old
	 * one. */
	if (how_many(l, STEP_CHANGE) + how_many(l, STEP_REPLACE)) {
		generation_flip(&l->generation);
		l->flipped = true;
	}
	for (size_t i = 0; i < l->n && !err; i++)
		err = step_commit(&l->steps[i], why);
	if (!err && l->older)
		err = generation_pin(&l->generation, l->in, why);
	if (!err)
		err = shared_commit(&l->shared, l->in, &l->info, why);
	for (size_t i = 0; i < l->n && !err; i++)
		err = step_limit(&l->steps[i], why);
	return err;
}

static void undo(struct load *l)
{
	if (l->flipped) {
		generation_flip(&l->generation);
		/* Without the wait the slots stay as they are: full, and out of force. */
		if (generation_wait(NULL))
			return;
	}
	for (size_t i = 0; i < l->n; i++)
		step_undo(&l->steps[i], &l->generation);
	if (l->first)
		shared_remove(l->in);
	else
		shared_undo(&l->shared, l->in, &l->old_info);
	if (l->first)
		instance_remove_root(&l->info);
}

static int drop_class(struct step *s, struct apply_result *result, struct why *why)
{
	struct sessions live = {};
	int err;

	sessions_list(s->cgroup, &live);
	result->killed += live.n;
	sessions_free(&live);
	err = step_drop(s, why);
	if (!err)
		result->dropped++;
	return err;
}

static int let_go(struct load *l, struct why *why)
{
	int err = l->flipped ? generation_wait(why) : 0;

	for (size_t i = 0; i < l->n && !err; i++)
		err = step_finish(&l->steps[i], &l->generation, why);
	return err;
}

static size_t reset_flows(const struct load *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		if (l->steps[i].action == STEP_CHANGE || l->steps[i].action == STEP_REPLACE)
			n += flows_reset(l->steps[i].compiled, l->steps[i].cgroup);
	return n;
}

/* The new policy is in force: what goes wrong from here on does not open anything. */
static int finish(struct load *l, struct apply_result *result, struct why *why)
{
	struct why each;
	int err = let_go(l, &each);

	result->reset = reset_flows(l);
	for (size_t i = 0; i < l->n; i++) {
		int failed = 0;

		if (l->steps[i].action == STEP_DROP)
			failed = drop_class(&l->steps[i], result, err ? NULL : &each);
		if (!err)
			err = failed;
	}
	return err ? why_set(why, err, "the new policy is in force, but %.400s", each.text) : 0;
}

static int run(struct load *l, struct apply_result *result, struct why *why)
{
	int err = describe(l, why);

	if (!err)
		err = check_old(l, why);
	if (!err)
		err = instance_clean(l->in, why);
	if (!err)
		err = make_root(l, why);
	if (!err)
		err = l->older ? generation_make(&l->generation, why)
			       : generation_open(&l->generation, l->in, why);
	if (!err)
		err = plan(l, why);
	if (!err)
		err = prepare(l, why);
	if (!err)
		err = prepare_shared(l, why);
	if (!err)
		err = commit(l, why);
	if (err) {
		undo(l);
		return err;
	}
	result->added = how_many(l, STEP_ADD);
	result->changed = how_many(l, STEP_CHANGE) + how_many(l, STEP_REPLACE);
	result->kept = how_many(l, STEP_KEEP);
	result->info_changed = memcmp(&l->info, &l->old_info, sizeof(l->info)) != 0;
	return finish(l, result, why);
}

int apply(const struct instance *in, const struct apply_request *request,
	  struct apply_result *result, struct why *why)
{
	struct load l = {
		.in = in, .request = request, .generation = GENERATION_NONE, .shared = SHARED_NONE};
	_cleanup_close_ int lock = instance_lock(in, LOCK_EX, true, why);
	int err;

	*result = (struct apply_result){};
	if (lock < 0)
		return lock;
	err = run(&l, result, why);
	for (size_t i = 0; i < l.n; i++)
		step_close(&l.steps[i]);
	free(l.steps);
	shared_close(&l.shared);
	generation_close(&l.generation);
	if (err)
		instance_remove(in, &lock);
	return err;
}
