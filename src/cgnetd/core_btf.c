// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "core_btf.h"

#include <bpf/btf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* Of one struct. */
#define MAX_MEMBERS 2

enum kind { NUMBER, STRUCT, POINTER, POINTERS };

/* A member that is read of a struct of vmlinux/vmlinux.h; those of one struct stand together. */
struct piece {
	const char *name, *member;
	enum kind kind;
	const char *type; /* the struct that it is or points to, by an earlier piece, or NULL */
};

/* In the order in which one needs the other. */
static const struct piece pieces[] = {
	{"kernfs_node", "id", NUMBER, NULL},
	{"cgroup", "kn", POINTER, "kernfs_node"},
	{"sock_cgroup_data", "cgroup", POINTER, "cgroup"},
	{"sock", "sk_cgrp_data", STRUCT, "sock_cgroup_data"},
	{"sock", "sk_reuseport_cb", POINTER, NULL},
	{"sock_reuseport", "num_socks", NUMBER, NULL},
	{"sock_reuseport", "socks", POINTERS, NULL},
	{"ctl_table_set", "is_seen", POINTER, NULL},
	{"user_namespace", "set", STRUCT, "ctl_table_set"},
	{"user_namespace", "level", NUMBER, NULL},
	{"net", "sysctls", STRUCT, "ctl_table_set"},
	{"net", "user_ns", POINTER, "user_namespace"},
	{"nsproxy", "net_ns", POINTER, "net"},
	{"task_struct", "nsproxy", POINTER, "nsproxy"},
	{"ctl_table_header", "set", POINTER, "ctl_table_set"},
	{"bpf_sysctl_kern", "head", POINTER, "ctl_table_header"},
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
	int number = btf__add_int(cut, "u64", 8, 0);
	int id = p->type ? btf__find_by_name_kind(cut, p->type, BTF_KIND_STRUCT) : 0;

	if (number < 0 || id < 0)
		return number < 0 ? number : id;
	switch (p->kind) {
	case STRUCT:
		return id;
	case POINTER:
		return btf__add_ptr(cut, id);
	case POINTERS:
		id = btf__add_ptr(cut, id);
		return id < 0 ? id : btf__add_array(cut, number, id, 0);
	default:
		return number;
	}
}

static int add_field(struct btf *cut, const struct btf *kernel, const struct btf_type *t,
		     const char *name, int type)
{
	const struct btf_member *m = find_member(kernel, t, name);

	if (!m)
		return 0;
	return btf__add_field(cut, name, type, btf_member_bit_offset(t, (int)(m - btf_members(t))),
			      0);
}

/*
 * Adds the struct of the n pieces at p. Its members' types come first, since fields go to the type
 * that was added last. A kernel without the struct or a member gets none: the programs ask whether
 * it is there.
 */
static int add_struct(struct btf *cut, const struct btf *kernel, const struct piece *p, size_t n)
{
	int id = btf__find_by_name_kind(kernel, p->name, BTF_KIND_STRUCT);
	const struct btf_type *t = id > 0 ? btf__type_by_id(kernel, id) : NULL;
	int types[MAX_MEMBERS], err = 0;

	if (!t)
		return 0;
	for (size_t i = 0; i < n && err >= 0; i++)
		err = types[i] = member_type(cut, &p[i]);
	if (err >= 0)
		err = btf__add_struct(cut, p->name, t->size);
	for (size_t i = 0; i < n && err >= 0; i++)
		err = add_field(cut, kernel, t, p[i].member, types[i]);
	return err < 0 ? err : 0;
}

/* How many of the pieces from p on are of one struct. */
static size_t members_of(const struct piece *p)
{
	size_t n = 1;

	while (n < MAX_MEMBERS && &p[n] < pieces + ARRAY_SIZE(pieces) &&
	       !strcmp(p[n].name, p->name))
		n++;
	return n;
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

	for (size_t i = 0; i < ARRAY_SIZE(pieces) && !err; i += members_of(&pieces[i]))
		err = add_struct(cut, kernel, &pieces[i], members_of(&pieces[i]));
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
