/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Cgroups, the empty programs that are the floor, and a class's counters. */
#ifndef CGNET_BENCH_LAB_H
#define CGNET_BENCH_LAB_H

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "bench.h"
#include "cgnet_abi.h"

/* DIR/NAME, the caller's to free. */
static inline char *path_join(const char *dir, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		errx(1, "out of memory");
	return path;
}

/* Joins the cgroup in the directory; sockets made from here on are judged there. */
static inline void cgroup_join(const char *dir)
{
	_cleanup_free_ char *path = path_join(dir, "cgroup.procs");
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "0", 1) != 1)
		err(1, "%s", path);
}

/* Makes the cgroup DIR/NAME. Returns its path, the caller's to free. */
static inline char *cgroup_child(const char *dir, const char *name)
{
	char *path = path_join(dir, name);

	if (mkdir(path, 0755) < 0)
		err(1, "%s", path);
	return path;
}

static inline enum bpf_prog_type program_type(enum bpf_attach_type attach)
{
	switch (attach) {
	case BPF_CGROUP_INET_SOCK_CREATE:
		return BPF_PROG_TYPE_CGROUP_SOCK;
	case BPF_CGROUP_INET_EGRESS:
	case BPF_CGROUP_INET_INGRESS:
		return BPF_PROG_TYPE_CGROUP_SKB;
	case BPF_CGROUP_SETSOCKOPT:
		return BPF_PROG_TYPE_CGROUP_SOCKOPT;
	case BPF_CGROUP_SYSCTL:
		return BPF_PROG_TYPE_CGROUP_SYSCTL;
	case BPF_CGROUP_DEVICE:
		return BPF_PROG_TYPE_CGROUP_DEVICE;
	default:
		return BPF_PROG_TYPE_CGROUP_SOCK_ADDR;
	}
}

/* Loads the least program for a hook that returns verdict. Returns its descriptor. */
static inline int empty_program(enum bpf_attach_type attach, int verdict)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = verdict},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = attach);
	int fd = bpf_prog_load(program_type(attach), "empty", "GPL", insns, ARRAY_SIZE(insns),
			       &opts);

	if (fd < 0)
		err(1, "empty program");
	return fd;
}

/* Attaches an empty program to the cgroup in dir, until the returned link is closed. */
static inline int empty_attach(const char *dir, enum bpf_attach_type attach, int verdict)
{
	_cleanup_close_ int cgroup = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int prog = empty_program(attach, verdict);
	int link;

	if (cgroup < 0)
		err(1, "%s", dir);
	link = bpf_link_create(prog, cgroup, attach, NULL);
	if (link < 0)
		err(1, "%s: empty program", dir);
	return link;
}

/* A class's counters, summed over all CPUs. */
struct counters {
	struct cgnet_counts layers[CGNET_LAYERS];
};

static inline struct counters counters_read(const char *pin)
{
	int cpus = libbpf_num_possible_cpus();
	_cleanup_close_ int fd = bpf_obj_get(pin);
	_cleanup_free_ struct cgnet_counts *each = NULL;
	struct counters sum = {0};

	if (fd < 0 || cpus < 0)
		err(1, "%s", pin);
	each = zalloc((size_t)cpus, sizeof(*each));
	for (__u32 layer = 0; layer < CGNET_LAYERS; layer++) {
		if (bpf_map_lookup_elem(fd, &layer, each) < 0)
			err(1, "%s", pin);
		for (int i = 0; i < cpus; i++) {
			sum.layers[layer].allowed += each[i].allowed;
			sum.layers[layer].denied += each[i].denied;
			sum.layers[layer].selftest += each[i].selftest;
		}
	}
	return sum;
}

/* Ends the program unless every layer counted, since before, just what was expected. */
static inline void counters_check(const char *pin, const struct counters *before,
				  const struct counters *expected)
{
	struct counters now = counters_read(pin);

	for (unsigned int i = 0; i < CGNET_LAYERS; i++) {
		__u64 allowed = now.layers[i].allowed - before->layers[i].allowed;
		__u64 denied = now.layers[i].denied - before->layers[i].denied;

		if (allowed != expected->layers[i].allowed || denied != expected->layers[i].denied)
			errx(1,
			     "%s: layer %u counted %llu allowed and %llu denied, of %llu and %llu",
			     pin, i, allowed, denied, expected->layers[i].allowed,
			     expected->layers[i].denied);
	}
}

#endif
