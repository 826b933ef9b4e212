/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the service manager is told, by the protocol of sd_notify(3). Nothing without one. */
#ifndef CGNETD_NOTIFY_H
#define CGNETD_NOTIFY_H

#include <stdint.h>

/* Sends lines of NAME=VALUE to $NOTIFY_SOCKET. */
void notify(const char *state);

void notify_ready(void);

/* RELOADING, with the time that Type=notify-reload wants; notify_ready() ends it. */
void notify_reloading(void);

void notify_stopping(void);

/* The interval in which "WATCHDOG=1" has to come, in microseconds; 0 if nobody waits for it. */
uint64_t notify_watchdog_us(void);

#endif
