// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "grants.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>

/* Finds the number of a name, which may be a number itself. Returns false if there is no such. */
static bool find_id(const struct grant *grant, uint32_t *id)
{
	const struct passwd *user = grant->group ? NULL : getpwnam(grant->who);
	const struct group *group = grant->group ? getgrnam(grant->who) : NULL;
	unsigned long number;
	char *end;

	if (user || group) {
		*id = user ? user->pw_uid : group->gr_gid;
		return true;
	}
	errno = 0;
	number = strtoul(grant->who, &end, 10);
	if (grant->who[0] < '0' || grant->who[0] > '9' || *end || errno || number >= UINT32_MAX)
		return false;
	*id = (uint32_t)number;
	return true;
}

int grants_resolve(const struct policy *p, struct diags *d, struct grants *out)
{
	struct grants g = {};

	for (size_t i = 0; i < p->ngrants; i++) {
		const struct grant *grant = &p->grants[i];
		struct granted *item;
		uint32_t id;

		if (!find_id(grant, &id)) {
			diag_warning(d, p->file, grant->line, "there is no %s \"%.64s\"",
				     grant->group ? "group" : "user", grant->who);
			continue;
		}
		if (ARRAY_RESERVE(&g.items, &g.cap, g.n)) {
			grants_free(&g);
			return -ENOMEM;
		}
		item = &g.items[g.n++];
		*item = (struct granted){
			.id = id,
			.line = (uint32_t)grant->line,
			.group = grant->group,
			.is_operator = grant->is_operator,
		};
		memcpy(item->class_name, grant->class_name, sizeof(item->class_name));
	}
	*out = g;
	return 0;
}

void grants_free(struct grants *g)
{
	free(g->items);
	*g = (struct grants){};
}

static bool is_for(const struct granted *item, const struct peer *peer)
{
	return item->group ? peer_has_group(peer, item->id) : item->id == peer->uid;
}

/* The grant of the class, or with "" the one that counts: the user's own before those of groups. */
static const struct granted *find(const struct grants *g, const struct peer *peer,
				  const char *wanted)
{
	const struct granted *found = NULL;

	for (size_t i = 0; i < g->n; i++) {
		const struct granted *item = &g->items[i];

		if (!*item->class_name || !is_for(item, peer) ||
		    (*wanted && strcmp(item->class_name, wanted) != 0))
			continue;
		if (!item->group)
			return item;
		if (!found)
			found = item;
	}
	return found;
}

int grants_choose(const struct grants *g, const struct peer *peer, const char *wanted,
		  const char *default_class, bool (*exists)(const char *name, void *arg), void *arg,
		  struct choice *out, struct why *why)
{
	const struct granted *grant = find(g, peer, wanted);
	const char *name = grant ? grant->class_name : *wanted ? wanted : default_class;
	struct choice choice = {};

	if (*wanted && !grant && peer->uid != 0 && strcmp(wanted, default_class) != 0)
		return why_set(why, -EPERM, "class %s: not granted to uid %u", wanted, peer->uid);
	if (grant && !exists(name, arg)) {
		snprintf(choice.warning, sizeof(choice.warning),
			 "the class granted to %s %u, %s, is not loaded: in the default class, %s",
			 grant->group ? "group" : "uid", grant->id, name, default_class);
		name = default_class;
	}
	if (!*name)
		return why_set(why, -ENOENT,
			       "nothing is granted to uid %u, and the policy has no default_class",
			       peer->uid);
	snprintf(choice.class_name, sizeof(choice.class_name), "%s", name);
	*out = choice;
	return 0;
}

bool grants_operator(const struct grants *g, const struct peer *peer)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->items[i].is_operator && is_for(&g->items[i], peer))
			return true;
	return false;
}
