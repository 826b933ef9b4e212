// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What tells that the host has changed, and how often that is acted upon. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "facts.h"
#include "filewatch.h"
#include "pace.h"
#include "suites.h"
#include "tempdir.h"

static void pace_bounds(void)
{
	struct pace p = {0};
	uint64_t now = 10000000;

	/* Soon after the first of a burst, not after the last. */
	CU_ASSERT_EQUAL(pace_change(&p, now), now + PACE_SETTLE);
	CU_ASSERT_EQUAL(pace_change(&p, now + PACE_SETTLE / 2), now + PACE_SETTLE);
	now += PACE_SETTLE;
	pace_done(&p, now, now + 1000);
	now += 1000;
	CU_ASSERT_EQUAL(pace_change(&p, now), now + PACE_GAP);
	now += PACE_GAP;
	/* A run that took long is not repeated at once, but is in time. */
	pace_done(&p, now, now + 500000);
	now += 500000;
	CU_ASSERT_EQUAL(pace_change(&p, now), now + 500000);
	pace_done(&p, now, now + 60000000);
	now += 60000000;
	CU_ASSERT_EQUAL(pace_change(&p, now), now + PACE_MAX_GAP);
	/* After a quiet time the past does not count. */
	pace_done(&p, now, now + 500000);
	now += 60000000;
	CU_ASSERT_EQUAL(pace_change(&p, now), now + PACE_SETTLE);
}

/* A change every millisecond for a minute: how often is it acted upon, and how late at most? */
static void pace_flapping(void)
{
	struct pace p = {0};
	uint64_t due = 0, first = 0, worst = 0;
	unsigned int runs = 0;

	for (uint64_t now = 0; now < 60000000; now += 1000) {
		if (p.pending && now >= due) {
			runs++;
			worst = now - first > worst ? now - first : worst;
			pace_done(&p, now, now + 5000);
		}
		if (!p.pending)
			first = now;
		due = pace_change(&p, now);
	}
	CHECK_ROW(runs > 200 && runs < 400, "%u runs", runs);
	CHECK_ROW(worst < 500000, "%lu microseconds", (unsigned long)worst);
}

struct spot {
	struct tempdir dir, other;
	struct filewatch w;
	char path[PATH_MAX];
};

static void spot_make(struct spot *s)
{
	struct why why;

	CU_ASSERT_FATAL(!tempdir_make(&s->dir) && !tempdir_make(&s->other));
	tempdir_path(&s->dir, "watched", s->path);
	CU_ASSERT_FATAL(!filewatch_open(&s->w, &why));
}

static void spot_remove(struct spot *s)
{
	filewatch_close(&s->w);
	tempdir_remove(&s->dir);
	tempdir_remove(&s->other);
}

/* True if the watch reports path 0. */
static bool reports(struct spot *s)
{
	bool changed[2] = {false};

	filewatch_read(&s->w, changed);
	CU_ASSERT_EQUAL(s->w.err, 0);
	return changed[0];
}

/* After what was reported there is silence, and then a change of the file is seen again. */
static void check_still_watched(struct spot *s, const char *when)
{
	int fd;

	CHECK_ROW(!reports(s), "%s: reported twice", when);
	fd = open(s->path, O_WRONLY | O_APPEND);
	CU_ASSERT(fd >= 0 && write(fd, "x", 1) == 1);
	close(fd);
	CHECK_ROW(reports(s), "%s: a write is not seen", when);
}

static void watch_file(void)
{
	struct spot s;
	char other[PATH_MAX];

	spot_make(&s);
	tempdir_write(&s.dir, "watched", "a", 0644);
	CU_ASSERT_EQUAL(filewatch_add(&s.w, s.path, NULL), 0);
	CU_ASSERT_FALSE(reports(&s));
	tempdir_write(&s.dir, "unrelated", "a", 0644);
	CU_ASSERT_FALSE(reports(&s));
	tempdir_write(&s.dir, "watched", "b", 0644);
	CU_ASSERT_TRUE(reports(&s));
	check_still_watched(&s, "written");
	CU_ASSERT_EQUAL(rename(tempdir_path(&s.dir, "unrelated", other), s.path), 0);
	CU_ASSERT_TRUE(reports(&s));
	check_still_watched(&s, "renamed over");
	unlink(s.path);
	CU_ASSERT_TRUE(reports(&s));
	CU_ASSERT_FALSE(reports(&s));
	tempdir_write(&s.dir, "watched", "c", 0644);
	CU_ASSERT_TRUE(reports(&s));
	check_still_watched(&s, "come back");
	/* Not watched any more. */
	filewatch_truncate(&s.w, 0);
	tempdir_write(&s.dir, "watched", "d", 0644);
	CU_ASSERT_FALSE(reports(&s));
	spot_remove(&s);
}

static void watch_link(void)
{
	struct spot s;
	char target[PATH_MAX], moved[PATH_MAX], sub[PATH_MAX], there[PATH_MAX + 8];

	spot_make(&s);
	tempdir_path(&s.other, "sub", sub);
	tempdir_path(&s.other, "moved", moved);
	CU_ASSERT_EQUAL_FATAL(mkdir(sub, 0755), 0);
	snprintf(there, sizeof(there), "%s/stub", sub);
	snprintf(target, sizeof(target), "../%s/./sub/stub", strrchr(s.other.path, '/') + 1);
	CU_ASSERT_EQUAL_FATAL(symlink(target, s.path), 0);
	/* The link points to nothing yet. */
	CU_ASSERT_EQUAL(filewatch_add(&s.w, s.path, NULL), 0);
	tempdir_write(&s.other, "sub/stub", "a", 0644);
	CU_ASSERT_TRUE(reports(&s));
	check_still_watched(&s, "the target came");
	/* The directory of the target goes and comes. */
	CU_ASSERT_EQUAL(rename(sub, moved), 0);
	CU_ASSERT_TRUE(reports(&s));
	CU_ASSERT_EQUAL(mkdir(sub, 0755), 0);
	CU_ASSERT_TRUE(reports(&s));
	tempdir_write(&s.other, "sub/stub", "b", 0644);
	CU_ASSERT_TRUE(reports(&s));
	check_still_watched(&s, "the directory came back");
	/* The link itself is replaced by a file, then by a loop. */
	unlink(s.path);
	tempdir_write(&s.dir, "watched", "c", 0644);
	CU_ASSERT_TRUE(reports(&s));
	check_still_watched(&s, "no link any more");
	unlink(s.path);
	CU_ASSERT_EQUAL(symlink("watched", s.path), 0);
	{
		bool changed[1] = {false};

		CU_ASSERT_TRUE(filewatch_read(&s.w, changed));
		CU_ASSERT_EQUAL(s.w.err, -ELOOP);
	}
	unlink(s.path);
	CU_ASSERT_TRUE(reports(&s));
	unlink(there);
	snprintf(there, sizeof(there), "%s/stub", moved);
	unlink(there);
	rmdir(sub);
	rmdir(moved);
	spot_remove(&s);
}

static void list_text(const struct prefixes *list, char *out, size_t size)
{
	char text[PREFIX_STR_SIZE];

	*out = '\0';
	for (size_t i = 0; i < list->n; i++)
		snprintf(out + strlen(out), size - strlen(out), "%s ",
			 prefix_format(&list->items[i], text));
}

/* The name servers stay when their file is gone or no file. */
static void resolver_stays(void)
{
	struct facts first = {0}, second = {0};
	struct tempdir dir;
	char path[PATH_MAX], text[256];
	struct why kept, why;

	CU_ASSERT_FATAL(!tempdir_make(&dir));
	tempdir_path(&dir, "resolv.conf", path);
	tempdir_write(&dir, "resolv.conf", "nameserver 192.0.2.53\nnameserver fe80::1%eth0\n",
		      0644);
	CU_ASSERT_EQUAL_FATAL(facts_read(&first, path, &why), 0);
	CU_ASSERT_EQUAL_FATAL(facts_read_again(&second, &first, path, &kept, &why), 0);
	CU_ASSERT_TRUE(facts_equal(&first, &second));
	CU_ASSERT_STRING_EQUAL(kept.text, "");
	facts_free(&second);
	second = (struct facts){0};
	unlink(path);
	CU_ASSERT_EQUAL_FATAL(facts_read_again(&second, &first, path, &kept, &why), 0);
	list_text(&second.resolver, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "192.0.2.53 fe80::1 ");
	CU_ASSERT_PTR_NOT_NULL(strstr(kept.text, path));
	facts_free(&second);
	second = (struct facts){0};
	CU_ASSERT_EQUAL_FATAL(facts_read_again(&second, &first, dir.path, &kept, &why), 0);
	CU_ASSERT_EQUAL(second.resolver.n, 2);
	facts_free(&second);
	second = (struct facts){0};
	/* An empty one is one: the C library asks this host then. */
	tempdir_write(&dir, "resolv.conf", "", 0644);
	CU_ASSERT_EQUAL_FATAL(facts_read_again(&second, &first, path, &kept, &why), 0);
	list_text(&second.resolver, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "127.0.0.1 ");
	CU_ASSERT_FALSE(facts_equal(&first, &second));
	facts_free(&first);
	facts_free(&second);
	tempdir_remove(&dir);
}

int suite_watch(void)
{
	static const struct unit_test tests[] = {
		{"pace: soon, and not too often", pace_bounds},
		{"pace: an interface that flaps", pace_flapping},
		{"files: written, replaced, gone, back", watch_file},
		{"files: through links and directories", watch_link},
		{"the last name servers stay", resolver_stays},
	};

	return add_suite("watch", tests, ARRAY_SIZE(tests));
}
