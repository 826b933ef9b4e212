/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events for a command that reads them itself, until a signal ends it. */
#ifndef CGNETD_EVENT_FOLLOW_H
#define CGNETD_EVENT_FOLLOW_H

#include "event_reader.h"

/* SIGINT, SIGTERM and SIGHUP end event_follow() from here on, and wait for it. */
void event_follow_signals(void);

/* True once one of them came. */
bool event_follow_stopped(void);

/*
 * Calls fn for each event, and flushes stdout after a few, until *done, a signal, us microseconds
 * have passed (0: for ever) or whoever reads stdout is gone.
 */
void event_follow(struct event_reader *r, uint64_t us, const bool *done, event_fn fn, void *arg);

/* Nanoseconds of a clock that never goes back. */
int64_t event_follow_now(void);

#endif
