/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which request goes where, and who may make it. */
#ifndef CGNETD_REQUESTS_H
#define CGNETD_REQUESTS_H

#include "control.h"

/*
 * Answers a request of msg->length bytes whose form message_check() has accepted. Who lives in a
 * class gets nothing, and others what they may (see the table).
 */
void request_dispatch(struct client *c, const struct cgnet_msg *msg);

#endif
