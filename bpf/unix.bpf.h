/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The layer unix: which Unix sockets a class may reach (6.7). */
#ifndef CGNET_UNIX_BPF_H
#define CGNET_UNIX_BPF_H

#include "event.bpf.h"
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>

#define UNIX_PATH_MAX	 108
#define UNIX_PATH_OFFSET 2 /* of sun_path in struct sockaddr_un */

extern void *bpf_cast_to_kern_ctx(void *obj) __ksym __weak;

/* An abstract name, which a NUL precedes; any other address has no key. */
static __always_inline bool read_name(struct bpf_sock_addr *ctx, struct cgnet_unix_name *name)
{
	struct bpf_sock_addr_kern *kern = bpf_cast_to_kern_ctx(ctx);
	void *path = (char *)kern->uaddr + UNIX_PATH_OFFSET;
	__u64 len = (__u64)kern->uaddrlen - UNIX_PATH_OFFSET - 1;
	char first;

	barrier_var(len); /* or else the compiler checks a copy, and the verifier sees no bound */
	if (!len || len >= UNIX_PATH_MAX || bpf_probe_read_kernel(&first, 1, path) || first)
		return false;
	name->len = len;
	return !bpf_probe_read_kernel(name->name, len, path + 1);
}

static __always_inline int on_unix(struct bpf_sock_addr *ctx, enum cgnet_hook hook)
{
	struct policy p = policy_now();
	struct decision d = {.verdict = CGNET_DENY, .rule = CGNET_RULE_UNIX};
	struct subject s = {};
	struct cgnet_unix_name name = {.slot = p.slot};

	if (p.settings && (!(p.settings->flags & CGNET_UNIX_NONE) ||
			   (read_name(ctx, &name) && bpf_map_lookup_elem(&unix_names, &name))))
		d.verdict = CGNET_ALLOW;
	return conclude_task(hook, &p, &d, &s);
}

#endif
