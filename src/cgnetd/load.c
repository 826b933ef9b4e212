// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "load.h"

#include <errno.h>
#include <grp.h>
#include <string.h>

#include "policy.h"
#include "text.h"

static bool root_is_in(const char *group)
{
	const struct group *g = getgrnam(group);

	for (char **member = g ? g->gr_mem : NULL; member && *member; member++)
		if (!strcmp(*member, "root"))
			return true;
	return g && g->gr_gid == 0;
}

/* What uid 0 gets without --class: its own grant, else its groups', else the default. */
static const char *root_class(const struct policy *p)
{
	const char *found = NULL;

	for (size_t i = 0; i < p->ngrants; i++) {
		const struct grant *g = &p->grants[i];

		if (!policy_class(p, g->class_name))
			continue;
		if (!g->group && !strcmp(g->who, "root"))
			return g->class_name;
		if (!found && g->group && root_is_in(g->who))
			found = g->class_name;
	}
	return found ? found : p->default_class;
}

void load_report(FILE *out, const char *file, const struct load_result *r)
{
	const struct apply_result *a = &r->apply;
	const char *plural = r->nclasses == 1 ? "" : "es";

	if (a->killed)
		fprintf(out, "ended %zu session%s\n", a->killed, a->killed == 1 ? "" : "s");
	if (a->reset)
		fprintf(out, "reset %zu connection%s\n", a->reset, a->reset == 1 ? "" : "s");
	if (!a->added && !a->changed && !a->dropped && !a->info_changed)
		fprintf(out, "%s: nothing changed, %zu class%s in force already\n", file,
			r->nclasses, plural);
	else
		fprintf(out,
			"%s: %zu class%s in force: %zu added, %zu changed, %zu unchanged, %zu "
			"dropped\n",
			file, r->nclasses, plural, a->added, a->changed, a->kept, a->dropped);
}

const char *texts_next(const struct texts *t, const char *at)
{
	const char *next = at ? at + strlen(at) + 1 : t->bytes;

	return next && next < t->bytes + t->size ? next : NULL;
}

static int texts_add(struct texts *t, const char *text)
{
	size_t n = strlen(text) + 1;
	char *grown = realloc(t->bytes, t->size + n);

	if (!grown)
		return -ENOMEM;
	memcpy(grown + t->size, text, n);
	t->bytes = grown;
	t->size += n;
	return 0;
}

/* A load under way. */
struct load {
	const struct instance *in;
	const struct load_request *request;
	struct saved last; /* nothing if there is no snapshot */
	struct text text;
	struct policy *policy;
	const char *root_class;
	struct facts facts;
	struct compiled *compiled;
	class_sum *sums;
	bool lists_changed;
	struct diags *d;
	struct load_result result;
};

static int read_file(struct load *l)
{
	unsigned int flags = POLICY_CHECK_OWNER | (l->request->snapshot ? POLICY_NAMES : 0);
	const char *file = l->request->file;
	struct why why;
	int err = text_read(file, POLICY_MAX_SIZE, flags, &l->text, &why);

	if (err) {
		diag_error(l->d, file, 0, "%s", why.text);
		return err;
	}
	l->policy = policy_parse(file, l->text.bytes, l->text.size, flags, l->d);
	if (!l->policy)
		return -EINVAL;
	l->root_class = root_class(l->policy);
	return grants_resolve(l->policy, l->d, &l->result.grants);
}

/* What a file has in it wrong now does not count; the set keeps what it held. */
static void reread_list(struct load *l, size_t set)
{
	struct diags d = {};

	if (policy_reread_lists(l->policy, set, &d)) {
		l->lists_changed = true;
	} else {
		for (size_t i = 0; i < d.n; i++)
			diag_warning(l->d, d.items[i].file, d.items[i].line, "%s", d.items[i].text);
		diag_warning(l->d, l->policy->file, l->policy->sets[set].line,
			     "set @%s keeps what it held", l->policy->sets[set].name);
	}
	diags_free(&d);
}

static void reread_lists(struct load *l)
{
	size_t at = 0;

	for (size_t i = 0; i < l->policy->nsets; i++) {
		const struct rules *members = &l->policy->sets[i].members;
		bool changed = false;

		for (size_t j = 0; j < members->n; j++) {
			if (!members->items[j].list)
				continue;
			changed |= at < l->request->nlists && l->request->lists[at];
			at++;
		}
		if (changed)
			reread_list(l, i);
	}
}

/* The policy as it was read when it was loaded; what `check` says of it was said then. */
static int take_last(struct load *l, struct why *why)
{
	struct diags d = {};

	if (!l->last.file)
		return why_set(why, -ESTALE, "the policy in force is not known");
	l->policy = policy_parse_again(l->last.file, l->last.text, l->last.text_size, l->last.lists,
				       POLICY_NAMES, &d);
	diags_free(&d);
	if (!l->policy || l->policy->nsets != l->last.nlists)
		return why_set(why, -ENOMEM, "cannot read the policy again");
	l->root_class = l->last.root_class;
	l->result.again = true;
	reread_lists(l);
	return 0;
}

/*
 * A reload is the end of those that are not kept; the service drops them when it has succeeded. The
 * copy of them here is this worker's own.
 */
static int add_runtime(struct load *l, struct why *why)
{
	struct runtime rules = {};
	int err = 0;

	if (!l->request->runtime)
		return 0;
	if (runtime_copy(l->request->runtime, &rules))
		return why_set(why, -ENOMEM, "out of memory");
	if (!l->result.again)
		runtime_reload(&rules, rules.last);
	if (runtime_add_to(&rules, l->policy, l->d))
		err = why_set(why, -ENOMEM, "out of memory");
	if (!err && l->request->rule && !runtime_is_in(l->policy, l->request->rule))
		err = why_set(why, -ENOENT, "the rule cannot come into force");
	runtime_free(&rules);
	return err;
}

static int read_policy(struct load *l, struct why *why)
{
	int err = 0;

	if (l->request->snapshot)
		err = snapshot_read(l->request->snapshot, &l->last, why);
	if (!err && l->request->file) {
		err = read_file(l);
		if (err == -ENOMEM)
			why_set(why, err, "out of memory");
	} else if (!err) {
		err = take_last(l, why);
	}
	return err ? err : add_runtime(l, why);
}

/* True if the only thing that may have changed is the host, and it has not. */
static bool nothing_changed(const struct load *l)
{
	return l->result.again && !(l->request->changes & (LOAD_RULES | LOAD_NAMES)) &&
	       !l->lists_changed && facts_equal(&l->facts, &l->last.facts);
}

/* Warnings of the file were given when it was loaded. */
static void pass_on(struct load *l, const struct diag *diag)
{
	if (diag->kind == DIAG_ERROR)
		diag_error(l->d, diag->file, diag->line, "%s", diag->text);
	else if (l->request->rule && !strcmp(diag->file, RUNTIME_FILE) &&
		 (uint32_t)diag->line == l->request->rule)
		diag_warning(l->d, diag->file, diag->line, "%s", diag->text);
}

static int compile(struct load *l, struct why *why)
{
	struct diags quiet = {}, *d = l->result.again ? &quiet : l->d;

	l->compiled = compile_policy(l->policy, &l->facts, d);
	for (size_t i = 0; i < quiet.n; i++)
		pass_on(l, &quiet.items[i]);
	diags_free(&quiet);
	if (!l->compiled)
		return why_set(why, -EINVAL, "the policy does not fit this host");
	l->sums = calloc(l->compiled->nclasses + 1, sizeof(*l->sums));
	return l->sums ? 0 : why_set(why, -ENOMEM, "out of memory");
}

static int list_files(struct load *l)
{
	int err = 0;

	for (size_t i = 0; i < l->policy->nsets; i++) {
		const struct rules *members = &l->policy->sets[i].members;

		for (size_t j = 0; j < members->n && !err; j++) {
			_cleanup_free_ char *path = NULL;

			if (!members->items[j].list)
				continue;
			path = policy_list_path(l->policy, &members->items[j]);
			err = path ? texts_add(&l->result.lists, path) : -ENOMEM;
		}
	}
	return err;
}

static int list_hosts(struct load *l)
{
	int err = 0;

	for (size_t i = 0; i < l->policy->nclasses; i++) {
		const struct rules *rules = &l->policy->classes[i].rules;

		for (size_t j = 0; j < rules->n && !err; j++)
			if (rules->items[j].host)
				err = texts_add(&l->result.hosts, rules->items[j].host);
	}
	return err;
}

static int save(struct load *l, struct why *why)
{
	_cleanup_free_ struct prefixes *lists = calloc(l->policy->nsets + 1, sizeof(*lists));
	struct saved next = {
		.file = l->policy->file,
		.text = l->result.again ? l->last.text : l->text.bytes,
		.text_size = l->result.again ? l->last.text_size : l->text.size,
		.root_class = l->root_class,
		.lists = lists,
		.nlists = l->policy->nsets,
		.facts = l->facts,
		.compiled = *l->compiled,
		.sums = l->sums,
	};

	if (!lists)
		return why_set(why, -ENOMEM, "out of memory");
	for (size_t i = 0; i < l->policy->nsets; i++)
		lists[i] = l->policy->sets[i].list;
	return snapshot_write(l->request->snapshot, &l->last, &next, why);
}

/*
 * Another policy comes into force as a whole, in one step; what changed around it is written in
 * place. While it does, the last one must not be followed any more.
 */
static int put_in_force(struct load *l, struct why *why)
{
	const struct snapshot *snapshot = l->request->snapshot;
	const struct in_force now = {l->result.again ? &l->last.compiled : NULL, l->last.sums};
	const struct apply_request request = {
		.compiled = l->compiled,
		.facts = &l->facts,
		.root_class = l->root_class,
		.force = l->request->force,
	};
	int err;

	if (snapshot && !l->result.again)
		snapshot_hold(snapshot);
	err = enforce(l->in, &now, &request, l->sums, &l->result.apply, why);
	if (err && snapshot && !l->result.again)
		snapshot_release(snapshot, &l->last);
	if (!err && snapshot)
		err = save(l, why);
	return err;
}

static int run(struct load *l, struct why *why)
{
	int err = read_policy(l, why);

	if (!err && l->last.file)
		err = facts_read_again(&l->facts, &l->last.facts, NULL, &l->result.kept, why);
	else if (!err)
		err = facts_read(&l->facts, NULL, why);
	if (err)
		return err;
	l->result.nclasses = l->policy->nclasses;
	l->facts.names = l->request->names;
	if (list_files(l) || list_hosts(l))
		return why_set(why, -ENOMEM, "out of memory");
	if (nothing_changed(l)) {
		l->result.apply.kept = l->policy->nclasses;
		return 0;
	}
	err = compile(l, why);
	return err ? err : put_in_force(l, why);
}

int load_policy(const struct instance *in, const struct load_request *request, struct diags *d,
		struct load_result *out, struct why *why)
{
	struct load l = {.in = in, .request = request, .d = d};
	int err = run(&l, why);

	compiled_free(l.compiled);
	free(l.sums);
	facts_free(&l.facts);
	policy_free(l.policy);
	text_free(&l.text);
	saved_free(&l.last);
	if (err)
		load_result_free(&l.result);
	else
		*out = l.result;
	return err;
}

void load_result_free(struct load_result *r)
{
	grants_free(&r->grants);
	free(r->lists.bytes);
	r->lists = (struct texts){};
	free(r->hosts.bytes);
	r->hosts = (struct texts){};
}
