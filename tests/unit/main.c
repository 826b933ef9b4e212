// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The unit tests' runner: no argument runs all suites, arguments name the suites to run. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <CUnit/Basic.h>

#include "suites.h"
#include "util.h"

int add_suite(const char *name, const struct unit_test *tests, size_t n)
{
	CU_pSuite suite = CU_add_suite(name, NULL, NULL);

	if (!suite)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (!CU_add_test(suite, tests[i].name, tests[i].run))
			return -1;
	return 0;
}

void check_row(bool ok, const char *file, unsigned int line, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	CU_assertImplementation(ok, line, text, file, "", CU_FALSE);
}

/* Each run has counts of its own. Returns 0 if nothing failed. */
static int run_named(char **names, int n)
{
	int failed = 0;

	for (int i = 0; i < n; i++) {
		CU_pSuite suite = CU_get_suite(names[i]);

		if (!suite) {
			fprintf(stderr, "unit: no suite \"%s\"\n", names[i]);
			return -1;
		}
		if (CU_basic_run_suite(suite) != CUE_SUCCESS)
			return -1;
		failed |= CU_get_number_of_failures() != 0;
	}
	return failed;
}

int main(int argc, char **argv)
{
	static int (*const suites[])(void) = {
		suite_addr,    suite_rule,     suite_sets,    suite_list,    suite_conf,
		suite_policy,  suite_facts,    suite_compile, suite_explain, suite_lint,
		suite_random,  suite_policies, suite_filter,  suite_diff,    suite_watch,
		suite_runtime, suite_names,    suite_message, suite_grants,  suite_event,
	};
	int err = 0;

	if (CU_initialize_registry() != CUE_SUCCESS)
		return EXIT_FAILURE;
	for (size_t i = 0; i < ARRAY_SIZE(suites); i++)
		err |= suites[i]();
	CU_basic_set_mode(CU_BRM_VERBOSE);
	if (!err)
		err = argc > 1 ? run_named(argv + 1, argc - 1)
			       : CU_basic_run_tests() != CUE_SUCCESS;
	err |= CU_get_number_of_failures() != 0 || CU_get_number_of_suites_failed() != 0;
	CU_cleanup_registry();
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
