// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "step.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "bpffs.h"
#include "cgroup.h"
#include "digest.h"
#include "probe.h"
#include "programs.h"
#include "selftest.h"
#include "sessions.h"

/* The class's name in front of a reason. */
static int name_class(const struct step *s, int err, struct why *why)
{
	struct why inner = *why;

	return err ? why_set(why, err, "class %s: %.400s", s->name, inner.text) : 0;
}

static bool exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

static void describe(struct step *s)
{
	const struct compiled_class *c = s->compiled;

	s->info.settings = c->settings;
	s->info.keep_privileges = c->keep_privileges;
	s->info.fallback = c->fallback;
	s->info.prefixes4 = c->n4;
	s->info.prefixes6 = c->n6;
	memcpy(s->info.limits, c->limits, sizeof(s->info.limits));
	s->info.programs = programs_build();
	class_digest(c, s->info.digest);
}

static bool same_programs(const struct cgnet_class_info *x, const struct cgnet_class_info *y)
{
	const struct cgnet_settings *a = &x->settings, *b = &y->settings;

	if (x->programs != y->programs)
		return false;
	for (int hook = 0; hook < CGNET_HOOKS; hook++)
		if (hook_is_wanted(hook, a) != hook_is_wanted(hook, b))
			return false;
	return true;
}

/* A loaded class: is it whole, and does it have this policy? */
static int plan_loaded(struct step *s, struct why *why)
{
	struct why broken;
	int err = live_class_open(&s->live, s->dir, &broken);

	if (!err)
		err = live_class_read(&s->live, &s->old_info, why);
	if (err == -EPROTO)
		return err;
	if (!err)
		err = policy_maps_open(&s->old_maps, s->dir, &broken);
	if (!err)
		err = live_class_verify(s->dir, s->cgroup, &s->old_info, &broken);
	if (err) {
		live_class_close(&s->live);
		s->action = STEP_REPLACE;
		return 0;
	}
	s->info = s->old_info;
	describe(s);
	if (!same_programs(&s->info, &s->old_info)) {
		live_class_close(&s->live);
		s->action = STEP_REPLACE;
	} else {
		s->action =
			memcmp(&s->info, &s->old_info, sizeof(s->info)) ? STEP_CHANGE : STEP_KEEP;
	}
	return 0;
}

int step_plan(struct step *s, const struct instance *in, const struct cgnet_info *info,
	      const struct generation *g, const char *name, const struct compiled_class *compiled,
	      struct why *why)
{
	char temp_name[CGNET_NAME_SIZE + 1];
	int err;

	*s = (struct step){.in = in,
			   .compiled = compiled,
			   .live = LIVE_CLASS_NONE,
			   .maps = POLICY_MAPS_NONE,
			   .old_maps = POLICY_MAPS_NONE};
	snprintf(s->name, sizeof(s->name), "%s", name);
	snprintf(temp_name, sizeof(temp_name), "_%s", s->name);
	err = instance_path(in, s->dir, s->name, NULL, why);
	if (!err)
		err = instance_path(in, s->temp, temp_name, NULL, why);
	if (!err)
		err = instance_cgroup(info, s->cgroup, s->name, why);
	if (err)
		return err;
	if (!compiled)
		s->action = STEP_DROP;
	else if (!exists(s->dir))
		s->action = STEP_ADD;
	else if (g->made)
		s->action = STEP_REPLACE;
	else
		return name_class(s, plan_loaded(s, why), why);
	return 0;
}

static int prepare_new(struct step *s, const struct generation *g, int core_btf, struct why *why)
{
	const struct live_class_plan plan = {
		.in = s->in,
		.dir = s->temp,
		.old_dir = s->action == STEP_REPLACE ? s->dir : NULL,
		.cgroup = s->cgroup,
		.compiled = s->compiled,
		.generation = g,
		.core_btf = core_btf,
	};
	int err = probe_settings(&s->compiled->settings, why);

	if (!err)
		err = cgroup_make(s->cgroup, &s->made_cgroup, why);
	if (!err)
		err = class_limits_prepare(s->cgroup, s->compiled->limits, why);
	/* No session is in the way; one limit too low for a process is found by the self-test. */
	if (!err && s->action == STEP_ADD)
		err = class_limits_set(&s->limits, s->cgroup, s->compiled->limits, s->info.limits,
				       why);
	if (!err)
		err = live_class_build(&s->live, &plan, &s->maps, why);
	if (!err)
		err = live_class_read(&s->live, &s->info, why);
	if (err)
		return err;
	describe(s);
	err = live_class_write(&s->live, &s->info, why);
	return err ? err : selftest(&s->live, s->cgroup, &s->compiled->settings, why);
}

/*
 * If we are killed before both slots hold the new policy, the next load must not believe the
 * record: a later switch, for whatever class, would bring the old one back.
 */
static int write_unknown(struct step *s, const struct cgnet_class_info *info, struct why *why)
{
	struct cgnet_class_info unknown = *info;

	memset(unknown.digest, 0, sizeof(unknown.digest));
	return live_class_write(&s->live, &unknown, why);
}

static int prepare_change(struct step *s, const struct generation *g, struct why *why)
{
	struct btf *btf = live_class_btf(&s->live);
	int err;

	if (!btf)
		return why_set(why, -errno, "cannot read the programs' BTF: %s", strerror(errno));
	err = policy_maps_make(&s->maps, s->compiled, btf, why);
	btf__free(btf);
	if (!err)
		err = live_class_fill_slot(&s->live, generation_standby(g), &s->maps, s->compiled,
					   why);
	if (err)
		return err;
	return write_unknown(s, &s->old_info, why);
}

int step_prepare(struct step *s, const struct generation *g, int core_btf, struct why *why)
{
	int err = 0;

	if (s->action == STEP_KEEP || s->action == STEP_CHANGE)
		err = class_limits_prepare(s->cgroup, s->compiled->limits, why);
	if (err)
		return name_class(s, err, why);
	if (s->action == STEP_ADD || s->action == STEP_REPLACE)
		err = prepare_new(s, g, core_btf, why);
	else if (s->action == STEP_CHANGE)
		err = prepare_change(s, g, why);
	return name_class(s, err, why);
}

/* Moves the new directory to its place; one that is there goes to the temporary name. */
static int swap_dirs(struct step *s, struct why *why)
{
	char old[PATH_MAX];

	if (snprintf(old, sizeof(old), "%s_old", s->temp) >= (int)sizeof(old))
		return why_set(why, -ENAMETOOLONG, "%s: path too long", s->temp);
	bpffs_remove_tree(old);
	if (s->action == STEP_REPLACE && rename(s->dir, old) < 0)
		return why_set(why, -errno, "cannot move %s: %s", s->dir, strerror(errno));
	if (rename(s->temp, s->dir) < 0) {
		int err = why_set(why, -errno, "cannot move %s: %s", s->temp, strerror(errno));

		if (s->action == STEP_REPLACE)
			rename(old, s->dir);
		return err;
	}
	bpffs_remove_tree(old);
	return 0;
}

int step_commit(struct step *s, struct why *why)
{
	int err = 0;

	s->committed = true;
	if (s->action == STEP_ADD || s->action == STEP_REPLACE) {
		err = swap_dirs(s, why);
	} else if (s->action == STEP_CHANGE) {
		err = selftest(&s->live, s->cgroup, &s->compiled->settings, why);
		if (!err)
			err = policy_maps_pin(&s->maps, s->dir, why);
		if (!err)
			err = write_unknown(s, &s->info, why);
	}
	return name_class(s, err, why);
}

int step_limit(struct step *s, struct why *why)
{
	if (s->action == STEP_DROP)
		return 0;
	return name_class(
		s, class_limits_set(&s->limits, s->cgroup, s->info.limits, s->old_info.limits, why),
		why);
}

/*
 * Best effort where the kernel refuses: what is in force is the old policy by now, and a record
 * that could not be restored has no digest, so that the next load writes everything anew.
 */
void step_undo(struct step *s, const struct generation *g)
{
	class_limits_restore(&s->limits, s->cgroup);
	if (s->action == STEP_ADD || s->action == STEP_REPLACE) {
		bpffs_remove_tree(s->temp);
		if (s->committed && s->action == STEP_ADD)
			bpffs_remove_tree(s->dir);
		if (s->made_cgroup)
			cgroup_remove(s->cgroup);
	} else if (s->action == STEP_CHANGE) {
		live_class_mirror_slot(&s->live, generation_standby(g), &s->old_maps, NULL);
		if (!s->committed || !policy_maps_pin(&s->old_maps, s->dir, NULL))
			live_class_write(&s->live, &s->old_info, NULL);
	}
}

int step_finish(struct step *s, const struct generation *g, struct why *why)
{
	int err;

	if (s->action != STEP_CHANGE)
		return 0;
	err = live_class_mirror_slot(&s->live, generation_standby(g), &s->maps, why);
	if (!err)
		err = live_class_write(&s->live, &s->info, why);
	return name_class(s, err, why);
}

int step_drop(struct step *s, struct why *why)
{
	int err = cgroup_kill(s->cgroup);

	if (!err)
		err = cgroup_remove(s->cgroup);
	if (!err)
		err = bpffs_remove_tree(s->dir);
	if (err)
		return why_set(why, err, "class %s: cannot remove it: %s", s->name, strerror(-err));
	return 0;
}

void step_close(struct step *s)
{
	live_class_close(&s->live);
	policy_maps_close(&s->maps);
	policy_maps_close(&s->old_maps);
}
