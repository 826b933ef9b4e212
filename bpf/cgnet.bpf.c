// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Entry points; what they do is in flow.bpf.h and verdict.bpf.h. */
#include "verdict.bpf.h"

SEC("cgroup/connect4")
int connect4(struct bpf_sock_addr *ctx)
{
	struct flow f = {};

	return verdict(CGNET_LAYER_CONNECT, flow_from_addr4(&f, ctx), &f);
}

SEC("cgroup/connect6")
int connect6(struct bpf_sock_addr *ctx)
{
	struct flow f = {};

	return verdict(CGNET_LAYER_CONNECT, flow_from_addr6(&f, ctx), &f);
}

SEC("cgroup/sendmsg4")
int sendmsg4(struct bpf_sock_addr *ctx)
{
	struct flow f = {};

	return verdict(CGNET_LAYER_SENDMSG, flow_from_addr4(&f, ctx), &f);
}

SEC("cgroup/sendmsg6")
int sendmsg6(struct bpf_sock_addr *ctx)
{
	struct flow f = {};

	return verdict(CGNET_LAYER_SENDMSG, flow_from_addr6(&f, ctx), &f);
}

char _license[] SEC("license") = "Dual BSD/GPL";
