// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "policy.h"

#include <errno.h>
#include <string.h>

#include "check.h"
#include "conf.h"
#include "list.h"
#include "name.h"
#include "option.h"
#include "text.h"

/* How much of a bad text is shown. */
#define SHOWN 64

/* A policy in the making. */
struct build {
	struct policy *p;
	const struct conf *conf;
	size_t *index; /* of each section, in the array of its kind */
	int default_line;
	unsigned int flags;
	const struct prefixes *lists; /* what the sets' files hold, if they are not to be read */
	struct diags *d;
};

static void copy_name(char out[CGNET_NAME_SIZE], const char *name)
{
	snprintf(out, CGNET_NAME_SIZE, "%s", name);
}

static void out_of_memory(struct build *b)
{
	diag_error(b->d, b->p->file, 0, "out of memory");
}

/* Why a rule cannot stand in a class (in_set false) or in a set; NULL if it can. */
static const char *misplaced(const struct rule *rule, enum cgnet_verdict verdict, bool in_set)
{
	if (rule->host && (in_set || verdict == CGNET_DENY))
		return "a host name stands in allow; what it leads to can change, so deny prefixes";
	if (!in_set)
		return rule->list ? "a file: member stands in a set, and the set in the class"
				  : NULL;
	if (rule->set && !strcmp(rule->set, "resolver"))
		return "@resolver carries its own ports and cannot be a member of a set";
	if (rule->nports || rule->protos)
		return "a set holds addresses; ports and protocols follow its name in a rule";
	return NULL;
}

/* Adds the rule, or an error. Returns false if the rule is left out. */
static bool add_rule(struct build *b, struct rules *rules, const struct conf_value *value,
		     enum cgnet_verdict verdict, bool in_set)
{
	struct why why = {.text = "out of memory"};
	const char *reason = why.text;
	struct rule rule;
	int err = rule_parse(value->text, &rule, &why);

	if (!err)
		reason = misplaced(&rule, verdict, in_set);
	if (!reason && rule.host && !(b->flags & POLICY_NAMES)) {
		why_set(&why, 0, "\"%.*s\" is a host name; names are taken only by `cgnetd serve`",
			SHOWN, rule.host);
		reason = why.text;
	}
	if (!reason && ARRAY_RESERVE(&rules->items, &rules->cap, rules->n))
		reason = why.text;
	if (reason) {
		diag_error(b->d, b->p->file, value->line, "%s", reason);
		rule_free(&rule);
		return false;
	}
	rule.file = b->p->file;
	rule.line = value->line;
	rule.verdict = verdict;
	rules->items[rules->n++] = rule;
	return true;
}

static void set_class_option(struct build *b, struct class *class, const struct given *given)
{
	bool denies = !strcmp(given->option->name, "deny");

	if (!denies && strcmp(given->option->name, "allow") != 0) {
		option_set(class, given, b->d);
		return;
	}
	for (size_t i = 0; i < given->n; i++)
		if (!add_rule(b, &class->rules, &given->values[i],
			      denies ? CGNET_DENY : CGNET_ALLOW, false))
			class->incomplete = true;
}

static void set_members(struct build *b, struct set *set, const struct given *given)
{
	for (size_t i = 0; i < given->n; i++)
		if (!add_rule(b, &set->members, &given->values[i], CGNET_DENY, true))
			set->incomplete = true;
}

/* The name of a class, in an option that takes one value; an empty list has none. */
static void set_class_name(char out[CGNET_NAME_SIZE], int *line, const struct given *given)
{
	if (!given->n)
		return;
	copy_name(out, given->values->text);
	*line = given->values->line;
}

static void set_grant_option(struct build *b, struct grant *grant, const struct given *given)
{
	const char *text = given->n ? given->values->text : "";

	if (!strcmp(given->option->name, "class")) {
		set_class_name(grant->class_name, &grant->line, given);
		return;
	}
	grant->is_operator = !strcmp(text, "yes");
	if (!grant->is_operator && strcmp(text, "no") != 0)
		diag_error(b->d, b->p->file, given->option->place.line,
			   "operator is yes or no, not \"%.*s\"", SHOWN, text);
}

static void set_option(struct build *b, const struct given *given)
{
	const struct outline_section *section;
	int place = given->option->section;
	struct policy *p = b->p;

	if (place < 0) {
		set_class_name(p->default_class, &b->default_line, given);
		return;
	}
	section = &b->conf->outline.sections[place];
	if (!strcmp(section->kind, "class")) {
		set_class_option(b, &p->classes[b->index[place]], given);
	} else if (!strcmp(section->kind, "set")) {
		set_members(b, &p->sets[b->index[place]], given);
	} else {
		set_grant_option(b, &p->grants[b->index[place]], given);
	}
}

static void check_title(struct build *b, const struct outline_section *section)
{
	if (!name_is_valid(section->title))
		diag_error(
			b->d, b->p->file, section->place.line,
			"\"%.*s\" cannot name a %s: lower case letters, digits and \"-\", a letter "
			"first, at most 32",
			SHOWN, section->title, section->kind);
}

static int add_section(struct build *b, size_t i)
{
	const struct outline_section *section = &b->conf->outline.sections[i];
	struct policy *p = b->p;
	struct grant *grant;

	if (!strcmp(section->kind, "class")) {
		check_title(b, section);
		copy_name(p->classes[p->nclasses].name, section->title);
		p->classes[p->nclasses].line = section->place.line;
		option_defaults(&p->classes[p->nclasses]);
		b->index[i] = p->nclasses++;
		return 0;
	}
	if (!strcmp(section->kind, "set")) {
		check_title(b, section);
		copy_name(p->sets[p->nsets].name, section->title);
		p->sets[p->nsets].line = section->place.line;
		b->index[i] = p->nsets++;
		return 0;
	}
	grant = &p->grants[p->ngrants];
	grant->group = !strcmp(section->kind, "group");
	grant->line = section->place.line;
	grant->who = strdup(section->title);
	if (!grant->who)
		return -ENOMEM;
	if (!*grant->who)
		diag_error(b->d, p->file, section->place.line, "a %s has a name", section->kind);
	b->index[i] = p->ngrants++;
	return 0;
}

/* An option that was dropped may have held the one rule that counts. */
static void note_dropped(struct build *b, const struct outline_option *option)
{
	const struct outline_section *section;

	if (option->section < 0)
		return;
	section = &b->conf->outline.sections[option->section];
	if (section->place.dropped)
		return;
	if (!strcmp(section->kind, "class"))
		b->p->classes[b->index[option->section]].incomplete = true;
	else if (!strcmp(section->kind, "set"))
		b->p->sets[b->index[option->section]].incomplete = true;
}

/* Number of values from index first on that belong to the option. */
static size_t count_values(const struct conf *conf, size_t first, const char *option)
{
	size_t n = 0;

	while (first + n < conf->n && conf->values[first + n].option == option)
		n++;
	return n;
}

/* The values of an option stand together, in the order of the options. */
static void set_options(struct build *b)
{
	const struct outline *outline = &b->conf->outline;
	size_t at = 0;

	for (size_t i = 0; i < outline->noptions; i++) {
		struct given given = {.file = b->p->file, .option = &outline->options[i]};

		if (given.option->place.dropped) {
			note_dropped(b, given.option);
			continue;
		}
		given.n = count_values(b->conf, at, given.option->name);
		if (given.n)
			given.values = &b->conf->values[at];
		at += given.n;
		set_option(b, &given);
	}
}

/* Fills p from what the file says, without a look at what it means. */
static int build_policy(struct build *b)
{
	const struct outline *outline = &b->conf->outline;
	size_t n = outline->nsections;
	struct policy *p = b->p;
	int err = 0;

	/* Room for all sections to be of one kind. */
	p->classes = calloc(n + 1, sizeof(*p->classes));
	p->sets = calloc(n + 1, sizeof(*p->sets));
	p->grants = calloc(n + 1, sizeof(*p->grants));
	if (!p->classes || !p->sets || !p->grants)
		return -ENOMEM;
	for (size_t i = 0; i < n && !err; i++)
		if (!outline->sections[i].place.dropped)
			err = add_section(b, i);
	if (!err)
		set_options(b);
	return err;
}

char *policy_list_path(const struct policy *p, const struct rule *member)
{
	const char *slash = strrchr(p->file, '/');
	char *joined;

	if (*member->list == '/' || !slash)
		return strdup(member->list);
	if (asprintf(&joined, "%.*s/%s", (int)(slash - p->file), p->file, member->list) < 0)
		return NULL;
	return joined;
}

/* Adds the prefixes of one file to out. Returns false if there is an error, which is in d. */
static bool read_list(const struct policy *p, const struct rule *member, unsigned int flags,
		      struct prefixes *out, struct diags *d)
{
	_cleanup_free_ char *path = policy_list_path(p, member);
	size_t before = d->errors;
	struct text text = {0};
	struct why why;

	if (!path) {
		diag_error(d, p->file, 0, "out of memory");
		return false;
	}
	if (text_read(path, LIST_MAX_SIZE, flags, &text, &why)) {
		diag_error(d, p->file, member->line, "%s: %s", path, why.text);
		return false;
	}
	if (list_parse(path, text.bytes, text.size, out, d))
		diag_error(d, p->file, 0, "out of memory");
	text_free(&text);
	return d->errors == before;
}

/* Reads all files of a set. The list is sorted, which spares the compiler that work each time. */
static bool read_lists(const struct policy *p, const struct set *set, unsigned int flags,
		       struct prefixes *out, struct diags *d)
{
	bool complete = true;

	for (size_t i = 0; i < set->members.n; i++)
		if (set->members.items[i].list &&
		    !read_list(p, &set->members.items[i], flags, out, d))
			complete = false;
	if (out->n)
		prefixes_sort(out);
	return complete;
}

bool policy_reread_lists(struct policy *p, size_t set, struct diags *d)
{
	struct prefixes list = {0};

	if (!read_lists(p, &p->sets[set], POLICY_CHECK_OWNER, &list, d)) {
		prefixes_free(&list);
		return false;
	}
	prefixes_free(&p->sets[set].list);
	p->sets[set].list = list;
	return true;
}

static bool copy_list(const struct prefixes *from, struct prefixes *out)
{
	out->items = malloc((from->n + 1) * sizeof(*out->items));
	if (!out->items)
		return false;
	if (from->n)
		memcpy(out->items, from->items, from->n * sizeof(*out->items));
	out->n = from->n;
	out->cap = from->n + 1;
	return true;
}

static void fill_lists(struct build *b)
{
	for (size_t i = 0; i < b->p->nsets; i++) {
		struct set *set = &b->p->sets[i];

		if (b->lists && !copy_list(&b->lists[i], &set->list))
			out_of_memory(b);
		else if (!b->lists && !read_lists(b->p, set, b->flags, &set->list, b->d))
			set->incomplete = true;
	}
}

static bool build_and_check(struct build *b)
{
	b->index = calloc(b->conf->outline.nsections + 1, sizeof(*b->index));
	if (!b->index || build_policy(b)) {
		out_of_memory(b);
		return false;
	}
	fill_lists(b);
	return policy_check(b->p, b->default_line, b->d);
}

/* Parses text, which it changes, into p. Returns true if p can be compiled, if only for errors. */
static bool parse_text(struct policy *p, char *text, size_t size, const struct prefixes *lists,
		       unsigned int flags, struct diags *d)
{
	struct conf conf = {0};
	struct build b = {.p = p, .conf = &conf, .flags = flags, .lists = lists, .d = d};
	bool usable = false;
	struct why why;
	int line = 0;

	if (text_check(text, size, &line, &why))
		diag_error(d, p->file, line, "%s", why.text);
	else if (!conf_parse(p->file, text, &conf, d))
		usable = build_and_check(&b);
	free(b.index);
	conf_free(&conf);
	return usable;
}

struct policy *policy_parse(const char *name, const char *text, size_t size, unsigned int flags,
			    struct diags *d)
{
	return policy_parse_again(name, text, size, NULL, flags, d);
}

struct policy *policy_parse_again(const char *name, const char *text, size_t size,
				  const struct prefixes *lists, unsigned int flags, struct diags *d)
{
	_cleanup_free_ char *copy = malloc(size + 1);
	struct policy *p = calloc(1, sizeof(*p));
	size_t before = d->errors;
	bool usable = false;

	if (p)
		p->file = strdup(name);
	if (!copy || !p || !p->file) {
		diag_error(d, name, 0, "out of memory");
	} else if (size > POLICY_MAX_SIZE) {
		diag_error(d, name, 0, "is larger than %lu bytes", POLICY_MAX_SIZE);
	} else {
		memcpy(copy, text, size);
		copy[size] = '\0';
		usable = parse_text(p, copy, size, lists, flags, d);
	}
	if (usable && (d->errors == before || (flags & POLICY_KEEP_WRONG)))
		return p;
	policy_free(p);
	return NULL;
}

struct policy *policy_read(const char *file, unsigned int flags, struct diags *d)
{
	struct text text = {0};
	struct policy *p;
	struct why why;

	if (text_read(file, POLICY_MAX_SIZE, flags, &text, &why)) {
		diag_error(d, file, 0, "%s", why.text);
		return NULL;
	}
	p = policy_parse(file, text.bytes, text.size, flags, d);
	text_free(&text);
	return p;
}

static void rules_free(struct rules *rules)
{
	for (size_t i = 0; i < rules->n; i++)
		rule_free(&rules->items[i]);
	free(rules->items);
}

static void class_free(struct class *c)
{
	rules_free(&c->rules);
	for (size_t i = 0; i < c->nunix_allow; i++)
		free(c->unix_allow[i]);
	free(c->unix_allow);
}

void policy_free(struct policy *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->nclasses; i++)
		class_free(&p->classes[i]);
	for (size_t i = 0; i < p->nsets; i++) {
		rules_free(&p->sets[i].members);
		prefixes_free(&p->sets[i].list);
	}
	for (size_t i = 0; i < p->ngrants; i++)
		free(p->grants[i].who);
	free(p->classes);
	free(p->sets);
	free(p->grants);
	free(p->file);
	free(p);
}

const struct class *policy_class(const struct policy *p, const char *name)
{
	for (size_t i = 0; i < p->nclasses; i++)
		if (!strcmp(p->classes[i].name, name))
			return &p->classes[i];
	return NULL;
}
