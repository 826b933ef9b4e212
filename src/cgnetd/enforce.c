// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "enforce.h"

#include "digest.h"
#include "patch.h"

int enforce(const struct instance *in, const struct in_force *now,
	    const struct apply_request *request, class_sum *sums, struct apply_result *result,
	    struct why *why)
{
	struct patch_result patched = {};
	int err = 0;

	if (now->compiled && !patch(in, now, request, sums, &patched, NULL) && !patched.left) {
		*result = (struct apply_result){
			.changed = patched.changed, .kept = patched.kept, .reset = patched.reset};
		return 0;
	}
	/* Where the patch is not in force, the records do not vouch for it, and all is written. */
	err = apply(in, request, result, why);
	for (size_t i = 0; i < request->compiled->nclasses && !err; i++)
		class_digest(&request->compiled->classes[i], sums[i]);
	return err;
}
