/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* JSON for machines. The names are a contract: fields may be added, never renamed. */
#ifndef CGNETD_REPORT_H
#define CGNETD_REPORT_H

#include "doctor.h"
#include "explain.h"
#include "sessions.h"
#include "status.h"

/*
 * Each prints one object and a newline to stdout, and returns 0 or -ENOMEM. names is an array in
 * JSON, or NULL without one.
 */
int report_status(const struct status *s, const char *names);
int report_explanation(const struct explanation *e, const struct cgnet_rule *rule);
int report_sessions(const struct live_sessions *s);
int report_findings(const struct findings *f);

#endif
