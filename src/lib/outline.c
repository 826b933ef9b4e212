// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "outline.h"

#include <errno.h>
#include <string.h>

/* Far more than a host has users; each is compared with all others. */
#define MAX_SECTIONS 1024
#define MAX_OPTIONS  (16 * MAX_SECTIONS)

/* How much of a bad text is shown. */
#define SHOWN 64

/* A punctuation mark is its own kind. */
enum token_kind { TOKEN_END = 0, TOKEN_WORD = 'w', TOKEN_STRING = 's' };

struct token {
	int kind;
	char *start; /* of a word, or of what is in the quotes */
	size_t n;
	struct outline_place place;
};

struct scanner {
	char *at;
	int line;
	struct outline *out;
	struct why *why;

	/* The statement so far: up to two names, then perhaps "=". */
	struct token names[2];
	int nnames;
	bool assigned;

	int section;	  /* the one that is open, or -1 */
	int section_line; /* of its "{" */
	bool in_list;
	int list_line;
};

static int refuse(struct scanner *s, int line, const char *what)
{
	s->line = line;
	return why_set(s->why, -EINVAL, "%s", what);
}

static bool is_comment(const char *at)
{
	return *at == '#' || (*at == '/' && (at[1] == '/' || at[1] == '*'));
}

/* Keeps newlines, so that lines keep their numbers. Returns how many there are. */
static int blank_out(char *start, char *end)
{
	int lines = 0;

	for (; start < end; start++) {
		if (*start == '\n')
			lines++;
		else
			*start = ' ';
	}
	return lines;
}

static int skip_comment(struct scanner *s)
{
	bool block = s->at[0] == '/' && s->at[1] == '*';
	char *end = block ? strstr(s->at + 2, "*/") : strchrnul(s->at, '\n');

	if (!end)
		return refuse(s, s->line, "comment is never closed");
	if (block)
		end += 2;
	s->line += blank_out(s->at, end);
	s->at = end;
	return 0;
}

static int skip_blanks(struct scanner *s)
{
	int err = 0;

	while (!err) {
		if (*s->at == '\n')
			s->line++;
		else if (is_comment(s->at)) {
			err = skip_comment(s);
			continue;
		} else if (*s->at != ' ' && *s->at != '\t')
			break;
		s->at++;
	}
	return err;
}

static int refuse_character(struct scanner *s, char c)
{
	if (c == '$')
		return refuse(s, s->line, "\"$\" is refused: variables are not expanded");
	if (c == '\\')
		return refuse(s, s->line, "\"\\\" is refused: there are no escapes");
	return why_set(s->why, -EINVAL, "\"%c\" is refused outside of quotes", c);
}

static int scan_string(struct scanner *s, struct token *out)
{
	char quote[] = {*s->at, '\n', '$', '\\', '\0'};

	out->kind = TOKEN_STRING;
	out->start = ++s->at;
	out->n = strcspn(s->at, quote);
	s->at += out->n;
	if (!*s->at || *s->at == '\n')
		return refuse(s, s->line, "string is not closed on its line");
	if (*s->at != quote[0])
		return refuse_character(s, *s->at);
	s->at++;
	return 0;
}

static int scan_word(struct scanner *s, struct token *out)
{
	out->kind = TOKEN_WORD;
	out->start = s->at;
	out->n = strcspn(s->at, " \t\n{}=,\"'#$\\*+()");
	s->at += out->n;
	if (*s->at && strchr("$\\*+()", *s->at))
		return refuse_character(s, *s->at);
	/* A comment to some, a part of the word to others. */
	if (memmem(out->start, out->n, "//", 2))
		return refuse(s, s->line, "\"//\" within a word is refused outside of quotes");
	return 0;
}

static int scan_token(struct scanner *s, struct token *out)
{
	int err = skip_blanks(s);

	*out = (struct token){
		.kind = TOKEN_END,
		.start = s->at,
		.place = {.start = s->at, .line = s->line},
	};
	if (err || !*s->at)
		return err;
	if (*s->at == '"' || *s->at == '\'')
		return scan_string(s, out);
	if (!strchr("{}=,", *s->at))
		return scan_word(s, out);
	out->kind = (unsigned char)*s->at++;
	return 0;
}

/* Ends NAME = VALUE behind its value. */
static void end_option(struct scanner *s)
{
	s->out->options[s->out->noptions - 1].place.end = s->at;
	s->nnames = 0;
	s->assigned = false;
}

static int note_option(struct scanner *s)
{
	struct outline *o = s->out;
	char *name;

	if (s->nnames != 1)
		return refuse(s, s->line, "an option is written NAME = VALUE");
	if (o->noptions == MAX_OPTIONS)
		return why_set(s->why, -EINVAL, "more than %d options", MAX_OPTIONS);
	if (ARRAY_RESERVE(&o->options, &o->options_cap, o->noptions))
		return -ENOMEM;
	name = strndup(s->names[0].start, s->names[0].n);
	if (!name)
		return -ENOMEM;
	o->options[o->noptions++] = (struct outline_option){
		.name = name,
		.section = s->section,
		.place = s->names[0].place,
	};
	s->assigned = true;
	return 0;
}

static int open_section(struct scanner *s)
{
	struct outline *o = s->out;
	struct outline_section *section;

	if (s->section >= 0)
		return refuse(s, s->line, "a section cannot stand inside another");
	if (s->nnames != 2)
		return refuse(s, s->line, "a section is written KIND NAME { ... }");
	if (o->nsections == MAX_SECTIONS)
		return why_set(s->why, -EINVAL, "more than %d sections", MAX_SECTIONS);
	if (ARRAY_RESERVE(&o->sections, &o->sections_cap, o->nsections))
		return -ENOMEM;
	section = &o->sections[o->nsections];
	*section = (struct outline_section){
		.kind = strndup(s->names[0].start, s->names[0].n),
		.title = strndup(s->names[1].start, s->names[1].n),
		.place = s->names[0].place,
	};
	s->section = o->nsections++;
	s->section_line = s->line;
	s->nnames = 0;
	return section->kind && section->title ? 0 : -ENOMEM;
}

static int open_brace(struct scanner *s)
{
	if (s->in_list)
		return refuse(s, s->line, "\"{\" inside of a list");
	if (!s->assigned)
		return open_section(s);
	s->in_list = true;
	s->list_line = s->line;
	return 0;
}

static int close_brace(struct scanner *s)
{
	if (s->in_list) {
		s->in_list = false;
		end_option(s);
		return 0;
	}
	if (s->nnames)
		return refuse(s, s->line, "\"}\" where a value is missing");
	if (s->section < 0)
		return refuse(s, s->line, "\"}\" without its \"{\"");
	s->out->sections[s->section].place.end = s->at;
	s->section = -1;
	return 0;
}

static int add_name(struct scanner *s, const struct token *token)
{
	if (s->in_list)
		return 0;
	if (s->assigned) {
		end_option(s);
		return 0;
	}
	if (s->nnames == 2)
		return why_set(s->why, -EINVAL, "unexpected \"%.*s\"",
			       token->n > SHOWN ? SHOWN : (int)token->n, token->start);
	s->names[s->nnames++] = *token;
	return 0;
}

static int take_token(struct scanner *s, const struct token *token)
{
	switch (token->kind) {
	case '=':
		return s->assigned ? refuse(s, s->line, "unexpected \"=\"") : note_option(s);
	case '{':
		return open_brace(s);
	case '}':
		return close_brace(s);
	case ',':
		return s->in_list ? 0 : refuse(s, s->line, "\",\" outside of a list");
	default:
		return add_name(s, token);
	}
}

static int check_end(struct scanner *s)
{
	if (s->in_list)
		return refuse(s, s->list_line, "\"{\" is never closed");
	if (s->section >= 0)
		return refuse(s, s->section_line, "\"{\" is never closed");
	if (s->nnames)
		return refuse(s, s->line, "the file ends within a statement");
	return 0;
}

int outline_scan(char *text, struct outline *out, int *line, struct why *why)
{
	struct scanner s = {.at = text, .line = 1, .out = out, .why = why, .section = -1};
	struct token token;
	int err;

	do {
		err = scan_token(&s, &token);
		if (!err)
			err = token.kind == TOKEN_END ? check_end(&s) : take_token(&s, &token);
	} while (!err && token.kind != TOKEN_END);
	*line = s.line;
	return err;
}

void outline_drop(struct outline_place *place)
{
	place->dropped = true;
	blank_out(place->start, place->end);
}

void outline_free(struct outline *outline)
{
	for (size_t i = 0; i < outline->nsections; i++) {
		free(outline->sections[i].kind);
		free(outline->sections[i].title);
	}
	for (size_t i = 0; i < outline->noptions; i++)
		free(outline->options[i].name);
	free(outline->sections);
	free(outline->options);
	*outline = (struct outline){0};
}
