/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The errors and warnings of a policy file, collected so that all can be reported at once. */
#ifndef CGNET_DIAG_H
#define CGNET_DIAG_H

#include <stddef.h>
#include <stdio.h>

enum diag_kind { DIAG_ERROR, DIAG_WARNING };

struct diag {
	enum diag_kind kind;
	char *file;
	int line; /* from 1; 0 where no line is meant */
	char *text;
};

struct diags {
	struct diag *items;
	size_t n, cap, errors;
};

/* Append one; out of memory is remembered as an error with no text (errors > n). */
void diag_error(struct diags *d, const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void diag_warning(struct diags *d, const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Prints "FILE:LINE: message" lines ("FILE:LINE: warning: message"), sorted by file and line. */
void diags_print(struct diags *d, FILE *out);

/* Frees what d holds and leaves it empty. */
void diags_free(struct diags *d);

#endif
