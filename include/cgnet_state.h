/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What cgnetd leaves for cgnet-run and for its own next call: names of pins and the two maps that
 * describe an instance and a class. Only user space reads these.
 *
 * No class name starts with "_", so the instance's own pins do (bpffs forbids dots in names).
 *
 *   BPFFS/_generation        the word that selects the slots in force (mmapable array)
 *   BPFFS/_info              array of one struct cgnet_info
 *   BPFFS/_sets              what the dynamic sets held when the policy was loaded
 *   BPFFS/_events            the ring buffer of events
 *   BPFFS/_pending           two hashes of events that are being counted
 *   BPFFS/_interval          the word that says which of the two, or that nobody reads
 *   BPFFS/_sessions          names of sessions, and how much each has told
 *   BPFFS/_first             the first denial of each session
 *   BPFFS/_reader            an empty directory, for the lock of who reads
 *   BPFFS/_CLASS             a class that a `load` under way builds
 *   BPFFS/CLASS/class        array of one struct cgnet_class_info
 *   BPFFS/CLASS/deny4,deny6  the tries in force
 *   BPFFS/CLASS/ports,rules  what their values point to
 *   BPFFS/CLASS/slots4,...   the outer maps that the programs read
 *   BPFFS/CLASS/counters     verdicts per layer
 *   BPFFS/CLASS/lost         events per layer that got as far as a reader, and no further
 *   BPFFS/CLASS/HOOK         the links, named as in cgnet_hooks
 *
 * A later version may add fields at the end of the two records and raise CGNET_ABI_VERSION, their
 * first word. `load` takes over what an earlier version pinned and makes all of it anew; what a
 * later one pinned is refused.
 */
#ifndef CGNET_STATE_H
#define CGNET_STATE_H

#include <linux/bpf.h>

#include "cgnet_abi.h"

#define CGNET_DEFAULT_BPFFS   "/sys/fs/bpf/cgnet"
#define CGNET_DEFAULT_CGROUP  "cgnet"
#define CGNET_DEFAULT_RUN_DIR "/run/cgnet"

#define CGNET_PIN_GENERATION "_generation"
#define CGNET_PIN_INFO	     "_info"
#define CGNET_PIN_SETS	     "_sets"
#define CGNET_PIN_EVENTS     "_events"
#define CGNET_PIN_PENDING    "_pending"
#define CGNET_PIN_INTERVAL   "_interval"
#define CGNET_PIN_SESSIONS   "_sessions"
#define CGNET_PIN_FIRST	     "_first"
#define CGNET_PIN_READER     "_reader"
#define CGNET_PIN_CLASS	     "class"
#define CGNET_PIN_LOST	     "lost"

/* Index of a program in cgnet_class_info.prog_ids. */
enum cgnet_hook {
	CGNET_HOOK_CONNECT4,
	CGNET_HOOK_CONNECT6,
	CGNET_HOOK_SENDMSG4,
	CGNET_HOOK_SENDMSG6,
	CGNET_HOOK_SETSOCKOPT,
	CGNET_HOOK_CREATE,
	CGNET_HOOK_EGRESS,
	CGNET_HOOK_INGRESS,
	CGNET_HOOK_CONNECT_UNIX,
	CGNET_HOOK_SENDMSG_UNIX,
	CGNET_HOOK_SYSCTL,
	CGNET_HOOK_DEVICE,
	CGNET_HOOKS,
};

/* Linux 6.7; older headers do not have them. */
#define CGNET_BPF_CGROUP_UNIX_CONNECT 49
#define CGNET_BPF_CGROUP_UNIX_SENDMSG 50

/* A hook's name (pin, program, "hook" in events), where it is attached, and its layer. */
static const struct {
	const char *name;
	unsigned int type; /* enum bpf_attach_type */
	enum cgnet_layer layer;
} cgnet_hooks[CGNET_HOOKS] = {
	[CGNET_HOOK_CONNECT4] = {"connect4", BPF_CGROUP_INET4_CONNECT, CGNET_LAYER_CONNECT},
	[CGNET_HOOK_CONNECT6] = {"connect6", BPF_CGROUP_INET6_CONNECT, CGNET_LAYER_CONNECT},
	[CGNET_HOOK_SENDMSG4] = {"sendmsg4", BPF_CGROUP_UDP4_SENDMSG, CGNET_LAYER_SENDMSG},
	[CGNET_HOOK_SENDMSG6] = {"sendmsg6", BPF_CGROUP_UDP6_SENDMSG, CGNET_LAYER_SENDMSG},
	[CGNET_HOOK_SETSOCKOPT] = {"setsockopt", BPF_CGROUP_SETSOCKOPT, CGNET_LAYER_SENDMSG},
	[CGNET_HOOK_CREATE] = {"create", BPF_CGROUP_INET_SOCK_CREATE, CGNET_LAYER_CREATE},
	[CGNET_HOOK_EGRESS] = {"egress", BPF_CGROUP_INET_EGRESS, CGNET_LAYER_EGRESS},
	[CGNET_HOOK_INGRESS] = {"ingress", BPF_CGROUP_INET_INGRESS, CGNET_LAYER_INGRESS},
	[CGNET_HOOK_CONNECT_UNIX] = {"connect_unix", CGNET_BPF_CGROUP_UNIX_CONNECT,
				     CGNET_LAYER_UNIX},
	[CGNET_HOOK_SENDMSG_UNIX] = {"sendmsg_unix", CGNET_BPF_CGROUP_UNIX_SENDMSG,
				     CGNET_LAYER_UNIX},
	[CGNET_HOOK_SYSCTL] = {"sysctl", BPF_CGROUP_SYSCTL, CGNET_LAYER_SYSCTL},
	[CGNET_HOOK_DEVICE] = {"device", BPF_CGROUP_DEVICE, CGNET_LAYER_CREATE},
};

/* Index in cgnet_class_info.limits. */
enum cgnet_limit {
	CGNET_LIMIT_PIDS,   /* tasks */
	CGNET_LIMIT_MEMORY, /* bytes */
	CGNET_LIMITS,
};

/* The instance. Strings are NUL-terminated; an empty class name means that there is none. */
struct cgnet_info {
	__u32 abi; /* CGNET_ABI_VERSION of the cgnetd that pinned all this */
	char default_class[CGNET_NAME_SIZE];
	char root_class[CGNET_NAME_SIZE]; /* what uid 0 gets without --class */
	char mount[256];		  /* the cgroup2 mount, "/sys/fs/cgroup" */
	char cgroup[256];		  /* below it, "cgnet"; classes are its children */
	__u32 made_parts;		  /* the last so many parts of cgroup were made by cgnetd */
};

struct cgnet_class_info {
	__u32 abi;
	__u32 keep_privileges; /* cgnet-run leaves a root session its capabilities */
	struct cgnet_settings settings;
	__u32 fallback;	 /* enum cgnet_verdict */
	__u32 prefixes4; /* entries of deny4 and deny6 */
	__u32 prefixes6;
	__u32 prog_ids[CGNET_HOOKS]; /* 0 where the class needs no program */
	__u32 programs;		     /* which build of the programs it is, see programs_build() */
	__u64 cgroup_id;	     /* st_ino of the class's directory */
	__u64 limits[CGNET_LIMITS];  /* of all its sessions together; 0 for none */
	__u8 digest[32];	     /* SHA-256 of the compiled class */
};

_Static_assert(sizeof(struct cgnet_class_info) ==
		       36 + 4 * (CGNET_HOOKS + 1) + 8 * CGNET_LIMITS + 40,
	       "no padding");

/* What a dynamic set held when the policy was loaded. */
struct cgnet_set_member {
	char set[12]; /* "host", "onlink", "resolver", "broadcast" */
	__u8 family;  /* AF_INET or AF_INET6; 0 ends the table */
	__u8 len;     /* bits */
	__u8 pad[2];
	__u8 addr[16]; /* network byte order */
};

#endif
