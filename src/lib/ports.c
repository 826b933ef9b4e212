// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "ports.h"

#include <errno.h>
#include <string.h>

#define FIRST_SLOTS 64

static bool takes_proto(const struct cgnet_port *earlier, const struct cgnet_port *entry)
{
	return !earlier->proto || earlier->proto == entry->proto;
}

/* Advances from port to port along whatever earlier entry holds it. */
static bool is_covered(const struct port_list *list, const struct cgnet_port *entry)
{
	uint32_t port = entry->lo;
	size_t i = 0;

	while (port <= entry->hi && i < list->n) {
		const struct cgnet_port *e = &list->items[i++];

		if (takes_proto(e, entry) && port >= e->lo && port <= e->hi) {
			port = e->hi + 1U;
			i = 0;
		}
	}
	return port > entry->hi;
}

enum port_added port_list_add(struct port_list *list, const struct cgnet_port *entry)
{
	if (is_covered(list, entry))
		return PORT_COVERED;
	if (list->n == CGNET_PORTS_PER_PREFIX)
		return PORT_FULL;
	list->items[list->n++] = *entry;
	return PORT_ADDED;
}

const struct cgnet_port *port_list_overlap(const struct port_list *list,
					   const struct cgnet_port *entry)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct cgnet_port *e = &list->items[i];

		if (takes_proto(e, entry) && e->lo <= entry->hi && entry->lo <= e->hi)
			return e;
	}
	return NULL;
}

/* FNV-1a. */
static uint32_t hash_list(const struct port_list *list)
{
	const uint8_t *bytes = (const uint8_t *)list->items;
	uint32_t hash = 2166136261U;

	for (size_t i = 0; i < list->n * sizeof(list->items[0]); i++)
		hash = (hash ^ bytes[i]) * 16777619U;
	return hash;
}

static int grow_slots(struct port_pool *pool)
{
	size_t nslots = pool->nslots ? pool->nslots * 2 : FIRST_SLOTS;
	struct port_slot *slots = calloc(nslots, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < pool->nslots; i++) {
		size_t at = pool->slots[i].hash & (nslots - 1);

		if (!pool->slots[i].n)
			continue;
		while (slots[at].n)
			at = (at + 1) & (nslots - 1);
		slots[at] = pool->slots[i];
	}
	free(pool->slots);
	pool->slots = slots;
	pool->nslots = nslots;
	return 0;
}

static bool slot_holds(const struct port_pool *pool, const struct port_slot *slot, uint32_t hash,
		       const struct port_list *list)
{
	return slot->hash == hash && slot->n == list->n &&
	       !memcmp(&pool->items[slot->first], list->items, list->n * sizeof(list->items[0]));
}

static int append(struct port_pool *pool, const struct port_list *list)
{
	/* An index has 32 bits. */
	if (pool->n > UINT32_MAX - list->n)
		return -ENOMEM;
	for (size_t i = 0; i < list->n; i++) {
		if (ARRAY_RESERVE(&pool->items, &pool->cap, pool->n))
			return -ENOMEM;
		pool->items[pool->n++] = list->items[i];
	}
	return 0;
}

int port_pool_put(struct port_pool *pool, const struct port_list *list, uint32_t *first)
{
	uint32_t hash = hash_list(list);
	struct port_slot slot = {.hash = hash, .first = pool->n, .n = list->n};
	size_t at;

	if (!list->n) {
		*first = 0;
		return 0;
	}
	if (pool->nlists >= pool->nslots / 2 && grow_slots(pool))
		return -ENOMEM;
	for (at = hash & (pool->nslots - 1); pool->slots[at].n; at = (at + 1) & (pool->nslots - 1))
		if (slot_holds(pool, &pool->slots[at], hash, list)) {
			*first = pool->slots[at].first;
			return 0;
		}
	if (append(pool, list))
		return -ENOMEM;
	pool->slots[at] = slot;
	pool->nlists++;
	*first = slot.first;
	return 0;
}

void port_pool_free(struct port_pool *pool)
{
	free(pool->items);
	free(pool->slots);
	*pool = (struct port_pool){0};
}
