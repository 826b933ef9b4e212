/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Loading a policy from the loop. A worker, forked for it, does what `cgnetd load` does and sends
 * back what came of it; so neither a large policy nor a slow name service holds up the loop, and
 * what the compiler took is gone with the worker. One at a time; others wait their turn.
 */
#ifndef CGNETD_RELOAD_H
#define CGNETD_RELOAD_H

#include <stdint.h>

#include "control.h"

struct reloads;

/* NULL if out of memory. */
struct reloads *reloads_new(struct serve *s);

/* Waits for a worker that runs: what it has begun has to come to an end. */
void reloads_free(struct reloads *r);

/*
 * Loads the file that the service follows; what there is to say goes to the log. Nothing happens
 * if the same waits for its turn already. Returns 0 or -ENOMEM.
 */
int reload_start(struct reloads *r);

/* The same for what changed around the policy that was loaded last (follow.h). */
int reload_again(struct reloads *r);

/*
 * Puts in force what changed of the run-time rules, among it rule (0 for none); c is told answer
 * (may be NULL), or why not.
 */
void reload_rule(struct client *c, uint32_t rule, const char *answer);

/* Handles CGNET_MSG_LOAD. */
void reload_request(struct client *c, const struct cgnet_msg *msg);

#endif
