// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "outbox.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

/* What is sent in one go, before others get their turn. */
#define SEND_FEW 16

void outbox_init(struct outbox *o)
{
	*o = (struct outbox){.end = &o->first};
}

struct packet *outbox_add(struct outbox *o, size_t size)
{
	struct packet *p = malloc(sizeof(*p) + size);

	if (!p)
		return NULL;
	p->next = NULL;
	p->size = size;
	*o->end = p;
	o->end = &p->next;
	o->size += size;
	return p;
}

static void drop_first(struct outbox *o)
{
	struct packet *p = o->first;

	o->first = p->next;
	if (!o->first)
		o->end = &o->first;
	o->size -= p->size;
	free(p);
}

int outbox_send(struct outbox *o, int fd)
{
	for (int i = 0; i < SEND_FEW && o->first; i++) {
		if (send(fd, o->first->bytes, o->first->size, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -errno;
		drop_first(o);
	}
	return 0;
}

void outbox_free(struct outbox *o)
{
	while (o->first)
		drop_first(o);
}
