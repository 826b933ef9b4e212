// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Entry points; what they do is in one header a layer. */
#include "create.bpf.h"
#include "device.bpf.h"
#include "membership.bpf.h"
#include "skb.bpf.h"
#include "sock_addr.bpf.h"
#include "sysctl.bpf.h"

SEC("cgroup/connect4")
int connect4(struct bpf_sock_addr *ctx)
{
	struct flow f = {};

	return answer(on_connect(ctx, CGNET_HOOK_CONNECT4, flow_from_addr4(&f, ctx), &f));
}

SEC("cgroup/connect6")
int connect6(struct bpf_sock_addr *ctx)
{
	struct flow f = {};

	return answer(on_connect(ctx, CGNET_HOOK_CONNECT6, flow_from_addr6(&f, ctx), &f));
}

SEC("cgroup/sendmsg4")
int sendmsg4(struct bpf_sock_addr *ctx)
{
	struct flow f = {};

	return answer(on_sendmsg(ctx, CGNET_HOOK_SENDMSG4, flow_from_addr4(&f, ctx), &f));
}

SEC("cgroup/sendmsg6")
int sendmsg6(struct bpf_sock_addr *ctx)
{
	struct flow f = {};

	return answer(on_sendmsg(ctx, CGNET_HOOK_SENDMSG6, flow_from_addr6(&f, ctx), &f));
}

SEC("cgroup/sock_create")
int create(struct bpf_sock *ctx)
{
	return answer(on_create(ctx));
}

SEC("cgroup/dev")
int device(struct bpf_cgroup_dev_ctx *ctx)
{
	return answer(on_device(ctx));
}

SEC("cgroup/setsockopt")
int setsockopt(struct bpf_sockopt *ctx)
{
	return answer(on_setsockopt(ctx));
}

SEC("cgroup_skb/egress")
int egress(struct __sk_buff *skb)
{
	return answer(on_egress(skb));
}

SEC("cgroup_skb/ingress")
int ingress(struct __sk_buff *skb)
{
	return answer(on_ingress(skb));
}

SEC("cgroup/sysctl")
int sysctl(struct bpf_sysctl *ctx)
{
	return answer(on_sysctl(ctx));
}

char _license[] SEC("license") = "Dual BSD/GPL";
