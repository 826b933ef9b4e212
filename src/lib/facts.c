// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "facts.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "netlink.h"
#include "resolv.h"

/*
 * A route shorter than this is no network of neighbours and no address of this host: a default
 * route in one or two halves over a VPN's device, a local default route for a transparent proxy.
 */
#define MIN_LENGTH4 8
#define MIN_LENGTH6 16

static const struct prefix loopback4 = {.family = AF_INET, .len = 8, .bytes = {127}};
static const struct prefix loopback6 = {.family = AF_INET6, .len = 128, .bytes = {[15] = 1}};

static bool wanted(const struct prefix *p)
{
	return p->len >= (p->family == AF_INET ? MIN_LENGTH4 : MIN_LENGTH6) &&
	       !prefix_contains(&loopback4, p) && !prefix_contains(&loopback6, p);
}

/* Drops what is loopback or too short, sorts the rest. */
static void tidy(struct prefixes *list)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->n; i++)
		if (wanted(&list->items[i]))
			list->items[kept++] = list->items[i];
	list->n = kept;
	prefixes_sort(list);
}

/* v6 has a route over the link to each own address that is no network. Both lists are sorted. */
static void drop_own(struct prefixes *onlink, const struct prefixes *host)
{
	size_t kept = 0, at = 0;

	for (size_t i = 0; i < onlink->n; i++) {
		while (at < host->n && prefix_compare(&host->items[at], &onlink->items[i]) < 0)
			at++;
		if (at == host->n || prefix_compare(&host->items[at], &onlink->items[i]))
			onlink->items[kept++] = onlink->items[i];
	}
	onlink->n = kept;
}

static const char *path_or_default(const char *resolv_conf)
{
	return resolv_conf ? resolv_conf : "/etc/resolv.conf";
}

/* Without the file there is no line in it. */
static int read_resolver(const char *resolv_conf, struct prefixes *out, struct why *why)
{
	int err = resolv_read(path_or_default(resolv_conf), out, why);

	if (err == -ENOENT && resolv_parse("", out))
		return why_set(why, -ENOMEM, "out of memory");
	return err == -ENOENT ? 0 : err;
}

static int copy_prefixes(const struct prefixes *from, struct prefixes *out, struct why *why)
{
	int err = 0;

	for (size_t i = 0; i < from->n && !err; i++)
		err = prefixes_add(out, &from->items[i]);
	return err ? why_set(why, err, "out of memory") : 0;
}

static int finish(struct facts *facts, int err, struct facts *out)
{
	if (err) {
		facts_free(facts);
		return err;
	}
	tidy(&facts->host);
	tidy(&facts->onlink);
	tidy(&facts->broadcast);
	drop_own(&facts->onlink, &facts->host);
	prefixes_sort(&facts->resolver);
	*out = *facts;
	return 0;
}

int facts_read(struct facts *out, const char *resolv_conf, struct why *why)
{
	struct facts facts = {0};
	int err = netlink_read(&facts, why);

	if (!err)
		err = read_resolver(resolv_conf, &facts.resolver, why);
	return finish(&facts, err, out);
}

int facts_read_again(struct facts *out, const struct facts *last, const char *resolv_conf,
		     struct why *kept, struct why *why)
{
	struct facts facts = {0};
	int err = netlink_read(&facts, why);

	kept->text[0] = '\0';
	if (!err && resolv_read(path_or_default(resolv_conf), &facts.resolver, kept)) {
		facts.resolver.n = 0;
		err = copy_prefixes(&last->resolver, &facts.resolver, why);
	}
	return finish(&facts, err, out);
}

static bool prefixes_equal(const struct prefixes *a, const struct prefixes *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (prefix_compare(&a->items[i], &b->items[i]))
			return false;
	return true;
}

bool facts_equal(const struct facts *a, const struct facts *b)
{
	return prefixes_equal(&a->host, &b->host) && prefixes_equal(&a->onlink, &b->onlink) &&
	       prefixes_equal(&a->broadcast, &b->broadcast) &&
	       prefixes_equal(&a->resolver, &b->resolver);
}

void facts_free(struct facts *facts)
{
	prefixes_free(&facts->host);
	prefixes_free(&facts->onlink);
	prefixes_free(&facts->broadcast);
	prefixes_free(&facts->resolver);
}
