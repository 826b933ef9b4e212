// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "resolv.h"

#include <errno.h>
#include <string.h>

#include "text.h"

#define RESOLV_MAX_SIZE (1UL << 20)

#define KEYWORD "nameserver"

/* Room for an address with its zone. */
#define ADDRESS_SIZE 128

/* Parses the line if it is a nameserver line with a whole address. */
static bool line_parse(const char *line, size_t n, struct prefix *out)
{
	char address[ADDRESS_SIZE];
	size_t start = strlen(KEYWORD), len;

	if (n <= start || strncmp(line, KEYWORD, start) != 0 || !strchr(" \t", line[start]))
		return false;
	while (start < n && strchr(" \t", line[start]))
		start++;
	len = strcspn(line + start, " \t\r\n%/");
	if (len >= sizeof(address) || line[start + len] == '/')
		return false;
	memcpy(address, line + start, len);
	address[len] = '\0';
	return !prefix_parse(address, out, NULL);
}

int resolv_parse(const char *text, struct prefixes *out)
{
	size_t had = out->n, n;
	struct prefix p;
	int err = 0;

	for (const char *line = text; *line && !err; line += n + (line[n] == '\n')) {
		n = strcspn(line, "\n");
		if (line_parse(line, n, &p))
			err = prefixes_add(out, &p);
	}
	if (!err && out->n == had && !prefix_parse("127.0.0.1", &p, NULL))
		err = prefixes_add(out, &p);
	return err;
}

int resolv_read(const char *path, struct prefixes *out, struct why *why)
{
	struct text text = {0};
	struct why reason;
	int err = text_read(path, RESOLV_MAX_SIZE, 0, &text, &reason);

	if (err)
		return why_set(why, err, "%s: %s", path, reason.text);
	err = resolv_parse(text.bytes, out);
	text_free(&text);
	return err ? why_set(why, err, "%s: out of memory", path) : 0;
}
