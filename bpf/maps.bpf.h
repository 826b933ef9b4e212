/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All maps. A class has its own set of them, but for the generation, which all classes share, so
 * that one store to it puts a new policy in force for every class, family and hook at once.
 */
#ifndef CGNET_MAPS_BPF_H
#define CGNET_MAPS_BPF_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "cgnet_abi.h"
#include "cgnet_state.h"

/* The slot in force is the generation's lowest bit; `load` fills the other one, then adds one. */
#define CGNET_SLOTS 2

volatile __u32 cgnet_generation SEC(".data.generation") = 0;

/* Templates: `load` makes one of each for every policy, sized to fit, and puts it in a slot. */
struct deny4 {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct cgnet_key4);
	__type(value, struct cgnet_prefix);
} deny4 SEC(".maps");

struct deny6 {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct cgnet_key6);
	__type(value, struct cgnet_prefix);
} deny6 SEC(".maps");

/* BPF_F_INNER_MAP lets the slots hold arrays of different sizes (5.10). */
struct ports {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_INNER_MAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cgnet_port);
} ports SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, CGNET_SLOTS);
	__type(key, __u32);
	__array(values, struct deny4);
} slots4 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, CGNET_SLOTS);
	__type(key, __u32);
	__array(values, struct deny6);
} slots6 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, CGNET_SLOTS);
	__type(key, __u32);
	__array(values, struct ports);
} slots_ports SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, CGNET_LAYERS);
	__type(key, __u32);
	__type(value, struct cgnet_counts);
} counters SEC(".maps");

/* The rest is for user space; it stands here for the types that bpftool shows. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cgnet_class_info);
} class SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cgnet_rule);
} rules SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cgnet_info);
} info SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cgnet_set_member);
} sets SEC(".maps");

#endif
