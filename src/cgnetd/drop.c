// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "drop.h"

#include <cap-ng.h>
#include <errno.h>
#include <seccomp.h>
#include <string.h>
#include <sys/prctl.h>

/* What stays, and why. */
static const struct {
	unsigned int capability;
	bool start_only; /* until stage 2 */
} kept[] = {
	/* Programs and maps are loaded on every reload; the verifier has to take programs that read
	 * kernel structures; they are attached, and asked for. Flows are reset. */
	{CAP_BPF, false},
	{CAP_PERFMON, false},
	{CAP_NET_ADMIN, false},
	/* Maps by their id, and the network namespace of the self-test. */
	{CAP_SYS_ADMIN, false},
	/* The self-test's raw socket has to be refused by the policy, and not for the lack of this.
	 */
	{CAP_NET_RAW, false},
	/* The child that resolves names becomes nobody. */
	{CAP_SETUID, false},
	{CAP_SETGID, false},
	/* Ends sessions where there is no cgroup.kill (before Linux 5.14). */
	{CAP_KILL, false},
	/* /proc of other users' processes where it hides them; ptrace(2) itself is refused below.
	 */
	{CAP_SYS_PTRACE, false},
	/* A policy, or a list of it, in a directory of somebody else's. */
	{CAP_DAC_READ_SEARCH, false},
	/* The first cgroup is made in the root of the hierarchy, which not even root may write to.
	 */
	{CAP_DAC_OVERRIDE, true},
};

/* What is refused in stage 2. */
static const int refused[] = {
	/* Other programs. */
	SCMP_SYS(execve),
	SCMP_SYS(execveat),
	/* Other processes. */
	SCMP_SYS(ptrace),
	SCMP_SYS(process_vm_readv),
	SCMP_SYS(process_vm_writev),
	SCMP_SYS(pidfd_getfd),
	SCMP_SYS(kcmp),
	/* Mounts and other namespaces than those just made. */
	SCMP_SYS(mount),
	SCMP_SYS(umount2),
	SCMP_SYS(pivot_root),
	SCMP_SYS(open_tree),
	SCMP_SYS(move_mount),
	SCMP_SYS(fsopen),
	SCMP_SYS(fsconfig),
	SCMP_SYS(fsmount),
	SCMP_SYS(fspick),
	SCMP_SYS(mount_setattr),
	SCMP_SYS(setns),
	/* The kernel and the machine. */
	SCMP_SYS(init_module),
	SCMP_SYS(finit_module),
	SCMP_SYS(delete_module),
	SCMP_SYS(kexec_load),
	SCMP_SYS(kexec_file_load),
	SCMP_SYS(reboot),
	SCMP_SYS(swapon),
	SCMP_SYS(swapoff),
	SCMP_SYS(acct),
	SCMP_SYS(quotactl),
	SCMP_SYS(syslog),
	SCMP_SYS(settimeofday),
	SCMP_SYS(clock_settime),
	SCMP_SYS(adjtimex),
	SCMP_SYS(clock_adjtime),
	SCMP_SYS(sethostname),
	SCMP_SYS(setdomainname),
	SCMP_SYS(iopl),
	SCMP_SYS(ioperm),
	/* Ways around what else is checked. */
	SCMP_SYS(open_by_handle_at),
	SCMP_SYS(io_uring_setup),
	SCMP_SYS(io_uring_enter),
	SCMP_SYS(io_uring_register),
	SCMP_SYS(userfaultfd),
	SCMP_SYS(perf_event_open),
	SCMP_SYS(add_key),
	SCMP_SYS(request_key),
	SCMP_SYS(keyctl),
	SCMP_SYS(personality),
	SCMP_SYS(mknodat),
};

/* Keeps those that the process has and that are kept at this stage. */
static int keep(bool start, capng_select_t sets, struct why *why)
{
	bool keeps[ARRAY_SIZE(kept)];

	if (capng_get_caps_process())
		return why_set(why, -EIO, "cannot read the capabilities");
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		keeps[i] = (start || !kept[i].start_only) &&
			   capng_have_capability(CAPNG_PERMITTED, kept[i].capability);
	capng_clear(sets);
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		if (keeps[i])
			capng_update(CAPNG_ADD,
				     CAPNG_EFFECTIVE | CAPNG_PERMITTED | CAPNG_BOUNDING_SET,
				     kept[i].capability);
	if (capng_apply(sets))
		return why_set(why, -EPERM, "cannot drop capabilities");
	return 0;
}

int drop_first(struct why *why)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return why_set(why, -errno, "no_new_privs: %s", strerror(errno));
	return keep(true, CAPNG_SELECT_ALL, why);
}

static int drop_syscalls(struct why *why)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int err = filter ? 0 : -ENOMEM;

	for (size_t i = 0; i < ARRAY_SIZE(refused) && !err; i++)
		/* Negative numbers stand for calls that this architecture has not got. */
		if (refused[i] >= 0)
			err = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), refused[i], 0);
	if (!err)
		err = seccomp_load(filter);
	seccomp_release(filter);
	return err ? why_set(why, err, "seccomp: %s", strerror(-err)) : 0;
}

int drop_more(struct why *why)
{
	int err = keep(false, CAPNG_SELECT_CAPS, why);

	return err ? err : drop_syscalls(why);
}
