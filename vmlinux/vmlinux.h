/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The few kernel types that the programs read by CO-RE, with only the members that they read;
 * libbpf finds each member's place in the running kernel's BTF. Where each comes from is said
 * beside it.
 */
#ifndef CGNET_VMLINUX_H
#define CGNET_VMLINUX_H

#include <linux/types.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* include/linux/kernfs.h; an u64 since 5.5 */
struct kernfs_node {
	__u64 id;
};

/* include/linux/cgroup-defs.h */
struct cgroup {
	struct kernfs_node *kn;
};

/* include/linux/cgroup-defs.h; before 5.15 a word that net_cls could take over */
struct sock_cgroup_data {
	struct cgroup *cgroup;
};

/* include/net/sock.h */
struct sock {
	struct sock_cgroup_data sk_cgrp_data;
	struct sock_reuseport *sk_reuseport_cb;
};

/* include/net/sock_reuseport.h */
struct sock_reuseport {
	__u16 num_socks;
	struct sock *socks[];
};

/* include/linux/filter.h: what a bpf_sock_addr context stands for */
struct bpf_sock_addr_kern {
	void *uaddr; /* struct sockaddr */
	__u32 uaddrlen;
};

/* include/linux/user_namespace.h, net/net_namespace.h: whose settings a set of them are */
struct ctl_table_set {
	void *is_seen;
};

struct user_namespace {
	struct ctl_table_set set;
	__u32 level; /* 0 for the host's own */
};

struct net {
	struct ctl_table_set sysctls;
	struct user_namespace *user_ns;
};

/* include/linux/nsproxy.h, sched.h */
struct nsproxy {
	struct net *net_ns;
};
struct task_struct {
	struct nsproxy *nsproxy;
};

/* include/linux/sysctl.h, filter.h: what a bpf_sysctl context stands for */
struct ctl_table_header {
	struct ctl_table_set *set;
};

struct bpf_sysctl_kern {
	struct ctl_table_header *head;
};

#pragma clang attribute pop

#endif
