/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the BPF programs and user space share: the keys and values of the maps.
 *
 * Port numbers are in host byte order, addresses in network byte order. Every value is zero where
 * nothing was written, and zero always means "deny" (CGNET_DENY == 0), so that a hole in a map
 * closes rather than opens.
 */
#ifndef CGNET_ABI_H
#define CGNET_ABI_H

#ifndef __bpf__
#include <linux/types.h>
#include <stddef.h>
#endif

/* Raised whenever a struct below or the meaning of a pin changes. */
#define CGNET_ABI_VERSION 1

/* Names of classes and sets have at most 32 characters; the rest pads to a multiple of four. */
#define CGNET_NAME_SIZE 36

/* A rule as written, "[v6]:ports/proto" or a host name with ports; longer ones end in "...". */
#define CGNET_RULE_SIZE 128
#define CGNET_FILE_SIZE 256

/* Port entries scanned for one prefix; more in one prefix are refused when a policy is compiled. */
#define CGNET_PORTS_PER_PREFIX 128

/*
 * What every class denies and no rule can allow; `load` tries them to prove that a class is
 * enforced. 0.67.71.78 lies in "this network", to which Linux sends nothing, 100::6367:6e65 in the
 * discard-only block (RFC 6666).
 */
#define CGNET_SENTINEL4                                                                            \
	{                                                                                          \
		0, 67, 71, 78                                                                      \
	}
#define CGNET_SENTINEL6                                                                            \
	{                                                                                          \
		0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x63, 0x67, 0x6e, 0x65                      \
	}

enum cgnet_verdict {
	CGNET_DENY = 0,
	CGNET_ALLOW = 1,
};

/* The first rows of a class's rule table; the rules of the file follow. */
enum cgnet_rule_index {
	CGNET_RULE_DEFAULT = 0,	 /* "default = ..." decided */
	CGNET_RULE_LOOPBACK = 1, /* "loopback = ..." decided */
	CGNET_RULE_SENTINEL = 2, /* the self-test's address */
	CGNET_RULE_FIRST = 3,
};

/* Bits of cgnet_prefix.flags. */
enum cgnet_prefix_flag {
	CGNET_THIS_HOST = 1, /* inside @loopback or @host */
	CGNET_SENTINEL = 2,  /* counted as a self-test, not as a denial */
};

/* Keys of deny4 and deny6; prefixlen in bits, addr in network byte order. */
struct cgnet_key4 {
	__u32 prefixlen;
	__u8 addr[4];
};

struct cgnet_key6 {
	__u32 prefixlen;
	__u8 addr[16];
};

/* Value of deny4 and deny6: what holds inside this prefix, inherited rules folded in. */
struct cgnet_prefix {
	enum cgnet_verdict verdict; /* where no port entry matches */
	__u32 rule;		    /* index in `rules`: who says so */
	__u32 first_port;	    /* index in `ports` of the first port entry */
	__u16 nports;		    /* entries from there; the first that matches decides */
	__u8 prefixlen;		    /* the key's, which a lookup does not return */
	__u8 flags;		    /* enum cgnet_prefix_flag */
};

/* Value of ports: destination ports lo to hi inclusive, host byte order, 0..65535 for all. */
struct cgnet_port {
	enum cgnet_verdict verdict;
	__u32 rule;
	__u16 lo;
	__u16 hi;
	__u8 proto; /* IPPROTO_TCP, _UDP, _ICMP (which stands for ICMPv6 too), 0 for any */
	__u8 pad[3];
};

/* Value of rules, read by people and by `explain`; strings are NUL-terminated. */
struct cgnet_rule {
	char text[CGNET_RULE_SIZE];
	char file[CGNET_FILE_SIZE];
	__u32 line;
};

/* Keys of counters. */
enum cgnet_layer {
	CGNET_LAYER_CONNECT = 0,
	CGNET_LAYER_SENDMSG = 1,
	CGNET_LAYERS,
};

/* Value of counters, one per CPU. */
struct cgnet_counts {
	__u64 allowed;
	__u64 denied;
	__u64 selftest; /* denied on the sentinel address */
};

#ifndef __bpf__
_Static_assert(sizeof(struct cgnet_key4) == 8, "LPM key without padding");
_Static_assert(sizeof(struct cgnet_key6) == 20, "LPM key without padding");
_Static_assert(sizeof(struct cgnet_prefix) == 16, "value without padding");
_Static_assert(sizeof(struct cgnet_port) == 16, "value without padding");
_Static_assert(sizeof(struct cgnet_rule) == CGNET_RULE_SIZE + CGNET_FILE_SIZE + 4, "no padding");
_Static_assert(offsetof(struct cgnet_prefix, prefixlen) == 14, "layout");
#endif

#endif
