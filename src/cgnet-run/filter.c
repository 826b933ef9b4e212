// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "filter.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/syscall.h>

#include "seccomp_filter.h"

int filter_install(unsigned int parts, struct why *why)
{
	struct sock_fprog prog = {
		.len = filters[parts].len,
		.filter = (struct sock_filter *)filters[parts].insns,
	};

	/* The filter keeps no secrets apart in one process, so it need not slow all of it down. */
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &prog) <
	    0)
		return why_set(why, -errno, "seccomp filter: %s", strerror(errno));
	return 0;
}
