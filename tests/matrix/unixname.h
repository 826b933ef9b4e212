/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Unix addresses as text: "/path", "@abstract", "@abstract+3" with three NULs behind the name. */
#ifndef CGNET_MATRIX_UNIXNAME_H
#define CGNET_MATRIX_UNIXNAME_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

static inline socklen_t unix_address(const char *text, struct sockaddr_un *un)
{
	const char *plus = text[0] == '@' ? strchr(text, '+') : NULL;
	size_t len = plus ? (size_t)(plus - text) : strlen(text);

	*un = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (len >= sizeof(un->sun_path))
		abort();
	memcpy(un->sun_path, text, len);
	if (text[0] != '@')
		return sizeof(*un);
	un->sun_path[0] = 0;
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len +
			   (plus ? strtoul(plus + 1, NULL, 10) : 0));
}

static inline int unix_type(const char *text)
{
	if (!strcmp(text, "dgram"))
		return SOCK_DGRAM;
	return strcmp(text, "seqpacket") ? SOCK_STREAM : SOCK_SEQPACKET;
}

#endif
