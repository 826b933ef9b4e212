/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel types that the programs read by CO-RE, cut out of the kernel's BTF. */
#ifndef CGNETD_CORE_BTF_H
#define CGNETD_CORE_BTF_H

#include "util.h"

/*
 * libbpf would read and parse the kernel's whole BTF (5 MB, 45 ms) for every class. This does it
 * once and writes the types of vmlinux/vmlinux.h, as this kernel lays them out, to an anonymous
 * file. Returns its descriptor, or a negative errno with the reason: -ENOENT where the kernel has
 * no BTF.
 */
int core_btf_open(struct why *why);

#endif
