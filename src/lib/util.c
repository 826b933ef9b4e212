// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "util.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>

int why_set(struct why *why, int err, const char *fmt, ...)
{
	va_list ap;

	if (why) {
		va_start(ap, fmt);
		vsnprintf(why->text, sizeof(why->text), fmt, ap);
		va_end(ap);
	}
	return err;
}

int array_reserve(void **items, size_t *cap, size_t n, size_t size)
{
	size_t want;
	void *grown;

	if (n < *cap)
		return 0;
	want = *cap ? *cap * 2 : 16;
	if (want > SIZE_MAX / size)
		return -ENOMEM;
	grown = realloc(*items, want * size);
	if (!grown)
		return -ENOMEM;
	*items = grown;
	*cap = want;
	return 0;
}
