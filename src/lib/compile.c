// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "compile.h"

#include <errno.h>
#include <string.h>

#include "expand.h"
#include "fold.h"
#include "lint.h"

/* Copies text; what does not fit ends in "...", and is not cut inside a UTF-8 character. */
static void copy_text(char *out, size_t size, const char *text)
{
	size_t n = strlen(text);

	if (n >= size) {
		n = size - sizeof("...");
		while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
			n--;
		strcpy(out + n, "...");
	} else {
		out[n] = '\0';
	}
	memcpy(out, text, n);
}

static void set_row(struct cgnet_rule *row, const char *text, const char *file, int line)
{
	copy_text(row->text, sizeof(row->text), text);
	copy_text(row->file, sizeof(row->file), file);
	row->line = line;
}

static const char *loopback_text(enum cgnet_loopback loopback)
{
	switch (loopback) {
	case CGNET_LOOPBACK_SESSION:
		return "loopback = session";
	case CGNET_LOOPBACK_ALLOW:
		return "loopback = allow";
	default:
		return "loopback = deny";
	}
}

/* Rows of options that are not in the file point to the class. */
static int fill_rules(const struct policy *p, const struct class *c, struct compiled_class *out)
{
	out->nrules = CGNET_RULE_FIRST + c->rules.n;
	out->rules = calloc(out->nrules, sizeof(*out->rules));
	if (!out->rules)
		return -ENOMEM;
	set_row(&out->rules[CGNET_RULE_DEFAULT],
		c->fallback == CGNET_ALLOW ? "default = allow" : "default = deny", p->file,
		c->fallback_line ? c->fallback_line : c->line);
	set_row(&out->rules[CGNET_RULE_LOOPBACK], loopback_text(c->loopback), p->file,
		c->loopback_line ? c->loopback_line : c->line);
	set_row(&out->rules[CGNET_RULE_SENTINEL], "self-test", p->file, c->line);
	set_row(&out->rules[CGNET_RULE_PROTOCOLS], "protocols", p->file,
		c->protocols_line ? c->protocols_line : c->line);
	set_row(&out->rules[CGNET_RULE_INBOUND], "inbound = deny", p->file,
		c->inbound_line ? c->inbound_line : c->line);
	set_row(&out->rules[CGNET_RULE_UNIX], "unix = none", p->file,
		c->unix_line ? c->unix_line : c->line);
	set_row(&out->rules[CGNET_RULE_PRIVILEGES], "privileges = drop", p->file,
		c->privileges_line ? c->privileges_line : c->line);
	set_row(&out->rules[CGNET_RULE_PACKET], "packet that hides where it goes", p->file,
		c->line);
	for (size_t i = 0; i < c->rules.n; i++) {
		const struct rule *rule = &c->rules.items[i];

		set_row(&out->rules[CGNET_RULE_FIRST + i], rule->text, rule->file, rule->line);
	}
	return 0;
}

static int fill_unix_names(const struct class *c, struct compiled_class *out)
{
	out->unix_names = calloc(c->nunix_allow + 1, sizeof(*out->unix_names));
	if (!out->unix_names)
		return -ENOMEM;
	for (size_t i = 0; i < c->nunix_allow; i++) {
		struct cgnet_unix_name *name = &out->unix_names[i];

		name->len = strlen(c->unix_allow[i]);
		memcpy(name->name, c->unix_allow[i], name->len);
	}
	out->nunix_names = c->nunix_allow;
	return 0;
}

static void fill_settings(const struct class *c, struct compiled_class *out)
{
	memcpy(out->name, c->name, sizeof(out->name));
	out->fallback = c->fallback;
	out->settings.loopback = c->loopback;
	out->settings.protocols = c->protocols;
	if (c->inbound_deny)
		out->settings.flags |= CGNET_INBOUND_DENY;
	if (c->unix_none)
		out->settings.flags |= CGNET_UNIX_NONE;
	if (c->audit)
		out->settings.flags |= CGNET_AUDIT;
	if (c->keep_privileges)
		out->settings.flags |= CGNET_PRIVILEGES_KEEP;
	out->keep_privileges = c->keep_privileges;
	memcpy(out->limits, c->limits, sizeof(out->limits));
}

static int compile_class(const struct policy *p, const struct class *c, const struct facts *facts,
			 struct compiled_class *out, struct diags *d)
{
	struct expansion x = {0};
	int err;

	fill_settings(c, out);
	err = fill_unix_names(c, out);
	if (!err)
		err = fill_rules(p, c, out);
	if (!err)
		err = expand_class(p, c, facts, &x);
	if (!err)
		err = lint_contradictions(&x, d);
	if (!err)
		err = fold_class(&x, out);
	if (!err)
		lint_rules(&x, c, d);
	expansion_free(&x);
	return err;
}

static struct compiled *new_compiled(const struct policy *p)
{
	struct compiled *out = calloc(1, sizeof(*out));

	if (!out)
		return NULL;
	out->classes = calloc(p->nclasses + 1, sizeof(*out->classes));
	if (!out->classes) {
		free(out);
		return NULL;
	}
	memcpy(out->default_class, p->default_class, sizeof(out->default_class));
	out->nclasses = p->nclasses;
	return out;
}

struct compiled *compile_policy(const struct policy *p, const struct facts *facts, struct diags *d)
{
	struct compiled *out = new_compiled(p);

	if (!out)
		diag_error(d, p->file, 0, "%s", strerror(ENOMEM));
	for (size_t i = 0; out && i < p->nclasses; i++) {
		const struct class *c = &p->classes[i];
		int err = compile_class(p, c, facts, &out->classes[i], d);

		if (err)
			diag_error(d, p->file, c->line, "class %s: %s", c->name, strerror(-err));
	}
	if (d->errors) {
		compiled_free(out);
		return NULL;
	}
	return out;
}

static void compiled_class_free(struct compiled_class *c)
{
	free(c->keys4);
	free(c->values4);
	free(c->keys6);
	free(c->values6);
	free(c->ports);
	free(c->rules);
	free(c->unix_names);
}

void compiled_free(struct compiled *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->nclasses; i++)
		compiled_class_free(&c->classes[i]);
	free(c->classes);
	free(c);
}

const struct compiled_class *compiled_class(const struct compiled *c, const char *name)
{
	for (size_t i = 0; i < c->nclasses; i++)
		if (!strcmp(c->classes[i].name, name))
			return &c->classes[i];
	return NULL;
}
