// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <limits.h>
#include <string.h>
#include <time.h>

#include "cmd.h"
#include "follow.h"
#include "log.h"
#include "reload.h"
#include "serve.h"

/* The loop's clock stands still while the machine sleeps, and rules end by one that does not. */
#define LOOK_US UINT64_C(300000000)

#define SECOND UINT64_C(1000000)

struct rules_set {
	struct serve *serve;
	struct runtime runtime;
	uint32_t last; /* number of the last rule when the file was read */
	char path[PATH_MAX];
	char boot[64];
	struct event *timer;
};

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec * SECOND + now.tv_nsec / 1000;
}

static const char *word(const struct runtime_rule *rule)
{
	return rule->verdict == CGNET_ALLOW ? "allow" : "deny";
}

const struct runtime *rules_runtime(const struct rules_set *r)
{
	return &r->runtime;
}

/* --- the end of rules --- */

static void set_timer(struct rules_set *r)
{
	uint64_t end = runtime_next_end(&r->runtime), now = now_us(), us;
	struct timeval wait;

	event_del(r->timer);
	if (!end)
		return;
	us = end > now ? end - now : 0;
	if (us > LOOK_US)
		us = LOOK_US;
	wait = (struct timeval){(time_t)(us / SECOND), (suseconds_t)(us % SECOND)};
	event_add(r->timer, &wait);
}

static void save(struct rules_set *r)
{
	struct why why;

	if (runtime_save(&r->runtime, r->path, r->boot, &why))
		log_warning("%s", why.text);
}

static void changed(struct rules_set *r)
{
	save(r);
	set_timer(r);
}

static void timer_event(evutil_socket_t fd, short what, void *arg)
{
	struct rules_set *r = arg;
	size_t ended = runtime_expire(&r->runtime, now_us());

	(void)fd;
	(void)what;
	if (ended) {
		log_info("%zu run-time rule%s ended", ended, ended == 1 ? "" : "s");
		save(r);
		follow_changed(serve_follow(r->serve), LOAD_RULES);
	}
	set_timer(r);
}

void rules_reloading(struct rules_set *r)
{
	r->last = r->runtime.last;
}

void rules_reloaded(struct rules_set *r)
{
	if (runtime_reload(&r->runtime, r->last))
		changed(r);
}

/* --- requests --- */

static void describe(const struct runtime_rule *rule, char *out, size_t size)
{
	uint64_t now = now_us();
	char ends[48] = "";

	if (rule->ends)
		snprintf(ends, sizeof(ends), ", %" PRIu64 " s left",
			 rule->ends > now ? (rule->ends - now) / SECOND : 0);
	snprintf(out, size, "%" PRIu32 ": class %s: %s %s%s%s, set by uid %" PRIu32 "\n",
		 rule->number, rule->class_name, word(rule), rule->text, ends,
		 rule->keep ? ", kept" : "", rule->uid);
}

void rules_failed(struct rules_set *r, uint32_t number)
{
	if (runtime_drop(&r->runtime, number))
		changed(r);
}

static void refuse(struct client *c, const char *reason)
{
	char line[sizeof(struct why) + 1];

	snprintf(line, sizeof(line), "%s\n", reason);
	client_end(c, EXIT_REFUSED, line);
}

static void make_rule(struct client *c, const struct cgnet_rule_add *request,
		      struct runtime_rule *out)
{
	*out = (struct runtime_rule){
		.verdict = request->verdict == CGNET_ALLOW ? CGNET_ALLOW : CGNET_DENY,
		.uid = client_peer(c)->uid,
		.keep = request->keep,
		.ends = request->seconds ? now_us() + request->seconds * SECOND : 0,
	};
	memcpy(out->class_name, request->class_name, sizeof(out->class_name));
	memcpy(out->text, request->rule, sizeof(out->text));
}

void rules_add_request(struct client *c, const struct cgnet_msg *msg)
{
	struct rules_set *r = serve_rules(client_serve(c));
	struct runtime_rule rule;
	char line[512];
	struct why why;
	long number;
	int err = 0;

	make_rule(c, (const struct cgnet_rule_add *)msg, &rule);
	number = runtime_add(&r->runtime, &rule, &why);
	if (number < 0) {
		refuse(c, why.text);
		return;
	}
	if (rule.keep)
		err = runtime_save(&r->runtime, r->path, r->boot, &why);
	if (err) {
		rules_failed(r, number);
		refuse(c, why.text);
		return;
	}
	set_timer(r);
	rule.number = number;
	describe(&rule, line, sizeof(line));
	log_info("pid %d: rule %.*s", client_peer(c)->pid, (int)strcspn(line, "\n"), line);
	reload_rule(c, number, line);
}

void rules_drop_request(struct client *c, const struct cgnet_msg *msg)
{
	struct rules_set *r = serve_rules(client_serve(c));
	uint32_t number = ((const struct cgnet_rule_drop *)msg)->number;
	const struct runtime_rule *rule = runtime_find(&r->runtime, number);
	char line[512];

	if (!rule) {
		refuse(c, "there is no such run-time rule");
		return;
	}
	describe(rule, line, sizeof(line));
	log_info("uid %d, pid %d drops rule %.*s", client_peer(c)->uid, client_peer(c)->pid,
		 (int)strcspn(line, "\n"), line);
	runtime_drop(&r->runtime, number);
	changed(r);
	reload_rule(c, 0, NULL);
}

static json_object *rule_object(const struct runtime_rule *rule, uint64_t now)
{
	json_object *o = json_object_new_object();

	json_object_object_add(o, "number", json_object_new_uint64(rule->number));
	json_object_object_add(o, "class", json_object_new_string(rule->class_name));
	json_object_object_add(o, "verdict", json_object_new_string(word(rule)));
	json_object_object_add(o, "rule", json_object_new_string(rule->text));
	json_object_object_add(o, "uid", json_object_new_uint64(rule->uid));
	json_object_object_add(o, "keep", json_object_new_boolean(rule->keep));
	json_object_object_add(
		o, "seconds_left",
		rule->ends
			? json_object_new_uint64(rule->ends > now ? (rule->ends - now) / SECOND : 0)
			: NULL);
	return o;
}

static bool is_wanted(const struct cgnet_rules *request, const struct runtime_rule *rule)
{
	return !*request->class_name || !strcmp(request->class_name, rule->class_name);
}

static void list_json(const struct rules_set *r, struct client *c,
		      const struct cgnet_rules *request)
{
	json_object *out = json_object_new_object(), *list = json_object_new_array();
	const char *text;

	for (size_t i = 0; i < r->runtime.n; i++)
		if (is_wanted(request, &r->runtime.items[i]))
			json_object_array_add(list, rule_object(&r->runtime.items[i], now_us()));
	json_object_object_add(out, "rules", list);
	text = json_object_to_json_string_ext(out, JSON_C_TO_STRING_PLAIN |
							   JSON_C_TO_STRING_NOSLASHESCAPE);
	if (text) {
		client_text(c, false, text, strlen(text));
		client_text(c, false, "\n", 1);
	}
	json_object_put(out);
}

void rules_list_request(struct client *c, const struct cgnet_msg *msg)
{
	const struct rules_set *r = serve_rules(client_serve(c));
	const struct cgnet_rules *request = (const struct cgnet_rules *)msg;
	char line[512];

	if (request->json)
		list_json(r, c, request);
	for (size_t i = 0; i < r->runtime.n && !request->json; i++) {
		if (!is_wanted(request, &r->runtime.items[i]))
			continue;
		describe(&r->runtime.items[i], line, sizeof(line));
		client_text(c, false, line, strlen(line));
	}
	client_end(c, EXIT_DONE, NULL);
}

/* --- start and end --- */

static int read_boot(struct rules_set *r, struct why *why)
{
	_cleanup_close_ int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, r->boot, sizeof(r->boot) - 1);

	if (n <= 0)
		return why_set(why, -EIO, "cannot read the boot's id");
	r->boot[strcspn(r->boot, "\n")] = '\0';
	return 0;
}

/*
 * What cannot be read is left alone, and said: the policy without it is what the file says.
 */
static int open_all(struct rules_set *r, struct why *why)
{
	struct why unread;

	if (snprintf(r->path, sizeof(r->path), "%s/rules", serve_run_dir(r->serve)) >=
	    (int)sizeof(r->path))
		return why_set(why, -ENAMETOOLONG, "%s: path too long", serve_run_dir(r->serve));
	r->timer = evtimer_new(serve_base(r->serve), timer_event, r);
	if (!r->timer)
		return why_set(why, -ENOMEM, "out of memory");
	if (read_boot(r, why))
		return -EIO;
	if (runtime_load(&r->runtime, r->path, r->boot, now_us(), &unread))
		log_warning("run-time rules are lost: %s", unread.text);
	set_timer(r);
	return 0;
}

struct rules_set *rules_new(struct serve *s, struct why *why)
{
	struct rules_set *r = calloc(1, sizeof(*r));

	if (!r) {
		why_set(why, -ENOMEM, "out of memory");
		return NULL;
	}
	r->serve = s;
	if (!open_all(r, why))
		return r;
	rules_free(r);
	return NULL;
}

void rules_free(struct rules_set *r)
{
	if (!r)
		return;
	if (r->timer)
		event_free(r->timer);
	runtime_free(&r->runtime);
	free(r);
}
