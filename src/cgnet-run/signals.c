// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "procfs.h"

int signals_hold(struct signals *s, struct why *why)
{
	static const struct sigaction dfl = {.sa_handler = SIG_DFL};
	struct sigaction old;
	sigset_t all;

	sigfillset(&all);
	if (sigprocmask(SIG_SETMASK, &all, &s->mask) < 0 || sigaction(SIGCHLD, &dfl, &old) < 0)
		return why_set(why, -errno, "cannot take signals: %s", strerror(errno));
	s->chld_ignored = old.sa_handler == SIG_IGN;
	return 0;
}

int signals_restore(const struct signals *s)
{
	static const struct sigaction ign = {.sa_handler = SIG_IGN};

	if (s->chld_ignored && sigaction(SIGCHLD, &ign, NULL) < 0)
		return -errno;
	return sigprocmask(SIG_SETMASK, &s->mask, NULL) ? -errno : 0;
}

/* Whether the kernel sends this one to the process group of a terminal. */
static bool is_from_terminal(const siginfo_t *si)
{
	static const int sent[] = {
		SIGHUP, SIGINT, SIGQUIT, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU, SIGWINCH,
	};

	if (si->si_code != SI_KERNEL)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(sent); i++)
		if (si->si_signo == sent[i])
			return true;
	return false;
}

/* Whether CMD got the signal too, as a member of our process group. */
static bool child_has_it(const siginfo_t *si, pid_t child)
{
	/* When a terminal goes away its session leader alone is told, by these two. */
	if ((si->si_signo == SIGHUP || si->si_signo == SIGCONT) && getsid(0) == getpid())
		return false;
	return getpgid(child) == getpgrp();
}

/* Whether the session itself sent it: `kill 0` in CMD, which would go round in circles. */
static bool is_from_session(const siginfo_t *si, pid_t child, const char *cgroup)
{
	if (si->si_code > 0 || si->si_pid <= 0)
		return false;
	return si->si_pid == proc_own_pid(child) ||
	       proc_place_in_cgroup(si->si_pid, cgroup) > PROC_OUTSIDE;
}

static void pass_on(const siginfo_t *si, pid_t child, const char *cgroup)
{
	if (is_from_terminal(si)) {
		if (child_has_it(si, child))
			return;
	} else if (is_from_session(si, child, cgroup)) {
		return;
	}
	kill(child, si->si_signo);
}

/* Stops by the signal that stopped CMD, so that a shell reports and continues the job as usual. */
static void stop_self(int signo)
{
	static const struct sigaction dfl = {.sa_handler = SIG_DFL};
	sigset_t one;

	sigaction(signo, &dfl, NULL);
	sigemptyset(&one);
	sigaddset(&one, signo);
	raise(signo);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	/* Here it is stopped, and goes on with SIGCONT. */
	sigprocmask(SIG_BLOCK, &one, NULL);
}

/*
 * Stops with the child. A shell that continues the job puts our process group in front. If the
 * child is a shell with a group of its own that was in front, it gets the terminal back.
 */
static void stop_with(pid_t child, int signo)
{
	_cleanup_close_ int tty = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
	pid_t front = getpgid(child);

	if (tty < 0 || front == getpgrp() || tcgetpgrp(tty) != front)
		front = 0;
	stop_self(signo);
	if (front && tcgetpgrp(tty) == getpgrp())
		tcsetpgrp(tty, front);
}

/* Looks at what became of the child. Returns its exit status, or -1 while there is none. */
static int check_child(pid_t child)
{
	siginfo_t si = {0};

	if (waitid(P_PID, (id_t)child, &si, WEXITED | WSTOPPED | WNOHANG) < 0 || !si.si_pid)
		return -1;
	switch (si.si_code) {
	case CLD_EXITED:
		return si.si_status;
	case CLD_STOPPED:
		stop_with(child, si.si_status);
		return -1;
	default:
		return 128 + si.si_status;
	}
}

/* Waits for a signal; as long as there may be a hint to give, no longer than for a tick. */
static int wait_signal(const sigset_t *set, siginfo_t *si, const struct hint *hint)
{
	static const struct timespec tick = {.tv_nsec = HINT_TICK_NS};

	return sigtimedwait(set, si, hint->tty < 0 ? NULL : &tick);
}

int supervise(pid_t child, const char *cgroup, struct hint *hint)
{
	sigset_t all;
	siginfo_t si;
	int status;

	sigfillset(&all);
	for (;;) {
		int signo = wait_signal(&all, &si, hint);

		hint_tick(hint);
		if (signo < 0)
			continue;
		if (si.si_signo == SIGCHLD) {
			status = check_child(child);
			if (status >= 0) {
				hint_last(hint);
				return status;
			}
		}
		if (si.si_signo != SIGCHLD || si.si_code <= 0)
			pass_on(&si, child, cgroup);
	}
}
