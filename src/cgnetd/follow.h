/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the policy depends on besides its file: addresses and routes (rtnetlink), resolv.conf and
 * the files of sets (inotify). A change is acted upon by a worker (reload.h) soon after it, and at
 * a bounded rate (pace.h), whoever causes them.
 */
#ifndef CGNETD_FOLLOW_H
#define CGNETD_FOLLOW_H

#include "load.h"

struct serve;
struct follow;

/* Starts watching. NULL with the reason. */
struct follow *follow_new(struct serve *s, struct why *why);
void follow_free(struct follow *f);

/* Something has changed (enum load_change). */
void follow_changed(struct follow *f, unsigned int changes);

/* Descriptors that a worker needs. */
const struct snapshot *follow_snapshot(const struct follow *f);

/* In a worker: what it has to go by. file and force are the caller's. */
void follow_describe(const struct follow *f, struct load_request *out);

/* A worker starts, with what changed until now, and with more of it (enum load_change). */
void follow_started(struct follow *f, unsigned int more);

/* It is through, and the policy in force. Takes the lists of result. */
void follow_loaded(struct follow *f, struct load_result *result);

/*
 * It has failed: what it should have seen to still is to be done, in a while if that is what it was
 * for (again).
 */
void follow_failed(struct follow *f, bool again);

#endif
