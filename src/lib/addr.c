// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "addr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "num.h"

/* How much of a bad text is shown. */
#define SHOWN 64

static const uint8_t mapped_start[12] = {[10] = 0xff, [11] = 0xff};

bool prefix_mask(struct prefix *p)
{
	bool had_bits = false;

	for (unsigned int i = 0; i < sizeof(p->bytes); i++) {
		unsigned int kept = p->len > i * 8 ? p->len - i * 8 : 0;
		uint8_t mask = kept >= 8 ? 0xff : (uint8_t)(0xff00 >> kept);

		had_bits |= p->bytes[i] & ~mask;
		p->bytes[i] &= mask;
	}
	return had_bits;
}

/* ::ffff:a.b.c.d/96+n becomes a.b.c.d/n. */
static void prefix_fold(struct prefix *p)
{
	if (p->family != AF_INET6 || p->len < 96 ||
	    memcmp(p->bytes, mapped_start, sizeof(mapped_start)) != 0)
		return;
	p->family = AF_INET;
	p->len -= 96;
	memmove(p->bytes, p->bytes + 12, 4);
	memset(p->bytes + 4, 0, 12);
}

/* Fills family and bytes from the n characters at text. */
static int addr_parse(const char *text, size_t n, struct prefix *out)
{
	char addr[INET6_ADDRSTRLEN];

	if (n >= sizeof(addr))
		return -EINVAL;
	memcpy(addr, text, n);
	addr[n] = '\0';
	out->family = memchr(addr, ':', n) ? AF_INET6 : AF_INET;
	return inet_pton(out->family, addr, out->bytes) == 1 ? 0 : -EINVAL;
}

static int addr_refuse(const char *text, size_t n, struct why *why)
{
	int shown = n > SHOWN ? SHOWN : (int)n;

	if (memchr(text, '%', n))
		return why_set(why, -EINVAL, "\"%.*s\": an address takes no zone here", shown,
			       text);
	if (memchr(text, ':', n))
		return why_set(why, -EINVAL, "\"%.*s\" is not an IPv6 address", shown, text);
	if (n && strspn(text, "0123456789.") >= n)
		return why_set(
			why, -EINVAL,
			"\"%.*s\" is not an IPv4 address, which is four numbers from 0 to 255 "
			"without leading zeros",
			shown, text);
	return why_set(why, -EINVAL, "\"%.*s\" is not an IP address", shown, text);
}

int prefix_parse(const char *text, struct prefix *out, struct why *why)
{
	const char *slash = strchr(text, '/');
	size_t n = slash ? (size_t)(slash - text) : strlen(text);
	struct prefix p = {0};
	char masked[PREFIX_STR_SIZE];
	unsigned long len;

	if (addr_parse(text, n, &p))
		return addr_refuse(text, n, why);
	len = prefix_width(&p);
	if (slash && num_parse(slash + 1, strlen(slash + 1), len, &len))
		return why_set(why, -EINVAL, "\"%.*s\": the prefix length is a number from 0 to %u",
			       SHOWN, text, prefix_width(&p));
	p.len = len;
	prefix_fold(&p);
	if (prefix_mask(&p))
		return why_set(why, -EINVAL, "\"%.*s\" has host bits set; the prefix is %s", SHOWN,
			       text, prefix_format(&p, masked));
	*out = p;
	return 0;
}

char *prefix_format(const struct prefix *p, char buf[PREFIX_STR_SIZE])
{
	size_t used;

	inet_ntop(p->family, p->bytes, buf, PREFIX_STR_SIZE);
	used = strlen(buf);
	if (p->len != prefix_width(p))
		snprintf(buf + used, PREFIX_STR_SIZE - used, "/%u", p->len);
	return buf;
}

bool prefix_contains(const struct prefix *outer, const struct prefix *inner)
{
	unsigned int whole = outer->len / 8, rest = outer->len % 8;

	if (outer->family != inner->family || outer->len > inner->len ||
	    memcmp(outer->bytes, inner->bytes, whole) != 0)
		return false;
	return !rest || !((outer->bytes[whole] ^ inner->bytes[whole]) >> (8 - rest));
}

int prefix_compare(const struct prefix *a, const struct prefix *b)
{
	int by_address;

	if (a->family != b->family)
		return a->family < b->family ? -1 : 1;
	by_address = memcmp(a->bytes, b->bytes, sizeof(a->bytes));
	return by_address ? by_address : (a->len > b->len) - (a->len < b->len);
}

static int prefix_qsort(const void *a, const void *b)
{
	return prefix_compare(a, b);
}

int prefixes_add(struct prefixes *list, const struct prefix *p)
{
	int err = ARRAY_RESERVE(&list->items, &list->cap, list->n);

	if (!err)
		list->items[list->n++] = *p;
	return err;
}

void prefixes_sort(struct prefixes *list)
{
	size_t kept = 0;

	if (!list->n)
		return;
	qsort(list->items, list->n, sizeof(*list->items), prefix_qsort);
	for (size_t i = 1; i < list->n; i++)
		if (prefix_compare(&list->items[kept], &list->items[i]))
			list->items[++kept] = list->items[i];
	list->n = kept + 1;
}

/* Adds what is left of p without hole, which lies inside it: the sibling at each step down. */
static int prefix_split(struct prefixes *list, const struct prefix *p, const struct prefix *hole)
{
	for (unsigned int len = p->len + 1; len <= hole->len; len++) {
		struct prefix sibling = *hole;
		int err;

		sibling.len = len;
		prefix_mask(&sibling);
		sibling.bytes[(len - 1) / 8] ^= 0x80 >> ((len - 1) % 8);
		err = prefixes_add(list, &sibling);
		if (err)
			return err;
	}
	return 0;
}

int prefixes_subtract(struct prefixes *list, const struct prefix *hole)
{
	struct prefixes left = {0};
	int err = 0;

	for (size_t i = 0; i < list->n && !err; i++) {
		const struct prefix *p = &list->items[i];

		if (prefix_contains(hole, p))
			continue;
		if (prefix_contains(p, hole))
			err = prefix_split(&left, p, hole);
		else
			err = prefixes_add(&left, p);
	}
	if (err) {
		prefixes_free(&left);
		return err;
	}
	prefixes_free(list);
	*list = left;
	return 0;
}

void prefixes_free(struct prefixes *list)
{
	free(list->items);
	*list = (struct prefixes){0};
}
