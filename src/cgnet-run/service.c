// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "service.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "ask.h"
#include "cgnet_state.h"
#include "message.h"
#include "procfs.h"
#include "session.h"

/* The service may wait for a `load` that is under way. */
#define ANSWER_MS 15000

union answer {
	struct cgnet_msg msg;
	struct cgnet_reply reply;
	struct cgnet_entered entered;
	char bytes[CGNET_REPLY_MAX];
};

static int copy_name(char *to, size_t size, const char *option, const char *name, struct why *why)
{
	if (name && snprintf(to, size, "%s", name) >= (int)size)
		return why_set(why, -EINVAL, "%s: too long", option);
	return 0;
}

/* A session cannot always ask, but it sees what its cgroup is called. */
static int check_outside(const struct opts *o, struct why *why)
{
	const char *cgroup = o->cgroup ? o->cgroup : CGNET_DEFAULT_CGROUP;

	if (proc_place_in_cgroup(0, cgroup) == PROC_BELOW)
		return why_set(why, -EPERM, "already in a class of %s: may enter no other", cgroup);
	return 0;
}

/* Nobody but root has any business with our cgroup. */
static int check_server(int fd, struct why *why)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		return why_set(why, -errno, "cannot tell who answers: %s", strerror(errno));
	if (cred.uid != 0)
		return why_set(why, -EPERM, "the service is run by uid %u, not by root", cred.uid);
	return 0;
}

static int connect_service(const struct opts *o, struct why *why)
{
	struct why each;
	int fd = ask_connect(o->run_dir, &each);

	if (ask_nobody(fd))
		return why_set(
			why, fd,
			"%.400s: without it only root can start sessions (cgnetd serve FILE)",
			each.text);
	return fd < 0 ? why_set(why, fd, "%s", each.text) : fd;
}

/* The answer to ENTER: a session, or the reason why not. Strings are as the service ended them. */
static int read_answer(int fd, union answer *a, struct why *why)
{
	int n = ask_receive(fd, a, sizeof(*a), ANSWER_MS, why);
	const struct cgnet_entered *entered = &a->entered;

	if (n < 0)
		return n;
	if (a->msg.type == CGNET_MSG_REPLY && (size_t)n >= sizeof(a->reply))
		return why_set(why, -EPERM, "%.*s", n - (int)sizeof(a->reply), a->reply.text);
	if (a->msg.type != CGNET_MSG_ENTERED || (size_t)n != sizeof(*entered) ||
	    !message_string(entered->class_name, sizeof(entered->class_name)) ||
	    !message_string(entered->session, sizeof(entered->session)) ||
	    !message_string(entered->mount, sizeof(entered->mount)) ||
	    !message_string(entered->cgroup, sizeof(entered->cgroup)) ||
	    !message_string(entered->warning, sizeof(entered->warning)))
		return why_set(why, -EPROTO, "the service is of another version");
	return 0;
}

/* The session is where --cgroup says. */
static int check_instance(const struct opts *o, const char *cgroup, struct why *why)
{
	size_t len;

	if (!o->cgroup)
		return 0;
	len = strlen(o->cgroup);
	if (strncmp(cgroup, o->cgroup, len) != 0 || cgroup[len] != '/')
		return why_set(why, -EINVAL, "--cgroup %s: what is loaded uses %s", o->cgroup,
			       cgroup);
	return 0;
}

/* This process is in the session, and cannot move itself elsewhere. */
static int verify(const struct cgnet_entered *e, struct why *why)
{
	char dir[sizeof(e->mount) + sizeof(e->cgroup) + 1];
	int place = proc_place_in_cgroup(0, e->cgroup);
	struct stat st;

	if (place < 0)
		return why_set(why, place, "/proc/self/cgroup: %s", strerror(-place));
	if (place != PROC_INSIDE)
		return why_set(why, -EPERM, "not in the session's cgroup, %s", e->cgroup);
	snprintf(dir, sizeof(dir), "%s/%s", e->mount, e->cgroup);
	/* It may be out of sight in a mount namespace. */
	if (lstat(dir, &st))
		return 0;
	if (!S_ISDIR(st.st_mode) || st.st_uid != 0 || st.st_mode & (S_IWGRP | S_IWOTH))
		return why_set(why, -EPERM, "%s can be changed by others than root", dir);
	return 0;
}

int service_enter(const struct opts *o, struct why *why)
{
	struct cgnet_enter request = {};
	_cleanup_close_ int fd = -1;
	union answer answer;
	int err = check_outside(o, why);

	message_start(&request.msg, CGNET_MSG_ENTER, sizeof(request));
	if (!err)
		err = copy_name(request.class_name, sizeof(request.class_name), "--class", o->class,
				why);
	if (!err)
		err = copy_name(request.session, sizeof(request.session), "--name", o->name, why);
	if (err)
		return err;
	fd = connect_service(o, why);
	err = fd < 0 ? fd : check_server(fd, why);
	if (!err)
		err = ask_send(fd, &request.msg, why);
	if (!err)
		err = read_answer(fd, &answer, why);
	if (!err)
		err = check_instance(o, answer.entered.cgroup, why);
	if (!err)
		err = verify(&answer.entered, why);
	if (!err && answer.entered.warning[0])
		dprintf(STDERR_FILENO, "cgnet-run: warning: %s\n", answer.entered.warning);
	return err;
}

int service_ask_first(const struct opts *o, const char *class_name, const char *session)
{
	struct cgnet_first request = {};
	_cleanup_close_ int fd = ask_connect(o->run_dir, NULL);
	int err = fd < 0 ? fd : check_server(fd, NULL);

	message_start(&request.msg, CGNET_MSG_FIRST, sizeof(request));
	snprintf(request.class_name, sizeof(request.class_name), "%s", class_name);
	snprintf(request.session, sizeof(request.session), "%s", session);
	if (!err)
		err = ask_send(fd, &request.msg, NULL);
	return err ? err : take_fd(&fd);
}
