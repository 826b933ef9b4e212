// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "list.h"

#include <string.h>

#include "text.h"

/* A file of another kind would have an error on each of its lines. */
#define LIST_MAX_ERRORS 20

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Cuts the comment and the blanks around the rest. */
static char *line_trim(char *line, char *end)
{
	char *comment = memchr(line, '#', end - line);

	if (comment)
		end = comment;
	while (line < end && is_blank(*line))
		line++;
	while (line < end && is_blank(end[-1]))
		end--;
	*end = '\0';
	return line;
}

int list_parse(const char *name, char *text, size_t size, struct prefixes *out, struct diags *d)
{
	char *end = text + size;
	int errors = 0, line = 0, err = 0;
	struct prefix prefix;
	struct why why;

	if (text_check(text, size, &line, &why)) {
		diag_error(d, name, line, "%s", why.text);
		return 0;
	}
	for (char *at = text, *next; at < end && !err; at = next + 1) {
		char *item;

		line++;
		next = memchr(at, '\n', end - at);
		if (!next)
			next = end;
		item = line_trim(at, next);
		if (!*item)
			continue;
		if (!prefix_parse(item, &prefix, &why)) {
			err = prefixes_add(out, &prefix);
			continue;
		}
		diag_error(d, name, line, "%s", why.text);
		if (++errors == LIST_MAX_ERRORS) {
			diag_error(d, name, line, "too many errors, the rest is not read");
			break;
		}
	}
	return err;
}
