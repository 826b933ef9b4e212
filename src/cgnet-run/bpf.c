// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "bpf.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util.h"

/* The kernel attaches no more to one cgroup and hook. */
#define MAX_PROGS 64

static __u64 ptr(const void *p)
{
	return (uintptr_t)p;
}

static int bpf(enum bpf_cmd cmd, union bpf_attr *attr)
{
	long ret = syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	return ret < 0 ? -errno : (int)ret;
}

/*
 * The kernel refuses an attribute with stray bytes, and an initializer of one member need not
 * clear the rest of the union: hence memset() in what follows.
 */

static int open_pin(const char *path, __u32 flags)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.pathname = ptr(path);
	attr.file_flags = flags;
	return bpf(BPF_OBJ_GET, &attr);
}

static int read_info(int fd, struct bpf_map_info *info)
{
	union bpf_attr attr;

	memset(info, 0, sizeof(*info));
	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (__u32)fd;
	attr.info.info_len = sizeof(*info);
	attr.info.info = ptr(info);
	return bpf(BPF_OBJ_GET_INFO_BY_FD, &attr);
}

/* Before a look-up, which writes as many bytes as the map says. */
static int check_array(int fd, size_t value_size)
{
	struct bpf_map_info info;
	int err = read_info(fd, &info);

	if (err < 0)
		return err;
	if (info.type != BPF_MAP_TYPE_ARRAY || info.key_size != sizeof(__u32) ||
	    info.value_size != value_size || info.max_entries != 1)
		return -EPROTO;
	return 0;
}

int bpf_lookup(int fd, const void *key, void *value)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (__u32)fd;
	attr.key = ptr(key);
	attr.value = ptr(value);
	return bpf(BPF_MAP_LOOKUP_ELEM, &attr);
}

int bpf_open_pin(const char *path, size_t key_size, size_t size)
{
	_cleanup_close_ int fd = open_pin(path, BPF_F_RDONLY);
	struct bpf_map_info info;
	int err;

	if (fd < 0)
		return fd;
	err = read_info(fd, &info);
	if (err < 0)
		return err;
	return info.key_size == key_size && info.value_size == size ? take_fd(&fd) : -EPROTO;
}

__u32 bpf_map_id(int fd)
{
	struct bpf_map_info info;

	return read_info(fd, &info) < 0 ? 0 : info.id;
}

int bpf_read_pin(const char *path, void *value, size_t size)
{
	_cleanup_close_ int fd = -1;
	__u32 key = 0;
	int err;

	fd = open_pin(path, BPF_F_RDONLY);
	if (fd < 0)
		return fd;
	err = check_array(fd, size);
	if (err < 0)
		return err;
	return bpf_lookup(fd, &key, value);
}

int bpf_write_pin(const char *path, const void *key, size_t key_size, const void *value,
		  size_t size)
{
	_cleanup_close_ int fd = -1;
	struct bpf_map_info info;
	union bpf_attr attr;
	int err;

	fd = open_pin(path, 0);
	if (fd < 0)
		return fd;
	err = read_info(fd, &info);
	if (err < 0)
		return err;
	/* The kernel reads as many bytes as the map says. */
	if (info.key_size != key_size || info.value_size != size)
		return -EPROTO;
	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (__u32)fd;
	attr.key = ptr(key);
	attr.value = ptr(value);
	return bpf(BPF_MAP_UPDATE_ELEM, &attr);
}

int bpf_cgroup_has_prog(int cgroup_fd, enum bpf_attach_type type, __u32 prog_id)
{
	__u32 ids[MAX_PROGS];
	union bpf_attr attr;
	int err;

	memset(&attr, 0, sizeof(attr));
	attr.query.target_fd = (__u32)cgroup_fd;
	attr.query.attach_type = type;
	attr.query.prog_ids = ptr(ids);
	attr.query.prog_cnt = MAX_PROGS;
	err = bpf(BPF_PROG_QUERY, &attr);
	if (err < 0)
		return err;
	for (__u32 i = 0; i < attr.query.prog_cnt && i < MAX_PROGS; i++)
		if (ids[i] == prog_id)
			return 1;
	return 0;
}
