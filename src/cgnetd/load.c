// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "load.h"

#include <errno.h>
#include <grp.h>
#include <string.h>

#include "policy.h"

static bool root_is_in(const char *group)
{
	const struct group *g = getgrnam(group);

	for (char **member = g ? g->gr_mem : NULL; member && *member; member++)
		if (!strcmp(*member, "root"))
			return true;
	return g && g->gr_gid == 0;
}

/* What uid 0 gets without --class: its own grant, else its groups', else the default. */
static const char *root_class(const struct policy *p)
{
	const char *found = NULL;

	for (size_t i = 0; i < p->ngrants; i++) {
		const struct grant *g = &p->grants[i];

		if (!policy_class(p, g->class_name))
			continue;
		if (!g->group && !strcmp(g->who, "root"))
			return g->class_name;
		if (!found && g->group && root_is_in(g->who))
			found = g->class_name;
	}
	return found ? found : p->default_class;
}

void load_report(FILE *out, const char *file, const struct load_result *r)
{
	const struct apply_result *a = &r->apply;
	const char *plural = r->nclasses == 1 ? "" : "es";

	if (a->killed)
		fprintf(out, "ended %zu session%s\n", a->killed, a->killed == 1 ? "" : "s");
	if (a->reset)
		fprintf(out, "reset %zu connection%s\n", a->reset, a->reset == 1 ? "" : "s");
	if (!a->added && !a->changed && !a->dropped && !a->info_changed)
		fprintf(out, "%s: nothing changed, %zu class%s in force already\n", file,
			r->nclasses, plural);
	else
		fprintf(out,
			"%s: %zu class%s in force: %zu added, %zu changed, %zu unchanged, %zu "
			"dropped\n",
			file, r->nclasses, plural, a->added, a->changed, a->kept, a->dropped);
}

static int compile_and_apply(const struct instance *in, const struct policy *policy, bool force,
			     struct diags *d, struct load_result *out, struct why *why)
{
	struct apply_request request = {.force = force, .root_class = root_class(policy)};
	struct compiled *compiled = NULL;
	struct facts facts = {};
	int err = facts_read(&facts, NULL, why);

	if (!err) {
		compiled = compile_policy(policy, &facts, d);
		err = compiled ? 0 : -EINVAL;
	}
	if (!err) {
		request.compiled = compiled;
		request.facts = &facts;
		err = apply(in, &request, &out->apply, why);
		out->nclasses = compiled->nclasses;
	}
	compiled_free(compiled);
	facts_free(&facts);
	return err;
}

int load_policy(const struct instance *in, const char *file, bool force, struct diags *d,
		struct load_result *out, struct why *why)
{
	struct policy *policy = policy_read(file, POLICY_CHECK_OWNER, d);
	struct load_result result = {};
	int err = policy ? grants_resolve(policy, d, &result.grants) : -EINVAL;

	if (err == -ENOMEM)
		why_set(why, err, "out of memory");
	if (!err)
		err = compile_and_apply(in, policy, force, d, &result, why);
	policy_free(policy);
	if (err)
		grants_free(&result.grants);
	else
		*out = result;
	return err;
}
