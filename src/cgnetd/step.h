/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a load does to one class: prepare, commit, finish; or undo. */
#ifndef CGNETD_STEP_H
#define CGNETD_STEP_H

#include "class_limits.h"
#include "live_class.h"

enum step_action {
	STEP_KEEP,    /* in force already */
	STEP_CHANGE,  /* new policy under the same programs */
	STEP_ADD,     /* not loaded yet */
	STEP_REPLACE, /* loaded, but its programs are gone or of another build, or its cgroup is */
	STEP_DROP,    /* not in the file any more */
};

struct step {
	const struct instance *in;
	enum step_action action;
	char name[CGNET_NAME_SIZE];
	const struct compiled_class *compiled; /* NULL for STEP_DROP */
	char dir[PATH_MAX];		       /* BPFFS/CLASS */
	char temp[PATH_MAX];		       /* BPFFS/_CLASS */
	char cgroup[PATH_MAX];
	bool made_cgroup, committed;
	struct live_class live;
	struct policy_maps maps, old_maps;
	struct cgnet_class_info info, old_info;
	struct class_limits limits;
};

/*
 * Finds out what has to be done for a class; compiled is NULL for one that the file lacks. Returns
 * 0 or a negative errno with the reason.
 */
int step_plan(struct step *s, const struct instance *in, const struct cgnet_info *info,
	      const struct generation *g, const char *name, const struct compiled_class *compiled,
	      struct why *why);

/*
 * Makes what the class needs, out of force; core_btf is for new programs (see core_btf.h). Returns
 * 0 or a negative errno with the reason.
 */
int step_prepare(struct step *s, const struct generation *g, int core_btf, struct why *why);

/* Records and pins what has come into force. Returns 0 or a negative errno with the reason. */
int step_commit(struct step *s, struct why *why);

/*
 * Sets the class's limits. What memory they take from sessions does not come back: the last thing
 * before a load has succeeded. Returns 0 or a negative errno with the reason.
 */
int step_limit(struct step *s, struct why *why);

/* Takes back step_prepare() step_commit() and step_limit(), after the generation was flipped back
 * if it was. */
void step_undo(struct step *s, const struct generation *g);

/* Lets go of the policy that was in force: the standby slot gets the new one too. */
int step_finish(struct step *s, const struct generation *g, struct why *why);

/* Removes a class: its sessions are killed, then the programs go. Returns 0 or a negative errno. */
int step_drop(struct step *s, struct why *why);

void step_close(struct step *s);

#endif
