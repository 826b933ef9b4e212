// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "caps.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* As many as fit in the sets. */
#define MAX_CAPS 64

/* Every kernel that cgnet-run starts a session on knows those up to here (Linux 5.9). */
#define ALWAYS_KNOWN CAP_CHECKPOINT_RESTORE

#define BIT(cap) (1ULL << (cap))

/*
 * What a root session keeps: to own, read and install files, to become another user, to serve, and
 * to use more of the machine. CAP_SETFCAP is needed to map root in a user namespace, as `bwrap
 * --unshare-user` and `unshare -r` do.
 *
 * All others are dropped, those that a later kernel knows too:
 *
 *   SYS_ADMIN            mounts (cgroupfs, bpffs), setns, bpf, and much else
 *   BPF, PERFMON         programs and links; probes that read and write kernel memory
 *   NET_ADMIN            attaches to cgroups, routes, netfilter, tun devices, SO_MARK
 *   NET_RAW              raw and packet sockets, source routes, IP_TRANSPARENT
 *   SYS_PTRACE           memory and descriptors of processes outside
 *   CHECKPOINT_RESTORE   /proc/PID/map_files and the like
 *   DAC_READ_SEARCH      open_by_handle_at(2) opens files past the view of the mounts
 *   MKNOD                devices: the disk below a file system, memory
 *   SYS_MODULE, SYS_BOOT other code in the kernel, another kernel
 *   SYS_RAWIO            memory, ports, commands to disks
 *   MAC_*, AUDIT_CONTROL, AUDIT_READ   rules and logs of others who watch
 *   SYSLOG               kernel addresses
 *   SYS_TTY_CONFIG       keys of a console that others use
 *   SYS_TIME, SYS_PACCT  concern the whole host
 */
static const __u64 kept =
	BIT(CAP_CHOWN) | BIT(CAP_DAC_OVERRIDE) | BIT(CAP_FOWNER) | BIT(CAP_FSETID) | BIT(CAP_KILL) |
	BIT(CAP_SETGID) | BIT(CAP_SETUID) | BIT(CAP_SETPCAP) | BIT(CAP_SETFCAP) |
	BIT(CAP_LINUX_IMMUTABLE) | BIT(CAP_NET_BIND_SERVICE) | BIT(CAP_IPC_LOCK) |
	BIT(CAP_IPC_OWNER) | BIT(CAP_SYS_CHROOT) | BIT(CAP_SYS_NICE) | BIT(CAP_SYS_RESOURCE) |
	BIT(CAP_LEASE) | BIT(CAP_AUDIT_WRITE) | BIT(CAP_WAKE_ALARM) | BIT(CAP_BLOCK_SUSPEND);

typedef struct __user_cap_data_struct cap_sets[_LINUX_CAPABILITY_U32S_3];

static int caps_get(cap_sets sets)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	return syscall(SYS_capget, &header, sets) ? -errno : 0;
}

/* Taking from the inheritable set takes from the ambient one too. */
static int caps_set(const cap_sets sets)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	return syscall(SYS_capset, &header, sets) ? -errno : 0;
}

bool caps_any(void)
{
	cap_sets sets;

	return caps_get(sets) < 0 || sets[0].permitted || sets[1].permitted;
}

/*
 * Of the bounding set, which is what root gets when it executes a program; with no_new_privs it
 * gets no more than it has. CAP_NET_RAW stays in that set, since a program whose file asks for what
 * is not in it, as ping's does, cannot be executed at all.
 */
static int drop_bounding(void)
{
	const __u64 bounding = kept | BIT(CAP_NET_RAW);

	for (unsigned long cap = 0; cap < MAX_CAPS; cap++) {
		if (bounding & BIT(cap) || !prctl(PR_CAPBSET_DROP, cap, 0, 0, 0))
			continue;
		return errno == EINVAL && cap > ALWAYS_KNOWN ? 0 : -errno;
	}
	return 0;
}

static int drop_held(void)
{
	cap_sets sets;
	int err;

	err = caps_get(sets);
	if (err < 0)
		return err;
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		__u32 mask = (__u32)(kept >> (32 * i));

		sets[i].effective &= mask;
		sets[i].permitted &= mask;
		sets[i].inheritable &= mask;
	}
	return caps_set(sets);
}

int caps_drop(struct why *why)
{
	int err;

	err = drop_bounding();
	if (!err)
		err = drop_held();
	if (err < 0)
		return why_set(why, err, "cannot drop capabilities: %s", strerror(-err));
	return 0;
}
