// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "core_btf.h"

#include <bpf/btf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* A struct of vmlinux/vmlinux.h with the member that is read. */
struct piece {
	const char *name, *member;
	const char *type; /* the member's struct, by an earlier piece; NULL for a number */
	bool pointer;	  /* to it */
};

/* In the order in which one needs the other. */
static const struct piece pieces[] = {
	{"kernfs_node", "id", NULL, false},
	{"cgroup", "kn", "kernfs_node", true},
	{"sock_cgroup_data", "cgroup", "cgroup", true},
	{"sock", "sk_cgrp_data", "sock_cgroup_data", false},
	{"inet_sock", "sk", "sock", false},
	{"inet_connection_sock", "icsk_inet", "inet_sock", false},
	{"tcp_sock", "inet_conn", "inet_connection_sock", false},
};

static const struct btf_member *find_member(const struct btf *btf, const struct btf_type *t,
					    const char *name)
{
	const struct btf_member *m = btf_members(t);

	for (int i = 0; i < btf_vlen(t); i++)
		if (!strcmp(btf__name_by_offset(btf, m[i].name_off), name))
			return &m[i];
	return NULL;
}

/* The id of the member's type in cut, made there if need be. */
static int member_type(struct btf *cut, const struct piece *p)
{
	int id;

	if (!p->type)
		return btf__add_int(cut, "u64", 8, 0);
	id = btf__find_by_name_kind(cut, p->type, BTF_KIND_STRUCT);
	return p->pointer && id > 0 ? btf__add_ptr(cut, id) : id;
}

/* A kernel without the struct or the member gets none: the programs ask whether it is there. */
static int add_piece(struct btf *cut, const struct btf *kernel, const struct piece *p)
{
	int id = btf__find_by_name_kind(kernel, p->name, BTF_KIND_STRUCT);
	const struct btf_type *t = id > 0 ? btf__type_by_id(kernel, id) : NULL;
	const struct btf_member *m = t ? find_member(kernel, t, p->member) : NULL;
	int type = m ? member_type(cut, p) : 0;
	int err;

	if (!t)
		return 0;
	if (type < 0)
		return type;
	err = btf__add_struct(cut, p->name, t->size);
	if (err < 0 || !m)
		return err < 0 ? err : 0;
	return btf__add_field(cut, p->member, type,
			      btf_member_bit_offset(t, (int)(m - btf_members(t))), 0);
}

static int write_out(const struct btf *cut)
{
	_cleanup_close_ int fd = memfd_create("cgnet-btf", MFD_CLOEXEC);
	__u32 size;
	const void *data = btf__raw_data(cut, &size);

	if (fd < 0)
		return -errno;
	if (!data)
		return -ENOMEM;
	return write(fd, data, size) == (ssize_t)size ? take_fd(&fd) : -EIO;
}

int core_btf_open(struct why *why)
{
	struct btf *kernel = btf__load_vmlinux_btf(), *cut = btf__new_empty();
	int err = kernel && cut ? 0 : -errno;

	for (size_t i = 0; i < ARRAY_SIZE(pieces) && !err; i++)
		err = add_piece(cut, kernel, &pieces[i]);
	if (!err)
		err = write_out(cut);
	btf__free(cut);
	btf__free(kernel);
	if (err < 0)
		return why_set(why, err,
			       "cannot read this kernel's BTF (CONFIG_DEBUG_INFO_BTF): %s",
			       strerror(-err));
	return err;
}
