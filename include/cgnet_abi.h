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
#define CGNET_ABI_VERSION 2

/* Names of classes and sets have at most 32 characters; the rest pads to a multiple of four. */
#define CGNET_NAME_SIZE 36

/* A rule as written, "[v6]:ports/proto" or a host name with ports; longer ones end in "...". */
#define CGNET_RULE_SIZE 128
#define CGNET_FILE_SIZE 256

/* Port entries scanned for one prefix; more in one prefix are refused when a policy is compiled. */
#define CGNET_PORTS_PER_PREFIX 64

/*
 * What every class denies and no rule can allow; `load` tries them to prove that a class is
 * enforced. 240.67.71.78 lies in the block reserved since RFC 1112, which nobody has, and
 * 100::6367:6e65 in the discard-only block (RFC 6666).
 */
#define CGNET_SENTINEL4                                                                            \
	{                                                                                          \
		240, 67, 71, 78                                                                    \
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
	CGNET_RULE_DEFAULT = 0,	   /* "default = ..." decided */
	CGNET_RULE_LOOPBACK = 1,   /* "loopback = ..." decided */
	CGNET_RULE_SENTINEL = 2,   /* the self-test's address */
	CGNET_RULE_PROTOCOLS = 3,  /* "protocols = ..." has not this one */
	CGNET_RULE_INBOUND = 4,	   /* "inbound = deny" */
	CGNET_RULE_UNIX = 5,	   /* "unix = none" */
	CGNET_RULE_PACKET = 6,	   /* a packet that does not show where it goes */
	CGNET_RULE_PRIVILEGES = 7, /* "privileges = drop" */
	CGNET_RULE_FIRST = 8,
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

#define CGNET_SENTINEL_PROTO 253

/* What "loopback = ..." says of destinations on this host that no rule allows by name. */
enum cgnet_loopback {
	CGNET_LOOPBACK_DENY = 0,
	CGNET_LOOPBACK_SESSION = 1, /* the session's own servers */
	CGNET_LOOPBACK_ALLOW = 2,   /* the rules alone decide */
};

/* Bits of cgnet_settings.protocols: what a socket may be made for. */
enum cgnet_protocol {
	CGNET_PROTO_TCP = 1, /* MPTCP too */
	CGNET_PROTO_UDP = 2,
	CGNET_PROTO_ICMP = 4, /* ping sockets, both families */
	CGNET_PROTO_UDPLITE = 8,
	CGNET_PROTO_SCTP = 16,
	CGNET_PROTO_DCCP = 32,
	CGNET_PROTO_RAW = 64, /* SOCK_RAW, whatever the protocol */
};

/* Bits of cgnet_settings.flags. */
enum cgnet_setting {
	CGNET_INBOUND_DENY = 1,	   /* nobody outside the session connects in */
	CGNET_UNIX_NONE = 2,	   /* no Unix socket is reached but the names allowed */
	CGNET_PRIVILEGES_KEEP = 4, /* settings of the host may be written by who owns them */
	CGNET_AUDIT = 8,	   /* nothing is refused; what would be is counted and told */
};

/* Value of settings, one for each slot: the class's options. */
struct cgnet_settings {
	enum cgnet_loopback loopback;
	__u32 protocols; /* enum cgnet_protocol */
	__u32 flags;	 /* enum cgnet_setting */
	__u32 rules;	 /* id of the policy's map `rules`; 0 in a class's record */
};

/* Key of unix_names: an abstract name that "unix = none" leaves reachable. Zero behind the name. */
struct cgnet_unix_name {
	__u32 slot;
	__u32 len;	/* of name, without the leading NUL of the address */
	char name[108]; /* sun_path has 108 bytes */
};

/* What `load` knows before the programs are verified: constants to the verifier. */
struct cgnet_config {
	__u64 class_cgroup;   /* id of the class's cgroup; a session is a child of it */
	__u32 has_set_retval; /* bpf_set_retval() in sock_addr programs (5.18) */
	__u32 pad;
};

/* Keys of counters. */
enum cgnet_layer {
	CGNET_LAYER_CONNECT = 0,
	CGNET_LAYER_SENDMSG = 1,
	CGNET_LAYER_CREATE = 2,
	CGNET_LAYER_EGRESS = 3,
	CGNET_LAYER_INGRESS = 4,
	CGNET_LAYER_UNIX = 5,
	CGNET_LAYER_SYSCTL = 6,
	CGNET_LAYERS,
};

/* Value of counters, one per CPU. */
struct cgnet_counts {
	__u64 allowed; /* in the layers connect and sendmsg only */
	__u64 denied;
	__u64 selftest;	  /* denied on the sentinel address */
	__u64 would_deny; /* in a class in audit mode, which let it pass */
	__u64 dropped;	  /* of denied and would_deny: no event tells of them */
};

/*
 * Events. A denial is told at once through a ring buffer, with a count of 1; further ones of the
 * same key are counted until the reader ends the interval, once a second.
 */
#define CGNET_EVENT_KEYS	8192	     /* counted apart in one interval, by all classes */
#define CGNET_EVENT_RING	(512 * 1024) /* bytes */
#define CGNET_EVENT_SESSIONS	2048	     /* known at a time; the oldest are forgotten */
#define CGNET_EVENTS_PER_SECOND 1024	     /* new keys of one session; the rest is dropped */
#define CGNET_SESSION_SIZE	72	     /* a session's name has at most 64 characters */

enum cgnet_event_verdict {
	CGNET_EVENT_DENY = 0,
	CGNET_EVENT_WOULD_DENY = 1,
};

/* What makes denials the same. */
struct cgnet_event_key {
	__u64 class;   /* cgroup id of the class */
	__u64 session; /* cgroup id of the socket's session; 0 if it has none */
	__be32 dst[4]; /* v4 as mapped; zero where the hook sees none; at ingress who connects */
	__u32 rules;   /* id of the map that rule is a row of */
	__u32 rule;
	__u16 port; /* host byte order; at ingress the session's */
	__u8 proto; /* IPPROTO_*, ICMPv6 as ICMP, IPPROTO_RAW for any SOCK_RAW */
	__u8 hook;
	__u8 verdict;	/* enum cgnet_event_verdict */
	__u8 form;	/* 4 or 6: which form of dst the prefix is of; 0 for no prefix */
	__u8 prefixlen; /* of the prefix that decided */
	__u8 pad;
};

/* Of the first denial; pid is 0 where the hook does not run in the process that sends. */
struct cgnet_event_detail {
	__u64 time;  /* ns of CLOCK_BOOTTIME */
	__u64 count; /* denials that no other event tells of */
	__u64 cgroup;
	__u32 pid; /* of the process, as the initial namespaces see it */
	__u32 uid;
	char comm[16]; /* what the session calls itself: any bytes */
};

struct cgnet_event {
	struct cgnet_event_key key;
	struct cgnet_event_detail detail;
};

/* Value of sessions, by cgroup id: the name is cgnet-run's to write, the rest the programs'. */
struct cgnet_session {
	char name[CGNET_SESSION_SIZE]; /* empty for one that was made by others */
	__u64 began;		       /* ns, the second that told is of */
	__u32 told;		       /* keys made in it */
	__u32 first;		       /* its first denial is in the map `first` */
};

#ifndef __bpf__
_Static_assert(sizeof(struct cgnet_key4) == 8, "LPM key without padding");
_Static_assert(sizeof(struct cgnet_key6) == 20, "LPM key without padding");
_Static_assert(sizeof(struct cgnet_prefix) == 16, "value without padding");
_Static_assert(sizeof(struct cgnet_port) == 16, "value without padding");
_Static_assert(sizeof(struct cgnet_rule) == CGNET_RULE_SIZE + CGNET_FILE_SIZE + 4, "no padding");
_Static_assert(sizeof(struct cgnet_settings) == 16, "value without padding");
_Static_assert(sizeof(struct cgnet_unix_name) == 116, "key without padding");
_Static_assert(sizeof(struct cgnet_event_key) == 48, "key without padding");
_Static_assert(sizeof(struct cgnet_event) == 96, "value without padding");
_Static_assert(offsetof(struct cgnet_prefix, prefixlen) == 14, "layout");
#endif

#endif
