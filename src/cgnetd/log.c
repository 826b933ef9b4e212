// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

/* One write a line, so that lines of two processes do not mix. Control characters are not ours. */
static void write_line(int priority, const char *text)
{
	char line[1024], mark[8] = "";

	if (getenv("JOURNAL_STREAM"))
		snprintf(mark, sizeof(mark), "<%d>", priority);
	snprintf(line, sizeof(line) - 1, "%scgnetd: serve: %s", mark, text);
	for (char *p = line; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 127)
			*p = '?';
	strcat(line, "\n");
	fputs(line, stderr);
}

static void write_format(int priority, const char *fmt, va_list ap)
{
	char text[960];

	vsnprintf(text, sizeof(text), fmt, ap);
	write_line(priority, text);
}

void log_info(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	write_format(LOG_INFO, fmt, ap);
	va_end(ap);
}

void log_warning(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	write_format(LOG_WARNING, fmt, ap);
	va_end(ap);
}

void log_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	write_format(LOG_ERR, fmt, ap);
	va_end(ap);
}

void log_lines(bool warning, const char *text, size_t n)
{
	while (n) {
		const char *newline = memchr(text, '\n', n);
		size_t len = newline ? (size_t)(newline - text) : n;
		char line[960];

		snprintf(line, sizeof(line), "%.*s", (int)len, text);
		write_line(warning ? LOG_WARNING : LOG_INFO, line);
		len += newline != NULL;
		text += len;
		n -= len;
	}
}
