// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sets.h"

#include <errno.h>
#include <string.h>

#include "builtin.h"

static const struct builtin *builtin_find(const char *name)
{
	for (const struct builtin *b = builtins; b->name; b++)
		if (!strcmp(b->name, name))
			return b;
	return NULL;
}

bool set_is_builtin(const char *name)
{
	return builtin_find(name) != NULL;
}

void set_each_builtin(void (*visit)(const char *name, void *arg), void *arg)
{
	for (const struct builtin *b = builtins; b->name; b++)
		visit(b->name, arg);
}

bool set_is_dynamic(const char *name)
{
	const struct builtin *b = builtin_find(name);

	return b && b->live && !*b->blocks;
}

/* Where a walk through the sets of a policy is with one of them. */
enum progress { UNSEEN = 0, OPEN, DONE };

struct walk {
	const struct policy *policy;
	const struct facts *facts;
	enum progress *progress; /* of each set of the policy: what was taken once is not again */
	struct set_members *out;
};

static int add_member(struct walk *x, const struct prefix *prefix, bool dynamic)
{
	struct set_members *out = x->out;
	int err = ARRAY_RESERVE(&out->items, &out->cap, out->n);

	if (!err)
		out->items[out->n++] = (struct set_member){*prefix, dynamic};
	return err;
}

static int add_members(struct walk *x, const struct prefixes *list, bool dynamic)
{
	int err = 0;

	for (size_t i = 0; i < list->n && !err; i++)
		err = add_member(x, &list->items[i], dynamic);
	return err;
}

static int blocks_parse(const struct builtin *b, struct prefixes *out)
{
	struct prefix p;
	int err = 0;

	for (const char *const *text = b->blocks; *text && !err; text++) {
		err = prefix_parse(*text, &p, NULL);
		if (!err)
			err = prefixes_add(out, &p);
	}
	for (const char *const *text = b->holes; text && *text && !err; text++) {
		err = prefix_parse(*text, &p, NULL);
		if (!err)
			err = prefixes_subtract(out, &p);
	}
	return err;
}

static int expand_builtin(struct walk *x, const struct builtin *b)
{
	struct prefixes blocks = {0};
	int err = blocks_parse(b, &blocks);

	if (!err)
		err = add_members(x, &blocks, false);
	if (!err && b->live)
		err = add_members(x, b->live(x->facts), true);
	prefixes_free(&blocks);
	return err;
}

static int expand_local(struct walk *x)
{
	int err = 0;

	for (const struct builtin *b = builtins; b->name && !err; b++)
		if (b->in_local)
			err = expand_builtin(x, b);
	return err;
}

static int expand_name(struct walk *x, const char *name);

static int expand_set(struct walk *x, const struct set *set)
{
	int err = add_members(x, &set->list, false);

	for (size_t i = 0; i < set->members.n && !err; i++) {
		const struct rule *member = &set->members.items[i];

		if (member->set)
			err = expand_name(x, member->set);
		else if (!member->list)
			err = add_member(x, &member->prefix, false);
	}
	return err;
}

static int expand_name(struct walk *x, const char *name)
{
	const struct builtin *b = builtin_find(name);
	int err;

	if (b)
		return strcmp(name, "local") ? expand_builtin(x, b) : expand_local(x);
	for (size_t i = 0; i < x->policy->nsets; i++) {
		if (strcmp(x->policy->sets[i].name, name) != 0)
			continue;
		if (x->progress[i] != UNSEEN)
			return x->progress[i] == OPEN ? -ELOOP : 0;
		x->progress[i] = OPEN;
		err = expand_set(x, &x->policy->sets[i]);
		x->progress[i] = DONE;
		return err;
	}
	return -ENOENT;
}

int set_expand(const struct policy *policy, const char *name, const struct facts *facts,
	       struct set_members *out)
{
	_cleanup_free_ enum progress *progress = calloc(policy->nsets + 1, sizeof(*progress));
	struct walk x = {policy, facts, progress, out};
	size_t had = out->n;
	int err = progress ? expand_name(&x, name) : -ENOMEM;

	if (err)
		out->n = had;
	return err;
}

void set_members_free(struct set_members *m)
{
	free(m->items);
	*m = (struct set_members){0};
}
