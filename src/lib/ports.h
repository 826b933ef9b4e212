/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside the compiler: lists of port entries, and the pool that stores equal ones once. */
#ifndef CGNET_PORTS_H
#define CGNET_PORTS_H

#include <stdint.h>

#include "cgnet_abi.h"
#include "util.h"

/* The port entries of one prefix while they are put together, first heard first. */
struct port_list {
	struct cgnet_port items[CGNET_PORTS_PER_PREFIX];
	size_t n;
};

enum port_added {
	PORT_ADDED,
	PORT_COVERED, /* not added: earlier entries take all that it matches */
	PORT_FULL,    /* not added: the list has CGNET_PORTS_PER_PREFIX entries */
};

enum port_added port_list_add(struct port_list *list, const struct cgnet_port *entry);

/* The first entry that takes something of what entry matches; NULL if none does. */
const struct cgnet_port *port_list_overlap(const struct port_list *list,
					   const struct cgnet_port *entry);

struct port_slot {
	uint32_t hash;
	uint32_t first;
	uint32_t n; /* 0 marks a free slot */
};

struct port_pool {
	struct cgnet_port *items;
	size_t n, cap;
	struct port_slot *slots; /* open hash, a power of two in size */
	size_t nslots, nlists;
};

/*
 * Stores list, unless the pool holds an equal one, and writes the index of its first entry to
 * first (0 for an empty list). Returns 0 or -ENOMEM.
 */
int port_pool_put(struct port_pool *pool, const struct port_list *list, uint32_t *first);

void port_pool_free(struct port_pool *pool);

#endif
