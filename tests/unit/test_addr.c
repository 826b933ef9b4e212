// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Addresses and prefixes: strict parsing, the order, containment, subtraction. */
#include <string.h>

#include "addr.h"
#include "suites.h"

/* What a text parses to, or (part NULL) does not, with a part of the reason. */
struct parse_row {
	const char *text;
	const char *prefix;
	const char *reason;
};

static const struct parse_row parses[] = {
	{"10.0.0.0/8", "10.0.0.0/8", NULL},
	{"fd00::/8", "fd00::/8", NULL},
	{"10.0.0.1", "10.0.0.1", NULL},
	{"fd00::1", "fd00::1", NULL},
	{"10.0.0.1/32", "10.0.0.1", NULL},
	{"fd00::1/128", "fd00::1", NULL},
	{"0.0.0.0/0", "0.0.0.0/0", NULL},
	{"::/0", "::/0", NULL},
	{"0.0.0.0", "0.0.0.0", NULL},
	{"::", "::", NULL},
	{"128.0.0.0/1", "128.0.0.0/1", NULL},
	{"8000::/1", "8000::/1", NULL},
	{"FD00::ABCD", "fd00::abcd", NULL},
	/* Mapped addresses are the v4 that they carry. */
	{"::ffff:10.0.0.1", "10.0.0.1", NULL},
	{"::ffff:a00:1", "10.0.0.1", NULL},
	{"::ffff:10.0.0.0/104", "10.0.0.0/8", NULL},
	{"::ffff:0:0/96", "0.0.0.0/0", NULL},
	{"::fffe:0:0/95", "::fffe:0:0/95", NULL},
	{"::10.0.0.1", "::10.0.0.1", NULL},
	/* Host bits name the prefix that was meant. */
	{"10.0.0.1/8", NULL, "the prefix is 10.0.0.0/8"},
	{"fd00::1/8", NULL, "the prefix is fd00::/8"},
	{"10.0.0.1/31", NULL, "the prefix is 10.0.0.0/31"},
	{"fd00::1/127", NULL, "the prefix is fd00::/127"},
	{"::ffff:10.0.0.1/104", NULL, "the prefix is 10.0.0.0/8"},
	/* No octal, hexadecimal, short or otherwise creative forms. */
	{"010.0.0.1", NULL, "leading zeros"},
	{"10.0.0", NULL, "four numbers"},
	{"10", NULL, "four numbers"},
	{"10.0.0.1.2", NULL, "four numbers"},
	{"10.0.0.256", NULL, "four numbers"},
	{"10.0.0.1.", NULL, "four numbers"},
	{"10..0.1", NULL, "four numbers"},
	{"0x7f.0.0.1", NULL, "not an IP address"},
	{"fd00::1::2", NULL, "not an IPv6 address"},
	{"fd00:1:2:3:4:5:6:7:8", NULL, "not an IPv6 address"},
	{"fd00::12345", NULL, "not an IPv6 address"},
	{":::", NULL, "not an IPv6 address"},
	{"::ffff:010.0.0.1", NULL, "not an IPv6 address"},
	{"fe80::1%eth0", NULL, "takes no zone"},
	{"[fd00::1]", NULL, "not an IPv6 address"},
	{"", NULL, "not an IP address"},
	{" 10.0.0.1", NULL, "not an IP address"},
	{"10.0.0.1 ", NULL, "not an IP address"},
	{"/8", NULL, "not an IP address"},
	{"10.0.0.0/33", NULL, "from 0 to 32"},
	{"fd00::/129", NULL, "from 0 to 128"},
	{"10.0.0.0/", NULL, "from 0 to 32"},
	{"fd00::/", NULL, "from 0 to 128"},
	{"10.0.0.0/08", NULL, "from 0 to 32"},
	{"10.0.0.0/+8", NULL, "from 0 to 32"},
	{"10.0.0.0/8/8", NULL, "from 0 to 32"},
	{"10.0.0.0/255.0.0.0", NULL, "from 0 to 32"},
	{"10.0.0.0/99999999999999999999999", NULL, "from 0 to 32"},
};

static void test_parse(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(parses); i++) {
		const struct parse_row *row = &parses[i];
		struct prefix p = {.family = 99};
		char buf[PREFIX_STR_SIZE];
		struct why why = {""};
		int err = prefix_parse(row->text, &p, &why);

		if (!row->prefix) {
			CHECK_ROW(err < 0 && strstr(why.text, row->reason), "%s: %s", row->text,
				  why.text);
			CHECK_ROW(p.family == 99, "%s: out was touched", row->text);
			continue;
		}
		CHECK_ROW(!err, "%s: %s", row->text, why.text);
		if (!err)
			CHECK_ROW(!strcmp(prefix_format(&p, buf), row->prefix), "%s: %s", row->text,
				  buf);
	}
}

static struct prefix prefix_of(const char *text)
{
	struct prefix p = {0};
	struct why why;

	CHECK_ROW(!prefix_parse(text, &p, &why), "%s", text);
	return p;
}

static void test_mask(void)
{
	static const struct {
		const char *address, *prefix;
		uint8_t len;
		bool had_bits;
	} rows[] = {
		{"255.255.255.255", "255.255.255.255", 32, false},
		{"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
		 "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 128, false},
		{"255.255.255.255", "255.255.255.254/31", 31, true},
		{"::ff", "::fe/127", 127, true},
		{"255.255.255.255", "255.224.0.0/11", 11, true},
		{"ffff:ffff::", "ffe0::/11", 11, true},
		{"255.255.255.255", "0.0.0.0/0", 0, true},
		{"ffff::", "::/0", 0, true},
		{"10.0.0.0", "10.0.0.0/8", 8, false},
		{"fd00::", "fd00::/8", 8, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct prefix p = prefix_of(rows[i].address);
		char buf[PREFIX_STR_SIZE];

		p.len = rows[i].len;
		CHECK_ROW(prefix_mask(&p) == rows[i].had_bits, "%s/%u", rows[i].address,
			  rows[i].len);
		CHECK_ROW(!strcmp(prefix_format(&p, buf), rows[i].prefix), "%s/%u: %s",
			  rows[i].address, rows[i].len, buf);
	}
}

static void test_contains(void)
{
	static const struct {
		const char *outer, *inner;
		bool contains;
	} rows[] = {
		{"10.0.0.0/8", "10.255.0.0/16", true},
		{"fd00::/8", "fdff::/16", true},
		{"10.0.0.0/8", "11.0.0.0/16", false},
		{"fd00::/8", "fe00::/16", false},
		{"10.0.0.0/8", "10.0.0.0/8", true},
		{"fd00::/8", "fd00::/8", true},
		{"10.0.0.0/16", "10.0.0.0/8", false},
		{"fd00::/16", "fd00::/8", false},
		{"0.0.0.0/0", "255.255.255.255", true},
		{"::/0", "ffff::1", true},
		{"0.0.0.0/0", "::1", false},
		{"::/0", "0.0.0.1", false},
		{"10.0.0.0/9", "10.128.0.0/9", false},
		{"fd00::/9", "fd80::/9", false},
		{"10.0.0.0/31", "10.0.0.1", true},
		{"fd00::/127", "fd00::1", true},
		{"10.0.0.0/31", "10.0.0.2", false},
		{"fd00::/127", "fd00::2", false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct prefix outer = prefix_of(rows[i].outer), inner = prefix_of(rows[i].inner);

		CHECK_ROW(prefix_contains(&outer, &inner) == rows[i].contains, "%s in %s",
			  rows[i].inner, rows[i].outer);
	}
}

/* Makes a list of the texts, which end in NULL. */
static struct prefixes list_of(const char *const *texts)
{
	struct prefixes list = {0};

	for (; *texts; texts++) {
		struct prefix p = prefix_of(*texts);

		CU_ASSERT(!prefixes_add(&list, &p));
	}
	return list;
}

static void check_list(const struct prefixes *list, const char *const *wanted, const char *what)
{
	char buf[PREFIX_STR_SIZE];
	size_t n = 0;

	while (wanted[n])
		n++;
	CHECK_ROW(list->n == n, "%s: %zu prefixes, not %zu", what, list->n, n);
	for (size_t i = 0; i < n && i < list->n; i++)
		CHECK_ROW(!strcmp(prefix_format(&list->items[i], buf), wanted[i]),
			  "%s: %s at %zu, not %s", what, buf, i, wanted[i]);
}

static void test_sort(void)
{
	static const char *const mixed[] = {"fd00::1",	  "10.0.0.0/16", "::/0",      "10.0.0.0/8",
					    "9.0.0.0/8",  "10.0.0.0/8",	 "fd00::/16", "fd00::/8",
					    "10.0.0.0/8", "fd00::1",	 NULL};
	static const char *const sorted[] = {"9.0.0.0/8", "10.0.0.0/8", "10.0.0.0/16", "::/0",
					     "fd00::/8",  "fd00::/16",	"fd00::1",     NULL};
	struct prefixes list = list_of(mixed), none = {0};

	prefixes_sort(&list);
	check_list(&list, sorted, "sort");
	prefixes_free(&list);
	prefixes_sort(&none);
	CU_ASSERT_EQUAL(none.n, 0);
}

#define MAX_LIST 10

static void test_subtract(void)
{
	static const struct {
		const char *list[MAX_LIST];
		const char *hole;
		const char *left[MAX_LIST];
	} rows[] = {
		{{"10.0.0.0/8"}, "10.0.0.0/8", {NULL}},
		{{"fd00::/8"}, "fd00::/8", {NULL}},
		{{"10.0.0.0/30"}, "10.0.0.2", {"10.0.0.0/31", "10.0.0.3"}},
		{{"fd00::/126"}, "fd00::2", {"fd00::/127", "fd00::3"}},
		{{"10.0.0.0/8"}, "10.64.0.0/10", {"10.0.0.0/10", "10.128.0.0/9"}},
		{{"fd00::/8"}, "fd40::/10", {"fd00::/10", "fd80::/9"}},
		{{"10.0.0.0/8", "11.0.0.0/8"}, "11.0.0.0/9", {"10.0.0.0/8", "11.128.0.0/9"}},
		/* Overlapping members each lose the hole; what lies inside it goes. */
		{{"10.0.0.0/8", "10.0.0.0/9", "10.1.0.0/16"}, "10.0.0.0/9", {"10.128.0.0/9"}},
		{{"fd00::/8", "fd00::/9", "fd01::/16"}, "fd00::/9", {"fd80::/9"}},
		{{"10.0.0.0/8"}, "fd00::/8", {"10.0.0.0/8"}},
		{{"10.0.0.0/8"}, "11.0.0.0/8", {"10.0.0.0/8"}},
		{{"0.0.0.0/0"}, "128.0.0.0/1", {"0.0.0.0/1"}},
		{{"::/0"}, "8000::/1", {"::/1"}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct prefixes list = list_of(rows[i].list);
		struct prefix hole = prefix_of(rows[i].hole);

		CU_ASSERT(!prefixes_subtract(&list, &hole));
		prefixes_sort(&list);
		check_list(&list, rows[i].left, rows[i].hole);
		prefixes_free(&list);
	}
}

/* One address out of everything leaves a prefix of each length. */
static void test_subtract_deep(void)
{
	static const char *const alls[] = {"0.0.0.0/0", "::/0"};
	static const char *const holes[] = {"203.0.113.7", "2001:db8::7"};

	for (size_t i = 0; i < ARRAY_SIZE(alls); i++) {
		const char *const all[] = {alls[i], NULL};
		struct prefixes list = list_of(all);
		struct prefix hole = prefix_of(holes[i]);

		CU_ASSERT(!prefixes_subtract(&list, &hole));
		CU_ASSERT_EQUAL(list.n, prefix_width(&hole));
		for (size_t j = 0; j < list.n; j++) {
			CU_ASSERT_EQUAL(list.items[j].len, j + 1);
			CU_ASSERT(!prefix_contains(&list.items[j], &hole));
		}
		prefixes_free(&list);
	}
}

static const struct unit_test tests[] = {
	{"parse", test_parse}, {"mask", test_mask},	    {"contains", test_contains},
	{"sort", test_sort},   {"subtract", test_subtract}, {"subtract deep", test_subtract_deep},
};

int suite_addr(void)
{
	return add_suite("addr", tests, ARRAY_SIZE(tests));
}
