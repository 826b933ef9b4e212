// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <time.h>

#include "event.h"
#include "match.bpf.h"

#define NSEC_PER_SEC 1000000000LL

char *event_time(int64_t ns, char buf[EVENT_TIME_SIZE])
{
	time_t s = ns / NSEC_PER_SEC;
	char date[24];
	struct tm tm;

	gmtime_r(&s, &tm);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(buf, EVENT_TIME_SIZE, "%s.%06dZ", date, (int)(ns % NSEC_PER_SEC / 1000));
	return buf;
}

char *event_proto(uint8_t proto, char buf[EVENT_PROTO_SIZE])
{
	static const struct {
		uint8_t proto;
		const char *name;
	} names[] = {{IPPROTO_TCP, "tcp"}, {IPPROTO_UDP, "udp"},   {IPPROTO_ICMP, "icmp"},
		     {136, "udplite"},	   {IPPROTO_SCTP, "sctp"}, {IPPROTO_DCCP, "dccp"},
		     {IPPROTO_RAW, "raw"}};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].proto == proto) {
			snprintf(buf, EVENT_PROTO_SIZE, "%s", names[i].name);
			return buf;
		}
	buf[0] = '\0';
	if (proto)
		snprintf(buf, EVENT_PROTO_SIZE, "%d", proto);
	return buf;
}

/* A socket that could not be made, or one of this host, goes nowhere; nor does a hidden packet. */
static bool has_dst(const struct cgnet_event_key *key)
{
	return !addr6_is_any(key->dst) && !(key->rule == CGNET_RULE_PACKET && !key->dst[3]);
}

char *event_dst(const struct cgnet_event_key *key, char buf[PREFIX_STR_SIZE])
{
	buf[0] = '\0';
	if (!has_dst(key))
		return buf;
	if (addr6_is_mapped(key->dst))
		inet_ntop(AF_INET, &key->dst[3], buf, PREFIX_STR_SIZE);
	else
		inet_ntop(AF_INET6, key->dst, buf, PREFIX_STR_SIZE);
	return buf;
}

/* A v6 destination may carry a v4 one. */
bool event_target(const struct cgnet_event_key *key, struct prefix *out)
{
	__be32 v4 = key->dst[3];

	*out = (struct prefix){.family = AF_INET6, .len = 128};
	if (!has_dst(key))
		return false;
	if (!addr6_is_mapped(key->dst) && !(key->form == 4 && addr6_carried4(key->dst, &v4))) {
		memcpy(out->bytes, key->dst, sizeof(key->dst));
		return true;
	}
	*out = (struct prefix){.family = AF_INET, .len = 32};
	memcpy(out->bytes, &v4, sizeof(v4));
	return true;
}

char *event_prefix(const struct cgnet_event_key *key, char buf[PREFIX_STR_SIZE])
{
	struct prefix p;

	buf[0] = '\0';
	if (!key->form || !event_target(key, &p) || key->prefixlen > prefix_width(&p))
		return buf;
	p.len = key->prefixlen;
	prefix_mask(&p);
	return prefix_format(&p, buf);
}

const char *event_verdict(const struct cgnet_event_key *key)
{
	return key->verdict == CGNET_EVENT_WOULD_DENY ? "would_deny" : "deny";
}

const char *event_hook(const struct cgnet_event_key *key)
{
	return key->hook < CGNET_HOOKS ? cgnet_hooks[key->hook].name : "";
}

char *event_comm(const char *comm, size_t size, char buf[EVENT_COMM_SIZE])
{
	size_t used = 0;

	for (size_t i = 0; i < size && comm[i] && used + sizeof("\\xff") <= EVENT_COMM_SIZE; i++) {
		unsigned char c = comm[i];

		if (c > ' ' && c < 0x7f && c != '\\')
			buf[used++] = c;
		else
			used += snprintf(buf + used, EVENT_COMM_SIZE - used, "\\x%02x", c);
	}
	buf[used] = '\0';
	return buf;
}

/* "to 192.0.2.1:443", "to [2001:db8::1]:443", "from 192.0.2.1 to port 80", or nothing. */
static void format_way(const struct cgnet_event_key *key, char *buf, size_t size)
{
	char dst[PREFIX_STR_SIZE];

	event_dst(key, dst);
	if (!dst[0])
		buf[0] = '\0';
	else if (key->hook == CGNET_HOOK_INGRESS)
		snprintf(buf, size, " from %s to port %d", dst, key->port);
	else if (!key->port)
		snprintf(buf, size, " to %s", dst);
	else
		snprintf(buf, size, strchr(dst, ':') ? " to [%s]:%d" : " to %s:%d", dst, key->port);
}

static void format_who(const struct cgnet_event_detail *d, char *buf, size_t size)
{
	char comm[EVENT_COMM_SIZE];

	if (d->pid)
		snprintf(buf, size, ", %s[%u] of uid %u",
			 event_comm(d->comm, sizeof(d->comm), comm), d->pid, d->uid);
	else
		snprintf(buf, size, ", uid %u", d->uid);
}

char *event_line(const struct event_view *view, char buf[EVENT_LINE_SIZE])
{
	const struct cgnet_event_key *key = &view->event.key;
	char time[EVENT_TIME_SIZE], proto[EVENT_PROTO_SIZE], way[2 * PREFIX_STR_SIZE], who[128];
	char at[CGNET_FILE_SIZE + 16] = "", times[32] = "", session[EVENT_COMM_SIZE];

	if (view->rule.line)
		snprintf(at, sizeof(at), " (%s:%u)", view->rule.file, view->rule.line);
	if (view->event.detail.count > 1)
		snprintf(times, sizeof(times), ", %llu times",
			 (unsigned long long)view->event.detail.count);
	event_proto(key->proto, proto);
	format_way(key, way, sizeof(way));
	format_who(&view->event.detail, who, sizeof(who));
	snprintf(buf, EVENT_LINE_SIZE, "%s %s/%s: %s%s%s%s %s by %s%s%s%s",
		 event_time(view->time, time), view->class,
		 event_comm(view->session, sizeof(view->session), session), proto,
		 proto[0] ? " " : "", event_hook(key), way,
		 key->verdict == CGNET_EVENT_WOULD_DENY ? "would be denied" : "denied",
		 view->rule.text[0] ? view->rule.text : "a rule of an earlier policy", at, who,
		 times);
	return buf;
}

bool event_is_allowable(const struct cgnet_event_key *key)
{
	if (key->hook == CGNET_HOOK_INGRESS || key->rule == CGNET_RULE_PACKET || !has_dst(key))
		return false;
	return key->proto == IPPROTO_ICMP ||
	       ((key->proto == IPPROTO_TCP || key->proto == IPPROTO_UDP) && key->port);
}

char *event_remedy(const struct cgnet_event_key *key, char buf[EVENT_REMEDY_SIZE])
{
	char dst[PREFIX_STR_SIZE], proto[EVENT_PROTO_SIZE];
	struct prefix target;

	buf[0] = '\0';
	if (!event_is_allowable(key) || !event_target(key, &target))
		return buf;
	prefix_format(&target, dst);
	event_proto(key->proto, proto);
	if (key->proto == IPPROTO_ICMP)
		snprintf(buf, EVENT_REMEDY_SIZE, "%s/icmp", dst);
	else
		snprintf(buf, EVENT_REMEDY_SIZE, strchr(dst, ':') ? "[%s]:%d/%s" : "%s:%d/%s", dst,
			 key->port, proto);
	return buf;
}

char *event_hint(const struct event_view *view, char buf[EVENT_LINE_SIZE])
{
	const struct cgnet_event_key *key = &view->event.key;
	char at[CGNET_FILE_SIZE + 16] = "", proto[EVENT_PROTO_SIZE], way[2 * PREFIX_STR_SIZE];
	char remedy[EVENT_REMEDY_SIZE], advice[256] = "";

	if (view->rule.line)
		snprintf(at, sizeof(at), " (%s:%u)", view->rule.file, view->rule.line);
	format_way(key, way, sizeof(way));
	if (event_remedy(key, remedy)[0])
		snprintf(advice, sizeof(advice), "; to allow it: cgnetd allow --class %s %s",
			 view->class, remedy);
	event_proto(key->proto, proto);
	snprintf(buf, EVENT_LINE_SIZE, "cgnet-run: %s%s%s denied by %s in class %s%s%s",
		 proto[0] ? proto : event_hook(key), way,
		 key->verdict == CGNET_EVENT_WOULD_DENY ? " would be" : "",
		 view->rule.text[0] ? view->rule.text : "its policy", view->class, at, advice);
	return buf;
}
