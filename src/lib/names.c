// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "names.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

void names_begin(struct names *names)
{
	for (size_t i = 0; i < names->n; i++)
		names->items[i].listed = false;
}

struct name *names_find(const struct names *names, const char *host)
{
	for (size_t i = 0; i < names->n; i++)
		if (!strcmp(names->items[i].host, host))
			return &names->items[i];
	return NULL;
}

int names_want(struct names *names, const char *host, uint64_t now)
{
	struct name *name = names_find(names, host);

	if (name) {
		name->listed = true;
		return 0;
	}
	if (strlen(host) >= sizeof(name->host))
		return -ENAMETOOLONG;
	if (ARRAY_RESERVE(&names->items, &names->cap, names->n))
		return -ENOMEM;
	name = &names->items[names->n++];
	*name = (struct name){.ask_at = now, .listed = true};
	strcpy(name->host, host);
	return 0;
}

bool names_set(struct names *names)
{
	size_t kept = 0;
	bool forgot = false;

	for (size_t i = 0; i < names->n; i++) {
		if (names->items[i].listed)
			names->items[kept++] = names->items[i];
		else
			forgot |= names->items[i].n;
	}
	names->n = kept;
	return forgot;
}

static uint64_t clamp(uint64_t value, uint64_t low, uint64_t high)
{
	return value < low ? low : value > high ? high : value;
}

static bool is_mapped(const struct prefix *p)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	return p->family == AF_INET6 && !memcmp(p->bytes, mapped, sizeof(mapped));
}

static bool is_address(const struct prefix *p)
{
	return (p->family == AF_INET || p->family == AF_INET6) && p->len == prefix_width(p) &&
	       !is_mapped(p);
}

static void remove_addr(struct name *name, size_t i)
{
	name->n--;
	memmove(&name->addrs[i], &name->addrs[i + 1], (name->n - i) * sizeof(*name->addrs));
}

/* Makes room by dropping the one that ends first, unless the new one ends before. */
static bool make_room(struct name *name, uint64_t until)
{
	size_t first = 0;

	if (name->n < NAME_MAX_ADDRS)
		return true;
	for (size_t i = 1; i < name->n; i++)
		if (name->addrs[i].until < name->addrs[first].until)
			first = i;
	if (name->addrs[first].until >= until)
		return false;
	remove_addr(name, first);
	return true;
}

/* Returns true if the address is new. */
static bool add_addr(struct name *name, const struct prefix *addr, uint64_t until)
{
	size_t at = 0;

	while (at < name->n && prefix_compare(&name->addrs[at].prefix, addr) < 0)
		at++;
	if (at < name->n && !prefix_compare(&name->addrs[at].prefix, addr)) {
		if (until > name->addrs[at].until)
			name->addrs[at].until = until;
		return false;
	}
	if (!make_room(name, until))
		return false;
	for (at = 0; at < name->n && prefix_compare(&name->addrs[at].prefix, addr) < 0;)
		at++;
	memmove(&name->addrs[at + 1], &name->addrs[at], (name->n - at) * sizeof(*name->addrs));
	name->addrs[at] = (struct name_addr){*addr, until};
	name->n++;
	return true;
}

bool name_answer(struct name *name, const struct prefix *addrs, size_t n, uint32_t ttl,
		 uint64_t now)
{
	uint64_t holds = clamp(ttl * UINT64_C(1000000), NAMES_FLOOR, NAMES_CEILING);
	bool changed = false;

	for (size_t i = 0; i < n; i++)
		if (is_address(&addrs[i]))
			changed |= add_addr(name, &addrs[i], now + holds + NAMES_GRACE);
	name->answered = now;
	name->ask_at = now + holds;
	name->retry = 0;
	name->asking = false;
	return changed;
}

void name_failure(struct name *name, uint64_t now)
{
	name->retry = clamp(2 * name->retry, NAMES_FLOOR, NAMES_RETRY_MAX);
	name->ask_at = now + name->retry;
	name->asking = false;
}

bool names_expire(struct names *names, uint64_t now)
{
	bool changed = false;

	for (size_t i = 0; i < names->n; i++) {
		struct name *name = &names->items[i];

		for (size_t j = name->n; j-- > 0;) {
			if (name->addrs[j].until > now)
				continue;
			remove_addr(name, j);
			changed = true;
		}
	}
	return changed;
}

static void earliest(uint64_t *next, uint64_t when)
{
	if (!*next || when < *next)
		*next = when;
}

uint64_t names_next(const struct names *names)
{
	uint64_t next = 0;

	for (size_t i = 0; i < names->n; i++) {
		const struct name *name = &names->items[i];

		if (!name->asking)
			earliest(&next, name->ask_at);
		for (size_t j = 0; j < name->n; j++)
			earliest(&next, name->addrs[j].until);
	}
	return next;
}

void names_free(struct names *names)
{
	free(names->items);
	*names = (struct names){0};
}
