/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The child that looks host names up (c-ares). What comes from name servers is parsed there and
 * nowhere else: it has another uid, no capability, few system calls and one descriptor of the
 * service, over which these structs go. What it answers is checked like that of a stranger.
 */
#ifndef CGNETD_RESOLVER_H
#define CGNETD_RESOLVER_H

#include <linux/types.h>
#include <sys/types.h>

#include "names.h"

/* Lookups that the child has under way at most. */
#define RESOLVER_MAX 8

/* Addresses of one answer; of more, the first ones. */
#define RESOLVER_MAX_ADDRS 64

struct resolver_question {
	__u32 id;
	char host[NAME_HOST_SIZE];
};

struct resolver_answer {
	__u32 id;
	__s32 status; /* 0, or c-ares's */
	__u32 ttl;    /* seconds, the least of all records on the way */
	__u32 n;
	struct {
		__u8 family; /* AF_INET or AF_INET6 */
		__u8 pad[3];
		__u8 addr[16]; /* network byte order */
	} addrs[RESOLVER_MAX_ADDRS];
};

/*
 * Forks the child, which asks the name servers that resolv.conf names now. *fd is a SOCK_SEQPACKET,
 * non-blocking; the child ends when it is closed. Returns its pid or a negative errno with the
 * reason.
 */
pid_t resolver_start(int *fd, struct why *why);

#endif
