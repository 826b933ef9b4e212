// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "ask.h"
#include "cmd.h"
#include "message.h"
#include "report.h"
#include "service.h"
#include "status.h"

/* How long the service may take for a packet. */
#define NAMES_MS 5000

static void show_class(const struct class_status *c, const char *default_class)
{
	char names[256];
	__u64 allowed = 0, denied = 0;

	for (int i = 0; i < CGNET_LAYERS; i++) {
		allowed += c->counts[i].allowed;
		denied += c->counts[i].denied;
	}
	printf("class %s%s\n", c->name, strcmp(c->name, default_class) ? "" : " (default class)");
	printf("  cgroup    %s\n", c->cgroup);
	printf("  policy    default %s, loopback %s, %u IPv4 and %u IPv6 prefixes\n",
	       c->info.fallback == CGNET_ALLOW ? "allow" : "deny",
	       loopback_name(c->info.settings.loopback), c->info.prefixes4, c->info.prefixes6);
	if (c->info.keep_privileges)
		printf("  warning   privileges = keep: a root session can undo the policy\n");
	printf("  layers   ");
	for (int i = 0; i < CGNET_LAYERS; i++)
		printf(" %s %s%s%s", layer_name(i), c->off[i].text[0] ? "OFF (" : "on",
		       c->off[i].text, c->off[i].text[0] ? ")" : "");
	printf("\n  verdicts  %llu allowed, %llu denied\n", (unsigned long long)allowed,
	       (unsigned long long)denied);
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
	int err = status_read(&opt->instance, &s, &why);

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
