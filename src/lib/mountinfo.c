// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "mountinfo.h"

#include <stdbool.h>

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

void mountinfo_unescape(char *s)
{
	char *to = s;

	while (*s) {
		if (s[0] == '\\' && is_octal(s[1]) && is_octal(s[2]) && is_octal(s[3])) {
			unsigned int c = (unsigned int)(s[1] - '0') * 64 +
					 (unsigned int)(s[2] - '0') * 8 +
					 (unsigned int)(s[3] - '0');

			*to++ = (char)c;
			s += 4;
		} else {
			*to++ = *s++;
		}
	}
	*to = '\0';
}
