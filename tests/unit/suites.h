/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Each test file adds its suite to the registry by one function, listed here and in main.c. */
#ifndef CGNET_SUITES_H
#define CGNET_SUITES_H

#include <stdbool.h>
#include <stddef.h>

#include <CUnit/CUnit.h>

/* Return 0, or -1 if CUnit could not register the suite. */
int suite_addr(void);
int suite_rule(void);
int suite_sets(void);
int suite_conf(void);
int suite_policy(void);
int suite_facts(void);
int suite_list(void);
int suite_random(void);
int suite_lint(void);
int suite_explain(void);
int suite_compile(void);
int suite_policies(void);
int suite_filter(void);
int suite_diff(void);
int suite_names(void);
int suite_runtime(void);
int suite_watch(void);
int suite_message(void);
int suite_grants(void);
int suite_event(void);

/* Adds one suite with n tests to the registry. Returns 0 or -1. */
struct unit_test {
	const char *name;
	void (*run)(void);
};
int add_suite(const char *name, const struct unit_test *tests, size_t n);

/* Like CU_ASSERT, with the table's row in the failure's line. */
void check_row(bool ok, const char *file, unsigned int line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
#define CHECK_ROW(ok, ...) check_row((ok), __FILE__, __LINE__, __VA_ARGS__)

#endif
