/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Folds a policy into what the kernel looks up: sorted prefixes, port entries, rule texts. */
#ifndef CGNET_COMPILE_H
#define CGNET_COMPILE_H

#include "facts.h"
#include "policy.h"

struct compiled_class {
	char name[CGNET_NAME_SIZE];
	enum cgnet_verdict fallback;
	struct cgnet_settings settings;	    /* loopback, protocols and flags */
	struct cgnet_unix_name *unix_names; /* slot is 0: the loader's to set */
	size_t nunix_names;
	bool keep_privileges;
	__u64 limits[CGNET_LIMITS]; /* 0 for none */

	/*
	 * The tries, each sorted by prefix_compare(); keys and values in parallel arrays, ready for
	 * a batched update. 0.0.0.0/0, ::/0 and the sentinels are always there.
	 */
	struct cgnet_key4 *keys4;
	struct cgnet_prefix *values4;
	size_t n4;
	struct cgnet_key6 *keys6;
	struct cgnet_prefix *values6;
	size_t n6;

	struct cgnet_port *ports; /* shared by both families; equal lists are stored once */
	size_t nports;
	struct cgnet_rule *rules; /* enum cgnet_rule_index, then the class's */
	size_t nrules;
};

struct compiled {
	char default_class[CGNET_NAME_SIZE];
	struct compiled_class *classes;
	size_t nclasses;
};

/*
 * Compiles every class. Contradictions are added to d as errors, rules that can never match as
 * warnings. Returns NULL if d holds an error afterwards. Free with compiled_free().
 */
struct compiled *compile_policy(const struct policy *p, const struct facts *facts, struct diags *d);

void compiled_free(struct compiled *c);

const struct compiled_class *compiled_class(const struct compiled *c, const char *name);

#endif
