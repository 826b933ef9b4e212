// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Attaches a program that allows everything to a cgroup's connect4 hook the old way, without a
 * link, as other tools do; it stays when this process has ended. "detach" takes it away.
 */
#include <bpf/bpf.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* r0 = 1; exit */
static const struct bpf_insn allow_all[] = {
	{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 1},
	{.code = BPF_JMP | BPF_EXIT},
};

static int load(void)
{
	struct bpf_prog_load_opts opts = {
		.sz = sizeof(opts),
		.expected_attach_type = BPF_CGROUP_INET4_CONNECT,
	};

	return bpf_prog_load(BPF_PROG_TYPE_CGROUP_SOCK_ADDR, "foreign", "GPL", allow_all, 2, &opts);
}

static void attach(int cgroup, unsigned int flags)
{
	int prog = load();

	if (prog < 0)
		err(1, "load");
	if (bpf_prog_attach(prog, cgroup, BPF_CGROUP_INET4_CONNECT, flags))
		err(1, "attach");
}

int main(int argc, char **argv)
{
	int cgroup;

	if (argc != 3)
		errx(2, "usage: foreign none|override|multi|detach CGROUP");
	cgroup = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (cgroup < 0)
		err(1, "%s", argv[2]);
	if (!strcmp(argv[1], "none"))
		attach(cgroup, 0);
	else if (!strcmp(argv[1], "override"))
		attach(cgroup, BPF_F_ALLOW_OVERRIDE);
	else if (!strcmp(argv[1], "multi"))
		attach(cgroup, BPF_F_ALLOW_MULTI);
	else if (strcmp(argv[1], "detach") != 0)
		errx(2, "%s: not none, override, multi or detach", argv[1]);
	else if (bpf_prog_detach(cgroup, BPF_CGROUP_INET4_CONNECT))
		err(1, "detach");
	return 0;
}
