/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rules given at run time: who may set them is up to requests.c; they end by a timer, and those
 * that are kept are in RUN_DIR/rules. A worker puts them in force (reload.h).
 */
#ifndef CGNETD_RULES_H
#define CGNETD_RULES_H

#include "control.h"
#include "runtime.h"

struct serve;
struct rules_set;

/* Reads what was kept. NULL with the reason. */
struct rules_set *rules_new(struct serve *s, struct why *why);
void rules_free(struct rules_set *r);

const struct runtime *rules_runtime(const struct rules_set *r);

/* The policy's file is read: rules that do not survive that are left out of what comes. */
void rules_reloading(struct rules_set *r);

/* It has come into force: they are gone. */
void rules_reloaded(struct rules_set *r);

/* The worker that was to put the rule in force has failed: there is no such rule. */
void rules_failed(struct rules_set *r, uint32_t number);

/* Handle CGNET_MSG_RULE_ADD, _RULE_DROP and _RULES. */
void rules_add_request(struct client *c, const struct cgnet_msg *msg);
void rules_drop_request(struct client *c, const struct cgnet_msg *msg);
void rules_list_request(struct client *c, const struct cgnet_msg *msg);

#endif
