/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events in words. What a session chose itself, above all its name for itself, is escaped: it
 * cannot end a line, move a cursor or look like another field.
 */
#ifndef CGNET_EVENT_H
#define CGNET_EVENT_H

#include <stdint.h>

#include "addr.h"
#include "cgnet_state.h"

/* An event with the names that its numbers stand for. */
struct event_view {
	struct cgnet_event event;
	int64_t time; /* ns since 1970, of the first denial */
	char class[CGNET_NAME_SIZE];
	char session[CGNET_SESSION_SIZE];
	struct cgnet_rule rule; /* text is empty where the rule is no longer known */
};

/* Room for what the functions below write. */
#define EVENT_TIME_SIZE	  40
#define EVENT_PROTO_SIZE  12
#define EVENT_COMM_SIZE	  72
#define EVENT_LINE_SIZE	  1024
#define EVENT_REMEDY_SIZE 96

/* "2026-01-31T12:00:00.123456Z". Returns buf. */
char *event_time(int64_t ns, char buf[EVENT_TIME_SIZE]);

/* "tcp", or the number of a protocol without a name. Returns buf. */
char *event_proto(uint8_t proto, char buf[EVENT_PROTO_SIZE]);

/* The destination, empty where the hook sees none. Returns buf. */
char *event_dst(const struct cgnet_event_key *key, char buf[PREFIX_STR_SIZE]);

/* The prefix that decided, empty if none did. Returns buf. */
char *event_prefix(const struct cgnet_event_key *key, char buf[PREFIX_STR_SIZE]);

/* "deny" or "would_deny". */
const char *event_verdict(const struct cgnet_event_key *key);

/* "connect4". */
const char *event_hook(const struct cgnet_event_key *key);

/* A name that a session chose, size bytes at most: all but printable ASCII as \xNN. Returns buf. */
char *event_comm(const char *comm, size_t size, char buf[EVENT_COMM_SIZE]);

/* One line for people, without its newline. Returns buf. */
char *event_line(const struct event_view *view, char buf[EVENT_LINE_SIZE]);

/* True if a rule with an address, a port and a protocol could allow it. */
bool event_is_allowable(const struct cgnet_event_key *key);

/* The address that such a rule has to name. Returns false where the hook sees none. */
bool event_target(const struct cgnet_event_key *key, struct prefix *out);

/* The rule that would allow it, "192.0.2.1:443/tcp"; empty where none could. Returns buf. */
char *event_remedy(const struct cgnet_event_key *key, char buf[EVENT_REMEDY_SIZE]);

/*
 * One line for who runs the session: what was denied, by which rule, and what would allow it.
 * Returns buf.
 */
char *event_hint(const struct event_view *view, char buf[EVENT_LINE_SIZE]);

/* One JSON object, without a newline; free it. NULL if out of memory. Needs json-c. */
char *event_json(const struct event_view *view);

#endif
