/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The few bpf(2) calls of cgnet-run, made directly: libbpf would cost every start its loading. */
#ifndef CGNET_RUN_BPF_H
#define CGNET_RUN_BPF_H

#include <linux/bpf.h>
#include <stddef.h>

/*
 * Reads the only element of the array map pinned at path into value, of size bytes. Returns 0 or
 * -errno: -ENOENT if there is no such pin, -EPROTO if it is no array of one element of this size.
 */
int bpf_read_pin(const char *path, void *value, size_t size);

/*
 * Writes an element of the map pinned at path, whose keys have key_size bytes and whose values
 * size. Returns 0 or -errno, -EPROTO if it is not such a map.
 */
int bpf_write_pin(const char *path, const void *key, size_t key_size, const void *value,
		  size_t size);

/*
 * Opens the map pinned at path for look-ups, with such keys and values. Returns a descriptor or
 * -errno, -EPROTO if it is not such a map.
 */
int bpf_open_pin(const char *path, size_t key_size, size_t size);

/* Reads an element. Returns 0 or -errno. */
int bpf_lookup(int fd, const void *key, void *value);

/* The kernel's number of a map; 0 on failure. */
__u32 bpf_map_id(int fd);

/* Whether the program is attached to this very cgroup: 1, 0, or -errno. */
int bpf_cgroup_has_prog(int cgroup_fd, enum bpf_attach_type type, __u32 prog_id);

#endif
