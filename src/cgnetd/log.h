/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The service's log: lines on stderr. Under systemd each starts with its priority, "<4>". */
#ifndef CGNETD_LOG_H
#define CGNETD_LOG_H

#include <stdbool.h>
#include <stddef.h>

void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Logs each line of a text of n bytes; warning: as warnings. */
void log_lines(bool warning, const char *text, size_t n);

#endif
