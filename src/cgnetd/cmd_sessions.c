// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The subcommands sessions and kill. */
#include <errno.h>
#include <string.h>
#include <sys/file.h>

#include "cgroup.h"
#include "cmd.h"
#include "procfs.h"
#include "report.h"
#include "session.h"
#include "sessions.h"

/* Goes through the sessions that live, class by class. */
struct walk {
	const struct instance *in;
	struct cgnet_info info;
	int (*visit)(const struct live_session *s, struct walk *walk);
	struct why *why;
	/* sessions */
	struct live_sessions found;
	/* kill */
	const char *class_name, *session;
	char path[PATH_MAX], place[CGNET_NAME_SIZE + CGNET_SESSION_SIZE];
	size_t matches;
};

/* Fills in the processes: how many, and the first one. Nothing where it is over meanwhile. */
static void read_processes(const char *path, struct live_session *s)
{
	char file[PATH_MAX];
	_cleanup_fclose_ FILE *f = NULL;
	unsigned int ids[4];
	int pid;

	if (snprintf(file, sizeof(file), "%s/cgroup.procs", path) < (int)sizeof(file))
		f = fopen(file, "re");
	while (f && fscanf(f, "%d", &pid) == 1)
		if (!s->processes++)
			s->pid = pid;
	if (s->pid && !proc_uids(s->pid, ids))
		s->uid = ids[0];
	if (s->pid)
		proc_comm(s->pid, s->comm, sizeof(s->comm));
}

static int visit_class(const char *name, void *arg)
{
	struct walk *walk = arg;
	struct sessions live = {};
	char path[PATH_MAX];
	int err = instance_cgroup(&walk->info, path, name, walk->why);

	if (!err)
		err = sessions_list(path, &live);
	for (size_t i = 0; i < live.n && !err; i++) {
		struct live_session s = {};

		snprintf(s.class_name, sizeof(s.class_name), "%s", name);
		snprintf(s.name, sizeof(s.name), "%s", live.names[i]);
		if (snprintf(s.cgroup, sizeof(s.cgroup), "%s/%s", path, live.names[i]) <
		    (int)sizeof(s.cgroup))
			err = walk->visit(&s, walk);
	}
	sessions_free(&live);
	return err ? why_set(walk->why, err, "class %s: cannot list its sessions: %s", name,
			     strerror(-err))
		   : 0;
}

/* Under the lock, which is to be closed by the caller. Returns it or a negative errno. */
static int each_session(struct walk *walk)
{
	_cleanup_close_ int lock = instance_lock(walk->in, LOCK_SH, false, walk->why);
	int err = lock < 0 ? lock : instance_info(walk->in, &walk->info, walk->why);

	if (!err)
		err = instance_each_class(walk->in, visit_class, walk);
	return err ? err : take_fd(&lock);
}

static int add(const struct live_session *s, struct walk *walk)
{
	struct live_sessions *found = &walk->found;

	if (ARRAY_RESERVE(&found->items, &found->cap, found->n))
		return -ENOMEM;
	found->items[found->n] = *s;
	read_processes(s->cgroup, &found->items[found->n++]);
	return 0;
}

static void show(const struct live_sessions *found)
{
	if (found->n)
		printf("%-20s %-24s %9s %10s %10s  %s\n", "CLASS", "SESSION", "PROCESSES", "UID",
		       "PID", "COMMAND");
	for (size_t i = 0; i < found->n; i++) {
		const struct live_session *s = &found->items[i];

		printf("%-20s %-24s %9zu %10u %10d  %s\n", s->class_name, s->name, s->processes,
		       s->uid, s->pid, s->comm);
	}
}

static int refuse(const char *command, const struct why *why)
{
	fprintf(stderr, "cgnetd: %s: %s\n", command, why->text);
	return EXIT_REFUSED;
}

int cmd_sessions(const struct options *opt)
{
	struct why why;
	struct walk walk = {.in = &opt->instance, .visit = add, .why = &why};
	_cleanup_close_ int lock = each_session(&walk);
	int err = 0;

	if (lock < 0)
		return refuse("sessions", &why);
	if (opt->json)
		err = report_sessions(&walk.found);
	else
		show(&walk.found);
	free(walk.found.items);
	return err ? refuse("sessions", &(struct why){"out of memory"}) : EXIT_DONE;
}

static int match(const struct live_session *s, struct walk *walk)
{
	if (strcmp(s->name, walk->session) != 0 ||
	    (walk->class_name && strcmp(s->class_name, walk->class_name) != 0))
		return 0;
	walk->matches++;
	memcpy(walk->path, s->cgroup, sizeof(walk->path));
	snprintf(walk->place, sizeof(walk->place), "%s/%s", s->class_name, s->name);
	return 0;
}

static int kill_match(const struct walk *walk, struct why *why)
{
	int err;

	if (!walk->matches)
		return why_set(why, -ESRCH, "no session of that name lives");
	if (walk->matches > 1)
		return why_set(why, -EEXIST, "%zu classes have a session of that name: CLASS/%s",
			       walk->matches, walk->session);
	err = cgroup_kill(walk->path);
	if (err)
		return why_set(why, err, "%s: %s", walk->path, strerror(-err));
	session_remove_dead(walk->path);
	return 0;
}

int cmd_kill(const struct options *opt, char *session)
{
	struct why why;
	struct walk walk = {.in = &opt->instance, .visit = match, .why = &why, .session = session};
	char *slash = strchr(session, '/');
	_cleanup_close_ int lock = -1;

	if (geteuid() != 0)
		return refuse("kill", &(struct why){"must be run as root"});
	if (slash) {
		*slash = '\0';
		walk.class_name = session;
		walk.session = slash + 1;
	}
	lock = each_session(&walk);
	if (lock < 0 || kill_match(&walk, &why))
		return refuse("kill", &why);
	printf("ended %s\n", walk.place);
	return EXIT_DONE;
}
