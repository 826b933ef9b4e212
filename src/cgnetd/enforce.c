// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "enforce.h"

#include "digest.h"
#include "patch.h"

/* True if all is in force now. Where it is not, apply() writes what its records do not vouch for.
 */
static bool try_patch(const struct instance *in, const struct in_force *now,
		      const struct apply_request *request, class_sum *sums,
		      struct apply_result *result)
{
	struct patch_result patched;

	if (!now->compiled || patch(in, now, request, sums, &patched, NULL) || patched.left)
		return false;
	*result = (struct apply_result){
		.changed = patched.changed, .kept = patched.kept, .reset = patched.reset};
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
