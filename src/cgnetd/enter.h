/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Letting processes of unprivileged users into sessions. */
#ifndef CGNETD_ENTER_H
#define CGNETD_ENTER_H

#include "control.h"

struct enters;

/* NULL with the reason on failure. */
struct enters *enters_new(struct serve *s, struct why *why);

/* Before it all connections are closed. */
void enters_free(struct enters *e);

/* Takes over the sessions that there are from an earlier service: it removes them when they end. */
void enters_adopt(struct enters *e);

/* Handles CGNET_MSG_ENTER. */
void enter_request(struct client *c, const struct cgnet_msg *msg);

#endif
