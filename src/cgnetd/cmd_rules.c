// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The subcommands allow, deny, rules and forget: run-time rules of the service. */
#include <errno.h>
#include <string.h>

#include "ask.h"
#include "cmd.h"
#include "message.h"
#include "name.h"
#include "num.h"
#include "runtime.h"
#include "service.h"

/* How long a change may take to come into force. */
#define ANSWER_MS (5 * 60 * 1000)

static int wrong(const char *command, const char *reason)
{
	fprintf(stderr, "cgnetd: %s: %s\n", command, reason);
	return EXIT_USAGE;
}

static int send(const struct options *opt, const char *command, const struct cgnet_msg *msg)
{
	_cleanup_close_ int fd = -1;
	struct why why;
	int status;

	fd = service_connect(&opt->instance, &why);
	if (fd == -ENOENT) {
		fprintf(stderr,
			"cgnetd: %s: no service runs; only `cgnetd serve` has run-time "
			"rules\n",
			command);
		return EXIT_REFUSED;
	}
	status = fd < 0 ? fd : ask(fd, msg, ANSWER_MS, stdout, stderr, &why);
	if (status >= 0)
		return status;
	fprintf(stderr, "cgnetd: %s: %s\n", command, why.text);
	return EXIT_REFUSED;
}

static int add(const struct options *opt, enum cgnet_verdict verdict, const char *rule)
{
	const char *command = verdict == CGNET_ALLOW ? "allow" : "deny";
	struct cgnet_rule_add request = {.verdict = verdict, .keep = opt->keep};
	uint64_t us = 0;
	struct why why;

	if (!opt->class_name || !name_is_valid(opt->class_name))
		return wrong(command, "needs --class CLASS");
	if (strlen(rule) >= sizeof(request.rule))
		return wrong(command, "the rule is too long");
	if (opt->duration && duration_parse(opt->duration, &us, &why))
		return wrong(command, why.text);
	message_start(&request.msg, CGNET_MSG_RULE_ADD, sizeof(request));
	request.seconds = us / 1000000;
	strcpy(request.class_name, opt->class_name);
	strcpy(request.rule, rule);
	return send(opt, command, &request.msg);
}

int cmd_allow(const struct options *opt, const char *rule)
{
	return add(opt, CGNET_ALLOW, rule);
}

int cmd_deny(const struct options *opt, const char *rule)
{
	return add(opt, CGNET_DENY, rule);
}

int cmd_rules(const struct options *opt)
{
	struct cgnet_rules request = {.json = opt->json};

	if (opt->class_name && !name_is_valid(opt->class_name))
		return wrong("rules", "--class: not the name of a class");
	message_start(&request.msg, CGNET_MSG_RULES, sizeof(request));
	if (opt->class_name)
		strcpy(request.class_name, opt->class_name);
	return send(opt, "rules", &request.msg);
}

int cmd_forget(const struct options *opt, const char *number)
{
	struct cgnet_rule_drop request = {};
	unsigned long value;

	if (num_parse(number, strlen(number), UINT32_MAX, &value) || !value)
		return wrong("forget", "takes the number of a rule, as `cgnetd rules` shows it");
	message_start(&request.msg, CGNET_MSG_RULE_DROP, sizeof(request));
	request.number = value;
	return send(opt, "forget", &request.msg);
}
