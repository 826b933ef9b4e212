/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The host names of the policy: asks the child that looks them up (resolver.h), keeps what it says.
 */
#ifndef CGNETD_LOOKUPS_H
#define CGNETD_LOOKUPS_H

#include "control.h"
#include "load.h"
#include "names.h"

struct serve;
struct lookups;

/* NULL if out of memory. */
struct lookups *lookups_new(struct serve *s);
void lookups_free(struct lookups *l);

const struct names *lookups_names(const struct lookups *l);

/* These are the names of the policy in force. */
void lookups_listed(struct lookups *l, const struct texts *hosts);

/* resolv.conf has changed. */
void lookups_resolver_changed(struct lookups *l);

/* Handles CGNET_MSG_NAMES. */
void lookups_request(struct client *c, const struct cgnet_msg *msg);

#endif
