// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "requests.h"

#include <string.h>

#include "enter.h"
#include "feed.h"
#include "lookups.h"
#include "reload.h"
#include "rules.h"
#include "serve.h"

enum who {
	WHO_ANYONE, /* outside of the classes */
	WHO_OPERATOR,
	WHO_ROOT,
};

static void instance_request(struct client *c, const struct cgnet_msg *msg)
{
	const struct cgnet_instance *request = (const struct cgnet_instance *)msg;
	const char *bpffs = serve_instance(client_serve(c))->bpffs;

	client_end(c, strcmp(request->bpffs, bpffs) ? EXIT_REFUSED : EXIT_DONE, NULL);
}

/*
 * Handlers get the message as it came, checked by message_check(). They must not block, and have to
 * call client_end() sooner or later.
 */
static const struct {
	enum cgnet_msg_type type;
	enum who who;
	const char *name;
	void (*handle)(struct client *c, const struct cgnet_msg *msg);
} requests[] = {
	{CGNET_MSG_ENTER, WHO_ANYONE, "enter", enter_request},
	{CGNET_MSG_INSTANCE, WHO_ANYONE, "instance", instance_request},
	{CGNET_MSG_LOAD, WHO_ROOT, "load", reload_request},
	{CGNET_MSG_EVENTS, WHO_OPERATOR, "events", feed_events_request},
	{CGNET_MSG_FIRST, WHO_ANYONE, "first", feed_first_request},
	{CGNET_MSG_METRICS, WHO_ANYONE, "metrics", feed_metrics_request},
	{CGNET_MSG_RULE_ADD, WHO_OPERATOR, "rule", rules_add_request},
	{CGNET_MSG_RULE_DROP, WHO_OPERATOR, "forget", rules_drop_request},
	{CGNET_MSG_NAMES, WHO_OPERATOR, "names", lookups_request},
	{CGNET_MSG_RULES, WHO_OPERATOR, "rules", rules_list_request},
};

static bool may(const struct client *c, enum who who)
{
	const struct peer *p = client_peer(c);

	if (who == WHO_ANYONE || p->uid == 0)
		return true;
	return who == WHO_OPERATOR && serve_is_operator(client_serve(c), p);
}

void request_dispatch(struct client *c, const struct cgnet_msg *msg)
{
	const struct peer *p = client_peer(c);
	struct why why;

	for (size_t i = 0; i < ARRAY_SIZE(requests); i++) {
		if (requests[i].type != msg->type)
			continue;
		/* A session gets neither another class, nor the authority of who runs it. */
		if (peer_check_outside(p, serve_cgroup(client_serve(c)), &why)) {
			client_log(c, "uid %u, pid %d: %s refused: %s", p->uid, p->pid,
				   requests[i].name, why.text);
			client_end(c, 1, why.text);
		} else if (!may(c, requests[i].who)) {
			client_log(c, "uid %u, pid %d: %s refused: no right to it", p->uid, p->pid,
				   requests[i].name);
			client_end(c, 1, "no right to it");
		} else {
			requests[i].handle(c, msg);
		}
		return;
	}
	client_end(c, 1, "unknown request");
}
