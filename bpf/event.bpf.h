/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tells of denials. Each one ends in exactly one place: in a record of the ring buffer, in the
 * count of an entry of `pending`, or in the layer's counter `dropped`. So what a reader got and
 * what was dropped add up to what was denied.
 *
 * The reader owns the end of an interval: it moves on to the other hash of `pending`, waits until
 * no program can still write to the old one, and empties that. While nobody reads, all is dropped.
 */
#ifndef CGNET_EVENT_BPF_H
#define CGNET_EVENT_BPF_H

#include "session.bpf.h"
#include "verdict.bpf.h"

#define EEXIST	     17
#define NSEC_PER_SEC 1000000000ULL

static __always_inline __u32 layer_of(enum cgnet_hook hook)
{
	switch (hook) {
	case CGNET_HOOK_CONNECT4:
	case CGNET_HOOK_CONNECT6:
		return CGNET_LAYER_CONNECT;
	case CGNET_HOOK_SENDMSG4:
	case CGNET_HOOK_SENDMSG6:
	case CGNET_HOOK_SETSOCKOPT:
		return CGNET_LAYER_SENDMSG;
	case CGNET_HOOK_CREATE:
	case CGNET_HOOK_DEVICE:
		return CGNET_LAYER_CREATE;
	case CGNET_HOOK_EGRESS:
		return CGNET_LAYER_EGRESS;
	case CGNET_HOOK_INGRESS:
		return CGNET_LAYER_INGRESS;
	case CGNET_HOOK_SYSCTL:
		return CGNET_LAYER_SYSCTL;
	default:
		return CGNET_LAYER_UNIX;
	}
}

/* Not on the stack, which these functions share with their callers. */
const struct cgnet_session no_session = {};

/* The session's record, made if need be; for the class as a whole where there is no session. */
static __always_inline struct cgnet_session *session_record(__u64 session)
{
	struct cgnet_session *found;

	if (!session)
		session = config.class_cgroup;
	found = bpf_map_lookup_elem(&sessions, &session);
	if (found)
		return found;
	bpf_map_update_elem(&sessions, &session, &no_session, BPF_NOEXIST);
	return bpf_map_lookup_elem(&sessions, &session);
}

static __always_inline void note_first(struct cgnet_session *record,
				       const struct cgnet_event *event)
{
	if (!record || record->first || !event->key.session)
		return;
	record->first = 1;
	bpf_map_update_elem(&first, &event->key.session, event, BPF_NOEXIST);
}

/* Keeps one session from taking the room of all. */
static __always_inline bool may_tell(struct cgnet_session *record, __u64 now)
{
	if (!record)
		return false;
	if (now - record->began >= NSEC_PER_SEC) {
		record->began = now;
		record->told = 0;
	}
	if (record->told >= CGNET_EVENTS_PER_SECOND)
		return false;
	record->told++;
	return true;
}

/* True if the denial was added to one told of before. */
static __always_inline bool add_to(void *hash, const struct cgnet_event_key *key)
{
	struct cgnet_event_detail *same = bpf_map_lookup_elem(hash, key);

	if (!same)
		return false;
	__sync_fetch_and_add(&same->count, 1);
	return true;
}

/* Returns false if the event is lost. */
static __always_inline bool tell(struct cgnet_event *event)
{
	struct cgnet_session *record = session_record(event->key.session);
	__u32 interval = cgnet_interval, which = interval % CGNET_INTERVALS;
	void *hash;
	long err;

	note_first(record, event);
	if (!interval)
		return false;
	hash = bpf_map_lookup_elem(&pending, &which);
	if (!hash)
		return false;
	if (add_to(hash, &event->key))
		return true;
	if (!may_tell(record, event->detail.time))
		return false;
	err = bpf_map_update_elem(hash, &event->key, &event->detail, BPF_NOEXIST);
	event->detail.count = 1;
	/* Another CPU may have been first: then its entry counts this one, too. */
	if (err != -EEXIST && !bpf_ringbuf_output(&events, event, sizeof(*event), 0))
		return true;
	return add_to(hash, &event->key);
}

/*
 * What follows takes numbers only, as global functions before 5.13 must: the destination's two
 * halves, the session of the socket, and two words that hold
 *
 *   what  rule << 32 | port << 16 | proto << 8 | prefixlen
 *   how   uid << 32 | hook << 16 | flags << 8 | form << 4 | slot
 */
static __always_inline void fill_key(struct cgnet_event_key *key, __u64 high, __u64 low, __u64 what,
				     __u64 how)
{
	key->class = config.class_cgroup;
	key->dst[0] = high;
	key->dst[1] = high >> 32;
	key->dst[2] = low;
	key->dst[3] = low >> 32;
	key->rule = what >> 32;
	key->port = what >> 16;
	key->proto = what >> 8;
	key->prefixlen = what;
	key->hook = how >> 16;
	key->form = how >> 4 & 0xf;
}

/* What keeps a session in its class is no matter of networks: that is always enforced. */
static __always_inline bool is_boundary(enum cgnet_hook hook)
{
	return hook == CGNET_HOOK_SYSCTL || hook == CGNET_HOOK_DEVICE;
}

/* In a class in audit mode connect and sendmsg have told of what they let pass. */
static __always_inline bool was_told(const struct cgnet_event_key *key)
{
	return key->hook == CGNET_HOOK_EGRESS && key->rule != CGNET_RULE_PACKET &&
	       (key->proto == IPPROTO_TCP || key->proto == IPPROTO_UDP);
}

/*
 * Counts the denial and tells of it. Returns true if the class is audited, so that it is none. The
 * self-test is refused all the same, and nothing is told of it.
 */
static __always_inline bool deny(struct cgnet_event *event, __u64 how)
{
	__u32 slot = how & 1, layer = layer_of(event->key.hook);
	const struct cgnet_settings *s = bpf_map_lookup_elem(&settings, &slot);
	struct cgnet_counts *c = bpf_map_lookup_elem(&counters, &layer);

	if (!s || !c)
		return false;
	/* Atomic, since a program may be preempted by another on the same CPU. */
	if (how >> 8 & CGNET_SENTINEL) {
		__sync_fetch_and_add(&c->selftest, 1);
		return false;
	}
	if (s->flags & CGNET_AUDIT && !is_boundary(event->key.hook)) {
		if (was_told(&event->key))
			return true;
		event->key.verdict = CGNET_EVENT_WOULD_DENY;
		__sync_fetch_and_add(&c->would_deny, 1);
	} else {
		__sync_fetch_and_add(&c->denied, 1);
	}
	event->key.rules = s->rules;
	event->detail.time = bpf_ktime_get_boot_ns();
	if (!tell(event))
		__sync_fetch_and_add(&c->dropped, 1);
	return event->key.verdict == CGNET_EVENT_WOULD_DENY;
}

/*
 * Functions of their own, so that the verifier walks each once for a program, whatever the states
 * around the call. This one is for hooks that run in the process that acts; but the kernel opens
 * further connections of an MPTCP socket from a thread of its own, outside the class.
 */
__noinline int deny_task(__u64 high, __u64 low, __u64 session, __u64 what, __u64 how)
{
	__u64 here = current_session(), cgroup = bpf_get_current_cgroup_id();
	struct cgnet_event event = {.key.session = session ? session : here};

	fill_key(&event.key, high, low, what, how);
	event.detail.cgroup = event.key.session;
	if (here || cgroup == config.class_cgroup) {
		event.detail.cgroup = cgroup;
		event.detail.pid = bpf_get_current_pid_tgid() >> 32;
		event.detail.uid = bpf_get_current_uid_gid();
		bpf_get_current_comm(event.detail.comm, sizeof(event.detail.comm));
	}
	return deny(&event, how);
}

/* For the other hooks, which know the socket or the user only: see conclude_packet(). */
__noinline int deny_packet(__u64 high, __u64 low, __u64 session, __u64 what, __u64 how)
{
	struct cgnet_event event = {.key.session = session, .detail.cgroup = session};

	fill_key(&event.key, high, low, what, how);
	event.detail.uid = how >> 32;
	return deny(&event, how);
}

/* What a program returns: 0 or 1 to the verifier, too, also where the compiler knows more than it.
 */
static __always_inline int answer(int ret)
{
	barrier_var(ret);
	return ret & 1;
}

/* What an event says beside the decision. */
struct subject {
	__be32 addr[4]; /* the destination, v4 as mapped */
	__u64 session;
	__u32 uid;  /* for deny_packet() */
	__u16 port; /* host byte order */
	__u8 proto;
};

static __always_inline __u64 half(const __be32 *words)
{
	return (__u64)words[1] << 32 | words[0];
}

static __always_inline __u64 what_of(const struct decision *d, const struct subject *s)
{
	return (__u64)d->rule << 32 | (__u32)s->port << 16 | s->proto << 8 | d->prefixlen;
}

static __always_inline __u64 how_of(enum cgnet_hook hook, const struct policy *p,
				    const struct decision *d, const struct subject *s)
{
	return (__u64)s->uid << 32 | hook << 16 | d->flags << 8 | d->form << 4 | p->slot;
}

/*
 * Counts a decision and tells of a denial. Returns true if what it is about may go on. One for
 * hooks that run in the process that acts, one for others. Two functions, since clang may leave the
 * call that a constant rules out, and kernels before 6.8 verify each function that is called
 * anywhere: the first one asks what before 6.2 no packet's program may.
 */
static __always_inline bool conclude_task(enum cgnet_hook hook, const struct policy *p,
					  const struct decision *d, const struct subject *s)
{
	if (d->verdict == CGNET_ALLOW) {
		count_allowed(layer_of(hook));
		return true;
	}
	return deny_task(half(s->addr), half(s->addr + 2), s->session, what_of(d, s),
			 how_of(hook, p, d, s));
}

static __always_inline bool conclude_packet(enum cgnet_hook hook, const struct policy *p,
					    const struct decision *d, const struct subject *s)
{
	if (d->verdict == CGNET_ALLOW) {
		count_allowed(layer_of(hook));
		return true;
	}
	return deny_packet(half(s->addr), half(s->addr + 2), s->session, what_of(d, s),
			   how_of(hook, p, d, s));
}

/* A flow as the subject; the session is that of its socket. */
static __always_inline void subject_from_flow(struct subject *s, const struct flow *f,
					      __u64 session, __u32 uid)
{
	*s = (struct subject){.session = session, .uid = uid, .port = f->port, .proto = f->proto};
	flow_address(f, s->addr);
}

#endif
