// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "conf.h"

#include <errno.h>
#include <string.h>

#include <confuse.h>

#include "name.h"

/* How much of a bad text is shown. */
#define SHOWN 64

/* A value with its line, which only the callback knows. */
struct item {
	int line;
	char text[];
};

/* Where libconfuse's messages go; its callbacks take no argument. */
static struct {
	const char *name;
	struct diags *d;
} report;

static void report_error(cfg_t *cfg, const char *fmt, va_list ap)
{
	char text[256];

	vsnprintf(text, sizeof(text), fmt, ap);
	diag_error(report.d, report.name, cfg->line, "%s", text);
}

static int keep_item(cfg_t *cfg, cfg_opt_t *opt, const char *value, void *result)
{
	size_t size = strlen(value) + 1;
	struct item *item = malloc(sizeof(*item) + size);

	(void)opt;
	if (!item)
		return -1;
	item->line = cfg->line;
	memcpy(item->text, value, size);
	*(struct item **)result = item;
	return 0;
}

#define OPTION(name) CFG_PTR_CB(name, NULL, CFGF_NONE, keep_item, free)
#define LIST(name)   CFG_PTR_LIST_CB(name, NULL, CFGF_NONE, keep_item, free)

static cfg_opt_t class_options[] = {
	OPTION("default"),  LIST("deny"),	  LIST("allow"),
	OPTION("loopback"), LIST("protocols"),	  OPTION("inbound"),
	OPTION("unix"),	    LIST("unix_allow"),	  OPTION("privileges"),
	OPTION("pids_max"), OPTION("memory_max"), OPTION("mode"),
	CFG_END(),
};

static cfg_opt_t set_options[] = {LIST("members"), CFG_END()};

static cfg_opt_t grant_options[] = {OPTION("class"), OPTION("operator"), CFG_END()};

#define SECTION(name, options) CFG_SEC(name, options, CFGF_MULTI | CFGF_TITLE)

static cfg_opt_t schema[] = {
	OPTION("default_class"),	 SECTION("class", class_options),
	SECTION("set", set_options),	 SECTION("user", grant_options),
	SECTION("group", grant_options), CFG_END(),
};

/* The section called name, or else the option; offers all others of that sort to s. */
static const cfg_opt_t *schema_find(const cfg_opt_t *options, const char *name, bool section,
				    struct suggestion *s)
{
	suggest_start(s, name);
	for (const cfg_opt_t *opt = options; opt->name; opt++) {
		if ((opt->type == CFGT_SEC) != section)
			continue;
		if (!strcmp(opt->name, name))
			return opt;
		suggest_offer(s, opt->name);
	}
	return NULL;
}

static void check_kind(const char *name, struct outline_section *section, struct diags *d)
{
	struct suggestion s;
	char hint[HINT_SIZE];

	if (schema_find(schema, section->kind, true, &s))
		return;
	diag_error(d, name, section->place.line, "unknown section \"%.*s\"%s", SHOWN, section->kind,
		   suggest_hint(&s, "", hint));
	outline_drop(&section->place);
}

static void check_option(const char *name, const struct outline *outline,
			 struct outline_option *option, struct diags *d)
{
	const struct outline_section *section = NULL;
	const cfg_opt_t *options = schema;
	struct suggestion s;
	char hint[HINT_SIZE];

	if (option->section >= 0) {
		section = &outline->sections[option->section];
		if (section->place.dropped) {
			option->place.dropped = true;
			return;
		}
		options = schema_find(schema, section->kind, true, &s)->subopts;
	}
	if (schema_find(options, option->name, false, &s))
		return;
	diag_error(d, name, option->place.line, "unknown option \"%.*s\"%s%s%s", SHOWN,
		   option->name, section ? " in " : "", section ? section->kind : "",
		   suggest_hint(&s, "", hint));
	outline_drop(&option->place);
}

static void check_section_twice(const char *name, struct outline_section *sections, size_t i,
				struct diags *d)
{
	for (size_t j = 0; j < i; j++) {
		if (strcmp(sections[i].kind, sections[j].kind) != 0 ||
		    strcmp(sections[i].title, sections[j].title) != 0)
			continue;
		diag_error(d, name, sections[i].place.line,
			   "%s \"%.*s\" is given twice, first in line %d", sections[i].kind, SHOWN,
			   sections[i].title, sections[j].place.line);
		outline_drop(&sections[i].place);
		return;
	}
}

static void check_option_twice(const char *name, struct outline_option *options, size_t i,
			       struct diags *d)
{
	for (size_t j = i; j-- > 0;) {
		/* A section's options stand together; those at top level need not. */
		if (options[i].section >= 0 && options[i].section != options[j].section)
			return;
		if (options[i].section != options[j].section ||
		    strcmp(options[i].name, options[j].name) != 0)
			continue;
		diag_error(d, name, options[i].place.line,
			   "option \"%.*s\" is given twice, first in line %d", SHOWN,
			   options[i].name, options[j].place.line);
		outline_drop(&options[i].place);
		return;
	}
}

/* libconfuse stops at an unknown name and keeps the last of two: it is to see neither. */
static void check_outline(const char *name, struct outline *outline, struct diags *d)
{
	for (size_t i = 0; i < outline->nsections; i++) {
		check_kind(name, &outline->sections[i], d);
		if (!outline->sections[i].place.dropped)
			check_section_twice(name, outline->sections, i, d);
	}
	for (size_t i = 0; i < outline->noptions; i++) {
		check_option(name, outline, &outline->options[i], d);
		if (!outline->options[i].place.dropped)
			check_option_twice(name, outline->options, i, d);
	}
}

/* Takes the values of one option from its section of the parsed tree. */
static int take_option(cfg_t *cfg, const struct outline_option *option, struct conf *out)
{
	for (unsigned int i = 0; i < cfg_size(cfg, option->name); i++) {
		const struct item *item = cfg_getnptr(cfg, option->name, i);
		char *text = strdup(item->text);

		if (!text || ARRAY_RESERVE(&out->values, &out->cap, out->n)) {
			free(text);
			return -ENOMEM;
		}
		out->values[out->n++] = (struct conf_value){
			.section = option->section,
			.option = option->name,
			.line = item->line,
			.text = text,
		};
	}
	return 0;
}

static int take_options(cfg_t *cfg, struct conf *out)
{
	const struct outline *outline = &out->outline;
	int err = 0;

	for (size_t i = 0; i < outline->noptions && !err; i++) {
		const struct outline_option *option = &outline->options[i];
		cfg_t *from = cfg;

		if (option->place.dropped)
			continue;
		if (option->section >= 0) {
			const struct outline_section *s = &outline->sections[option->section];

			from = cfg_gettsec(cfg, s->kind, s->title);
		}
		err = take_option(from, option, out);
	}
	return err;
}

/* Returns 0, -ENOMEM, or -EINVAL after libconfuse reported an error. */
static int parse_values(const char *name, const char *text, struct conf *out, struct diags *d)
{
	size_t before = d->errors;
	cfg_t *cfg = cfg_init(schema, CFGF_NONE);
	int err = -ENOMEM;

	if (!cfg)
		return err;
	report.name = name;
	report.d = d;
	cfg_set_error_function(cfg, report_error);
	/* The outline has refused every "$", so nothing comes from the environment. */
	if (cfg_parse_buf(cfg, text) == CFG_SUCCESS)
		err = take_options(cfg, out);
	else if (d->errors != before)
		err = -EINVAL;
	cfg_free(cfg);
	return err;
}

int conf_parse(const char *name, char *text, struct conf *out, struct diags *d)
{
	struct why why = {.text = "out of memory"};
	int line = 0, err;

	if (outline_scan(text, &out->outline, &line, &why)) {
		diag_error(d, name, line, "%s", why.text);
		return -EINVAL;
	}
	check_outline(name, &out->outline, d);
	err = parse_values(name, text, out, d);
	if (err == -ENOMEM)
		diag_error(d, name, 0, "out of memory");
	return err;
}

void conf_free(struct conf *conf)
{
	outline_free(&conf->outline);
	for (size_t i = 0; i < conf->n; i++)
		free(conf->values[i].text);
	free(conf->values);
	*conf = (struct conf){0};
}
