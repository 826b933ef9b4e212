// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "enforce.h"

#include "digest.h"
#include "flows.h"
#include "patch.h"

/* A network that came up, or a rule given at run time, may deny what is connected already. */
static size_t reset_flows(const struct instance *in, const struct compiled *c)
{
	struct cgnet_info info;
	char dir[PATH_MAX];
	size_t n = 0;

	if (instance_info(in, &info, NULL))
		return 0;
	for (size_t i = 0; i < c->nclasses; i++)
		if (!instance_cgroup(&info, dir, c->classes[i].name, NULL))
			n += flows_reset(&c->classes[i], dir);
	return n;
}

/* True if all is in force now. Where it is not, apply() writes what its records do not vouch for.
 */
static bool try_patch(const struct instance *in, const struct in_force *now,
		      const struct apply_request *request, class_sum *sums,
		      struct apply_result *result)
{
	struct patch_result patched;

	if (!now->compiled || patch(in, now, request, sums, &patched, NULL) || patched.left)
		return false;
	*result = (struct apply_result){.changed = patched.changed, .kept = patched.kept};
	if (patched.changed)
		result->reset = reset_flows(in, request->compiled);
	return true;
}

int enforce(const struct instance *in, const struct in_force *now,
	    const struct apply_request *request, class_sum *sums, struct apply_result *result,
	    struct why *why)
{
	int err = 0;

	if (try_patch(in, now, request, sums, result))
		return 0;
	err = apply(in, request, result, why);
	for (size_t i = 0; i < request->compiled->nclasses && !err; i++)
		class_digest(&request->compiled->classes[i], sums[i]);
	return err;
}
