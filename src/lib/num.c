// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "num.h"

#include <errno.h>
#include <string.h>

int num_parse(const char *text, size_t n, unsigned long max, unsigned long *out)
{
	unsigned long value = 0;

	if (!n || (n > 1 && text[0] == '0'))
		return -EINVAL;
	for (size_t i = 0; i < n; i++)
		if (text[i] < '0' || text[i] > '9')
			return -EINVAL;
	for (size_t i = 0; i < n; i++) {
		unsigned long digit = text[i] - '0';

		if (digit > max || value > (max - digit) / 10)
			return -ERANGE;
		value = value * 10 + digit;
	}
	*out = value;
	return 0;
}

static int port_parse(const char *text, size_t n, uint16_t *out, struct why *why)
{
	int shown = n > 32 ? 32 : (int)n;
	unsigned long value = 0;
	int err = num_parse(text, n, UINT16_MAX, &value);

	if (err == -ERANGE)
		return why_set(why, -EINVAL, "port %.*s is above 65535", shown, text);
	if (err)
		return why_set(why, -EINVAL, "\"%.*s\" is not a port", shown, text);
	if (!value)
		return why_set(why, -EINVAL, "port 0 cannot be reached");
	*out = value;
	return 0;
}

static int range_parse(const char *text, size_t n, struct port_range *out, struct why *why)
{
	const char *dash = memchr(text, '-', n);
	size_t first = dash ? (size_t)(dash - text) : n;
	struct port_range range = {0};
	int err;

	err = port_parse(text, first, &range.lo, why);
	if (err)
		return err;
	range.hi = range.lo;
	if (dash)
		err = port_parse(dash + 1, n - first - 1, &range.hi, why);
	if (err)
		return err;
	if (range.lo > range.hi)
		return why_set(why, -EINVAL, "port range %u-%u runs backwards", range.lo, range.hi);
	*out = range;
	return 0;
}

static int range_compare(const void *a, const void *b)
{
	const struct port_range *left = a, *right = b;

	return (left->lo > right->lo) - (left->lo < right->lo);
}

/* Sorts the ranges and joins those that overlap or touch. Returns how many are left. */
static size_t ranges_join(struct port_range *ranges, size_t n)
{
	size_t last = 0;

	qsort(ranges, n, sizeof(*ranges), range_compare);
	for (size_t i = 1; i < n; i++) {
		if (ranges[i].lo > ranges[last].hi + 1u)
			ranges[++last] = ranges[i];
		else if (ranges[i].hi > ranges[last].hi)
			ranges[last].hi = ranges[i].hi;
	}
	return last + 1;
}

int ports_parse(const char *text, size_t n, struct port_range **ports, size_t *nports,
		struct why *why)
{
	_cleanup_free_ struct port_range *ranges = NULL;
	const char *end = text + n;
	size_t count = 0, cap = 0;
	int err;

	if (n == 1 && *text == '*') {
		*ports = NULL;
		*nports = 0;
		return 0;
	}
	for (const char *at = text;;) {
		const char *comma = memchr(at, ',', end - at);
		size_t len = (comma ? comma : end) - at;

		err = ARRAY_RESERVE(&ranges, &cap, count);
		if (err)
			return err;
		err = range_parse(at, len, &ranges[count], why);
		if (err)
			return err;
		count++;
		if (!comma)
			break;
		at = comma + 1;
	}
	*nports = ranges_join(ranges, count);
	*ports = take_ptr(&ranges);
	return 0;
}
