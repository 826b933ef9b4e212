// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "name.h"
#include "num.h"
#include "policy.h"

/* How much of a bad text is shown. */
#define SHOWN 64

#define LIST_MARK "file:"

/* Behind a host name. */
#define PRIVATE_MARK " private"

/* Of a name and of one of its labels (RFC 1035, 2.3.4). */
#define MAX_HOST  253
#define MAX_LABEL 63

/* A rule's text, cut at its separators; a part that is not there is NULL. */
struct parts {
	const char *target;
	size_t ntarget;
	bool bracketed;
	const char *ports;
	size_t nports;
	const char *protos;
};

static const struct {
	const char *name;
	enum proto_bit bit;
} protocols[] = {{"tcp", PROTO_TCP}, {"udp", PROTO_UDP}, {"icmp", PROTO_ICMP}};

static unsigned int proto_bit(const char *name, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(protocols); i++)
		if (strlen(protocols[i].name) == n && !memcmp(protocols[i].name, name, n))
			return protocols[i].bit;
	return 0;
}

/* "tcp", or several with "+" between them. */
static int protos_parse(const char *text, unsigned int *out, struct why *why)
{
	unsigned int protos = 0;

	for (const char *at = text;;) {
		size_t n = strcspn(at, "+");
		unsigned int bit = proto_bit(at, n);

		if (!bit)
			return why_set(why, -EINVAL, "protocol \"%.*s\" is not tcp, udp or icmp",
				       n > SHOWN ? SHOWN : (int)n, at);
		if (protos & bit)
			return why_set(why, -EINVAL, "protocol %.*s is given twice", (int)n, at);
		protos |= bit;
		if (!at[n])
			break;
		at += n + 1;
	}
	*out = protos;
	return 0;
}

/* Cuts [TARGET][:PORTS][/PROTO]. */
static int cut_bracketed(const char *text, struct parts *out, struct why *why)
{
	const char *end = strchr(text, ']');
	const char *rest;

	if (!end)
		return why_set(why, -EINVAL, "\"%.*s\" lacks its closing bracket", SHOWN, text);
	out->bracketed = true;
	out->target = text + 1;
	out->ntarget = end - text - 1;
	rest = end + 1;
	if (*rest == '/' && isdigit((unsigned char)rest[1]))
		return why_set(why, -EINVAL,
			       "\"%.*s\": the prefix length stands inside the brackets", SHOWN,
			       text);
	if (*rest == ':') {
		out->ports = rest + 1;
		out->nports = strcspn(out->ports, "/");
		rest = out->ports + out->nports;
	}
	if (*rest == '/')
		out->protos = rest + 1;
	else if (*rest)
		return why_set(why, -EINVAL, "\"%.*s\": only :PORTS and /PROTO follow a bracket",
			       SHOWN, text);
	return 0;
}

/* Cuts TARGET[:PORTS][/PROTO]; two colons make a v6 target, which no port can follow. */
static int cut_plain(const char *text, struct parts *out)
{
	const char *slash = strrchr(text, '/');
	const char *end = text + strlen(text);
	const char *colon;

	if (slash && !isdigit((unsigned char)slash[1])) {
		out->protos = slash + 1;
		end = slash;
	}
	out->target = text;
	out->ntarget = end - text;
	colon = memchr(text, ':', out->ntarget);
	if (colon && (*text == '@' || !memchr(colon + 1, ':', end - colon - 1))) {
		out->ports = colon + 1;
		out->nports = end - out->ports;
		out->ntarget = colon - text;
	}
	return 0;
}

/* True for what can only be meant as a host name; "10.0", "0x7f.1" are bad addresses instead. */
static bool looks_like_name(const char *target)
{
	size_t n = strcspn(target, "/");
	size_t last;

	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)target[i]) && !strchr(".-_", target[i]))
			return false;
	while (n && target[n - 1] == '.')
		n--;
	last = n;
	while (last && target[last - 1] != '.')
		last--;
	if (n - last > 1 && target[last] == '0' && (target[last + 1] | 0x20) == 'x')
		return false;
	while (last < n && isdigit((unsigned char)target[last]))
		last++;
	return last < n;
}

static int set_target(const struct parts *parts, struct rule *rule, struct why *why)
{
	_cleanup_free_ char *name = strndup(parts->target + 1, parts->ntarget - 1);

	if (!name)
		return -ENOMEM;
	if (!name_is_valid(name))
		return why_set(why, -EINVAL, "\"@%.*s\" is not the name of a set", SHOWN, name);
	if (!strcmp(name, "resolver") && (parts->ports || parts->protos))
		return why_set(
			why, -EINVAL,
			"@resolver carries its own ports (53, udp and tcp) and takes no others");
	rule->set = take_ptr(&name);
	return 0;
}

/* True for a v6 address that a port follows without brackets, where that can be told. */
static bool lacks_brackets(const char *target)
{
	const char *colon = strrchr(target, ':');
	_cleanup_free_ char *address = colon ? strndup(target, colon - target) : NULL;
	struct prefix p;

	return address && colon[1] && !colon[1 + strspn(colon + 1, "0123456789")] &&
	       !prefix_parse(address, &p, NULL);
}

/* Why name, which looks like one, is no host name that can be looked up; NULL if it is one. */
static const char *bad_host(const char *name)
{
	size_t n = strlen(name);

	if (n > MAX_HOST)
		return "is longer than a name can be";
	if (!strcmp(name, "localhost") || (n > 10 && !strcmp(name + n - 10, ".localhost")))
		return "is this host: write @loopback";
	if (!strchr(name, '.'))
		return "is not a full host name";
	for (const char *label = name;; label++) {
		size_t length = strcspn(label, ".");

		if (!length || length > MAX_LABEL || *label == '-' || label[length - 1] == '-')
			return "is not a host name";
		label += length;
		if (!*label)
			return NULL;
	}
}

static int host_target(const char *target, struct rule *rule, struct why *why)
{
	_cleanup_free_ char *host = strdup(target);
	const char *bad;
	size_t n;

	if (!host)
		return -ENOMEM;
	n = strlen(host);
	if (host[n - 1] == '.')
		host[n - 1] = '\0';
	for (char *c = host; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	bad = strchr(host, '/') ? "is a host name, and takes no prefix length" : bad_host(host);
	if (bad)
		return why_set(why, -EINVAL, "\"%.*s\" %s", SHOWN, target, bad);
	rule->host = take_ptr(&host);
	return 0;
}

static int prefix_target(const struct parts *parts, struct rule *rule, struct why *why)
{
	_cleanup_free_ char *target = strndup(parts->target, parts->ntarget);
	bool colons;
	int err;

	if (!target)
		return -ENOMEM;
	colons = strchr(target, ':');
	if (parts->bracketed && !colons)
		return why_set(why, -EINVAL, "\"%.*s\": brackets are for IPv6 addresses", SHOWN,
			       target);
	if (looks_like_name(target))
		return host_target(target, rule, why);
	err = prefix_parse(target, &rule->prefix, why);
	if (err && !parts->bracketed && lacks_brackets(target))
		return why_set(
			why, err,
			"\"%.*s\": a port follows an IPv6 address in brackets, [ADDRESS]:PORT",
			SHOWN, target);
	return err;
}

static int parts_parse(const struct parts *parts, struct rule *rule, struct why *why)
{
	int err;

	if (!parts->ntarget)
		return why_set(why, -EINVAL, "a rule starts with an address, a prefix or a @set");
	err = *parts->target == '@' && !parts->bracketed ? set_target(parts, rule, why)
							 : prefix_target(parts, rule, why);
	if (!err && parts->ports)
		err = ports_parse(parts->ports, parts->nports, &rule->ports, &rule->nports, why);
	if (!err && parts->protos)
		err = protos_parse(parts->protos, &rule->protos, why);
	if (!err && (rule->protos & PROTO_ICMP) && rule->nports)
		err = why_set(why, -EINVAL, "icmp has no ports");
	return err;
}

static int list_parse(const char *path, struct rule *rule, struct why *why)
{
	if (!*path)
		return why_set(why, -EINVAL, "\"" LIST_MARK "\" lacks its path");
	rule->list = strdup(path);
	return rule->list ? 0 : -ENOMEM;
}

/* TARGET[:PORTS][/PROTO]. */
static int target_parse(const char *text, struct rule *rule, struct why *why)
{
	struct parts parts = {0};
	int err = *text == '[' ? cut_bracketed(text, &parts, why) : cut_plain(text, &parts);

	return err ? err : parts_parse(&parts, rule, why);
}

static int private_parse(const char *text, size_t n, struct rule *rule, struct why *why)
{
	_cleanup_free_ char *target = strndup(text, n);
	int err = target ? target_parse(target, rule, why) : -ENOMEM;

	if (!err && !rule->host)
		err = why_set(why, -EINVAL, "only a host name can be private");
	rule->private = true;
	return err;
}

static int text_parse(const char *text, struct rule *rule, struct why *why)
{
	size_t n = strlen(text), mark = strlen(PRIVATE_MARK);

	if (!strncmp(text, LIST_MARK, strlen(LIST_MARK)))
		return list_parse(text + strlen(LIST_MARK), rule, why);
	if (strstr(text, "://"))
		return why_set(why, -EINVAL, "\"%.*s\" is a URL; a rule names an address", SHOWN,
			       text);
	if (n > mark && !strcmp(text + n - mark, PRIVATE_MARK))
		return private_parse(text, n - mark, rule, why);
	return target_parse(text, rule, why);
}

int rule_parse(const char *text, struct rule *out, struct why *why)
{
	struct rule rule = {0};
	int err;

	*out = rule;
	err = text_parse(text, &rule, why);
	if (!err) {
		rule.text = strdup(text);
		err = rule.text ? 0 : -ENOMEM;
	}
	if (err) {
		rule_free(&rule);
		return err;
	}
	*out = rule;
	return 0;
}

void rule_free(struct rule *rule)
{
	free(rule->text);
	free(rule->set);
	free(rule->list);
	free(rule->host);
	free(rule->ports);
	*rule = (struct rule){0};
}
