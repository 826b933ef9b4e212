// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Attaches a program to a cgroup's connect4 hook that takes back what programs further down
 * refused: those run first, and it clears their error. It stays when this process has ended, until
 * the cgroup is gone.
 */
#include <bpf/bpf.h>
#include <err.h>
#include <fcntl.h>
#include <linux/bpf.h>

/* bpf_set_retval(0); return 1 */
static const struct bpf_insn take_back[] = {
	{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_1, .imm = 0},
	{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_set_retval},
	{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 1},
	{.code = BPF_JMP | BPF_EXIT},
};

int main(int argc, char **argv)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_CGROUP_INET4_CONNECT);
	int cgroup, prog;

	if (argc != 2)
		errx(2, "usage: undo CGROUP");
	cgroup = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (cgroup < 0)
		err(2, "%s", argv[1]);
	prog = bpf_prog_load(BPF_PROG_TYPE_CGROUP_SOCK_ADDR, "undo", "GPL", take_back,
			     sizeof(take_back) / sizeof(*take_back), &opts);
	if (prog < 0)
		err(1, "load");
	if (bpf_prog_attach(prog, cgroup, BPF_CGROUP_INET4_CONNECT, BPF_F_ALLOW_MULTI))
		err(1, "attach");
	return 0;
}
