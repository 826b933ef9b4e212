/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* /proc/PID/mountinfo. Needs nothing but libc: cgnet-run uses it too. */
#ifndef CGNET_MOUNTINFO_H
#define CGNET_MOUNTINFO_H

/* Puts back, in place, the blanks, newlines and backslashes that the kernel writes as \ooo. */
void mountinfo_unescape(char *s);

#endif
