// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <json-c/json.h>
#include <string.h>

#include "event.h"

/* Each byte of a name that is no UTF-8 or a control character beyond ASCII becomes U+FFFD. */
#define REPLACEMENT "\xef\xbf\xbd"

/* Length of the UTF-8 sequence at s, of at most n bytes; 0 if there is none that may be shown. */
static size_t sequence(const unsigned char *s, size_t n)
{
	size_t len = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	unsigned int c = s[0];

	if (len == 1)
		return c != 0x7f;
	if (!len || len > n || s[0] > 0xf4)
		return 0;
	c &= 0xff >> (len + 1);
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if ((len == 3 && c < 0x800) || (len == 4 && c < 0x10000) || c > 0x10ffff ||
	    (c >= 0xd800 && c < 0xe000))
		return 0;
	/* C1 controls, line and paragraph separators, and what changes the direction of text. */
	if (c < 0xa0 || (c >= 0x200e && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	    (c >= 0x2066 && c <= 0x2069))
		return 0;
	return len;
}

/* As UTF-8; json-c escapes quotes and the control characters of ASCII. */
static json_object *name_object(const char *name, size_t size)
{
	char text[CGNET_SESSION_SIZE * (sizeof(REPLACEMENT) - 1) + 1];
	size_t n = strnlen(name, size), used = 0;

	for (size_t i = 0; i < n;) {
		size_t len = sequence((const unsigned char *)name + i, n - i);
		const char *from = len ? name + i : REPLACEMENT;
		size_t copy = len ? len : sizeof(REPLACEMENT) - 1;

		memcpy(text + used, from, copy);
		used += copy;
		i += len ? len : 1;
	}
	return json_object_new_string_len(text, (int)used);
}

/* json-c takes ownership of value; a NULL (out of memory) is remembered in *ok. */
static void add(json_object *to, const char *key, json_object *value, bool *ok)
{
	if (!value || json_object_object_add(to, key, value))
		*ok = false;
}

static void add_what(json_object *out, const struct event_view *view, bool *ok)
{
	const struct cgnet_event_key *key = &view->event.key;
	char proto[EVENT_PROTO_SIZE], text[PREFIX_STR_SIZE];

	add(out, "class", json_object_new_string(view->class), ok);
	add(out, "session", name_object(view->session, sizeof(view->session)), ok);
	add(out, "verdict", json_object_new_string(event_verdict(key)), ok);
	add(out, "hook", json_object_new_string(event_hook(key)), ok);
	add(out, "proto", json_object_new_string(event_proto(key->proto, proto)), ok);
	add(out, "dst", json_object_new_string(event_dst(key, text)), ok);
	add(out, "dport", json_object_new_int(key->port), ok);
	add(out, "rule", json_object_new_string(view->rule.text), ok);
	add(out, "prefix", json_object_new_string(event_prefix(key, text)), ok);
	add(out, "file", json_object_new_string(view->rule.file), ok);
	add(out, "line", json_object_new_uint64(view->rule.line), ok);
}

static void add_who(json_object *out, const struct cgnet_event_detail *d, bool *ok)
{
	add(out, "pid", json_object_new_uint64(d->pid), ok);
	add(out, "comm", name_object(d->comm, sizeof(d->comm)), ok);
	add(out, "uid", json_object_new_uint64(d->uid), ok);
	add(out, "cgroup", json_object_new_uint64(d->cgroup), ok);
	add(out, "count", json_object_new_uint64(d->count), ok);
}

char *event_json(const struct event_view *view)
{
	json_object *out = json_object_new_object();
	char time[EVENT_TIME_SIZE], *copy = NULL;
	const char *text;
	bool ok = out != NULL;

	if (!ok)
		return NULL;
	add(out, "time", json_object_new_string(event_time(view->time, time)), &ok);
	add_what(out, view, &ok);
	add_who(out, &view->event.detail, &ok);
	text = ok ? json_object_to_json_string_ext(out, JSON_C_TO_STRING_PLAIN |
								JSON_C_TO_STRING_NOSLASHESCAPE)
		  : NULL;
	if (text)
		copy = strdup(text);
	json_object_put(out);
	return copy;
}
