// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "landlock.h"

#include <errno.h>
#include <linux/landlock.h>
#include <string.h>
#include <sys/syscall.h>

/* Older headers have neither scopes nor the members after the first. */
#define ABI_WITH_SCOPES 6
#define SCOPE_SIGNAL	(1ULL << 1)

struct ruleset_attr {
	__u64 handled_access_fs;
	__u64 handled_access_net;
	__u64 scoped;
};

bool landlock_has_scopes(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) >=
	       ABI_WITH_SCOPES;
}

int landlock_scope(struct why *why)
{
	/*
	 * Any domain does for tracing. Abstract names are for the class's `unix` option to decide.
	 */
	static const struct ruleset_attr attr = {.scoped = SCOPE_SIGNAL};
	_cleanup_close_ int fd = -1;

	fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (fd < 0 || syscall(SYS_landlock_restrict_self, fd, 0) < 0)
		return why_set(why, -errno, "Landlock: %s", strerror(errno));
	return 0;
}
