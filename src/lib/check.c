// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "check.h"

#include <string.h>

#include "name.h"
#include "sets.h"

/* How much of a bad text is shown. */
#define SHOWN 64

/* A file of another kind would have an error in each of its rules. */
#define MAX_ERRORS 200

/* Where the walk from set to set is with one of them. */
enum progress { UNSEEN = 0, OPEN, DONE };

struct set_state {
	enum progress progress;
	bool used;
	bool empty; /* holds no prefix, whatever the host */
};

struct check {
	struct policy *p;
	struct set_state *sets; /* as p->sets */
	struct diags *d;
	size_t first_error;
	bool cyclic;
};

static bool too_many(const struct check *c)
{
	return c->d->errors - c->first_error >= MAX_ERRORS;
}

static const struct set *find_set(const struct policy *p, const char *name)
{
	for (size_t i = 0; i < p->nsets; i++)
		if (!strcmp(p->sets[i].name, name))
			return &p->sets[i];
	return NULL;
}

static void offer_builtin(const char *name, void *suggestion)
{
	suggest_offer(suggestion, name);
}

static void refuse_set(struct check *c, const struct rule *rule)
{
	struct suggestion s;
	char hint[HINT_SIZE];

	suggest_start(&s, rule->set);
	set_each_builtin(offer_builtin, &s);
	for (size_t i = 0; i < c->p->nsets; i++)
		suggest_offer(&s, c->p->sets[i].name);
	diag_error(c->d, rule->file, rule->line, "unknown set @%s%s", rule->set,
		   suggest_hint(&s, "@", hint));
}

/* Returns true if the rule's set is there, and notes that it is used. */
static bool check_rule(struct check *c, const struct rule *rule)
{
	const struct set *set;

	if (!rule->set || set_is_builtin(rule->set))
		return true;
	set = find_set(c->p, rule->set);
	if (set)
		c->sets[set - c->p->sets].used = true;
	else
		refuse_set(c, rule);
	return set != NULL;
}

/* Leaves out the rules whose set is not there. Returns true if there are such. */
static bool check_rules(struct check *c, struct rules *rules)
{
	size_t kept = 0, had = rules->n;

	for (size_t i = 0; i < had; i++) {
		if (!too_many(c) && !check_rule(c, &rules->items[i]))
			rule_free(&rules->items[i]);
		else
			rules->items[kept++] = rules->items[i];
	}
	rules->n = kept;
	return kept != had;
}

static bool walk_set(struct check *c, const struct set *set);

/* Returns true if the member holds no prefix. */
static bool walk_member(struct check *c, const struct rule *member)
{
	const struct set *set;

	if (!member->set)
		return member->list != NULL; /* its prefixes are those of the whole set */
	set = find_set(c->p, member->set);
	if (!set)
		return false; /* built in */
	if (c->sets[set - c->p->sets].progress != OPEN)
		return walk_set(c, set);
	c->cyclic = true;
	diag_error(c->d, member->file, member->line, "set @%s contains itself", set->name);
	return true;
}

/* Returns true if the set holds no prefix. */
static bool walk_set(struct check *c, const struct set *set)
{
	struct set_state *state = &c->sets[set - c->p->sets];

	if (state->progress == DONE)
		return state->empty;
	state->progress = OPEN;
	state->empty = !set->list.n && !set->incomplete;
	for (size_t i = 0; i < set->members.n; i++)
		if (!walk_member(c, &set->members.items[i]))
			state->empty = false;
	state->progress = DONE;
	return state->empty;
}

static void check_sets(struct check *c)
{
	for (size_t i = 0; i < c->p->nsets; i++) {
		const struct set *set = &c->p->sets[i];

		if (set_is_builtin(set->name))
			diag_error(c->d, c->p->file, set->line, "set @%s is built in", set->name);
		walk_set(c, set);
	}
}

static void warn_sets(const struct check *c)
{
	for (size_t i = 0; i < c->p->nsets; i++) {
		const struct set *set = &c->p->sets[i];

		if (!c->sets[i].used)
			diag_warning(c->d, c->p->file, set->line, "set @%s is not used", set->name);
		if (c->sets[i].empty && !c->cyclic)
			diag_warning(c->d, c->p->file, set->line, "set @%s is empty", set->name);
	}
}

static bool denies_something(const struct check *c, const struct class *class)
{
	bool closes_host = class->loopback_line && class->loopback != CGNET_LOOPBACK_ALLOW;

	if (class->fallback == CGNET_DENY || closes_host || class->inbound_deny ||
	    class->unix_none || class->incomplete)
		return true;
	for (size_t i = 0; i < class->rules.n; i++) {
		const struct rule *rule = &class->rules.items[i];
		const struct set *set = rule->set ? find_set(c->p, rule->set) : NULL;

		if (rule->verdict == CGNET_DENY && !(set && c->sets[set - c->p->sets].empty))
			return true;
	}
	return false;
}

static void check_class(struct check *c, const struct class *class)
{
	if (!class->fallback_line)
		diag_error(c->d, c->p->file, class->line,
			   "class \"%s\" lacks \"default = allow\" or \"default = deny\"",
			   class->name);
	else if (!denies_something(c, class))
		diag_error(c->d, c->p->file, class->line, "class \"%s\" denies nothing",
			   class->name);
	if (class->nunix_allow && !class->unix_none && !class->incomplete)
		diag_error(c->d, c->p->file, class->unix_allow_line,
			   "unix_allow stands beside \"unix = none\": without it every Unix socket "
			   "is reached");
}

/* Writes the nearest class to hint. */
static const char *class_hint(const struct policy *p, const char *wrong, char hint[HINT_SIZE])
{
	struct suggestion s;

	suggest_start(&s, wrong);
	for (size_t i = 0; i < p->nclasses; i++)
		suggest_offer(&s, p->classes[i].name);
	return suggest_hint(&s, "", hint);
}

static void check_default(const struct check *c, int line)
{
	const struct policy *p = c->p;
	char hint[HINT_SIZE];

	if (!p->nclasses)
		diag_error(c->d, p->file, 0, "there is no class");
	else if (!line)
		diag_warning(c->d, p->file, 0,
			     "no default_class: a session without a grant is refused");
	else if (!policy_class(p, p->default_class))
		diag_error(c->d, p->file, line, "default_class: there is no class \"%s\"%s",
			   p->default_class, class_hint(p, p->default_class, hint));
}

static void check_grant(const struct check *c, const struct grant *grant)
{
	const char *kind = grant->group ? "group" : "user";
	char hint[HINT_SIZE];

	if (!*grant->class_name && grant->is_operator)
		return;
	if (!*grant->class_name)
		diag_warning(c->d, c->p->file, grant->line,
			     "%s \"%.*s\" is granted no class and gets the default class", kind,
			     SHOWN, grant->who);
	else if (!policy_class(c->p, grant->class_name))
		diag_warning(c->d, c->p->file, grant->line,
			     "%s \"%.*s\" gets the default class: there is no class \"%s\"%s", kind,
			     SHOWN, grant->who, grant->class_name,
			     class_hint(c->p, grant->class_name, hint));
}

bool policy_check(struct policy *p, int default_line, struct diags *d)
{
	_cleanup_free_ struct set_state *sets = calloc(p->nsets + 1, sizeof(*sets));
	struct check c = {.p = p, .sets = sets, .d = d, .first_error = d->errors};

	if (!sets) {
		diag_error(d, p->file, 0, "out of memory");
		return false;
	}
	for (size_t i = 0; i < p->nclasses; i++)
		p->classes[i].incomplete |= check_rules(&c, &p->classes[i].rules);
	for (size_t i = 0; i < p->nsets; i++)
		p->sets[i].incomplete |= check_rules(&c, &p->sets[i].members);
	if (too_many(&c)) {
		diag_error(d, p->file, 0, "too many errors, the rest is not checked");
		return false;
	}
	check_sets(&c);
	warn_sets(&c);
	for (size_t i = 0; i < p->nclasses; i++)
		check_class(&c, &p->classes[i]);
	check_default(&c, default_line);
	for (size_t i = 0; i < p->ngrants; i++)
		check_grant(&c, &p->grants[i]);
	return !c.cyclic;
}
