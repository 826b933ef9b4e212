/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests of the control protocol as they come from anybody: their form is checked here. */
#ifndef CGNET_MESSAGE_H
#define CGNET_MESSAGE_H

#include "cgnet_control.h"
#include "util.h"

/*
 * Checks a packet of n bytes as a request: header, length, and that the strings of its type end
 * where they must and names are names. Returns 0, or with the reason -EBADMSG (no message of this
 * protocol), -EPROTONOSUPPORT (another version), -EOPNOTSUPP (unknown type), -EMSGSIZE or -EINVAL.
 */
int message_check(const void *packet, size_t n, struct why *why);

/* Whether text, in an array of size bytes, ends inside it with nothing but NULs behind. */
bool message_string(const char *text, size_t size);

/* Fills in the header of a message of length bytes. */
void message_start(struct cgnet_msg *msg, enum cgnet_msg_type type, size_t length);

#endif
