/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Takes events from the kernel, which is for one process at a time. What a reader takes and what
 * the counters call dropped add up to what was denied, once the reader is closed.
 */
#ifndef CGNETD_EVENT_READER_H
#define CGNETD_EVENT_READER_H

#include "event_names.h"

struct event_reader;

typedef void (*event_fn)(const struct cgnet_event *event, void *arg);

/*
 * Becomes the reader: from here on programs tell of denials. keep: also take what was told before,
 * to a reader that was killed; else it is counted as dropped. names is used until the reader is
 * closed. Returns NULL with the reason, and -EBUSY in *err if there is a reader.
 */
struct event_reader *event_reader_open(const struct instance *in, struct event_names *names,
				       bool keep, int *err, struct why *why);

/* Readable when event_reader_take() has something to do. */
int event_reader_fd(const struct event_reader *r);

/* Calls fn for what was told. Returns how many events that were. */
size_t event_reader_take(struct event_reader *r, event_fn fn, void *arg);

/*
 * To be called once a second as long as this or event_reader_take() returned something since the
 * last time: calls fn for what was counted meanwhile. Waits a moment for running programs. Returns
 * how many keys there were.
 */
size_t event_reader_end_interval(struct event_reader *r, event_fn fn, void *arg);

/* Has the programs tell no more, and calls fn for what is left; with NULL that is dropped. */
void event_reader_close(struct event_reader *r, event_fn fn, void *arg);

#endif
