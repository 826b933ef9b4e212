// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cmd.h"
#include "compile.h"

/* Compiles a policy that has errors already for those that only the compiler finds. */
static void find_more(const struct policy *policy, const struct facts *facts, struct diags *d)
{
	struct diags more = {0};

	compiled_free(compile_policy(policy, facts, &more));
	/* What its warnings say may not be so without the rules that were left out. */
	for (size_t i = 0; i < more.n; i++)
		if (more.items[i].kind == DIAG_ERROR)
			diag_error(d, more.items[i].file, more.items[i].line, "%s",
				   more.items[i].text);
	diags_free(&more);
}

static int check_file(const char *file, const struct facts *facts)
{
	struct diags d = {0};
	struct policy *policy = policy_read(file, POLICY_KEEP_WRONG | POLICY_NAMES, &d);
	int status = EXIT_REFUSED;

	if (policy && d.errors) {
		find_more(policy, facts, &d);
	} else if (policy) {
		struct compiled *compiled = compile_policy(policy, facts, &d);

		if (compiled)
			status = EXIT_DONE;
		compiled_free(compiled);
	}
	diags_print(&d, stderr);
	if (status == EXIT_DONE)
		printf("%s: ok, %zu %s\n", file, policy->nclasses,
		       policy->nclasses == 1 ? "class" : "classes");
	policy_free(policy);
	diags_free(&d);
	return status;
}

int cmd_check(int nfiles, char **files)
{
	struct facts facts = {0};
	int status = EXIT_DONE;
	struct why why;

	/* A policy can be checked where the host's sets cannot be read: in a sandbox, in CI. */
	if (facts_read(&facts, NULL, &why))
		fprintf(stderr, "cgnetd: %s; @host, @onlink and @resolver are taken as empty\n",
			why.text);
	for (int i = 0; i < nfiles; i++)
		if (check_file(files[i], &facts) != EXIT_DONE)
			status = EXIT_REFUSED;
	facts_free(&facts);
	return status;
}
