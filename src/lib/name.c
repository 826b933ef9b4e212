// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "name.h"

#include <stdio.h>
#include <string.h>

#include "cgnet_abi.h"

#define NAME_MAX_LENGTH 32

_Static_assert(NAME_MAX_LENGTH < CGNET_NAME_SIZE, "names fit with their NUL");

bool name_is_valid(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");

	return n && !name[n] && n <= NAME_MAX_LENGTH && name[0] >= 'a' && name[0] <= 'z';
}

static size_t min(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * Edits (insert, delete, change, swap of neighbours) that turn a into b; names longer than a valid
 * one count by their first characters.
 */
static size_t edit_distance(const char *a, const char *b)
{
	size_t na = strnlen(a, NAME_MAX_LENGTH), nb = strnlen(b, NAME_MAX_LENGTH);
	size_t rows[3][NAME_MAX_LENGTH + 1] = {0};

	for (size_t j = 0; j <= nb; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t *row = rows[i % 3];
		const size_t *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			row[j] = min(last[j], row[j - 1]) + 1;
			row[j] = min(row[j], last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = min(row[j], before[j - 2] + 1);
		}
	}
	return rows[na % 3][nb];
}

void suggest_start(struct suggestion *s, const char *wrong)
{
	/* A slip or two in a short name is a typing error, more is another word. */
	*s = (struct suggestion){
		.wrong = wrong,
		.distance = strnlen(wrong, NAME_MAX_LENGTH) / 4 + 2,
	};
}

void suggest_offer(struct suggestion *s, const char *known)
{
	size_t distance = edit_distance(s->wrong, known);

	if (distance < s->distance && distance < strlen(known)) {
		s->best = known;
		s->distance = distance;
	}
}

const char *suggest_hint(const struct suggestion *s, const char *mark, char buf[HINT_SIZE])
{
	buf[0] = '\0';
	if (s->best)
		snprintf(buf, HINT_SIZE, "; did you mean %s%s?", mark, s->best);
	return buf;
}
