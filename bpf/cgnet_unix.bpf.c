// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Entry points of the layer unix: an object of its own, since it needs a kernel function (6.7) and
 * few classes ask for it. libbpf 1.1 knows no section names for these: `load` sets their types.
 */
#include "unix.bpf.h"

SEC("cgroup/connect_unix")
int connect_unix(struct bpf_sock_addr *ctx)
{
	return answer(on_unix(ctx, CGNET_HOOK_CONNECT_UNIX));
}

SEC("cgroup/sendmsg_unix")
int sendmsg_unix(struct bpf_sock_addr *ctx)
{
	return answer(on_unix(ctx, CGNET_HOOK_SENDMSG_UNIX));
}

char _license[] SEC("license") = "Dual BSD/GPL";
