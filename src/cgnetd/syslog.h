/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lines to syslog, or a journal that listens in its place, without ever waiting for it. */
#ifndef CGNETD_SYSLOG_H
#define CGNETD_SYSLOG_H

#include <stdbool.h>

struct syslog_socket;

/* NULL if out of memory. Connects when there is something to send, and again after a failure. */
struct syslog_socket *syslog_open(void);
void syslog_close(struct syslog_socket *s);

/* Sends one line. Returns false if it is lost. */
bool syslog_send(struct syslog_socket *s, const char *line);

#endif
