// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "option.h"

#include <string.h>

#include "name.h"
#include "num.h"

/* How much of a bad text is shown. */
#define SHOWN 64

#define DEFAULT_PROTOCOLS (CGNET_PROTO_TCP | CGNET_PROTO_UDP | CGNET_PROTO_ICMP)

/* Of an abstract name: sun_path less the NUL that the "@" stands for. */
#define UNIX_NAME_MAX (sizeof(((struct cgnet_unix_name *)NULL)->name) - 1)

/* What the kernel can count to, and what a process takes to start. */
#define PIDS_LIMIT   4194304UL
#define MEMORY_LEAST (1UL << 20)

static const struct {
	const char *name;
	enum cgnet_protocol bit;
} protocols[] = {
	{"tcp", CGNET_PROTO_TCP},	  {"udp", CGNET_PROTO_UDP},   {"icmp", CGNET_PROTO_ICMP},
	{"udplite", CGNET_PROTO_UDPLITE}, {"sctp", CGNET_PROTO_SCTP}, {"dccp", CGNET_PROTO_DCCP},
	{"raw", CGNET_PROTO_RAW},
};

void option_defaults(struct class *c)
{
	c->loopback = CGNET_LOOPBACK_SESSION;
	c->protocols = DEFAULT_PROTOCOLS;
}

static void refuse_value(struct class *c, const struct given *given, const char *accepted,
			 struct diags *d)
{
	diag_error(d, given->file, given->values->line, "%s is %s, not \"%.*s\"",
		   given->option->name, accepted, SHOWN, given->values->text);
	c->incomplete = true;
}

static void set_default(struct class *c, const struct given *given, struct diags *d)
{
	const char *text = given->values->text;

	c->fallback_line = given->values->line;
	if (!strcmp(text, "allow"))
		c->fallback = CGNET_ALLOW;
	else if (!strcmp(text, "deny"))
		c->fallback = CGNET_DENY;
	else
		refuse_value(c, given, "allow or deny", d);
}

static void set_loopback(struct class *c, const struct given *given, struct diags *d)
{
	const char *text = given->values->text;

	c->loopback_line = given->values->line;
	if (!strcmp(text, "session"))
		c->loopback = CGNET_LOOPBACK_SESSION;
	else if (!strcmp(text, "deny"))
		c->loopback = CGNET_LOOPBACK_DENY;
	else if (!strcmp(text, "allow"))
		c->loopback = CGNET_LOOPBACK_ALLOW;
	else
		refuse_value(c, given, "session, deny or allow", d);
}

static void set_inbound(struct class *c, const struct given *given, struct diags *d)
{
	const char *text = given->values->text;

	c->inbound_line = given->values->line;
	c->inbound_deny = !strcmp(text, "deny");
	if (!c->inbound_deny && strcmp(text, "allow") != 0)
		refuse_value(c, given, "allow or deny", d);
}

static void set_unix(struct class *c, const struct given *given, struct diags *d)
{
	const char *text = given->values->text;

	c->unix_line = given->values->line;
	c->unix_none = !strcmp(text, "none");
	if (!c->unix_none && strcmp(text, "any") != 0)
		refuse_value(c, given, "any or none", d);
}

static void set_privileges(struct class *c, const struct given *given, struct diags *d)
{
	const char *text = given->values->text;

	c->privileges_line = given->values->line;
	c->keep_privileges = !strcmp(text, "keep");
	if (c->keep_privileges)
		diag_warning(
			d, given->file, given->values->line,
			"privileges = keep: a root session of class \"%s\" can undo the policy",
			c->name);
	else if (strcmp(text, "drop") != 0)
		refuse_value(c, given, "drop or keep", d);
}

static void set_pids_max(struct class *c, const struct given *given, struct diags *d)
{
	const char *text = given->values->text;
	unsigned long n = 0;

	if (num_parse(text, strlen(text), PIDS_LIMIT, &n) || !n)
		refuse_value(c, given, "a number from 1 to 4194304", d);
	else
		c->limits[CGNET_LIMIT_PIDS] = n;
}

/* "512M": a number of bytes, or of units of 1024 and its powers. Returns 0 if it is not one. */
static uint64_t parse_size(const char *text)
{
	static const char units[] = "KMGT";
	size_t n = strlen(text);
	const char *unit = n ? strchr(units, text[n - 1]) : NULL;
	unsigned int shift = unit ? 10 * (unsigned int)(unit - units + 1) : 0;
	unsigned long value = 0;

	return num_parse(text, n - !!unit, (unsigned long)(INT64_MAX >> shift), &value)
		       ? 0
		       : (uint64_t)value << shift;
}

static void set_memory_max(struct class *c, const struct given *given, struct diags *d)
{
	uint64_t size = parse_size(given->values->text);

	if (size < MEMORY_LEAST)
		refuse_value(c, given, "a size of at least 1M, such as 512M or 4G", d);
	else
		c->limits[CGNET_LIMIT_MEMORY] = size;
}

static void set_mode(struct class *c, const struct given *given, struct diags *d)
{
	const char *text = given->values->text;

	c->audit = !strcmp(text, "audit");
	if (c->audit)
		diag_warning(d, given->file, given->values->line,
			     "mode = audit: class \"%s\" refuses nothing, it only tells", c->name);
	else if (strcmp(text, "enforce") != 0)
		refuse_value(c, given, "enforce or audit", d);
}

static void refuse_protocol(struct class *c, const struct given *given,
			    const struct conf_value *value, struct diags *d)
{
	struct suggestion s;
	char hint[HINT_SIZE];

	suggest_start(&s, value->text);
	for (size_t i = 0; i < ARRAY_SIZE(protocols); i++)
		suggest_offer(&s, protocols[i].name);
	diag_error(d, given->file, value->line,
		   "protocol \"%.*s\" is not tcp, udp, icmp, udplite, sctp, dccp or raw%s", SHOWN,
		   value->text, suggest_hint(&s, "", hint));
	c->incomplete = true;
}

static void add_protocol(struct class *c, const struct given *given, const struct conf_value *value,
			 struct diags *d)
{
	for (size_t i = 0; i < ARRAY_SIZE(protocols); i++) {
		if (strcmp(protocols[i].name, value->text) != 0)
			continue;
		if (c->protocols & protocols[i].bit)
			diag_error(d, given->file, value->line, "protocol %s is given twice",
				   value->text);
		c->protocols |= protocols[i].bit;
		return;
	}
	refuse_protocol(c, given, value, d);
}

static void set_protocols(struct class *c, const struct given *given, struct diags *d)
{
	if (!given->n) {
		diag_error(d, given->file, given->option->place.line,
			   "protocols is empty: class \"%s\" could make no socket", c->name);
		c->incomplete = true;
	}
	c->protocols_line = given->option->place.line;
	c->protocols = 0;
	for (size_t i = 0; i < given->n; i++)
		add_protocol(c, given, &given->values[i], d);
}

_Static_assert(UNIX_NAME_MAX == 107, "what the message says");

/* Why text is no name for unix_allow; NULL if it is one. */
static const char *bad_unix_name(const struct class *c, const char *text)
{
	size_t n = strlen(text);

	if (*text != '@' && strchr(text, '/'))
		return "is a path, which a mount can show elsewhere; only abstract names, "
		       "\"@NAME\", are taken";
	if (*text != '@')
		return "is not an abstract name, \"@NAME\"";
	if (n == 1 || n - 1 > UNIX_NAME_MAX)
		return "has not 1 to 107 bytes behind its \"@\"";
	for (size_t i = 0; i < c->nunix_allow; i++) {
		const char *name = c->unix_allow[i];

		if (name && !strcmp(name, text + 1))
			return "is given twice";
	}
	return NULL;
}

static void add_unix_name(struct class *c, const struct given *given,
			  const struct conf_value *value, struct diags *d)
{
	const char *reason = bad_unix_name(c, value->text);
	char *name;

	if (reason) {
		diag_error(d, given->file, value->line, "unix_allow: \"%.*s\" %s", SHOWN,
			   value->text, reason);
		c->incomplete = true;
		return;
	}
	name = strdup(value->text + 1);
	if (name)
		c->unix_allow[c->nunix_allow++] = name;
	else
		diag_error(d, given->file, value->line, "out of memory");
}

static void set_unix_allow(struct class *c, const struct given *given, struct diags *d)
{
	c->unix_allow_line = given->option->place.line;
	if (given->n > UNIX_NAMES_MAX) {
		diag_error(d, given->file, given->values[UNIX_NAMES_MAX].line,
			   "unix_allow: more than %d names", UNIX_NAMES_MAX);
		c->incomplete = true;
		return;
	}
	c->unix_allow = calloc(given->n + 1, sizeof(*c->unix_allow));
	if (!c->unix_allow) {
		diag_error(d, given->file, c->unix_allow_line, "out of memory");
		return;
	}
	for (size_t i = 0; i < given->n; i++)
		add_unix_name(c, given, &given->values[i], d);
}

void option_set(struct class *c, const struct given *given, struct diags *d)
{
	static const struct {
		const char *name;
		void (*set)(struct class *c, const struct given *given, struct diags *d);
	} options[] = {
		{"default", set_default},
		{"loopback", set_loopback},
		{"protocols", set_protocols},
		{"inbound", set_inbound},
		{"unix", set_unix},
		{"unix_allow", set_unix_allow},
		{"privileges", set_privileges},
		{"pids_max", set_pids_max},
		{"memory_max", set_memory_max},
		{"mode", set_mode},
	};

	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if (!strcmp(options[i].name, given->option->name))
			options[i].set(c, given, d);
}
