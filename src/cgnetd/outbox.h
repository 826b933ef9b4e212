/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Packets that wait to be sent, in order. */
#ifndef CGNETD_OUTBOX_H
#define CGNETD_OUTBOX_H

#include <stddef.h>

struct packet {
	struct packet *next;
	size_t size;
	char bytes[];
};

struct outbox {
	struct packet *first, **end;
	size_t size; /* of all packets, in bytes */
};

void outbox_init(struct outbox *o);

/* Adds a packet of size bytes, which the caller fills in. NULL if out of memory. */
struct packet *outbox_add(struct outbox *o, size_t size);

/*
 * Sends some packets, as far as fd takes them without waiting. Returns 0, also if some are left, or
 * a negative errno.
 */
int outbox_send(struct outbox *o, int fd);

void outbox_free(struct outbox *o);

#endif
