// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "event_names.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "bpffs.h"
#include "cgroup.h"

#define NSEC_PER_SEC 1000000000LL

/* Tables of rules that are kept open: those in force, and some that were. */
#define RULES_KEPT 256

struct known_class {
	__u64 id; /* of its cgroup */
	char name[CGNET_NAME_SIZE];
	int lost; /* descriptor */
};

struct known_rules {
	__u32 id;
	int fd;
};

struct event_names {
	struct instance in;
	struct cgnet_info info;
	int sessions;
	struct known_class *classes;
	size_t nclasses, classes_cap;
	struct known_rules rules[RULES_KEPT];
	size_t next; /* the table to be forgotten next */
};

/* Keeps fd, unless that table is known. */
static void keep_rules(struct event_names *n, int fd)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);
	struct known_rules *at = &n->rules[n->next];
	bool known = bpf_obj_get_info_by_fd(fd, &info, &len) < 0 ||
		     info.value_size != sizeof(struct cgnet_rule);

	for (size_t i = 0; i < RULES_KEPT && !known; i++)
		known = n->rules[i].fd >= 0 && n->rules[i].id == info.id;
	if (known) {
		close(fd);
		return;
	}
	if (at->fd >= 0)
		close(at->fd);
	*at = (struct known_rules){info.id, fd};
	n->next = (n->next + 1) % RULES_KEPT;
}

static struct known_class *find_class(struct event_names *n, __u64 id)
{
	for (size_t i = 0; i < n->nclasses; i++)
		if (n->classes[i].id == id)
			return &n->classes[i];
	return NULL;
}

static int read_class(const char *dir, struct cgnet_class_info *out)
{
	_cleanup_close_ int fd = bpffs_open(dir, CGNET_PIN_CLASS, NULL);
	struct bpf_map_info info = {};
	__u32 len = sizeof(info), key = 0;

	if (fd < 0)
		return fd;
	if (bpf_obj_get_info_by_fd(fd, &info, &len) < 0 || info.value_size != sizeof(*out) ||
	    bpf_map_lookup_elem(fd, &key, out) < 0)
		return -EPROTO;
	return 0;
}

/* A class that is being removed, or not there as yet, is passed over. */
static int learn_class(const char *name, void *arg)
{
	struct event_names *n = arg;
	struct cgnet_class_info info;
	struct known_class *c;
	char dir[PATH_MAX];
	int fd;

	if (instance_path(&n->in, dir, name, NULL, NULL) || read_class(dir, &info))
		return 0;
	fd = bpffs_open(dir, "rules", NULL);
	if (fd >= 0)
		keep_rules(n, fd);
	fd = bpffs_open(dir, CGNET_PIN_LOST, NULL);
	if (fd < 0)
		return 0;
	c = find_class(n, info.cgroup_id);
	if (c) {
		/* Made anew, it may have another. */
		close(c->lost);
		c->lost = fd;
		return 0;
	}
	if (ARRAY_RESERVE(&n->classes, &n->classes_cap, n->nclasses)) {
		close(fd);
		return -ENOMEM;
	}
	c = &n->classes[n->nclasses++];
	*c = (struct known_class){.id = info.cgroup_id, .lost = fd};
	snprintf(c->name, sizeof(c->name), "%s", name);
	return 0;
}

static void learn(struct event_names *n)
{
	instance_each_class(&n->in, learn_class, n);
}

struct event_names *event_names_new(const struct instance *in, struct why *why)
{
	struct event_names *n = calloc(1, sizeof(*n));
	int err;

	if (!n) {
		why_set(why, -ENOMEM, "out of memory");
		return NULL;
	}
	n->in = *in;
	n->sessions = -1;
	for (size_t i = 0; i < RULES_KEPT; i++)
		n->rules[i].fd = -1;
	err = instance_info(in, &n->info, why);
	if (!err) {
		n->sessions = bpffs_open(in->bpffs, CGNET_PIN_SESSIONS, why);
		err = n->sessions < 0;
	}
	if (err) {
		event_names_free(n);
		return NULL;
	}
	learn(n);
	return n;
}

void event_names_free(struct event_names *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->nclasses; i++)
		close(n->classes[i].lost);
	for (size_t i = 0; i < RULES_KEPT; i++)
		if (n->rules[i].fd >= 0)
			close(n->rules[i].fd);
	if (n->sessions >= 0)
		close(n->sessions);
	free(n->classes);
	free(n);
}

static struct known_class *class_of(struct event_names *n, const struct cgnet_event *event)
{
	struct known_class *c = find_class(n, event->key.class);

	if (!c) {
		learn(n);
		c = find_class(n, event->key.class);
	}
	return c;
}

static bool read_rule(const struct event_names *n, const struct cgnet_event_key *key,
		      struct cgnet_rule *out)
{
	for (size_t i = 0; i < RULES_KEPT; i++)
		if (n->rules[i].fd >= 0 && n->rules[i].id == key->rules)
			return bpf_map_lookup_elem(n->rules[i].fd, &key->rule, out) == 0;
	return false;
}

/* The policy may have changed since, or be a moment from being pinned. */
static void find_rule(struct event_names *n, const struct cgnet_event_key *key,
		      struct cgnet_rule *out)
{
	int fd;

	if (read_rule(n, key, out))
		return;
	learn(n);
	if (read_rule(n, key, out))
		return;
	fd = bpf_map_get_fd_by_id(key->rules);
	if (fd >= 0)
		keep_rules(n, fd);
	if (!read_rule(n, key, out))
		memset(out, 0, sizeof(*out));
}

struct search {
	const char *class_dir;
	__u64 id;
	char *out;
};

static int compare_id(const char *name, void *arg)
{
	const struct search *search = arg;
	char path[PATH_MAX];
	struct stat st;

	if (snprintf(path, sizeof(path), "%s/%s", search->class_dir, name) >= (int)sizeof(path) ||
	    stat(path, &st) < 0 || st.st_ino != search->id)
		return 0;
	snprintf(search->out, CGNET_SESSION_SIZE, "%.*s", CGNET_SESSION_SIZE - 1, name);
	return 1;
}

/* cgnet-run records the names; a session that others made can be found while it lives. */
static void name_session(struct event_names *n, const char *class_name, __u64 id,
			 char out[CGNET_SESSION_SIZE])
{
	struct search search = {.id = id, .out = out};
	struct cgnet_session record;
	char dir[PATH_MAX];

	out[0] = '\0';
	if (!id)
		return;
	if (bpf_map_lookup_elem(n->sessions, &id, &record) == 0 && record.name[0]) {
		memcpy(out, record.name, CGNET_SESSION_SIZE);
		out[CGNET_SESSION_SIZE - 1] = '\0';
		return;
	}
	search.class_dir = dir;
	if (!class_name || instance_cgroup(&n->info, dir, class_name, NULL) ||
	    cgroup_each_child(dir, compare_id, &search) != 1)
		snprintf(out, CGNET_SESSION_SIZE, "%llu", (unsigned long long)id);
}

static int64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

void event_names_view(struct event_names *n, const struct cgnet_event *event,
		      struct event_view *out)
{
	const struct known_class *c = class_of(n, event);

	*out = (struct event_view){.event = *event};
	out->time = now_ns(CLOCK_REALTIME) - now_ns(CLOCK_BOOTTIME) + (int64_t)event->detail.time;
	if (c)
		snprintf(out->class, sizeof(out->class), "%s", c->name);
	else
		snprintf(out->class, sizeof(out->class), "%llu",
			 (unsigned long long)event->key.class);
	name_session(n, c ? c->name : NULL, event->key.session, out->session);
	find_rule(n, &event->key, &out->rule);
}

void event_names_lose(struct event_names *n, const struct cgnet_event *event)
{
	const struct known_class *c = class_of(n, event);
	__u32 layer = event->key.hook < CGNET_HOOKS ? cgnet_hooks[event->key.hook].layer : 0;
	__u64 lost;

	/* One reader at a time, so nobody else writes here. */
	if (!c || bpf_map_lookup_elem(c->lost, &layer, &lost) < 0)
		return;
	lost += event->detail.count;
	bpf_map_update_elem(c->lost, &layer, &lost, BPF_ANY);
}

int event_names_first(struct event_names *n, const char *class_name, const char *session,
		      struct cgnet_event *out)
{
	_cleanup_close_ int fd = bpffs_open(n->in.bpffs, CGNET_PIN_FIRST, NULL);
	char path[PATH_MAX], dir[PATH_MAX];
	struct stat st;
	__u64 id;

	if (fd < 0 || instance_cgroup(&n->info, dir, class_name, NULL) ||
	    snprintf(path, sizeof(path), "%s/%s", dir, session) >= (int)sizeof(path))
		return -EINVAL;
	if (stat(path, &st) < 0)
		return -errno;
	id = st.st_ino;
	return bpf_map_lookup_elem(fd, &id, out) < 0 ? -errno : 0;
}
