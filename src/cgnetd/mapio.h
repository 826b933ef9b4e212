/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes maps and fills them. */
#ifndef CGNETD_MAPIO_H
#define CGNETD_MAPIO_H

#include <bpf/btf.h>
#include <linux/bpf.h>
#include <stddef.h>

#include "util.h"

struct map_spec {
	const char *name; /* also the pin's */
	enum bpf_map_type type;
	__u32 flags;
	const char *key_type, *value_type; /* in the programs' BTF */
	__u32 key_size, value_size;
};

/*
 * Makes the map and fills it with n elements from the arrays keys and values. btf, as loaded into
 * the kernel, gives it types for bpftool to show; NULL for none. Returns a descriptor or a negative
 * errno with the reason.
 */
int map_make(const struct map_spec *spec, const void *keys, const void *values, size_t n,
	     const struct btf *btf, struct why *why);

/* The same for an array map, whose keys are 0 to n-1. */
int map_make_array(const struct map_spec *spec, const void *values, size_t n, const struct btf *btf,
		   struct why *why);

/*
 * Reads the array map fd, whose values have size bytes, into a new array, to be freed. Returns 0 or
 * a negative errno with the reason.
 */
int map_read_array(int fd, size_t size, void **out, size_t *n, struct why *why);

#endif
