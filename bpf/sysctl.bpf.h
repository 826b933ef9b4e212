/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The layer sysctl: a session without privileges writes no setting of the host below /proc/sys.
 * Root owns those files, whatever its capabilities, and core_pattern or modprobe names a program
 * that the kernel starts outside of every class. Whoever opened the file and through whichever
 * mount of procfs, the write is what is judged here.
 */
#ifndef CGNET_SYSCTL_BPF_H
#define CGNET_SYSCTL_BPF_H

#include "event.bpf.h"
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>

/* The set of settings that a context stands for; NULL for one that is not read, which is denied. */
static __always_inline struct ctl_table_set *sysctl_set(struct bpf_sysctl *ctx)
{
	struct bpf_sysctl_kern *kern = (void *)ctx;
	struct ctl_table_header *head = NULL;
	struct ctl_table_set *set = NULL;
	void *is_seen = NULL;

	if (!bpf_core_field_exists(kern->head) || !bpf_core_field_exists(head->set) ||
	    !bpf_core_field_exists(set->is_seen))
		return NULL;
	if (bpf_core_read(&head, sizeof(head), &kern->head) ||
	    bpf_core_read(&set, sizeof(set), &head->set) ||
	    bpf_core_read(&is_seen, sizeof(is_seen), &set->is_seen))
		return NULL;
	/* What every process sees is no namespace's. */
	return is_seen ? set : NULL;
}

static __always_inline bool begins(const char *name, const char *with, int len)
{
	for (int i = 0; i < len; i++)
		if (name[i] != with[i])
			return false;
	return true;
}

/* The user namespace that the settings belong to, or NULL. */
static __always_inline struct user_namespace *sysctl_owner(struct bpf_sysctl *ctx)
{
	struct ctl_table_set *set = sysctl_set(ctx);
	struct user_namespace *owner = NULL;
	char name[8] = "";
	struct net *net = NULL;

	/* Cut off, which the helper calls an error. */
	bpf_sysctl_get_name(ctx, name, sizeof(name), 0);
	if (!set)
		return NULL;
	if (begins(name, "user/", 5) && bpf_core_field_exists(owner->set))
		return (void *)set - bpf_core_field_offset(owner->set);
	if (!begins(name, "net/", 4) || !bpf_core_field_exists(net->sysctls))
		return NULL;
	net = (void *)set - bpf_core_field_offset(net->sysctls);
	return bpf_core_read(&owner, sizeof(owner), &net->user_ns) ? NULL : owner;
}

/* Networks and user namespaces that a sandbox made, in a user namespace of its own. */
static __always_inline bool is_of_sandbox(struct bpf_sysctl *ctx)
{
	struct user_namespace *owner = sysctl_owner(ctx);
	__u32 level = 0;

	return owner && bpf_core_field_exists(owner->level) &&
	       !bpf_core_read(&level, sizeof(level), &owner->level) && level;
}

static __always_inline int on_sysctl(struct bpf_sysctl *ctx)
{
	struct decision d = {.verdict = CGNET_DENY, .rule = CGNET_RULE_PRIVILEGES};
	struct subject s = {};
	struct policy p;

	if (!ctx->write)
		return 1;
	p = policy_now();
	if (p.settings && (p.settings->flags & CGNET_PRIVILEGES_KEEP || is_of_sandbox(ctx)))
		d.verdict = CGNET_ALLOW;
	/* Before 6.1 the program is not told which session this is below. */
	s.session = bpf_get_current_cgroup_id();
	s.uid = bpf_get_current_uid_gid();
	return conclude_packet(CGNET_HOOK_SYSCTL, &p, &d, &s);
}

#endif
