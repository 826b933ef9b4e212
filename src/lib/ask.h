/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The client's side of the control protocol. */
#ifndef CGNET_ASK_H
#define CGNET_ASK_H

#include "cgnet_control.h"
#include "util.h"

/*
 * Connects to the service of the run directory. Returns a descriptor, or a negative errno with the
 * reason: -ENOENT or -ECONNREFUSED if no service runs.
 */
int ask_connect(const char *run_dir, struct why *why);

/* True if err, of ask_connect(), means that no service runs. */
bool ask_nobody(int err);

/* Sends a request of msg->length bytes. Returns 0 or a negative errno with the reason. */
int ask_send(int fd, const struct cgnet_msg *msg, struct why *why);

/*
 * Waits at most timeout_ms (-1: for ever) for a packet of size bytes at most and checks its header.
 * Returns its length or a negative errno with the reason.
 */
int ask_receive(int fd, void *packet, size_t size, int timeout_ms, struct why *why);

/*
 * Sends a request and copies the text of the reply to out and err as it comes, until it ends or the
 * connection does; each packet may take timeout_ms. Returns the command's exit status, 0 or more,
 * or a negative errno with the reason.
 */
int ask(int fd, const struct cgnet_msg *msg, int timeout_ms, FILE *out, FILE *err, struct why *why);

#endif
