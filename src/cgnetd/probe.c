// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "probe.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

bool probe_set_retval(void)
{
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_FUNC_set_retval, NULL) ==
	       1;
}

static enum bpf_prog_type program_type(enum cgnet_hook hook)
{
	switch (hook) {
	case CGNET_HOOK_SETSOCKOPT:
		return BPF_PROG_TYPE_CGROUP_SOCKOPT;
	case CGNET_HOOK_CREATE:
		return BPF_PROG_TYPE_CGROUP_SOCK;
	case CGNET_HOOK_EGRESS:
	case CGNET_HOOK_INGRESS:
		return BPF_PROG_TYPE_CGROUP_SKB;
	case CGNET_HOOK_DEVICE:
		return BPF_PROG_TYPE_CGROUP_DEVICE;
	case CGNET_HOOK_SYSCTL:
		return BPF_PROG_TYPE_CGROUP_SYSCTL;
	default:
		return BPF_PROG_TYPE_CGROUP_SOCK_ADDR;
	}
}

/* A program that lets everything through, which any kernel with the hook accepts. */
int probe_hook(enum cgnet_hook hook, struct why *why)
{
	const struct bpf_insn pass[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 1},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = cgnet_hooks[hook].type);
	_cleanup_close_ int fd =
		bpf_prog_load(program_type(hook), "probe", "GPL", pass, ARRAY_SIZE(pass), &opts);

	if (fd >= 0)
		return 0;
	if (errno == EPERM)
		return why_set(why, -EPERM, "not permitted (CAP_BPF and CAP_NET_ADMIN are needed)");
	if (cgnet_hooks[hook].layer == CGNET_LAYER_UNIX)
		return why_set(why, -EOPNOTSUPP, "this kernel has no %s hook (Linux 6.7)",
			       cgnet_hooks[hook].name);
	return why_set(why, -EOPNOTSUPP, "this kernel has no %s hook (CONFIG_CGROUP_BPF): %s",
		       cgnet_hooks[hook].name, strerror(errno));
}

int probe_settings(const struct cgnet_settings *settings, struct why *why)
{
	struct why inner;
	int err;

	if (!(settings->flags & CGNET_UNIX_NONE))
		return 0;
	err = probe_hook(CGNET_HOOK_CONNECT_UNIX, &inner);
	return err ? why_set(why, err, "unix = none cannot be enforced: %.400s", inner.text) : 0;
}
