/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The control socket and its connections. A handler (requests.h) answers a request by
 * client_text()s and one client_end(), at once or later from the loop; a connection that stays, as
 * of `cgnetd events`, is one that has not been ended yet.
 */
#ifndef CGNETD_CONTROL_H
#define CGNETD_CONTROL_H

#include "cgnet_control.h"
#include "peer.h"

struct serve;
struct control;
struct client;

/*
 * Listens at RUN_DIR/control, which replaces what is there. Returns 0 or a negative errno with the
 * reason.
 */
int control_open(struct control **out, struct serve *s, struct why *why);

/* Closes all connections; on_close callbacks are called. */
void control_close(struct control *c);

const struct peer *client_peer(const struct client *c);
struct serve *client_serve(const struct client *c);

/* Bytes that wait until the other side reads them. */
size_t client_queued(const struct client *c);

/*
 * Sends text of n bytes, for the other side's stdout or, with to_stderr, stderr; more follows. What
 * is not read within CLIENT_STALL_S closes the connection, and so does a queue of more than
 * CLIENT_QUEUE_MAX bytes: a handler that has much to say looks at client_queued().
 */
void client_text(struct client *c, bool to_stderr, const char *text, size_t n);

#define CLIENT_STALL_S	 30
#define CLIENT_QUEUE_MAX (32UL << 20)

/* Ends the reply with an exit status; text (may be NULL) goes to stdout, or to stderr if status is
 * not 0. */
void client_end(struct client *c, int status, const char *text);

/* The same with a packet of the handler's own, of msg->length bytes. */
void client_end_with(struct client *c, const struct cgnet_msg *msg);

/*
 * Between a request and the end of its reply: gone(arg) is called if the connection is closed. The
 * client must not be used from then on. NULL takes it back.
 */
void client_on_close(struct client *c, void (*gone)(void *arg), void *arg);

/* Logs a line about a request of this client, unless the user had too many. */
void client_log(struct client *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
