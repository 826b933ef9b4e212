// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "status.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

#include "bpffs.h"
#include "cgroup.h"
#include "class_limits.h"
#include "live_class.h"
#include "programs.h"
#include "shared.h"

static const char *const layer_names[CGNET_LAYERS] = {
	[CGNET_LAYER_CONNECT] = "connect", [CGNET_LAYER_SENDMSG] = "sendmsg",
	[CGNET_LAYER_CREATE] = "create",   [CGNET_LAYER_EGRESS] = "egress",
	[CGNET_LAYER_INGRESS] = "ingress", [CGNET_LAYER_UNIX] = "unix",
	[CGNET_LAYER_SYSCTL] = "sysctl",
};

const char *layer_name(enum cgnet_layer layer)
{
	return layer_names[layer];
}

const char *loopback_name(enum cgnet_loopback loopback)
{
	static const char *const names[] = {
		[CGNET_LOOPBACK_DENY] = "deny",
		[CGNET_LOOPBACK_SESSION] = "session",
		[CGNET_LOOPBACK_ALLOW] = "allow",
	};

	return loopback < ARRAY_SIZE(names) ? names[loopback] : "?";
}

struct cgnet_counts status_sum(const struct class_status *c)
{
	struct cgnet_counts sum = {};

	for (int i = 0; i < CGNET_LAYERS; i++) {
		sum.allowed += c->counts[i].allowed;
		sum.denied += c->counts[i].denied;
		sum.selftest += c->counts[i].selftest;
		sum.would_deny += c->counts[i].would_deny;
		sum.dropped += c->counts[i].dropped;
	}
	return sum;
}

/* The kernel is asked: a link that was detached by force still has its pin. */
static bool is_attached(int cgroup_fd, enum cgnet_hook hook, __u32 prog_id)
{
	__u32 ids[64], n = ARRAY_SIZE(ids), flags;

	if (bpf_prog_query(cgroup_fd, cgnet_hooks[hook].type, 0, &flags, ids, &n) < 0)
		return false;
	for (__u32 i = 0; i < n; i++)
		if (ids[i] == prog_id)
			return true;
	return false;
}

static void check_layers(struct class_status *c)
{
	_cleanup_close_ int fd = open(c->cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (int hook = 0; hook < CGNET_HOOKS; hook++) {
		struct why *off = &c->off[cgnet_hooks[hook].layer];

		if (!hook_is_wanted(hook, &c->info.settings))
			why_set(off, 0, "not asked for");
		else if (fd < 0)
			why_set(off, 0, "no cgroup %s", c->cgroup);
		else if (!is_attached(fd, hook, c->info.prog_ids[hook]))
			why_set(off, 0, "%s is not attached", cgnet_hooks[hook].name);
	}
}

const char *limit_format(enum cgnet_limit limit, uint64_t value, char buf[LIMIT_STR_SIZE])
{
	static const char units[] = "KMGT";
	int unit = -1;

	for (; limit == CGNET_LIMIT_MEMORY && unit < 3 && value && !(value % 1024); unit++)
		value /= 1024;
	if (value)
		snprintf(buf, LIMIT_STR_SIZE, "%llu%.1s", (unsigned long long)value,
			 unit < 0 ? "" : &units[unit]);
	else
		snprintf(buf, LIMIT_STR_SIZE, "none");
	return buf;
}

static void check_limits(struct class_status *c)
{
	for (int i = 0; i < CGNET_LIMITS; i++) {
		struct class_limit *l = &c->limits[i];

		l->wanted = c->info.limits[i];
		if (l->wanted)
			l->lost = cgroup_limit_get(c->cgroup, i, &l->in_force, &l->usage) ||
				  !class_limits_equal(i, l->in_force, l->wanted);
	}
}

static int read_class(struct class_status *c, const char *dir, struct why *why)
{
	struct live_class lc = LIVE_CLASS_NONE;
	int err = live_class_open(&lc, dir, why);

	if (!err)
		err = live_class_read(&lc, &c->info, why);
	for (int layer = 0; layer < CGNET_LAYERS && !err; layer++) {
		err = live_class_counts(&lc, layer, &c->counts[layer]);
		if (err)
			why_set(why, err, "cannot read the counters: %s", strerror(-err));
	}
	live_class_close(&lc);
	if (err)
		return err;
	check_layers(c);
	check_limits(c);
	err = sessions_list(c->cgroup, &c->sessions);
	return err ? why_set(why, err, "cannot list sessions: %s", strerror(-err)) : 0;
}

struct walk {
	const struct instance *in;
	struct status *status;
	struct why *why;
};

static int add_class(const char *name, void *arg)
{
	struct walk *walk = arg;
	struct status *s = walk->status;
	struct class_status *grown = realloc(s->classes, (s->n + 1) * sizeof(*grown)), *c;
	char dir[PATH_MAX];
	struct why inner;
	int err;

	if (!grown)
		return why_set(walk->why, -ENOMEM, "out of memory");
	s->classes = grown;
	c = &s->classes[s->n++];
	*c = (struct class_status){};
	snprintf(c->name, sizeof(c->name), "%s", name);
	err = instance_path(walk->in, dir, name, NULL, &inner);
	if (!err)
		err = instance_cgroup(&s->info, c->cgroup, name, &inner);
	if (!err)
		err = read_class(c, dir, &inner);
	return err ? why_set(walk->why, err, "class %s: %.400s", name, inner.text) : 0;
}

static int add_member(const struct cgnet_set_member *m, void *arg)
{
	struct facts *f = arg;
	struct {
		const char *name;
		struct prefixes *list;
	} const lists[] = {{"host", &f->host},
			   {"onlink", &f->onlink},
			   {"broadcast", &f->broadcast},
			   {"resolver", &f->resolver}};
	struct prefix p = {.family = m->family, .len = m->len};

	memcpy(p.bytes, m->addr, sizeof(p.bytes));
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		if (!strcmp(m->set, lists[i].name))
			return prefixes_add(lists[i].list, &p);
	return 0;
}

int status_read(const struct instance *in, bool wait, struct status *out, struct why *why)
{
	_cleanup_close_ int lock = wait ? instance_lock(in, LOCK_SH, false, why) : -1;
	struct status s = {};
	struct walk walk = {in, &s, why};
	int err = wait && lock < 0 ? lock : instance_info(in, &s.info, why);

	if (!err)
		err = instance_each_class(in, add_class, &walk);
	if (!err)
		err = shared_each_set_member(in, add_member, &s.sets, why);
	if (err) {
		status_free(&s);
		return err;
	}
	*out = s;
	return 0;
}

void status_free(struct status *s)
{
	for (size_t i = 0; i < s->n; i++)
		sessions_free(&s->classes[i].sessions);
	free(s->classes);
	facts_free(&s->sets);
	*s = (struct status){};
}
