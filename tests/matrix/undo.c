// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Attempts to take the policy down from inside, by bpf(2). ADDR PORT come first. */
#include <fcntl.h>
#include <linux/bpf.h>
#include <sys/syscall.h>

#include "attack.h"
#include "cgnet_abi.h"

#define SET_RETVAL_HELPER 187

static int bpf(int cmd, union bpf_attr *attr)
{
	int ret = (int)syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	return ret < 0 ? -errno : ret;
}

static int open_id(int cmd, const char *id)
{
	union bpf_attr attr = {.link_id = (__u32)number_arg(id)};

	return bpf(cmd, &attr);
}

static int open_pin(const char *path)
{
	union bpf_attr attr = {.pathname = (unsigned long)path};

	return bpf(BPF_OBJ_GET, &attr);
}

static int detach(struct outcome *o, int fd)
{
	union bpf_attr attr = {.link_detach.link_fd = (__u32)fd};

	return step(o, "detach", bpf(BPF_LINK_DETACH, &attr));
}

/* ID...: links, by number. */
static void attack_link_id(struct outcome *o, char **args)
{
	for (char **id = args + 2; *id; id++) {
		int fd = open_id(BPF_LINK_GET_FD_BY_ID, *id);

		if (!step(o, "open link", fd < 0 ? fd : 0))
			detach(o, fd);
	}
	try_tcp(o, args[0], args[1]);
}

/* FILE...: links, by their pins. */
static void attack_link_pin(struct outcome *o, char **args)
{
	for (char **path = args + 2; *path; path++) {
		int fd = open_pin(*path);

		if (!step(o, "open pin", fd < 0 ? fd : 0))
			detach(o, fd);
	}
	try_tcp(o, args[0], args[1]);
}

/* FD: a link that was handed down. */
static void attack_link_fd(struct outcome *o, char **args)
{
	detach(o, (int)number_arg(args[2]));
	try_tcp(o, args[0], args[1]);
}

/* DIR ID TYPE: a program off a cgroup. */
static void attack_prog_detach(struct outcome *o, char **args)
{
	int dir = open(args[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int prog = open_id(BPF_PROG_GET_FD_BY_ID, args[3]);
	union bpf_attr attr = {.target_fd = (__u32)dir,
			       .attach_bpf_fd = (__u32)prog,
			       .attach_type = (__u32)number_arg(args[4])};

	step(o, "open program", prog < 0 ? prog : 0);
	step(o, "detach", bpf(BPF_PROG_DETACH, &attr));
	try_tcp(o, args[0], args[1]);
}

/* ID BITS: the trie of IPv4 prefixes, told to allow the one of that length around the destination.
 */
static void attack_map_allow(struct outcome *o, char **args)
{
	struct peer to = peer_arg(args[0], args[1]);
	unsigned int bits = (unsigned int)number_arg(args[3]);
	struct cgnet_key4 key = {.prefixlen = bits};
	struct cgnet_prefix allow = {.verdict = CGNET_ALLOW, .prefixlen = (__u8)bits};
	int fd = open_id(BPF_MAP_GET_FD_BY_ID, args[2]);
	union bpf_attr attr = {
		.map_fd = (__u32)fd, .key = (unsigned long)&key, .value = (unsigned long)&allow};

	to.v4.sin_addr.s_addr &= htonl(~0U << (32 - bits));
	memcpy(key.addr, &to.v4.sin_addr, sizeof(key.addr));
	step(o, "open map", fd < 0 ? fd : 0);
	step(o, "update", bpf(BPF_MAP_UPDATE_ELEM, &attr));
	try_tcp(o, args[0], args[1]);
}

/* ID: a map that nobody can change any more, the next policy included. */
static void attack_map_freeze(struct outcome *o, char **args)
{
	int fd = open_id(BPF_MAP_GET_FD_BY_ID, args[2]);
	union bpf_attr attr = {.map_fd = (__u32)fd};
	int e = step(o, "open map", fd < 0 ? fd : 0);

	if (!e)
		e = step(o, "freeze", bpf(BPF_MAP_FREEZE, &attr));
	if (e)
		end(o, e);
	else
		end_word(o, "frozen");
}

static int load_forgiving(void)
{
	struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 1, .imm = 0},
		{.code = BPF_JMP | BPF_CALL, .imm = SET_RETVAL_HELPER},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 1},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr = {.prog_type = BPF_PROG_TYPE_CGROUP_SOCK_ADDR,
			       .expected_attach_type = BPF_CGROUP_INET4_CONNECT,
			       .insns = (unsigned long)insns,
			       .insn_cnt = 4,
			       .license = (unsigned long)"GPL"};

	return bpf(BPF_PROG_LOAD, &attr);
}

/* DIR N: programs that undo a refusal, as many as a cgroup takes and one more. */
static void attack_attach(struct outcome *o, char **args)
{
	int dir = open(args[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int e = 0, prog = load_forgiving();

	step(o, "load", prog < 0 ? prog : 0);
	for (unsigned long i = number_arg(args[3]); i && e >= 0; i--) {
		union bpf_attr attr = {.link_create.prog_fd = (__u32)prog,
				       .link_create.target_fd = (__u32)dir,
				       .link_create.attach_type = BPF_CGROUP_INET4_CONNECT};

		e = bpf(BPF_LINK_CREATE, &attr);
	}
	step(o, "attach", e < 0 ? e : 0);
	try_tcp(o, args[0], args[1]);
}

const struct attack undo_attacks[] = {
	{"link-id", 3, attack_link_id},	    {"link-pin", 3, attack_link_pin},
	{"link-fd", 3, attack_link_fd},	    {"prog-detach", 5, attack_prog_detach},
	{"map-allow", 4, attack_map_allow}, {"map-freeze", 3, attack_map_freeze},
	{"attach", 4, attack_attach},	    {NULL, 0, NULL},
};
