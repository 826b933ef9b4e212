// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The form of requests: what is accepted, and that nothing else is. */
#include <errno.h>
#include <string.h>

#include "message.h"
#include "suites.h"

union packet {
	struct cgnet_msg msg;
	struct cgnet_enter enter;
	struct cgnet_load load;
	struct cgnet_instance instance;
	struct cgnet_events events;
	struct cgnet_first first;
	char bytes[CGNET_REQUEST_MAX + 1];
};

static int check(const union packet *p, size_t n)
{
	struct why why = {""};
	int err = message_check(p, n, &why);

	CHECK_ROW(!err == !*why.text, "%d \"%s\"", err, why.text);
	return err;
}

static void start_enter(union packet *p, const char *class_name, const char *session)
{
	memset(p, 0, sizeof(*p));
	message_start(&p->msg, CGNET_MSG_ENTER, sizeof(p->enter));
	snprintf(p->enter.class_name, sizeof(p->enter.class_name), "%s", class_name);
	snprintf(p->enter.session, sizeof(p->enter.session), "%s", session);
}

static size_t start_load(union packet *p, const char *file)
{
	size_t n = sizeof(p->load) + strlen(file) + 1;

	memset(p, 0, sizeof(*p));
	message_start(&p->msg, CGNET_MSG_LOAD, n);
	strcpy(p->load.file, file);
	return n;
}

static void test_header(void)
{
	union packet p;

	start_enter(&p, "lan", "");
	CU_ASSERT_EQUAL(check(&p, sizeof(p.enter)), 0);
	for (size_t n = 0; n < sizeof(p.enter); n++)
		CHECK_ROW(check(&p, n) == (n < sizeof(p.msg) ? -EBADMSG : -EMSGSIZE), "%zu", n);
	CU_ASSERT_EQUAL(check(&p, sizeof(p.enter) + 1), -EMSGSIZE);
	p.msg.length++;
	CU_ASSERT_EQUAL(check(&p, sizeof(p.enter)), -EMSGSIZE);
	CU_ASSERT_EQUAL(check(&p, sizeof(p.enter) + 1), -EMSGSIZE);
	p.msg.length = 0xffffffff;
	CU_ASSERT_EQUAL(check(&p, sizeof(p.enter)), -EMSGSIZE);

	start_enter(&p, "lan", "");
	p.msg.magic ^= 1;
	CU_ASSERT_EQUAL(check(&p, sizeof(p.enter)), -EBADMSG);
	start_enter(&p, "lan", "");
	p.msg.version++;
	CU_ASSERT_EQUAL(check(&p, sizeof(p.enter)), -EPROTONOSUPPORT);
}

static void test_types(void)
{
	static const unsigned int wrong[] = {0, CGNET_MSG_REPLY, CGNET_MSG_ENTERED, 0xffff};
	union packet p;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		start_enter(&p, "lan", "");
		p.msg.type = wrong[i];
		CHECK_ROW(check(&p, sizeof(p.enter)) == -EOPNOTSUPP, "%u", wrong[i]);
	}
}

static void test_names(void)
{
	static const struct {
		const char *class_name, *session;
		bool ok;
	} rows[] = {
		{"", "", true},
		{"lan", "one", true},
		{"a23456789012345678901234567890bc", "", true},
		{"a23456789012345678901234567890bcd", "", false},
		{"Lan", "", false},
		{"../lan", "", false},
		{"lan/", "", false},
		{"_info", "", false},
		{"", "..", false},
		{"", "a/b", false},
		{"", ".hidden", false},
		{"", "cgroup.procs", false},
		{"", "memory.max", false},
		{"", "one\n", false},
		{"", "0123456789012345678901234567890123456789012345678901234567890123", true},
		{"", "01234567890123456789012345678901234567890123456789012345678901234", false},
	};
	union packet p;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		start_enter(&p, rows[i].class_name, rows[i].session);
		CHECK_ROW(!check(&p, sizeof(p.enter)) == rows[i].ok, "\"%s\" \"%s\"",
			  rows[i].class_name, rows[i].session);
	}
}

/* An array that no NUL ends, or with something behind it. */
static void test_ends(void)
{
	union packet p;

	start_enter(&p, "", "");
	memset(p.enter.class_name, 'a', sizeof(p.enter.class_name));
	CU_ASSERT_EQUAL(check(&p, sizeof(p.enter)), -EINVAL);
	start_enter(&p, "", "");
	memset(p.enter.session, 'a', sizeof(p.enter.session));
	CU_ASSERT_EQUAL(check(&p, sizeof(p.enter)), -EINVAL);
	start_enter(&p, "lan", "");
	p.enter.class_name[sizeof(p.enter.class_name) - 1] = 'x';
	CU_ASSERT_EQUAL(check(&p, sizeof(p.enter)), -EINVAL);

	memset(&p, 0, sizeof(p));
	message_start(&p.msg, CGNET_MSG_INSTANCE, sizeof(p.instance));
	CU_ASSERT_EQUAL(check(&p, sizeof(p.instance)), -EINVAL);
	memset(p.instance.bpffs, '/', sizeof(p.instance.bpffs));
	CU_ASSERT_EQUAL(check(&p, sizeof(p.instance)), -EINVAL);
	p.instance.bpffs[sizeof(p.instance.bpffs) - 1] = '\0';
	CU_ASSERT_EQUAL(check(&p, sizeof(p.instance)), 0);
}

static void test_load(void)
{
	union packet p;
	size_t n = start_load(&p, "/etc/cgnet.conf");

	CU_ASSERT_EQUAL(check(&p, n), 0);
	p.load.force = 2;
	CU_ASSERT_EQUAL(check(&p, n), -EINVAL);
	n = start_load(&p, "cgnet.conf");
	CU_ASSERT_EQUAL(check(&p, n), -EINVAL);
	/* Without the NUL at the end. */
	n = start_load(&p, "/etc/cgnet.conf");
	p.msg.length = n - 1;
	CU_ASSERT_EQUAL(check(&p, n - 1), -EINVAL);
	memset(&p, 'a', sizeof(p));
	message_start(&p.msg, CGNET_MSG_LOAD, CGNET_REQUEST_MAX);
	p.load.force = 0;
	p.load.file[0] = '/';
	CU_ASSERT_EQUAL(check(&p, CGNET_REQUEST_MAX), -EINVAL);
	p.bytes[CGNET_REQUEST_MAX - 1] = '\0';
	CU_ASSERT_EQUAL(check(&p, CGNET_REQUEST_MAX), 0);
	p.msg.length++;
	CU_ASSERT_EQUAL(check(&p, CGNET_REQUEST_MAX + 1), -EMSGSIZE);
}

static void test_events(void)
{
	union packet p = {0};

	message_start(&p.msg, CGNET_MSG_EVENTS, sizeof(p.events));
	for (__u32 form = 0; form < CGNET_EVENTS_FORMS; form++) {
		p.events.form = form;
		CU_ASSERT_EQUAL(check(&p, sizeof(p.events)), 0);
	}
	p.events.form = CGNET_EVENTS_FORMS;
	CU_ASSERT_EQUAL(check(&p, sizeof(p.events)), -EINVAL);
	p.events.form = 0;
	strcpy(p.events.class_name, "lan");
	CU_ASSERT_EQUAL(check(&p, sizeof(p.events)), 0);
	strcpy(p.events.class_name, "LAN");
	CU_ASSERT_EQUAL(check(&p, sizeof(p.events)), -EINVAL);
	strcpy(p.events.class_name, "lan");
	strcpy(p.events.session, "s1");
	CU_ASSERT_EQUAL(check(&p, sizeof(p.events)), -EINVAL);
}

static void test_first(void)
{
	static const char *const bad[] = {"", "..", "a/b", "cgroup.procs", "A"};
	union packet p = {0};

	message_start(&p.msg, CGNET_MSG_FIRST, sizeof(p.first));
	strcpy(p.first.class_name, "lan");
	strcpy(p.first.session, "s1");
	CU_ASSERT_EQUAL(check(&p, sizeof(p.first)), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		memset(p.first.session, 0, sizeof(p.first.session));
		strcpy(p.first.session, bad[i]);
		CHECK_ROW(check(&p, sizeof(p.first)) == -EINVAL, "%s", bad[i]);
	}
	memset(p.first.session, 'a', sizeof(p.first.session));
	CU_ASSERT_EQUAL(check(&p, sizeof(p.first)), -EINVAL);

	message_start(&p.msg, CGNET_MSG_METRICS, sizeof(p.msg));
	CU_ASSERT_EQUAL(check(&p, sizeof(p.msg)), 0);
	p.msg.length++;
	CU_ASSERT_EQUAL(check(&p, sizeof(p.msg) + 1), -EMSGSIZE);
}

int suite_message(void)
{
	static const struct unit_test tests[] = {
		{"header", test_header},
		{"types", test_types},
		{"names", test_names},
		{"ends", test_ends},
		{"load", test_load},
		{"events", test_events},
		{"first, metrics", test_first},
	};

	return add_suite("message", tests, ARRAY_SIZE(tests));
}
