/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events and metrics of the service. It reads events while somebody wants them: clients, any
 * number, and the log. What none of them gets is counted as dropped.
 */
#ifndef CGNETD_FEED_H
#define CGNETD_FEED_H

#include "control.h"
#include "metrics.h"

struct serve;
struct feed;

/* Returns NULL with the reason. */
struct feed *feed_new(struct serve *s, struct why *why);
void feed_free(struct feed *f);

/* A policy is in force: opens what was asked for on the command line. */
void feed_ready(struct feed *f);

/* A policy was loaded, or refused. */
void feed_count_load(struct feed *f, bool ok);

/* Handlers of CGNET_MSG_EVENTS, CGNET_MSG_FIRST and CGNET_MSG_METRICS. */
void feed_events_request(struct client *c, const struct cgnet_msg *msg);
void feed_first_request(struct client *c, const struct cgnet_msg *msg);
void feed_metrics_request(struct client *c, const struct cgnet_msg *msg);

#endif
