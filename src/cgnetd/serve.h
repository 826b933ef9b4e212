/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The service: one process, one loop, no threads. What blocks or takes memory (reading a policy,
 * compiling, applying it) is done by a worker, a child that ends with it (reload.h). What is
 * enforced never depends on the service: it lives in the kernel, and a new service finds it there.
 *
 * To watch a descriptor or a timer: event_new(serve_base(s), fd, EV_READ | EV_PERSIST, callback,
 * arg) of libevent, then event_add(); freed before serve_run() returns.
 */
#ifndef CGNETD_SERVE_H
#define CGNETD_SERVE_H

#include <stdint.h>

#include "cmd.h"
#include "grants.h"
#include "load.h"
#include "peer.h"

struct event_base;
struct reloads;
struct enters;
struct feed;
struct follow;
struct rules_set;
struct lookups;
struct serve;

/* Runs until a signal ends it. Returns an exit status. */
int serve_run(const struct options *opt, const char *file);

struct event_base *serve_base(struct serve *s);
const struct instance *serve_instance(const struct serve *s);
const char *serve_run_dir(const struct serve *s);

/* The instance's cgroup below the mount. */
const char *serve_cgroup(const struct serve *s);

/* The policy file that is followed, absolute. */
const char *serve_file(const struct serve *s);

/* The grants of the policy in force. */
const struct grants *serve_grants(const struct serve *s);

/* Those who load policies, and those who let users in. */
struct reloads *serve_reloads(struct serve *s);
struct enters *serve_enters(struct serve *s);

/* Who hands out events. */
struct feed *serve_feed(struct serve *s);

/* --log-events and --metrics-file; NULL if not given. */
const char *serve_log_events(const struct serve *s);
const char *serve_metrics_file(const struct serve *s);

/* What the policy depends on besides its file; follow_changed() has it compiled again. */
struct follow *serve_follow(struct serve *s);

/* The host names of the policy. */
struct lookups *serve_lookups(struct serve *s);

/* Rules given at run time. */
struct rules_set *serve_rules(struct serve *s);

bool serve_is_operator(const struct serve *s, const struct peer *peer);

/* Microseconds of a clock that never goes back. */
uint64_t serve_now_us(void);

/* Called by reload.c: a worker starts. */
void serve_loading(struct serve *s);

/*
 * Called by reload.c in the loop when a worker is through: with file, which is followed from now
 * on, and what came of it, of which it takes the grants; or with a reason.
 */
void serve_loaded(struct serve *s, const char *file, struct load_result *result);
void serve_not_loaded(struct serve *s, const char *reason);

#endif
