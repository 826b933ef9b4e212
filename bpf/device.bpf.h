/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Part of the layer create: tun and tap devices. One that lasts and has no owner, or this one, is
 * joined without any capability, and what is written to it arrives in its network past every other
 * hook. It is one of the network in which /dev/net/tun was opened: a sandbox has its own.
 */
#ifndef CGNET_DEVICE_BPF_H
#define CGNET_DEVICE_BPF_H

#include "event.bpf.h"
#include "vmlinux.h"

#include <linux/in.h>

#include <bpf/bpf_core_read.h>

/* include/uapi/linux/major.h, include/linux/miscdevice.h */
#define MISC_MAJOR 10
#define TUN_MINOR  200

/* Whether the process is in a network that belongs to a user namespace below the host's. */
static __always_inline bool is_in_sandbox(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct user_namespace *owner = NULL;
	struct nsproxy *namespaces = NULL;
	struct net *net = NULL;
	__u32 level = 0;

	return !bpf_core_read(&namespaces, sizeof(namespaces), &task->nsproxy) &&
	       !bpf_core_read(&net, sizeof(net), &namespaces->net_ns) &&
	       !bpf_core_read(&owner, sizeof(owner), &net->user_ns) &&
	       !bpf_core_read(&level, sizeof(level), &owner->level) && level;
}

/* Root that keeps its privileges could undo all this. */
static __always_inline bool keeps_privileges(const struct policy *p)
{
	return p->settings && (p->settings->flags & CGNET_PRIVILEGES_KEEP) &&
	       !(__u32)bpf_get_current_uid_gid();
}

static __always_inline int on_device(struct bpf_cgroup_dev_ctx *ctx)
{
	struct decision d = {.verdict = CGNET_DENY, .rule = CGNET_RULE_PROTOCOLS};
	struct subject s = {.proto = IPPROTO_RAW};
	struct policy p;

	if ((ctx->access_type & 0xffff) != BPF_DEVCG_DEV_CHAR || ctx->major != MISC_MAJOR ||
	    ctx->minor != TUN_MINOR)
		return 1;
	p = policy_now();
	if (is_in_sandbox() || keeps_privileges(&p))
		d.verdict = CGNET_ALLOW;
	/* Before 6.1 the program is not told which session this is below. */
	s.session = bpf_get_current_cgroup_id();
	s.uid = bpf_get_current_uid_gid();
	return conclude_packet(CGNET_HOOK_DEVICE, &p, &d, &s);
}

#endif
