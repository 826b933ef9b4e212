// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "launch.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "clone.h"
#include "service.h"

struct start {
	const struct opts *o;
	const struct confine *confine;
	const struct signals *signals;
	pid_t parent;
	bool by_service; /* the child is not in its session yet */
};

/* The child's last words. */
__attribute__((format(printf, 2, 3), noreturn)) static void fail(int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vdprintf(STDERR_FILENO, fmt, ap);
	va_end(ap);
	_exit(status);
}

/* CMD dies with cgnet-run, also if that was killed before this. */
static void die_with_parent(pid_t parent)
{
	pid_t now;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		fail(EXIT_REFUSED, "cgnet-run: PR_SET_PDEATHSIG: %s\n", strerror(errno));
	/* A parent outside of the child's pid namespace is seen as 0. */
	now = getppid();
	if (now && now != parent)
		_exit(EXIT_REFUSED);
}

/* Closes all descriptors from 3 on but for those to be kept, which are in ascending order. */
static void close_others(const struct opts *o)
{
	unsigned int first = STDERR_FILENO + 1;

	for (size_t i = 0; i <= o->nkeep; i++) {
		unsigned int end = i < o->nkeep ? (unsigned int)o->keep[i] : UINT_MAX;

		if (end > first && syscall(SYS_close_range, first, end - 1, 0) < 0)
			fail(EXIT_REFUSED, "cgnet-run: close_range (Linux 5.9): %s\n",
			     strerror(errno));
		if (end >= first)
			first = end + 1;
	}
}

__attribute__((noreturn)) static void run_cmd(void *arg)
{
	const struct start *start = arg;
	char **cmd = start->o->cmd;
	struct why why;
	int err;

	die_with_parent(start->parent);
	err = start->by_service ? service_enter(start->o, &why) : 0;
	if (err < 0)
		fail(EXIT_REFUSED, "cgnet-run: %s\n", why.text);
	close_others(start->o);
	err = confine_self(start->confine, &why);
	if (err < 0)
		fail(EXIT_REFUSED, "cgnet-run: %s\n", why.text);
	err = signals_restore(start->signals);
	if (err < 0)
		fail(EXIT_REFUSED, "cgnet-run: cannot restore signals: %s\n", strerror(-err));
	execvp(cmd[0], cmd);
	fail(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE, "cgnet-run: %s: %s\n", cmd[0],
	     strerror(errno));
}

pid_t launch(const struct session *s, const struct opts *o, const struct confine *confine,
	     const struct signals *signals, struct why *why)
{
	struct start start = {
		.o = o,
		.confine = confine,
		.signals = signals,
		.parent = getpid(),
	};
	pid_t pid;

	pid = clone_into_cgroup(s->fd, run_cmd, &start);
	switch (pid) {
	case -ENODEV:
		return why_set(why, -EAGAIN, "%s: removed at once by others", s->dir);
	case -ENOENT:
		/* A removed cgroup may say this as well; so does one that is out of sight. */
		return why_set(why, -EAGAIN,
			       "%s: removed at once by others, or not in this cgroup namespace",
			       s->dir);
	case -EAGAIN:
		return why_set(why, -EBUSY,
			       "cannot start in %s: no more processes (pids_max of the class, or a "
			       "limit of this host)",
			       s->dir);
	case -ENOSYS:
	case -E2BIG:
	case -EINVAL:
		return why_set(why, pid,
			       "cannot start in a cgroup: no CLONE_INTO_CGROUP (Linux 5.7)");
	default:
		if (pid < 0)
			why_set(why, pid, "cannot start in %s: %s", s->dir, strerror(-pid));
		return pid;
	}
}

pid_t launch_by_service(const struct opts *o, const struct confine *confine,
			const struct signals *signals, struct why *why)
{
	struct start start = {
		.o = o,
		.confine = confine,
		.signals = signals,
		.parent = getpid(),
		.by_service = true,
	};
	/* No clone3: where a filter refuses it, the service is to say what is the matter. */
	pid_t pid = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork) */

	if (!pid)
		run_cmd(&start); /* NOLINT(clang-analyzer-unix.Vfork): it never returns */
	return pid < 0 ? why_set(why, -errno, "vfork: %s", strerror(errno)) : pid;
}
