// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "pidns.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

/* Between two looks for processes that are not its children. */
#define PAUSE_NS 10000000L

/*
 * Init of the namespace: as long as it lives the others do. All signals are blocked. The session
 * cannot touch it, because it has more capabilities. launcher is a pidfd.
 */
__attribute__((noreturn)) static void be_init(int launcher)
{
	static const struct timespec pause = {.tv_nsec = PAUSE_NS};
	struct pollfd gone = {.fd = STDIN_FILENO, .events = POLLIN};

	/* Its children, orphans of the session, are buried by the kernel then. */
	signal(SIGCHLD, SIG_IGN);
	/* It holds on to nothing of the caller's. */
	if (dup2(launcher, STDIN_FILENO) < 0 || chdir("/") < 0)
		_exit(EXIT_FAILURE);
	syscall(SYS_close_range, STDIN_FILENO + 1, UINT_MAX, 0);
	setsid();
	while (poll(&gone, 1, -1) <= 0)
		;
	for (;;) {
		while (!waitid(P_ALL, 0, NULL, WEXITED) || errno == EINTR)
			;
		/* CMD, killed with its parent, may not have come to its end yet. */
		if (kill(-1, 0) < 0)
			_exit(EXIT_SUCCESS);
		nanosleep(&pause, NULL);
	}
}

static int enter(pid_t init)
{
	_cleanup_close_ int fd = -1;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)init);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWPID) < 0)
		return -errno;
	return 0;
}

int pidns_enter(struct why *why)
{
	struct clone_args args = {.flags = CLONE_NEWPID};
	_cleanup_close_ int launcher = -1;
	pid_t init;
	int err;

	launcher = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (launcher < 0)
		return why_set(why, -errno, "pidfd_open: %s", strerror(errno));
	init = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	if (!init)
		be_init(launcher);
	err = init < 0 ? -errno : enter(init);
	if (err < 0)
		return why_set(why, err, "pid namespace: %s", strerror(-err));
	return 0;
}
