// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Runs a command in a new session of a class: in its cgroup, with only its descriptors. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>

#include "announce.h"
#include "class.h"
#include "confine.h"
#include "hint.h"
#include "launch.h"
#include "opts.h"
#include "procfs.h"
#include "session.h"
#include "signals.h"

/* Others may remove the cgroup, while it is empty, or take its name. */
#define START_TRIES 8

/*
 * Puts something in place of a closed standard descriptor, so that none of ours is taken for it.
 * It is closed for CMD, as it was.
 */
static int fill_std_fds(struct why *why)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		if (open("/", O_PATH | O_CLOEXEC) != fd)
			return why_set(why, -errno, "descriptor %d: %s", fd, strerror(errno));
	}
	return 0;
}

/* Returns the pid of CMD, which runs in the session, or -errno with a reason. */
static pid_t start_once(struct session *s, const struct class *c, const struct opts *o,
			const struct confine *confine, const struct signals *signals,
			struct why *why)
{
	const struct session_class home = {c->cgroup, c->dir};
	pid_t pid;

	pid = session_open(s, &home, o->name, why);
	if (pid < 0)
		return pid;
	announce(s, o->bpffs);
	pid = launch(s, o, confine, signals, why);
	session_close(s);
	if (pid < 0)
		session_remove(s);
	return pid;
}

static pid_t start(struct session *s, const struct opts *o, const struct signals *signals,
		   const struct class *c, struct why *why)
{
	struct confine confine;
	pid_t pid;

	pid = confine_prepare(&confine, c->keep_privileges, why);
	if (pid < 0)
		return pid;
	pid = -EAGAIN;
	for (int i = 0; i < START_TRIES && pid == -EAGAIN; i++)
		pid = start_once(s, c, o, &confine, signals, why);
	return pid;
}

/* As root: a session of our own making. Returns the pid of CMD, or -errno with a reason. */
static pid_t enter(struct session *s, struct class *c, const struct opts *o,
		   const struct signals *signals, struct why *why)
{
	struct instance instance = INSTANCE_INIT;
	pid_t pid = instance_open(&instance, o->bpffs, o->cgroup, why);

	if (!pid)
		pid = class_find(c, &instance, o->class, why);
	if (!pid)
		pid = start(s, o, signals, c, why);
	instance_close(&instance);
	return pid;
}

/* As anybody else: the service makes the session, and removes it when it is over. */
static pid_t enter_by_service(struct session *s, const struct opts *o,
			      const struct signals *signals, struct why *why)
{
	struct confine confine;
	pid_t pid = confine_prepare(&confine, false, why);

	if (!pid)
		pid = launch_by_service(o, &confine, signals, why);
	if (pid > 0 && proc_cgroup(pid, s->cgroup, sizeof(s->cgroup)))
		s->cgroup[0] = '\0';
	return pid;
}

/* Only CMD holds on to the caller's pipes from here on. */
static void close_all(struct hint *hint)
{
	syscall(SYS_close_range, hint_move_down(hint), UINT_MAX, 0);
}

/* What both ways have to do first. */
static int prepare(const struct opts *o, struct signals *signals, struct why *why)
{
	int err = fill_std_fds(why);

	if (!err && o->name)
		err = session_check_name(o->name, why);
	return err ? err : signals_hold(signals, why);
}

static int run(const struct opts *o)
{
	struct session session = SESSION_INIT;
	bool root = geteuid() == 0;
	struct signals signals;
	struct class class;
	struct hint hint;
	struct why why;
	int status;
	pid_t pid;

	pid = prepare(o, &signals, &why);
	if (!pid)
		pid = root ? enter(&session, &class, o, &signals, &why)
			   : enter_by_service(&session, o, &signals, &why);
	if (pid < 0) {
		fprintf(stderr, "cgnet-run: %s\n", why.text);
		return EXIT_REFUSED;
	}
	hint_open(&hint, o, &session, root);
	close_all(&hint);
	status = supervise(pid, session.cgroup, &hint);
	if (root) {
		session_remove(&session);
		session_sweep(class.dir);
	}
	return status;
}

int main(int argc, char **argv)
{
	struct opts o;
	int status;

	if (opts_parse(&o, argc, argv) < 0)
		return EXIT_REFUSED;
	status = run(&o);
	opts_free(&o);
	return status;
}
