// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "learn.h"

#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#define PORTS_SIZE 1024

/* A rule in the making: the ports of one address and protocol, then of several. */
struct draft {
	struct prefix prefix;
	__u8 proto;		/* 0 for tcp and udp */
	char ports[PORTS_SIZE]; /* "80,443"; empty for ICMP */
	struct learn_use use;	/* count and users only */
};

struct drafts {
	struct draft *items;
	size_t n, cap;
};

static void add_user(struct learn_use *use, const struct learn_user *user)
{
	for (size_t i = 0; i < use->nusers && i < LEARN_USERS; i++)
		if (!memcmp(&use->users[i], user, sizeof(*user)))
			return;
	if (use->nusers < LEARN_USERS)
		use->users[use->nusers] = *user;
	use->nusers++;
}

static void add_users(struct learn_use *to, const struct learn_use *from)
{
	to->count += from->count;
	for (size_t i = 0; i < from->nusers && i < LEARN_USERS; i++)
		add_user(to, &from->users[i]);
	if (from->nusers > LEARN_USERS)
		to->nusers += from->nusers - LEARN_USERS;
}

/* What a rule, or a remark, can say. */
static struct cgnet_event_key reduce(const struct cgnet_event_key *key)
{
	struct cgnet_event_key out = {.hook = key->hook, .proto = key->proto};
	struct prefix target;

	if (!event_is_allowable(key))
		return out;
	event_target(key, &target);
	/* As one form, whichever hook it came through. */
	out.hook = 0;
	out.form = target.family == AF_INET ? 4 : 6;
	memcpy(out.dst, target.bytes, sizeof(out.dst));
	out.port = key->port;
	return out;
}

static struct learn_use *find(struct learn *l, const struct cgnet_event_key *key)
{
	for (size_t i = l->n; i-- > 0;)
		if (!memcmp(&l->items[i].key, key, sizeof(*key)))
			return &l->items[i];
	return NULL;
}

int learn_add(struct learn *l, const struct cgnet_event *event)
{
	struct cgnet_event_key key = reduce(&event->key);
	struct learn_user user = {.uid = event->detail.uid};
	struct learn_use *use = find(l, &key);

	l->count += event->detail.count;
	if (!use && l->n == LEARN_MAX) {
		l->missed += event->detail.count;
		return 0;
	}
	if (!use) {
		if (ARRAY_RESERVE(&l->items, &l->cap, l->n))
			return -ENOMEM;
		use = &l->items[l->n++];
		*use = (struct learn_use){.key = key};
	}
	use->count += event->detail.count;
	memcpy(user.comm, event->detail.comm, sizeof(user.comm));
	add_user(use, &user);
	return 0;
}

static int by_key(const void *a, const void *b)
{
	const struct cgnet_event_key *x = &((const struct learn_use *)a)->key;
	const struct cgnet_event_key *y = &((const struct learn_use *)b)->key;
	int order = x->form - y->form;

	if (!order)
		order = memcmp(x->dst, y->dst, sizeof(x->dst));
	if (!order)
		order = x->proto - y->proto;
	if (!order)
		order = x->port - y->port;
	return order ? order : x->hook - y->hook;
}

static bool same_rule(const struct cgnet_event_key *a, const struct cgnet_event_key *b)
{
	return a->form == b->form && a->proto == b->proto &&
	       !memcmp(a->dst, b->dst, sizeof(a->dst));
}

/*
 * Takes the uses from i on that one rule can stand for. Returns the next i. More ports than a rule
 * may list leave d->ports too long to be used: "".
 */
static size_t take_ports(const struct learn *l, size_t i, struct draft *d)
{
	const struct cgnet_event_key *first = &l->items[i].key;
	size_t used = 0, ranges = 0;

	*d = (struct draft){.proto = first->proto};
	d->prefix.family = first->form == 4 ? AF_INET : AF_INET6;
	d->prefix.len = first->form == 4 ? 32 : 128;
	memcpy(d->prefix.bytes, first->dst, sizeof(d->prefix.bytes));
	while (i < l->n && same_rule(&l->items[i].key, first)) {
		__u16 lo = l->items[i].key.port, hi = lo;

		add_users(&d->use, &l->items[i++]);
		while (i < l->n && same_rule(&l->items[i].key, first) &&
		       l->items[i].key.port == hi + 1) {
			hi++;
			add_users(&d->use, &l->items[i++]);
		}
		ranges++;
		if (!lo || ranges > CGNET_PORTS_PER_PREFIX / 2)
			continue;
		used += snprintf(d->ports + used, sizeof(d->ports) - used,
				 hi > lo ? "%s%d-%d" : "%s%d", used ? "," : "", lo, hi);
	}
	if (ranges > CGNET_PORTS_PER_PREFIX / 2)
		d->ports[0] = '\0';
	return i;
}

/* tcp and udp to the same ports are one rule without a protocol. */
static bool merge_protocols(struct draft *last, const struct draft *d)
{
	if (last->proto != IPPROTO_TCP || d->proto != IPPROTO_UDP || !d->ports[0] ||
	    strcmp(last->ports, d->ports) != 0 || prefix_compare(&last->prefix, &d->prefix) != 0)
		return false;
	last->proto = 0;
	add_users(&last->use, &d->use);
	return true;
}

static int by_suffix(const void *a, const void *b)
{
	const struct draft *x = a, *y = b;
	int order = x->proto - y->proto;

	if (!order)
		order = strcmp(x->ports, y->ports);
	return order ? order : prefix_compare(&x->prefix, &y->prefix);
}

/* Two halves of a prefix with the same ports become the prefix. */
static bool merge_siblings(struct draft *a, const struct draft *b)
{
	struct prefix parent = a->prefix;

	if (a->proto != b->proto || strcmp(a->ports, b->ports) != 0 ||
	    a->prefix.family != b->prefix.family || a->prefix.len != b->prefix.len || !parent.len)
		return false;
	parent.len--;
	prefix_mask(&parent);
	if (!prefix_contains(&parent, &a->prefix) || !prefix_contains(&parent, &b->prefix))
		return false;
	a->prefix = parent;
	add_users(&a->use, &b->use);
	return true;
}

static void merge_addresses(struct drafts *d)
{
	size_t n = 0;

	qsort(d->items, d->n, sizeof(*d->items), by_suffix);
	for (size_t i = 0; i < d->n; i++) {
		d->items[n++] = d->items[i];
		while (n > 1 && merge_siblings(&d->items[n - 2], &d->items[n - 1]))
			n--;
	}
	d->n = n;
}

/* A name that a session chose, in characters that mean nothing in a policy file. */
static void write_user(FILE *out, const struct learn_user *user)
{
	size_t n = strnlen(user->comm, sizeof(user->comm));

	for (size_t i = 0; i < n; i++) {
		unsigned char c = user->comm[i];

		fputc(isascii(c) && (isalnum(c) || strchr("._+-", c)) ? c : '?', out);
	}
	fprintf(out, "%s(uid %u)", n ? " " : "", user->uid);
}

static void write_users(FILE *out, const struct learn_use *use)
{
	for (size_t i = 0; i < use->nusers && i < LEARN_USERS; i++) {
		fputs(i ? ", " : "", out);
		write_user(out, &use->users[i]);
	}
	if (use->nusers > LEARN_USERS)
		fprintf(out, " and others");
	fprintf(out, ", %llu time%s\n", (unsigned long long)use->count, use->count == 1 ? "" : "s");
}

static void write_rule(FILE *out, const struct draft *d)
{
	char prefix[PREFIX_STR_SIZE], proto[EVENT_PROTO_SIZE];
	bool ports = d->ports[0], brackets = ports && d->prefix.family == AF_INET6;

	prefix_format(&d->prefix, prefix);
	event_proto(d->proto, proto);
	if (!ports && d->proto != IPPROTO_ICMP) {
		fprintf(out, "        # %s/%s: more ports than a rule may list; ", prefix, proto);
	} else {
		fprintf(out, "        \"%s%s%s%s%s%s%s\", # ", brackets ? "[" : "", prefix,
			brackets ? "]" : "", ports ? ":" : "", d->ports, proto[0] ? "/" : "",
			proto);
	}
	write_users(out, &d->use);
}

/* What another option than allow is about. */
static void write_remark(FILE *out, const struct learn_use *use)
{
	char proto[EVENT_PROTO_SIZE];

	event_proto(use->key.proto, proto);
	fprintf(out, "    # %s%s%s: no rule can allow it; ", event_hook(&use->key),
		proto[0] ? " " : "", proto);
	write_users(out, use);
}

static int make_drafts(const struct learn *l, struct drafts *d)
{
	for (size_t i = 0; i < l->n;) {
		if (!l->items[i].key.form) {
			i++;
			continue;
		}
		if (ARRAY_RESERVE(&d->items, &d->cap, d->n))
			return -ENOMEM;
		i = take_ports(l, i, &d->items[d->n]);
		if (!d->n || !merge_protocols(&d->items[d->n - 1], &d->items[d->n]))
			d->n++;
	}
	if (d->n)
		merge_addresses(d);
	return 0;
}

int learn_write(struct learn *l, const char *class_name, FILE *out)
{
	struct drafts drafts = {};
	int err;

	if (l->n)
		qsort(l->items, l->n, sizeof(*l->items), by_key);
	err = make_drafts(l, &drafts);
	if (!err) {
		fprintf(out, "# class %s: %llu denial%s", class_name, (unsigned long long)l->count,
			l->count == 1 ? "" : "s");
		if (l->missed)
			fprintf(out, ", of which %llu are not here", (unsigned long long)l->missed);
		fprintf(out, "\n    allow = {\n");
		for (size_t i = 0; i < drafts.n; i++)
			write_rule(out, &drafts.items[i]);
		fprintf(out, "    }\n");
		for (size_t i = 0; i < l->n && !l->items[i].key.form; i++)
			write_remark(out, &l->items[i]);
	}
	free(drafts.items);
	return err;
}

void learn_free(struct learn *l)
{
	free(l->items);
	*l = (struct learn){};
}
