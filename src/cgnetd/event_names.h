/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the numbers in events stand for. Remembers what it looked up. */
#ifndef CGNETD_EVENT_NAMES_H
#define CGNETD_EVENT_NAMES_H

#include "event.h"
#include "instance.h"

struct event_names;

/* Reads what is loaded. Returns NULL with the reason; free with event_names_free(). */
struct event_names *event_names_new(const struct instance *in, struct why *why);
void event_names_free(struct event_names *names);

/* Fills out from an event that was just taken. Names that nobody knows any more are numbers. */
void event_names_view(struct event_names *names, const struct cgnet_event *event,
		      struct event_view *out);

/*
 * Finds the first denial of a session that lives. Returns 0 or a negative errno, -ENOENT if there
 * is none so far.
 */
int event_names_first(struct event_names *names, const char *class_name, const char *session,
		      struct cgnet_event *out);

/* Counts the denials of an event that no reader gets as dropped in its class's layer. */
void event_names_lose(struct event_names *names, const struct cgnet_event *event);

#endif
