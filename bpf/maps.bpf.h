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

/*
 * Templates: `load` makes one of each for every policy, sized to fit, and puts it in a slot. Slots
 * are declared by the same types: before 6.2 a map with types does not fit where one without was
 * declared. The initialisers keep clang 14 from emitting them behind the slots, where it loses
 * their types. BPF_F_INNER_MAP lets the slots hold arrays of different sizes (5.10).
 */
struct trie4 {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct cgnet_key4);
	__type(value, struct cgnet_prefix);
} deny4 SEC(".maps") = {};

struct trie6 {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct cgnet_key6);
	__type(value, struct cgnet_prefix);
} deny6 SEC(".maps") = {};

struct port_entries {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_INNER_MAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cgnet_port);
} ports SEC(".maps") = {};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, CGNET_SLOTS);
	__type(key, __u32);
	__array(values, struct trie4);
} slots4 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, CGNET_SLOTS);
	__type(key, __u32);
	__array(values, struct trie6);
} slots6 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, CGNET_SLOTS);
	__type(key, __u32);
	__array(values, struct port_entries);
} slots_ports SEC(".maps");

/* Indexed by the slot: the options switch with the rules. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CGNET_SLOTS);
	__type(key, __u32);
	__type(value, struct cgnet_settings);
} settings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4096);
	__type(key, struct cgnet_unix_name);
	__type(value, __u8);
} unix_names SEC(".maps");

/*
 * What is known of a socket; copied to the sockets that a listener accepts. The marks are
 * generation << 32 | seq under which the destination was allowed: by its address, and as a socket
 * of this host.
 */
struct cgnet_socket {
	__u64 session; /* cgroup id of the session that made it; 0 for none */
	__u64 checked;
	__u64 checked_here;
	__be32 addr[4]; /* what it is connected to, v4 as mapped; only connect writes it */
	__u32 seq;	/* one more for every connect */
	__u16 port;	/* host byte order */
	__u8 connected; /* it called connect, so it was not accepted */
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC | BPF_F_CLONE);
	__type(key, int);
	__type(value, struct cgnet_socket);
} sockets SEC(".maps");

/* To whom an unconnected UDP socket spoke last, for "inbound = deny". */
#define CGNET_PEERS 4

struct cgnet_peers {
	struct {
		__be32 addr[4]; /* v4 as mapped */
		__u32 port;	/* host byte order */
	} peer[CGNET_PEERS];
	__u32 next;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct cgnet_peers);
} peers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, CGNET_LAYERS);
	__type(key, __u32);
	__type(value, struct cgnet_counts);
} counters SEC(".maps");

/* Shared by all classes, as is the generation. See event.bpf.h. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, CGNET_EVENT_RING);
} events SEC(".maps");

/* Two of them: what is counted in this interval, and what the reader takes. */
#define CGNET_INTERVALS 2

struct pending {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, CGNET_EVENT_KEYS);
	__type(key, struct cgnet_event_key);
	__type(value, struct cgnet_event_detail);
} pending0 SEC(".maps") = {}, pending1 SEC(".maps") = {};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, CGNET_INTERVALS);
	__type(key, __u32);
	__array(values, struct pending);
} pending SEC(".maps") = {.values = {&pending0, &pending1}};

/* 0 while nobody reads; else the reader adds one at the end of each interval. */
volatile __u32 cgnet_interval SEC(".data.interval") = 0;

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CGNET_EVENT_SESSIONS);
	__type(key, __u64);
	__type(value, struct cgnet_session);
} sessions SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CGNET_EVENT_SESSIONS);
	__type(key, __u64);
	__type(value, struct cgnet_event);
} first SEC(".maps");

/* The rest is for user space; it stands here for the types that bpftool shows. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CGNET_LAYERS);
	__type(key, __u32);
	__type(value, __u64);
} lost SEC(".maps");

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
