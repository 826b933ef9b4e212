// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "diag.h"

#include <stdarg.h>
#include <string.h>

#include "util.h"

static int diag_append(struct diags *d, enum diag_kind kind, const char *file, int line,
		       const char *fmt, va_list ap)
{
	struct diag *diag;
	char *text;

	if (ARRAY_RESERVE(&d->items, &d->cap, d->n) || vasprintf(&text, fmt, ap) < 0)
		return -1;
	diag = &d->items[d->n];
	*diag = (struct diag){.kind = kind, .file = strdup(file), .line = line, .text = text};
	if (!diag->file) {
		free(text);
		return -1;
	}
	d->n++;
	return 0;
}

void diag_error(struct diags *d, const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	d->errors++;
	diag_append(d, DIAG_ERROR, file, line, fmt, ap);
	va_end(ap);
}

void diag_warning(struct diags *d, const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	/* A warning that got lost must not look like a clean file. */
	if (diag_append(d, DIAG_WARNING, file, line, fmt, ap))
		d->errors++;
	va_end(ap);
}

static int diag_compare(const struct diag *a, const struct diag *b)
{
	int by_file = strcmp(a->file, b->file);

	return by_file ? by_file : (a->line > b->line) - (a->line < b->line);
}

struct ranked {
	const struct diag *diag;
	size_t rank;
};

/* qsort() keeps no order among equals; the rank does. */
static int ranked_compare(const void *a, const void *b)
{
	const struct ranked *left = a, *right = b;
	int order = diag_compare(left->diag, right->diag);

	return order ? order : (left->rank > right->rank) - (left->rank < right->rank);
}

static void diag_print(const struct diag *diag, FILE *out)
{
	fprintf(out, "%s:", diag->file);
	if (diag->line)
		fprintf(out, "%d:", diag->line);
	fprintf(out, " %s%s\n", diag->kind == DIAG_WARNING ? "warning: " : "", diag->text);
}

void diags_print(struct diags *d, FILE *out)
{
	_cleanup_free_ struct ranked *order = calloc(d->n + 1, sizeof(*order));
	size_t stored = 0;

	for (size_t i = 0; i < d->n; i++) {
		stored += d->items[i].kind == DIAG_ERROR;
		if (order)
			order[i] = (struct ranked){&d->items[i], i};
	}
	if (order)
		qsort(order, d->n, sizeof(*order), ranked_compare);
	for (size_t i = 0; i < d->n; i++)
		diag_print(order ? order[i].diag : &d->items[i], out);
	if (d->errors > stored)
		fprintf(out, "out of memory: a message was lost\n");
}

void diags_free(struct diags *d)
{
	for (size_t i = 0; i < d->n; i++) {
		free(d->items[i].file);
		free(d->items[i].text);
	}
	free(d->items);
	*d = (struct diags){0};
}
