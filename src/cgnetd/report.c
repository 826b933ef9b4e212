// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report.h"

#include <errno.h>
#include <json-c/json.h>

#include "cgroup.h"

/* json-c takes ownership of value; a NULL (out of memory) is remembered in *ok. */
static void add(json_object *to, const char *key, json_object *value, bool *ok)
{
	if (!value || json_object_object_add(to, key, value))
		*ok = false;
}

static void append(json_object *array, json_object *value, bool *ok)
{
	if (!value || json_object_array_add(array, value))
		*ok = false;
}

static const char *verdict_name(enum cgnet_verdict verdict)
{
	return verdict == CGNET_ALLOW ? "allow" : "deny";
}

static json_object *layers(const struct class_status *c, bool *ok)
{
	json_object *out = json_object_new_object();

	for (int i = 0; i < CGNET_LAYERS; i++) {
		char text[sizeof(c->off[i].text) + 8];

		snprintf(text, sizeof(text), "off: %s", c->off[i].text);
		add(out, layer_name(i), json_object_new_string(c->off[i].text[0] ? text : "on"),
		    ok);
	}
	return out;
}

static json_object *counters(const struct class_status *c, bool *ok)
{
	json_object *out = json_object_new_object();

	for (int i = 0; i < CGNET_LAYERS; i++) {
		json_object *layer = json_object_new_object();

		add(layer, "allowed", json_object_new_uint64(c->counts[i].allowed), ok);
		add(layer, "denied", json_object_new_uint64(c->counts[i].denied), ok);
		add(layer, "would_deny", json_object_new_uint64(c->counts[i].would_deny), ok);
		add(layer, "dropped", json_object_new_uint64(c->counts[i].dropped), ok);
		add(out, layer_name(i), layer, ok);
	}
	return out;
}

/* What is in force: {"pids_max":{"limit":100,"usage":3}}; null where the policy states none. */
static json_object *limits(const struct class_status *c, bool *ok)
{
	json_object *out = json_object_new_object();

	for (int i = 0; i < CGNET_LIMITS; i++) {
		const struct class_limit *l = &c->limits[i];
		json_object *limit;

		if (!l->wanted) {
			/* json-c's null is NULL. */
			json_object_object_add(out, cgroup_limit_name(i), NULL);
			continue;
		}
		limit = json_object_new_object();
		add(limit, "limit", json_object_new_uint64(l->in_force), ok);
		add(limit, "usage", json_object_new_uint64(l->usage), ok);
		add(limit, "policy", json_object_new_uint64(l->wanted), ok);
		add(out, cgroup_limit_name(i), limit, ok);
	}
	return out;
}

static json_object *session_names(const struct sessions *s, bool *ok)
{
	json_object *out = json_object_new_array();

	for (size_t i = 0; i < s->n; i++)
		append(out, json_object_new_string(s->names[i]), ok);
	return out;
}

static json_object *class_object(const struct class_status *c, bool *ok)
{
	json_object *out = json_object_new_object();
	struct cgnet_counts sum = status_sum(c);

	add(out, "name", json_object_new_string(c->name), ok);
	add(out, "cgroup", json_object_new_string(c->cgroup), ok);
	add(out, "default", json_object_new_string(verdict_name(c->info.fallback)), ok);
	add(out, "mode", json_object_new_string(status_audits(c) ? "audit" : "enforce"), ok);
	add(out, "loopback", json_object_new_string(loopback_name(c->info.settings.loopback)), ok);
	add(out, "inbound",
	    json_object_new_string(c->info.settings.flags & CGNET_INBOUND_DENY ? "deny" : "allow"),
	    ok);
	add(out, "unix",
	    json_object_new_string(c->info.settings.flags & CGNET_UNIX_NONE ? "none" : "any"), ok);
	add(out, "privileges", json_object_new_string(c->info.keep_privileges ? "keep" : "drop"),
	    ok);
	add(out, "limits", limits(c, ok), ok);
	add(out, "sessions", json_object_new_uint64(c->sessions.n), ok);
	add(out, "session_names", session_names(&c->sessions, ok), ok);
	add(out, "prefixes4", json_object_new_uint64(c->info.prefixes4), ok);
	add(out, "prefixes6", json_object_new_uint64(c->info.prefixes6), ok);
	add(out, "allowed", json_object_new_uint64(sum.allowed), ok);
	add(out, "denied", json_object_new_uint64(sum.denied), ok);
	add(out, "would_deny", json_object_new_uint64(sum.would_deny), ok);
	add(out, "dropped", json_object_new_uint64(sum.dropped), ok);
	add(out, "layers", layers(c, ok), ok);
	add(out, "counters", counters(c, ok), ok);
	return out;
}

static json_object *prefix_array(const struct prefixes *list, bool *ok)
{
	json_object *out = json_object_new_array();
	char text[PREFIX_STR_SIZE];

	for (size_t i = 0; i < list->n; i++)
		append(out, json_object_new_string(prefix_format(&list->items[i], text)), ok);
	return out;
}

static json_object *sets(const struct facts *f, bool *ok)
{
	json_object *out = json_object_new_object();

	add(out, "host", prefix_array(&f->host, ok), ok);
	add(out, "onlink", prefix_array(&f->onlink, ok), ok);
	add(out, "broadcast", prefix_array(&f->broadcast, ok), ok);
	add(out, "resolver", prefix_array(&f->resolver, ok), ok);
	return out;
}

/* Prints and frees. */
static int print(json_object *object, bool ok)
{
	const char *text =
		ok ? json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
								    JSON_C_TO_STRING_NOSLASHESCAPE)
		   : NULL;

	if (text)
		puts(text);
	json_object_put(object);
	return text ? 0 : -ENOMEM;
}

int report_status(const struct status *s, const char *names)
{
	json_object *out = json_object_new_object(), *classes = json_object_new_array();
	bool ok = true;

	for (size_t i = 0; i < s->n; i++)
		append(classes, class_object(&s->classes[i], &ok), &ok);
	add(out, "default_class", json_object_new_string(s->info.default_class), &ok);
	add(out, "classes", classes, &ok);
	add(out, "sets", sets(&s->sets, &ok), &ok);
	if (names)
		add(out, "names", json_tokener_parse(names), &ok);
	return print(out, ok);
}

int report_explanation(const struct explanation *e, const struct cgnet_rule *rule)
{
	json_object *out = json_object_new_object();
	char text[PREFIX_STR_SIZE];
	bool ok = true;

	add(out, "verdict", json_object_new_string(verdict_name(e->verdict)), &ok);
	add(out, "rule", json_object_new_string(rule->text), &ok);
	add(out, "prefix", json_object_new_string(prefix_format(&e->prefix, text)), &ok);
	add(out, "file", json_object_new_string(rule->file), &ok);
	add(out, "line", json_object_new_uint64(rule->line), &ok);
	if (explain_note(e))
		add(out, "note", json_object_new_string(explain_note(e)), &ok);
	return print(out, ok);
}

static json_object *session_object(const struct live_session *s, bool *ok)
{
	json_object *out = json_object_new_object();

	add(out, "class", json_object_new_string(s->class_name), ok);
	add(out, "session", json_object_new_string(s->name), ok);
	add(out, "cgroup", json_object_new_string(s->cgroup), ok);
	add(out, "processes", json_object_new_uint64(s->processes), ok);
	add(out, "pid", json_object_new_int(s->pid), ok);
	add(out, "uid", json_object_new_uint64(s->uid), ok);
	add(out, "comm", json_object_new_string(s->comm), ok);
	return out;
}

int report_sessions(const struct live_sessions *s)
{
	json_object *out = json_object_new_object(), *list = json_object_new_array();
	bool ok = true;

	for (size_t i = 0; i < s->n; i++)
		append(list, session_object(&s->items[i], &ok), &ok);
	add(out, "sessions", list, &ok);
	return print(out, ok);
}

int report_findings(const struct findings *f)
{
	static const char *const words[] = {
		[FINDING_OK] = "ok",
		[FINDING_WARNING] = "warning",
		[FINDING_MISSING] = "missing",
	};
	json_object *out = json_object_new_object(), *list = json_object_new_array();
	bool ok = true;

	for (size_t i = 0; i < f->n; i++) {
		json_object *item = json_object_new_object();

		add(item, "name", json_object_new_string(f->items[i].name), &ok);
		add(item, "state", json_object_new_string(words[f->items[i].state]), &ok);
		add(item, "detail", json_object_new_string(f->items[i].detail), &ok);
		add(item, "advice", json_object_new_string(f->items[i].advice), &ok);
		append(list, item, &ok);
	}
	add(out, "findings", list, &ok);
	return print(out, ok);
}
