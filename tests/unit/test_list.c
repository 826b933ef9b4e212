// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Lists of prefixes, and reading text files that may be anything. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "list.h"
#include "policy.h"
#include "suites.h"
#include "tempdir.h"
#include "text.h"

/* What a list parses to: prefixes, or else an error on a line. */
struct list_row {
	const char *text;
	const char *prefixes; /* with blanks between them */
	int line;
	const char *reason;
};

static const struct list_row lists[] = {
	{"", "", 0, NULL},
	{"\n\n", "", 0, NULL},
	{"# nothing\n", "", 0, NULL},
	{"10.0.0.0/8\nfd00::/8\n", "10.0.0.0/8 fd00::/8", 0, NULL},
	{"10.0.0.0/8\nfd00::/8", "10.0.0.0/8 fd00::/8", 0, NULL},
	{" 10.0.0.1\t# a host\n\t\n#\n#10.0.0.2\nfd00::1 #\n", "10.0.0.1 fd00::1", 0, NULL},
	{"10.0.0.1\n10.0.0.1\n", "10.0.0.1 10.0.0.1", 0, NULL},
	{"::ffff:10.0.0.0/104\n", "10.0.0.0/8", 0, NULL},
	{"10.0.0.0/8\n\n10.0.0.1/8\n", NULL, 3, "the prefix is 10.0.0.0/8"},
	{"fd00::/8\n\nfd00::1/8\n", NULL, 3, "the prefix is fd00::/8"},
	{"10.0.0.1 10.0.0.2\n", NULL, 1, "not an IP address"},
	{"10.0.0.1, 10.0.0.2\n", NULL, 1, "not an IP address"},
	{"10.0.0.1:443\n", NULL, 1, "not an IPv6 address"},
	{"10.0.0.1/tcp\n", NULL, 1, "prefix length"},
	{"[fd00::1]\n", NULL, 1, "not an IPv6 address"},
	{"@local\n", NULL, 1, "not an IP address"},
	{"example.com\n", NULL, 1, "not an IP address"},
	{"10.0.0.1\r\n", NULL, 1, "carriage return"},
	{"\n10.0.0.1 # \xff\n", NULL, 2, "not valid UTF-8 (byte 0xff)"},
	{"\n\n\x1b[0m", NULL, 3, "control character 0x1b"},
};

static void format_list(const struct prefixes *list, char *out, size_t size)
{
	char buf[PREFIX_STR_SIZE];
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < list->n; i++)
		used += snprintf(out + used, size - used, "%s%s", i ? " " : "",
				 prefix_format(&list->items[i], buf));
}

static void test_lists(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		const struct list_row *row = &lists[i];
		_cleanup_free_ char *text = strdup(row->text);
		struct prefixes list = {0};
		struct diags d = {0};
		char found[256];

		CU_ASSERT(!list_parse("a list", text, strlen(text), &list, &d));
		format_list(&list, found, sizeof(found));
		if (row->prefixes)
			CHECK_ROW(!d.n && !strcmp(found, row->prefixes), "row %zu: %s", i, found);
		else
			CHECK_ROW(d.n == 1 && d.errors == 1 && d.items[0].line == row->line &&
					  strstr(d.items[0].text, row->reason) &&
					  !strcmp(d.items[0].file, "a list"),
				  "row %zu: %s", i, d.n ? d.items[0].text : "no error");
		prefixes_free(&list);
		diags_free(&d);
	}
}

/* A file of another kind gives some errors, not one a line. */
static void test_error_limit(void)
{
	size_t n = 1000, size = n * 2;
	_cleanup_free_ char *text = malloc(size + 1);
	struct prefixes list = {0};
	struct diags d = {0};

	for (size_t i = 0; i < n; i++)
		memcpy(text + 2 * i, "x\n", 3);
	CU_ASSERT(!list_parse("x", text, size, &list, &d));
	CU_ASSERT_EQUAL(d.n, 21);
	CU_ASSERT(strstr(d.items[20].text, "too many errors") != NULL);
	prefixes_free(&list);
	diags_free(&d);
}

/* A million prefixes of both families, and the time printed that they took. */
static void test_million(void)
{
	size_t n = 1000000, size = n * 32, used = 0;
	_cleanup_free_ char *text = malloc(size);
	struct prefixes list = {0};
	struct timespec start, end;
	struct diags d = {0};

	for (unsigned int i = 0; i < n; i++)
		used += i % 2 ? snprintf(text + used, size - used, "2a00:%x:%x::/48\n", i >> 16,
					 i & 0xffff)
			      : snprintf(text + used, size - used, "%u.%u.%u.%u\n", 1 + (i >> 24),
					 i >> 16 & 255, i >> 8 & 255, i & 255);
	clock_gettime(CLOCK_MONOTONIC, &start);
	CU_ASSERT(!list_parse("million", text, used, &list, &d));
	clock_gettime(CLOCK_MONOTONIC, &end);
	CU_ASSERT_EQUAL(list.n, n);
	CU_ASSERT_EQUAL(d.n, 0);
	printf("%.0f ms ... ",
	       (end.tv_sec - start.tv_sec) * 1e3 + (end.tv_nsec - start.tv_nsec) / 1e6);
	prefixes_free(&list);
	diags_free(&d);
}

static void test_utf8(void)
{
	static const struct {
		const char *text;
		size_t n;
		int line; /* of the error; 0 for none */
	} rows[] = {
		{"plain\ttext\n", 11, 0},
		{"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80", 11, 0},
		{"\xef\xbf\xbf\xf4\x8f\xbf\xbf", 7, 0},
		{"a\nb\0", 4, 2},
		{"\x7f", 1, 1},
		{"\n\x80", 2, 2},	    /* continuation alone */
		{"\xc3", 1, 1},		    /* cut off */
		{"\xe2\x82", 2, 1},	    /* cut off */
		{"\xf0\x9f\x98", 3, 1},	    /* cut off */
		{"\xc3(", 2, 1},	    /* no continuation */
		{"\xe2\x82(", 3, 1},	    /* no continuation */
		{"\xc0\xaf", 2, 1},	    /* overlong */
		{"\xe0\x80\xaf", 3, 1},	    /* overlong */
		{"\xf0\x80\x80\xaf", 4, 1}, /* overlong */
		{"\xed\xa0\x80", 3, 1},	    /* surrogate */
		{"\xf4\x90\x80\x80", 4, 1}, /* past U+10FFFF */
		{"\xf5\x80\x80\x80", 4, 1}, /* past U+10FFFF */
		{"\n\n\xff", 3, 3},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		/* Of the exact size, so that ASan sees a look behind the end. */
		_cleanup_free_ char *exact = malloc(rows[i].n);
		struct why why = {""};
		int line = 0;

		memcpy(exact, rows[i].text, rows[i].n);
		CU_ASSERT_EQUAL(text_check(exact, rows[i].n, &line, &why), line ? -EINVAL : 0);
		CHECK_ROW(line == rows[i].line, "row %zu: line %d, %s", i, line, why.text);
	}
}

/* Reads path, and returns the reason of a failure or "". */
static const char *read_reason(const char *path, size_t max, unsigned int flags)
{
	static struct why why;
	struct text text = {0};

	why.text[0] = '\0';
	if (!text_read(path, max, flags, &text, &why))
		text_free(&text);
	else
		CU_ASSERT(!text.bytes && !text.size);
	return why.text;
}

static void test_kinds(void)
{
	struct tempdir dir;
	char path[PATH_MAX];

	CU_ASSERT_FATAL(!tempdir_make(&dir));
	CU_ASSERT(!tempdir_write(&dir, "ten", "0123456789", 0600));
	tempdir_path(&dir, "ten", path);
	CHECK_ROW(!*read_reason(path, 10, 0), "ten bytes");
	CHECK_ROW(strstr(read_reason(path, 9, 0), "is larger than 9 bytes"), "ten bytes of nine");
	CU_ASSERT(!mkfifo(tempdir_path(&dir, "fifo", path), 0600));
	CHECK_ROW(strstr(read_reason(path, 10, 0), "is a FIFO"), "FIFO");
	CHECK_ROW(strstr(read_reason(dir.path, 10, 0), "is a directory"), "directory");
	CHECK_ROW(strstr(read_reason("/dev/zero", 10, 0), "is a device"), "device");
	CHECK_ROW(strstr(read_reason(tempdir_path(&dir, "none", path), 10, 0), "No such file"),
		  "missing");
	/* States no size, but has one. */
	CHECK_ROW(!*read_reason("/proc/self/status", 1 << 20, 0), "procfs");
	CHECK_ROW(strstr(read_reason("/proc/self/status", 10, 0), "is larger"), "procfs limit");
	tempdir_remove(&dir);
}

static void test_owner(void)
{
	static const struct {
		mode_t mode;
		const char *reason;
	} rows[] = {
		{0600, ""},
		{0644, ""},
		{0664, ""}, /* of the caller's own group */
		{0666, "is writable for everybody (mode 0666)"},
		{0602, "is writable for everybody (mode 0602)"},
	};
	struct tempdir dir;
	char path[PATH_MAX];

	CU_ASSERT_FATAL(!tempdir_make(&dir));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CU_ASSERT(!tempdir_write(&dir, "f", "x", rows[i].mode));
		tempdir_path(&dir, "f", path);
		CHECK_ROW(!*read_reason(path, 10, 0), "mode %o", rows[i].mode);
		CHECK_ROW(!strcmp(read_reason(path, 10, POLICY_CHECK_OWNER), rows[i].reason),
			  "mode %o: %s", rows[i].mode, read_reason(path, 10, POLICY_CHECK_OWNER));
	}
	if (geteuid() == 0) {
		CU_ASSERT(!tempdir_write(&dir, "f", "x", 0664));
		CU_ASSERT(!chown(path, 0, 65533));
		CHECK_ROW(strstr(read_reason(path, 10, POLICY_CHECK_OWNER),
				 "is writable for group 65533"),
			  "foreign group");
		CU_ASSERT(!chmod(path, 0644));
		CHECK_ROW(!*read_reason(path, 10, POLICY_CHECK_OWNER), "foreign group that reads");
		CU_ASSERT(!chown(path, 65533, 0));
		CHECK_ROW(strstr(read_reason(path, 10, POLICY_CHECK_OWNER), "belongs to uid 65533"),
			  "foreign owner");
	} else {
		printf("foreign owners left out: needs root ... ");
	}
	tempdir_remove(&dir);
}

static const struct unit_test tests[] = {
	{"lists", test_lists}, {"error limit", test_error_limit}, {"million", test_million},
	{"UTF-8", test_utf8},  {"kinds of files", test_kinds},	  {"owner and mode", test_owner},
};

int suite_list(void)
{
	return add_suite("list", tests, ARRAY_SIZE(tests));
}
