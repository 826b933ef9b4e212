// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rules given at run time: what is taken, when they end, the file, and their place in a policy. */
#include <errno.h>
#include <string.h>

#include "runtime.h"
#include "suites.h"
#include "tempdir.h"
#include "world.h"

#define SECOND 1000000ULL

static long add(struct runtime *r, const char *class_name, enum cgnet_verdict verdict,
		const char *text, uint64_t ends, bool keep)
{
	struct runtime_rule rule = {.verdict = verdict, .ends = ends, .keep = keep, .uid = 7};
	struct why why;

	snprintf(rule.class_name, sizeof(rule.class_name), "%s", class_name);
	snprintf(rule.text, sizeof(rule.text), "%s", text);
	return runtime_add(r, &rule, &why);
}

static void durations(void)
{
	static const struct {
		const char *text;
		uint64_t seconds; /* 0: refused */
	} rows[] = {
		{"1s", 1},     {"90s", 90},    {"10m", 600},
		{"8h", 28800}, {"7d", 604800}, {"365d", 31536000},
		{"366d", 0},   {"0s", 0},      {"", 0},
		{"m", 0},      {"10", 0},      {"10 m", 0},
		{"-1m", 0},    {"1.5h", 0},    {"010m", 0},
		{"1h30m", 0},  {"1w", 0},      {"99999999999999999999s", 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t us = 0;
		int err = duration_parse(rows[i].text, &us, NULL);

		CHECK_ROW(rows[i].seconds ? !err && us == rows[i].seconds * SECOND : err == -EINVAL,
			  "%s: %d, %lu", rows[i].text, err, (unsigned long)us);
	}
}

static void what_is_taken(void)
{
	static const char *const refused[] = {
		"",
		"nonsense",
		"file:/etc/passwd",
		"api.example.com:443",
		"10.0.0.1 private",
		"10.0.0.1\n",
		"10.0.0.1/8",
		"@",
	};
	struct runtime r = {0};

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		CHECK_ROW(add(&r, "c", CGNET_ALLOW, refused[i], 0, false) == -EINVAL, "%s",
			  refused[i]);
	CU_ASSERT_EQUAL(add(&r, "", CGNET_ALLOW, "10.0.0.1", 0, false), -EINVAL);
	CU_ASSERT_EQUAL(add(&r, "../c", CGNET_ALLOW, "10.0.0.1", 0, false), -EINVAL);
	CU_ASSERT_EQUAL(r.n, 0);
	CU_ASSERT_EQUAL(add(&r, "c", CGNET_ALLOW, "[fd00::1]:443/tcp", 0, false), 1);
	CU_ASSERT_EQUAL(add(&r, "c", CGNET_DENY, "[fd00::1]:443/tcp", 0, false), 2);
	CU_ASSERT_EQUAL(add(&r, "d", CGNET_ALLOW, "@onlink", 0, false), 3);
	/* The same again takes the place of the first. */
	CU_ASSERT_EQUAL(add(&r, "c", CGNET_ALLOW, "[fd00::1]:443/tcp", 5, true), 4);
	CU_ASSERT_EQUAL(r.n, 3);
	CU_ASSERT_PTR_NULL(runtime_find(&r, 1));
	CU_ASSERT_PTR_NOT_NULL_FATAL(runtime_find(&r, 4));
	CU_ASSERT_TRUE(runtime_find(&r, 4)->keep);
	CU_ASSERT_TRUE(runtime_drop(&r, 3));
	CU_ASSERT_FALSE(runtime_drop(&r, 3));
	runtime_free(&r);
}

static void too_many(void)
{
	struct runtime r = {0};
	char text[32];

	for (int i = 0; i < RUNTIME_MAX_RULES; i++) {
		snprintf(text, sizeof(text), "10.0.%d.%d", i / 256, i % 256);
		CU_ASSERT_EQUAL(add(&r, "c", CGNET_ALLOW, text, 0, false), i + 1);
	}
	CU_ASSERT_EQUAL(add(&r, "c", CGNET_ALLOW, "10.9.9.9", 0, false), -ENOSPC);
	CU_ASSERT_TRUE(add(&r, "c", CGNET_ALLOW, "10.0.0.5", 0, false) > 0);
	CU_ASSERT_TRUE(add(&r, "d", CGNET_ALLOW, "10.9.9.9", 0, false) > 0);
	runtime_free(&r);
}

static void ends(void)
{
	struct runtime r = {0};

	CU_ASSERT_EQUAL(runtime_next_end(&r), 0);
	add(&r, "c", CGNET_ALLOW, "10.0.0.1", 300, false);
	add(&r, "c", CGNET_ALLOW, "10.0.0.2", 200, true);
	add(&r, "c", CGNET_ALLOW, "10.0.0.3", 0, false);
	CU_ASSERT_EQUAL(runtime_next_end(&r), 200);
	CU_ASSERT_EQUAL(runtime_expire(&r, 199), 0);
	CU_ASSERT_EQUAL(runtime_expire(&r, 200), 1);
	CU_ASSERT_EQUAL(runtime_next_end(&r), 300);
	CU_ASSERT_EQUAL(runtime_expire(&r, 1000), 1);
	CU_ASSERT_EQUAL(runtime_next_end(&r), 0);
	CU_ASSERT_EQUAL(r.n, 1);
	/* A reload: what is not kept goes, but for what came after it had begun. */
	add(&r, "c", CGNET_ALLOW, "10.0.0.4", 0, true);
	add(&r, "c", CGNET_ALLOW, "10.0.0.5", 0, false);
	CU_ASSERT_EQUAL(runtime_reload(&r, r.last - 1), 1);
	CU_ASSERT_EQUAL(r.n, 2);
	CU_ASSERT_EQUAL(runtime_reload(&r, r.last), 1);
	CU_ASSERT_STRING_EQUAL(r.items[0].text, "10.0.0.4");
	runtime_free(&r);
}

static void file(void)
{
	struct runtime r = {0}, back = {0};
	struct tempdir dir;
	char path[PATH_MAX];
	struct why why;

	CU_ASSERT_FATAL(!tempdir_make(&dir));
	tempdir_path(&dir, "rules", path);
	CU_ASSERT_EQUAL(runtime_load(&back, path, "boot", 0, &why), 0);
	CU_ASSERT_EQUAL(back.n, 0);
	add(&r, "c", CGNET_ALLOW, "10.0.0.1:80/tcp", 500, true);
	add(&r, "c", CGNET_ALLOW, "10.0.0.2", 0, false);
	add(&r, "c", CGNET_DENY, "10.0.0.3", 600, true);
	add(&r, "c", CGNET_ALLOW, "@onlink", 0, true);
	CU_ASSERT_EQUAL_FATAL(runtime_save(&r, path, "boot", &why), 0);
	CU_ASSERT_EQUAL_FATAL(runtime_load(&back, path, "boot", 499, &why), 0);
	CU_ASSERT_EQUAL_FATAL(back.n, 3);
	CU_ASSERT_EQUAL(back.items[0].number, 1);
	CU_ASSERT_EQUAL(back.items[0].ends, 500);
	CU_ASSERT_EQUAL(back.items[0].uid, 7);
	CU_ASSERT_STRING_EQUAL(back.items[0].text, "10.0.0.1:80/tcp");
	CU_ASSERT_EQUAL(back.items[1].verdict, CGNET_DENY);
	/* Numbers go on. */
	CU_ASSERT_EQUAL(add(&back, "c", CGNET_ALLOW, "10.0.0.9", 0, false), 5);
	runtime_free(&back);
	/* Time has gone on while no service ran. */
	CU_ASSERT_EQUAL(runtime_load(&back, path, "boot", 550, &why), 0);
	CU_ASSERT_EQUAL(back.n, 2);
	runtime_free(&back);
	/* Another boot: no exception comes back by it, and nothing that was closed opens. */
	CU_ASSERT_EQUAL(runtime_load(&back, path, "other", 5, &why), 0);
	CU_ASSERT_EQUAL_FATAL(back.n, 2);
	CU_ASSERT_STRING_EQUAL(back.items[0].text, "10.0.0.3");
	CU_ASSERT_EQUAL(back.items[0].ends, 0);
	CU_ASSERT_STRING_EQUAL(back.items[1].text, "@onlink");
	runtime_free(&back);
	runtime_free(&r);
	tempdir_remove(&dir);
}

static void bad_files(void)
{
	static const char *const texts[] = {
		"",
		"something else\nboot\n",
		"cgnet run-time rules 1\n",
		"cgnet run-time rules 1\nboot\n0 allow 0 0 c 10.0.0.1\n",
		"cgnet run-time rules 1\nboot\n1 maybe 0 0 c 10.0.0.1\n",
		"cgnet run-time rules 1\nboot\n1 allow 0 0 c\n",
		"cgnet run-time rules 1\nboot\n1 allow 0 0 C 10.0.0.1\n",
		"cgnet run-time rules 1\nboot\n1 allow 0 0 c file:/x\n",
		"cgnet run-time rules 1\nboot\n2 allow 0 0 c 10.0.0.1\n1 allow 0 0 c 10.0.0.2\n",
	};
	struct tempdir dir;
	char path[PATH_MAX];

	CU_ASSERT_FATAL(!tempdir_make(&dir));
	tempdir_path(&dir, "rules", path);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct runtime r = {0};
		struct why why = {""};

		tempdir_write(&dir, "rules", texts[i], 0600);
		CHECK_ROW(runtime_load(&r, path, "boot", 0, &why) < 0 && !r.n && *why.text,
			  "row %zu: %zu rules", i, r.n);
	}
	tempdir_remove(&dir);
}

/* In a policy they are heard before the file's rules of the same prefix, whatever those say. */
static void in_policy(void)
{
	static const struct {
		enum cgnet_verdict verdict, want;
		const char *rule, *dest;
	} rows[] = {
		{CGNET_ALLOW, CGNET_ALLOW, "10.0.0.5:443/tcp", "10.0.0.5:443"},
		{CGNET_ALLOW, CGNET_DENY, "10.0.0.5:443/tcp", "10.0.0.5:444"},
		{CGNET_ALLOW, CGNET_ALLOW, "10.0.0.0/8", "10.1.1.1:1"},
		{CGNET_DENY, CGNET_DENY, "10.62.0.5:443/tcp", "10.62.0.5:443"},
		{CGNET_DENY, CGNET_DENY, "8.8.8.8", "8.8.8.8:53"},
		{CGNET_ALLOW, CGNET_ALLOW, "127.0.0.1:4318", "127.0.0.1:4318"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct world w = {0};
		struct runtime r = {0};
		const char *rule = NULL;

		CU_ASSERT_FATAL(world_build(&w, "default_class = \"c\"\nclass c {\n"
						"default = allow\n"
						"deny = { \"10.0.0.0/8\" }\n"
						"allow = { \"10.62.0.5:443/tcp\" }\n}\n"));
		compiled_free(w.compiled);
		add(&r, "c", rows[i].verdict, rows[i].rule, 0, false);
		CU_ASSERT_EQUAL(runtime_add_to(&r, w.policy, &w.diags), 0);
		CU_ASSERT_TRUE(runtime_is_in(w.policy, 1));
		w.compiled = compile_policy(w.policy, &w.facts, &w.diags);
		CU_ASSERT_PTR_NOT_NULL_FATAL(w.compiled);
		CHECK_ROW(world_ask(&w, rows[i].dest, &rule) == rows[i].want, "row %zu: by %s", i,
			  rule);
		CHECK_ROW(rows[i].want == CGNET_DENY || !strcmp(rule, rows[i].rule),
			  "row %zu: by %s", i, rule);
		runtime_free(&r);
		world_free(&w);
	}
}

static void both_say(void)
{
	struct world w = {0};
	struct runtime r = {0};
	const char *rule = NULL;

	CU_ASSERT_FATAL(world_build(&w, "default_class = \"c\"\nclass c {\n"
					"default = allow\ndeny = { \"10.0.0.0/8\" }\n}\n"));
	compiled_free(w.compiled);
	add(&r, "c", CGNET_ALLOW, "10.0.0.5", 0, false);
	add(&r, "c", CGNET_DENY, "10.0.0.5", 0, false);
	add(&r, "gone", CGNET_ALLOW, "10.0.0.6", 0, false);
	add(&r, "c", CGNET_ALLOW, "@gone", 0, false);
	CU_ASSERT_EQUAL(runtime_add_to(&r, w.policy, &w.diags), 0);
	CU_ASSERT_FALSE(runtime_is_in(w.policy, 3));
	CU_ASSERT_FALSE(runtime_is_in(w.policy, 4));
	CU_ASSERT_PTR_NOT_NULL(world_diag(&w, DIAG_WARNING, 3, "no class gone"));
	CU_ASSERT_PTR_NOT_NULL(world_diag(&w, DIAG_WARNING, 4, "no set @gone"));
	w.compiled = compile_policy(w.policy, &w.facts, &w.diags);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w.compiled);
	CU_ASSERT_EQUAL(world_ask(&w, "10.0.0.5:80", &rule), CGNET_DENY);
	runtime_free(&r);
	world_free(&w);
}

int suite_runtime(void)
{
	static const struct unit_test tests[] = {
		{"durations", durations},
		{"what is taken", what_is_taken},
		{"so many of a class", too_many},
		{"they end", ends},
		{"the file", file},
		{"files of another kind", bad_files},
		{"their place in a policy", in_policy},
		{"two that contradict, and two without a place", both_say},
	};

	return add_suite("runtime", tests, ARRAY_SIZE(tests));
}
