// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One rule of any content, and the prefix in it. */
#include <string.h>
#include <sys/socket.h>

#include "name.h"
#include "policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Says which promise was broken by crashing there. */
#define PROMISE(holds)                                                                             \
	do {                                                                                       \
		if (!(holds))                                                                      \
			__builtin_trap();                                                          \
	} while (0)

/* What is printed means the same when it is read. */
static void check_prefix(const struct prefix *prefix)
{
	struct prefix masked = *prefix, again;
	char text[PREFIX_STR_SIZE];

	PROMISE(prefix->family == AF_INET || prefix->family == AF_INET6);
	PROMISE(prefix->len <= prefix_width(prefix) && !prefix_mask(&masked));
	PROMISE(!prefix_parse(prefix_format(prefix, text), &again, NULL));
	PROMISE(!prefix_compare(prefix, &again));
}

static void check_host(const char *host)
{
	size_t len = strlen(host);

	PROMISE(len && len < 254 && host[len - 1] != '.');
	for (size_t i = 0; i < len; i++)
		PROMISE(!(host[i] >= 'A' && host[i] <= 'Z') && host[i] > ' ');
}

static void check_rule(const struct rule *rule, const char *text)
{
	PROMISE(!strcmp(rule->text, text));
	for (size_t i = 0; i < rule->nports; i++) {
		PROMISE(rule->ports[i].lo && rule->ports[i].lo <= rule->ports[i].hi);
		PROMISE(!i || rule->ports[i].lo > rule->ports[i - 1].hi + 1u);
	}
	PROMISE(!(rule->protos & ~(PROTO_TCP | PROTO_UDP | PROTO_ICMP)));
	PROMISE(!(rule->protos & PROTO_ICMP) || !rule->nports);
	PROMISE(!!rule->set + !!rule->list + !!rule->host <= 1);
	if (rule->set)
		PROMISE(name_is_valid(rule->set));
	else if (rule->host)
		check_host(rule->host);
	else if (!rule->list)
		check_prefix(&rule->prefix);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = strndup((const char *)data, size);
	struct why why = {""};
	struct prefix prefix;
	struct rule rule;

	PROMISE(text);
	if (!prefix_parse(text, &prefix, &why))
		check_prefix(&prefix);
	else
		PROMISE(*why.text);
	why.text[0] = '\0';
	if (!rule_parse(text, &rule, &why))
		check_rule(&rule, text);
	else
		PROMISE(*why.text && !rule.text && !rule.set && !rule.list && !rule.host &&
			!rule.ports);
	rule_free(&rule);
	return 0;
}
