// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>

#include "apply.h"
#include "cmd.h"
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

static void report(const char *file, size_t nclasses, const struct apply_result *r)
{
	if (r->killed)
		printf("ended %zu session%s\n", r->killed, r->killed == 1 ? "" : "s");
	if (!r->added && !r->changed && !r->dropped && !r->info_changed)
		printf("%s: nothing changed, %zu class%s in force already\n", file, nclasses,
		       nclasses == 1 ? "" : "es");
	else
		printf("%s: %zu class%s in force: %zu added, %zu changed, %zu unchanged, %zu "
		       "dropped\n",
		       file, nclasses, nclasses == 1 ? "" : "es", r->added, r->changed, r->kept,
		       r->dropped);
}

static int load(const struct options *opt, const char *file, struct diags *d, struct why *why)
{
	struct policy *policy = policy_read(file, POLICY_CHECK_OWNER, d);
	struct apply_request request = {.force = opt->force};
	struct compiled *compiled = NULL;
	struct apply_result result;
	struct facts facts = {};
	int err = -EINVAL; /* in the file */

	if (policy) {
		err = facts_read(&facts, NULL, why);
		if (!err)
			compiled = compile_policy(policy, &facts, d);
		if (!err && !compiled)
			err = -EINVAL;
	}
	if (compiled) {
		request.compiled = compiled;
		request.facts = &facts;
		request.root_class = root_class(policy);
		err = apply(&opt->instance, &request, &result, why);
		if (!err)
			report(file, compiled->nclasses, &result);
	}
	compiled_free(compiled);
	facts_free(&facts);
	policy_free(policy);
	return err;
}

int cmd_load(const struct options *opt, const char *file)
{
	struct diags d = {};
	struct why why = {.text = "out of memory"};
	int err;

	if (geteuid() != 0) {
		fprintf(stderr, "cgnetd: load: must be run as root\n");
		return EXIT_REFUSED;
	}
	err = load(opt, file, &d, &why);
	diags_print(&d, stderr);
	/* What is wrong with the file has been said by now. */
	if (err && !d.errors)
		fprintf(stderr, "cgnetd: load %s: %s\n", file, why.text);
	diags_free(&d);
	return err ? EXIT_REFUSED : EXIT_DONE;
}
