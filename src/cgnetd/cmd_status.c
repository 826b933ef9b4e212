// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "ask.h"
#include "cgroup.h"
#include "cmd.h"
#include "message.h"
#include "report.h"
#include "service.h"
#include "status.h"

/* How long the service may take for a packet. */
#define NAMES_MS 5000

static void show_limits(const struct class_status *c)
{
	char wanted[LIMIT_STR_SIZE], in_force[LIMIT_STR_SIZE];

	for (int i = 0; i < CGNET_LIMITS; i++) {
		const struct class_limit *l = &c->limits[i];

		if (!l->wanted)
			continue;
		printf("  limit     %s %s, %llu%s in use\n", cgroup_limit_name(i),
		       limit_format(i, l->wanted, wanted),
		       (unsigned long long)(i == CGNET_LIMIT_MEMORY ? l->usage >> 10 : l->usage),
		       i == CGNET_LIMIT_MEMORY ? "K" : "");
		if (l->lost)
			printf("  warning   %s is %s in the cgroup; load sets it again\n",
			       cgroup_limit_name(i), limit_format(i, l->in_force, in_force));
	}
}

static void show_class(const struct class_status *c, const char *default_class)
{
	char names[256];
	struct cgnet_counts sum = status_sum(c);

	printf("class %s%s\n", c->name, strcmp(c->name, default_class) ? "" : " (default class)");
	printf("  cgroup    %s\n", c->cgroup);
	printf("  policy    default %s, loopback %s, %u IPv4 and %u IPv6 prefixes\n",
	       c->info.fallback == CGNET_ALLOW ? "allow" : "deny",
	       loopback_name(c->info.settings.loopback), c->info.prefixes4, c->info.prefixes6);
	if (c->info.keep_privileges)
		printf("  warning   privileges = keep: a root session can undo the policy\n");
	if (status_audits(c))
		printf("  WARNING   mode = audit: NOTHING IS REFUSED, only told\n");
	printf("  layers   ");
	for (int i = 0; i < CGNET_LAYERS; i++)
		printf(" %s %s%s%s", layer_name(i), c->off[i].text[0] ? "OFF (" : "on",
		       c->off[i].text, c->off[i].text[0] ? ")" : "");
	printf("\n  verdicts  %llu allowed, %llu denied", (unsigned long long)sum.allowed,
	       (unsigned long long)sum.denied);
	if (status_audits(c) || sum.would_deny)
		printf(", %llu would be denied", (unsigned long long)sum.would_deny);
	printf("; of %llu no event tells\n", (unsigned long long)sum.dropped);
	show_limits(c);
	printf("  sessions  %zu%s%s\n", c->sessions.n, c->sessions.n ? ": " : "",
	       sessions_format(&c->sessions, names, sizeof(names)));
}

static void show_set(const char *name, const struct prefixes *list)
{
	char text[PREFIX_STR_SIZE];

	printf("%-10s", name);
	for (size_t i = 0; i < list->n; i++)
		printf(" %s", prefix_format(&list->items[i], text));
	printf("\n");
}

/* What host names lead to, as the service has it; to be freed. NULL without one. */
static char *ask_names(const struct options *opt)
{
	struct cgnet_names request = {.json = opt->json};
	_cleanup_close_ int fd = service_connect(&opt->instance, NULL);
	char *text = NULL;
	size_t size;
	FILE *f = fd < 0 ? NULL : open_memstream(&text, &size);
	int status;

	if (!f)
		return NULL;
	message_start(&request.msg, CGNET_MSG_NAMES, sizeof(request));
	status = ask(fd, &request.msg, NAMES_MS, f, f, NULL);
	if (!fclose(f) && !status)
		return text;
	free(text);
	return NULL;
}

static void show(const struct status *s, const char *names)
{
	for (size_t i = 0; i < s->n; i++)
		show_class(&s->classes[i], s->info.default_class);
	printf("sets, as the policy in force has them:\n");
	show_set("@host", &s->sets.host);
	show_set("@onlink", &s->sets.onlink);
	show_set("@resolver", &s->sets.resolver);
	if (names && *names)
		printf("names in allow:\n%s", names);
}

int cmd_status(const struct options *opt)
{
	_cleanup_free_ char *names = NULL;
	struct status s;
	struct why why;
	int err = status_read(&opt->instance, true, &s, &why);

	if (err) {
		fprintf(stderr, "cgnetd: status: %s\n", why.text);
		return EXIT_REFUSED;
	}
	names = ask_names(opt);
	if (opt->json)
		err = report_status(&s, names);
	else
		show(&s, names);
	status_free(&s);
	if (err)
		fprintf(stderr, "cgnetd: status: out of memory\n");
	return err ? EXIT_REFUSED : EXIT_DONE;
}
