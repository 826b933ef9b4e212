// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "doctor.h"

#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/magic.h>
#include <linux/sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#include "cgroup.h"
#include "probe.h"

int finding_add(struct findings *f, const char *name, enum finding_state state, const char *detail,
		const char *advice)
{
	struct finding *item;
	int err = ARRAY_RESERVE(&f->items, &f->cap, f->n);

	if (err)
		return err;
	item = &f->items[f->n++];
	*item = (struct finding){.name = name, .state = state};
	snprintf(item->detail, sizeof(item->detail), "%s", detail);
	snprintf(item->advice, sizeof(item->advice), "%s", advice);
	return 0;
}

static int check_privilege(struct findings *f)
{
	if (geteuid() == 0)
		return finding_add(f, "privilege", FINDING_OK, "running as root", "");
	return finding_add(f, "privilege", FINDING_MISSING, "not running as root",
			   "run doctor as root: what follows was tried without privilege");
}

static int check_cgroup(struct findings *f)
{
	char mount[PATH_MAX], detail[PATH_MAX + 64];
	struct why why;

	if (cgroup_find_mount(mount, sizeof(mount), &why))
		return finding_add(f, "cgroup2", FINDING_MISSING, why.text,
				   "no class can exist: mount cgroup2, or boot with "
				   "systemd.unified_cgroup_hierarchy=1");
	snprintf(detail, sizeof(detail), "mounted at %s", mount);
	return finding_add(f, "cgroup2", FINDING_OK, detail, "");
}

/* Whether there is a mount of type with option, which is one of the file system's own. */
static bool has_mount(const char *type, const char *option)
{
	_cleanup_fclose_ FILE *f = fopen("/proc/self/mountinfo", "re");
	_cleanup_free_ char *line = NULL;
	bool found = false;
	char key[32];
	size_t cap = 0;

	snprintf(key, sizeof(key), " - %s ", type);
	while (f && !found && getline(&line, &cap, f) > 0) {
		const char *at = strstr(line, key);

		found = at && strstr(at, option);
	}
	return found;
}

static int check_delegation(struct findings *f)
{
	/* It is an option of the whole hierarchy, so that any mount of it tells. */
	if (has_mount("cgroup2", "nsdelegate"))
		return finding_add(f, "delegation", FINDING_OK,
				   "cgroup2 is mounted with nsdelegate", "");
	return finding_add(f, "delegation", FINDING_WARNING,
			   "cgroup2 is mounted without nsdelegate",
			   "a root session can move processes outside into its own cgroup, and end "
			   "them there: mount -o remount,nsdelegate on the mount of cgroup2");
}

/* Whether a socket's cgroup of v2 has a word of its own, which net_cls and net_prio leave alone. */
static bool has_own_word(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int id = btf ? btf__find_by_name_kind(btf, "sock_cgroup_data", BTF_KIND_STRUCT) : -1;
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, id) : NULL;
	bool found = false;

	for (int i = 0; t && i < btf_vlen(t); i++)
		found |= !strcmp(btf__name_by_offset(btf, btf_members(t)[i].name_off), "cgroup");
	btf__free(btf);
	return found;
}

/* Sessions are in the root of these hierarchies, and so that is what a cgroup namespace shows. */
static int check_v1(struct findings *f)
{
	if (!has_mount("cgroup", ""))
		return 0;
	if ((has_mount("cgroup", "net_cls") || has_mount("cgroup", "net_prio")) && !has_own_word())
		return finding_add(f, "cgroup v1", FINDING_WARNING,
				   "net_cls or net_prio is mounted",
				   "before Linux 5.15 new sockets are in no class once one of them "
				   "is used, by "
				   "a root session too: boot with cgroup_no_v1=net_cls,net_prio");
	return finding_add(f, "cgroup v1", FINDING_WARNING, "hierarchies of cgroup v1 are mounted",
			   "a root session can rule processes outside by them, and end or freeze "
			   "them: boot with systemd.unified_cgroup_hierarchy=1");
}

/* The kernel asks for no capability there, and no program of ours sees the write. */
static int check_sysrq(struct findings *f)
{
	if (access("/proc/sysrq-trigger", F_OK) < 0)
		return 0;
	return finding_add(f, "sysrq", FINDING_WARNING, "/proc/sysrq-trigger belongs to root",
			   "a root session can restart this host by it");
}

static int check_bpffs(struct findings *f)
{
	struct statfs fs;

	if (statfs("/sys/fs/bpf", &fs) < 0)
		return finding_add(f, "bpffs", FINDING_MISSING, "no /sys/fs/bpf",
				   "nothing can be pinned: mount sysfs, and a kernel with "
				   "CONFIG_BPF_SYSCALL");
	if ((unsigned long)fs.f_type != BPF_FS_MAGIC)
		return finding_add(f, "bpffs", FINDING_OK, "not mounted; load mounts it", "");
	return finding_add(f, "bpffs", FINDING_OK, "mounted at /sys/fs/bpf", "");
}

static int check_btf(struct findings *f)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK) == 0)
		return finding_add(f, "BTF", FINDING_OK, "/sys/kernel/btf/vmlinux", "");
	return finding_add(f, "BTF", FINDING_MISSING, "no /sys/kernel/btf/vmlinux",
			   "the programs cannot be fitted to this kernel: it needs "
			   "CONFIG_DEBUG_INFO_BTF");
}

/* A layer by its first hook that the kernel refuses. */
static int check_layer(struct findings *f, enum cgnet_layer layer, const char *name,
		       enum finding_state without, const char *advice)
{
	struct why why;

	for (int hook = 0; hook < CGNET_HOOKS; hook++)
		if (cgnet_hooks[hook].layer == layer && probe_hook(hook, &why))
			return finding_add(f, name, without, why.text, advice);
	return finding_add(f, name, FINDING_OK, "a program of each hook loads", "");
}

static int check_layers(struct findings *f)
{
	static const char *const required = "required: load fails without it";
	int err = check_layer(f, CGNET_LAYER_CONNECT, "layer connect", FINDING_MISSING, required);

	if (!err)
		err = check_layer(f, CGNET_LAYER_SENDMSG, "layer sendmsg", FINDING_MISSING,
				  required);
	if (!err)
		err = check_layer(f, CGNET_LAYER_CREATE, "layer create", FINDING_MISSING, required);
	if (!err)
		err = check_layer(f, CGNET_LAYER_EGRESS, "layer egress", FINDING_MISSING, required);
	if (!err)
		err = check_layer(f, CGNET_LAYER_SYSCTL, "layer sysctl", FINDING_MISSING, required);
	if (!err)
		err = check_layer(f, CGNET_LAYER_INGRESS, "layer ingress", FINDING_WARNING,
				  "a class with inbound = deny is refused");
	if (!err)
		err = check_layer(
			f, CGNET_LAYER_UNIX, "layer unix", FINDING_WARNING,
			"a class with unix = none is refused; without that option sessions "
			"reach the Unix sockets below");
	return err;
}

static int check_errno(struct findings *f)
{
	if (probe_set_retval())
		return finding_add(f, "refusals", FINDING_OK,
				   "a connect to one's own closed port fails with ECONNREFUSED",
				   "");
	return finding_add(
		f, "refusals", FINDING_WARNING, "programs cannot choose the errno (Linux 5.18)",
		"a connect to a closed port of this host is answered by the host, not by "
		"the program; the packet check still applies");
}

/* Where the flag is known, a directory that is no cgroup is refused with EBADF. */
static int check_clone(struct findings *f)
{
	_cleanup_close_ int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct clone_args args = {.flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD, .cgroup = fd};
	long pid = fd < 0 ? -1 : syscall(SYS_clone3, &args, sizeof(args));

	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	else if (errno == EBADF)
		return finding_add(f, "session start", FINDING_OK,
				   "clone3 starts a process inside a cgroup", "");
	return finding_add(
		f, "session start", FINDING_MISSING, "clone3 cannot name a cgroup",
		"cgnet-run cannot start sessions: it needs CLONE_INTO_CGROUP (Linux 5.7)");
}

static int check_landlock(struct findings *f)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	char detail[64];

	snprintf(detail, sizeof(detail), "Landlock ABI %ld", abi < 0 ? 0 : abi);
	if (abi >= 6)
		return finding_add(f, "confinement", FINDING_OK, detail, "");
	return finding_add(f, "confinement", FINDING_WARNING, detail,
			   "no scoping (Linux 6.12, lsm= with landlock): ptrace, process_vm_* and "
			   "pidfd_getfd are refused to sessions altogether");
}

static int check_limits(struct findings *f)
{
	char name[32], advice[64];
	struct why why;
	int err = 0;

	for (int i = 0; i < CGNET_LIMITS && !err; i++) {
		if (!cgroup_limit_probe(i, &why)) {
			snprintf(name, sizeof(name), "%s is on cgroup2",
				 cgroup_limit_controller(i));
			err = finding_add(f, "controller", FINDING_OK, name, "");
			continue;
		}
		snprintf(advice, sizeof(advice), "a class with %s is refused",
			 cgroup_limit_name(i));
		err = finding_add(f, "controller", FINDING_WARNING, why.text, advice);
	}
	return err;
}

int doctor_kernel(struct findings *f)
{
	int (*const checks[])(struct findings *) = {
		check_privilege, check_cgroup,	 check_delegation, check_v1,
		check_bpffs,	 check_btf,	 check_layers,	   check_errno,
		check_clone,	 check_landlock, check_sysrq,	   check_limits,
	};
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(checks) && !err; i++)
		err = checks[i](f);
	return err;
}
