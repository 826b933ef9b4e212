// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "message.h"

#include <errno.h>
#include <string.h>

#include "name.h"
#include "session.h"

/* What there is to check in one type of request. */
struct form {
	enum cgnet_msg_type type;
	const char *name;
	size_t min, max; /* bytes, header included */
	int (*check)(const void *packet, size_t n, struct why *why);
};

bool message_string(const char *text, size_t size)
{
	size_t len = strnlen(text, size);

	if (len == size)
		return false;
	for (size_t i = len; i < size; i++)
		if (text[i])
			return false;
	return true;
}

static int check_class(const char *class_name, struct why *why)
{
	if (!message_string(class_name, CGNET_NAME_SIZE) ||
	    (*class_name && !name_is_valid(class_name)))
		return why_set(why, -EINVAL, "class: not a name, [a-z][a-z0-9-]{0,31}");
	return 0;
}

static int check_enter(const void *packet, size_t n, struct why *why)
{
	const struct cgnet_enter *enter = packet;
	int err = check_class(enter->class_name, why);

	(void)n;
	if (!err && !message_string(enter->session, sizeof(enter->session)))
		err = why_set(why, -EINVAL, "session: not a name");
	if (!err && *enter->session)
		err = session_check_name(enter->session, why);
	return err;
}

static int check_load(const void *packet, size_t n, struct why *why)
{
	const struct cgnet_load *load = packet;
	size_t room = n - sizeof(*load);

	if (load->force > 1 || load->file[0] != '/' || strnlen(load->file, room) + 1 != room)
		return why_set(why, -EINVAL, "load: wrong arguments");
	return 0;
}

static int check_instance(const void *packet, size_t n, struct why *why)
{
	const struct cgnet_instance *instance = packet;

	(void)n;
	if (instance->bpffs[0] != '/' || !message_string(instance->bpffs, sizeof(instance->bpffs)))
		return why_set(why, -EINVAL, "instance: not an absolute path");
	return 0;
}

static int check_events(const void *packet, size_t n, struct why *why)
{
	const struct cgnet_events *events = packet;

	(void)n;
	if (events->form >= CGNET_EVENTS_FORMS ||
	    !message_string(events->session, sizeof(events->session)) || *events->session)
		return why_set(why, -EINVAL, "events: wrong arguments");
	return check_class(events->class_name, why);
}

static int check_first(const void *packet, size_t n, struct why *why)
{
	const struct cgnet_first *first = packet;

	(void)n;
	if (!message_string(first->session, sizeof(first->session)))
		return why_set(why, -EINVAL, "session: not a name");
	if (check_class(first->class_name, why))
		return -EINVAL;
	return session_check_name(first->session, why);
}

/* The header is all there is. */
static int check_header(const void *packet, size_t n, struct why *why)
{
	(void)packet;
	(void)n;
	(void)why;
	return 0;
}

/* What the rule says is looked at where rules are. */
static int check_rule_add(const void *packet, size_t n, struct why *why)
{
	const struct cgnet_rule_add *add = packet;

	(void)n;
	if (!*add->class_name || check_class(add->class_name, why))
		return why_set(why, -EINVAL, "rule: not the name of a class");
	if (add->verdict > CGNET_ALLOW || add->keep > 1 || add->pad ||
	    add->seconds > CGNET_RULE_SECONDS_MAX || !*add->rule ||
	    !message_string(add->rule, sizeof(add->rule)))
		return why_set(why, -EINVAL, "rule: wrong arguments");
	return 0;
}

static int check_rule_drop(const void *packet, size_t n, struct why *why)
{
	(void)n;
	if (!((const struct cgnet_rule_drop *)packet)->number)
		return why_set(why, -EINVAL, "forget: rules are numbered from 1");
	return 0;
}

static int check_rules(const void *packet, size_t n, struct why *why)
{
	const struct cgnet_rules *rules = packet;

	(void)n;
	if (rules->json > 1)
		return why_set(why, -EINVAL, "rules: wrong arguments");
	return check_class(rules->class_name, why);
}

static int check_names(const void *packet, size_t n, struct why *why)
{
	(void)n;
	if (((const struct cgnet_names *)packet)->json > 1)
		return why_set(why, -EINVAL, "names: wrong arguments");
	return 0;
}

static const struct form forms[] = {
	{CGNET_MSG_ENTER, "enter", sizeof(struct cgnet_enter), sizeof(struct cgnet_enter),
	 check_enter},
	{CGNET_MSG_EVENTS, "events", sizeof(struct cgnet_events), sizeof(struct cgnet_events),
	 check_events},
	{CGNET_MSG_FIRST, "first", sizeof(struct cgnet_first), sizeof(struct cgnet_first),
	 check_first},
	{CGNET_MSG_METRICS, "metrics", sizeof(struct cgnet_msg), sizeof(struct cgnet_msg),
	 check_header},
	{CGNET_MSG_LOAD, "load", sizeof(struct cgnet_load) + 2, CGNET_REQUEST_MAX, check_load},
	{CGNET_MSG_INSTANCE, "instance", sizeof(struct cgnet_instance),
	 sizeof(struct cgnet_instance), check_instance},
	{CGNET_MSG_RULE_ADD, "rule", sizeof(struct cgnet_rule_add), sizeof(struct cgnet_rule_add),
	 check_rule_add},
	{CGNET_MSG_RULE_DROP, "forget", sizeof(struct cgnet_rule_drop),
	 sizeof(struct cgnet_rule_drop), check_rule_drop},
	{CGNET_MSG_NAMES, "names", sizeof(struct cgnet_names), sizeof(struct cgnet_names),
	 check_names},
	{CGNET_MSG_RULES, "rules", sizeof(struct cgnet_rules), sizeof(struct cgnet_rules),
	 check_rules},
};

int message_check(const void *packet, size_t n, struct why *why)
{
	const struct cgnet_msg *msg = packet;

	if (n < sizeof(*msg) || msg->magic != CGNET_CONTROL_MAGIC)
		return why_set(why, -EBADMSG, "not a message of cgnet");
	if (msg->version != CGNET_CONTROL_VERSION)
		return why_set(why, -EPROTONOSUPPORT, "version %u of the protocol, not %u",
			       msg->version, CGNET_CONTROL_VERSION);
	if (msg->length != n)
		return why_set(why, -EMSGSIZE, "a message of %u bytes came as %zu", msg->length, n);
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		const struct form *form = &forms[i];

		if (form->type != msg->type)
			continue;
		if (n < form->min || n > form->max)
			return why_set(why, -EMSGSIZE, "%s: a message of %zu bytes", form->name, n);
		return form->check(packet, n, why);
	}
	return why_set(why, -EOPNOTSUPP, "unknown request %u", msg->type);
}

void message_start(struct cgnet_msg *msg, enum cgnet_msg_type type, size_t length)
{
	*msg = (struct cgnet_msg){
		.magic = CGNET_CONTROL_MAGIC,
		.version = CGNET_CONTROL_VERSION,
		.type = type,
		.length = (__u32)length,
	};
}
