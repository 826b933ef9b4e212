/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What cgnet-run leaves for those who show events. */
#ifndef CGNET_RUN_ANNOUNCE_H
#define CGNET_RUN_ANNOUNCE_H

#include "session.h"

/*
 * Tells under which name events are to show the session, while it is open. One that cannot be told
 * is shown by its number, so this does not fail.
 */
void announce(const struct session *s, const char *bpffs);

#endif
