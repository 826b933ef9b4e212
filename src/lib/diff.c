// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "diff.h"

#include <errno.h>
#include <string.h>

/*
 * One family's trie, old or new. Keys of both families are a length, then the address, and are
 * sorted by address, then length.
 */
struct side {
	const char *keys;
	const struct cgnet_prefix *values;
	const struct cgnet_port *ports;
	size_t n, at;
};

struct family {
	size_t key_size;
	struct side from, to;
};

/* Indices of what is to be done, before it is put in order. */
struct todo {
	size_t *put, *drop;
	size_t nput, nput_cap, ndrop, ndrop_cap, nadded;
};

static const char *key_at(const struct family *f, const struct side *s, size_t i)
{
	return s->keys + i * f->key_size;
}

static __u32 key_length(const char *key)
{
	__u32 length;

	memcpy(&length, key, sizeof(length));
	return length;
}

static int compare_keys(const struct family *f, const char *a, const char *b)
{
	int order = memcmp(a + sizeof(__u32), b + sizeof(__u32), f->key_size - sizeof(__u32));

	if (order)
		return order;
	return (key_length(a) > key_length(b)) - (key_length(a) < key_length(b));
}

/* Where a list stands in its table does not count. */
static bool same_value(const struct side *a, const struct cgnet_prefix *x, const struct side *b,
		       const struct cgnet_prefix *y)
{
	return x->verdict == y->verdict && x->rule == y->rule && x->flags == y->flags &&
	       x->nports == y->nports &&
	       (!x->nports || !memcmp(&a->ports[x->first_port], &b->ports[y->first_port],
				      x->nports * sizeof(*a->ports)));
}

static int add(size_t **list, size_t *cap, size_t *n, size_t index)
{
	int err = ARRAY_RESERVE(list, cap, *n);

	if (!err)
		(*list)[(*n)++] = index;
	return err;
}

/* Both sides are sorted, so that one pass over them finds all. */
static int find(struct family *f, struct todo *t)
{
	struct side *from = &f->from, *to = &f->to;
	int err = 0;

	while (!err && (from->at < from->n || to->at < to->n)) {
		int order;

		if (from->at == from->n)
			order = 1;
		else if (to->at == to->n)
			order = -1;
		else
			order = compare_keys(f, key_at(f, from, from->at), key_at(f, to, to->at));
		if (order < 0) {
			err = add(&t->drop, &t->ndrop_cap, &t->ndrop, from->at++);
		} else if (order > 0) {
			err = add(&t->put, &t->nput_cap, &t->nput, to->at++);
			t->nadded++;
		} else {
			if (!same_value(from, &from->values[from->at], to, &to->values[to->at]))
				err = add(&t->put, &t->nput_cap, &t->nput, to->at);
			from->at++;
			to->at++;
		}
	}
	return err;
}

/* Counting sort of indices by length; stable. */
static int by_length(const struct family *f, const struct side *s, size_t *list, size_t n,
		     bool longest_first)
{
	_cleanup_free_ size_t *sorted = malloc((n + 1) * sizeof(*sorted));
	size_t starts[130] = {0};

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		__u32 length = key_length(key_at(f, s, list[i]));

		starts[(longest_first ? 128 - length : length) + 1]++;
	}
	for (size_t i = 1; i < ARRAY_SIZE(starts); i++)
		starts[i] += starts[i - 1];
	for (size_t i = 0; i < n; i++) {
		__u32 length = key_length(key_at(f, s, list[i]));

		sorted[starts[longest_first ? 128 - length : length]++] = list[i];
	}
	if (n)
		memcpy(list, sorted, n * sizeof(*list));
	return 0;
}

/* Index of a list in d->ports, where it is added if it is not there. Returns it or -ENOMEM. */
static long place_list(struct class_diff *d, const struct cgnet_port *list, size_t n)
{
	struct cgnet_port *grown;
	size_t first = d->nports;

	for (size_t i = 0; i + n <= d->nports; i++)
		if (!memcmp(&d->ports[i], list, n * sizeof(*list)))
			return i;
	grown = realloc(d->ports, (d->nports + n) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	d->ports = grown;
	memcpy(&d->ports[first], list, n * sizeof(*list));
	d->nports += n;
	return first;
}

static int take_values(const struct side *to, const struct todo *t, struct class_diff *d,
		       struct cgnet_prefix *out)
{
	for (size_t i = 0; i < t->nput; i++) {
		const struct cgnet_prefix *value = &to->values[t->put[i]];
		long first = 0;

		if (value->nports)
			first = place_list(d, &to->ports[value->first_port], value->nports);
		if (first < 0)
			return -ENOMEM;
		out[i] = *value;
		out[i].first_port = first;
	}
	return 0;
}

static char *take_keys(const struct family *f, const struct side *s, const size_t *list, size_t n)
{
	char *out = malloc((n + 1) * f->key_size);

	for (size_t i = 0; out && i < n; i++)
		memcpy(out + i * f->key_size, key_at(f, s, list[i]), f->key_size);
	return out;
}

static int take(struct family *f, struct todo *t, struct class_diff *d, struct trie_diff *out)
{
	out->put_keys = take_keys(f, &f->to, t->put, t->nput);
	out->drop_keys = take_keys(f, &f->from, t->drop, t->ndrop);
	out->put_values = malloc((t->nput + 1) * sizeof(*out->put_values));
	if (!out->put_keys || !out->drop_keys || !out->put_values)
		return -ENOMEM;
	out->nput = t->nput;
	out->ndrop = t->ndrop;
	out->nadded = t->nadded;
	return take_values(&f->to, t, d, out->put_values);
}

static int diff_family(struct family *f, struct class_diff *d, struct trie_diff *out)
{
	struct todo t = {0};
	int err = find(f, &t);

	if (!err)
		err = by_length(f, &f->to, t.put, t.nput, true);
	if (!err)
		err = by_length(f, &f->from, t.drop, t.ndrop, false);
	if (!err)
		err = take(f, &t, d, out);
	free(t.put);
	free(t.drop);
	return err;
}

bool class_diff_can(const struct compiled_class *from, const struct compiled_class *to)
{
	return from->fallback == to->fallback && from->keep_privileges == to->keep_privileges &&
	       !memcmp(&from->settings, &to->settings, sizeof(from->settings)) &&
	       !memcmp(from->limits, to->limits, sizeof(from->limits)) &&
	       from->nunix_names == to->nunix_names &&
	       (!from->nunix_names || !memcmp(from->unix_names, to->unix_names,
					      from->nunix_names * sizeof(*from->unix_names)));
}

int class_diff(const struct compiled_class *from, const struct compiled_class *to,
	       const struct cgnet_port *live, size_t nlive, struct class_diff *out)
{
	struct class_diff d = {.nports = nlive, .nlive = nlive};
	struct family v4 = {
		.key_size = sizeof(struct cgnet_key4),
		.from = {(const char *)from->keys4, from->values4, from->ports, from->n4, 0},
		.to = {(const char *)to->keys4, to->values4, to->ports, to->n4, 0},
	};
	struct family v6 = {
		.key_size = sizeof(struct cgnet_key6),
		.from = {(const char *)from->keys6, from->values6, from->ports, from->n6, 0},
		.to = {(const char *)to->keys6, to->values6, to->ports, to->n6, 0},
	};
	int err;

	d.ports = malloc((nlive + 1) * sizeof(*d.ports));
	if (!d.ports)
		return -ENOMEM;
	if (nlive)
		memcpy(d.ports, live, nlive * sizeof(*live));
	d.rules = from->nrules != to->nrules ||
		  memcmp(from->rules, to->rules, to->nrules * sizeof(*to->rules)) != 0;
	err = diff_family(&v4, &d, &d.v4);
	if (!err)
		err = diff_family(&v6, &d, &d.v6);
	if (err)
		class_diff_free(&d);
	else
		*out = d;
	return err;
}

static void trie_diff_free(struct trie_diff *d)
{
	free(d->put_keys);
	free(d->put_values);
	free(d->drop_keys);
}

void class_diff_free(struct class_diff *d)
{
	trie_diff_free(&d->v4);
	trie_diff_free(&d->v6);
	free(d->ports);
	*d = (struct class_diff){0};
}
