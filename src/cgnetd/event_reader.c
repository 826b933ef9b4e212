// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "event_reader.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>

#include "bpffs.h"
#include "generation.h"

/* Two hashes take turns. 0 means that nobody reads, so counting starts here. */
#define INTERVALS      2
#define FIRST_INTERVAL 2

/* Entries taken at a time. A bucket of the hash must fit. */
#define BATCH 512

struct event_reader {
	struct event_names *names;
	int lock;
	struct ring_buffer *ring;
	int pending[INTERVALS];
	volatile __u32 *interval;
	event_fn fn; /* of the call under way */
	void *arg;
	size_t taken;
	struct cgnet_event_key keys[BATCH];
	struct cgnet_event_detail details[BATCH];
};

static void pass_on(struct event_reader *r, const struct cgnet_event *event)
{
	if (r->fn)
		r->fn(event, r->arg);
	else
		event_names_lose(r->names, event);
}

static int take_one(void *arg, void *data, size_t size)
{
	struct event_reader *r = arg;

	if (size < sizeof(struct cgnet_event))
		return 0;
	r->taken++;
	pass_on(r, data);
	return 0;
}

static int open_ring(struct event_reader *r, const struct instance *in, struct why *why)
{
	_cleanup_close_ int fd = bpffs_open(in->bpffs, CGNET_PIN_EVENTS, why);

	if (fd < 0)
		return fd;
	r->ring = ring_buffer__new(fd, take_one, r, NULL);
	return r->ring ? 0
		       : why_set(why, -errno, "cannot map the ring buffer: %s", strerror(errno));
}

static int open_pending(struct event_reader *r, const struct instance *in, struct why *why)
{
	_cleanup_close_ int outer = bpffs_open(in->bpffs, CGNET_PIN_PENDING, why);

	if (outer < 0)
		return outer;
	for (__u32 i = 0; i < INTERVALS; i++) {
		__u32 id;

		if (bpf_map_lookup_elem(outer, &i, &id) < 0)
			return why_set(why, -errno, "cannot read %s/%s: %s", in->bpffs,
				       CGNET_PIN_PENDING, strerror(errno));
		r->pending[i] = bpf_map_get_fd_by_id(id);
		if (r->pending[i] < 0)
			return why_set(why, -errno, "cannot open a map of %s/%s: %s", in->bpffs,
				       CGNET_PIN_PENDING, strerror(errno));
	}
	return 0;
}

static int open_interval(struct event_reader *r, const struct instance *in, struct why *why)
{
	_cleanup_close_ int fd = bpffs_open(in->bpffs, CGNET_PIN_INTERVAL, why);
	void *word;

	if (fd < 0)
		return fd;
	word = mmap(NULL, sizeof(*r->interval), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (word == MAP_FAILED)
		return why_set(why, -errno, "cannot map %s/%s: %s", in->bpffs, CGNET_PIN_INTERVAL,
			       strerror(errno));
	r->interval = word;
	return 0;
}

/* A directory that nobody in a session can open, so that none can hold the lock. */
static int lock(struct event_reader *r, const struct instance *in, struct why *why)
{
	char path[PATH_MAX];
	int err = instance_path(in, path, CGNET_PIN_READER, NULL, why);

	if (err)
		return err;
	r->lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r->lock < 0)
		return why_set(why, -errno, "cannot open %s: %s", path, strerror(errno));
	if (flock(r->lock, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno != EWOULDBLOCK)
		return why_set(why, -errno, "cannot lock %s: %s", path, strerror(errno));
	return why_set(why, -EBUSY,
		       "another process reads the events (cgnetd serve has room for many readers)");
}

/* Takes all of a hash that no program writes to any more. */
static size_t sweep(struct event_reader *r, int fd)
{
	void *in = NULL;
	__u32 position;
	size_t found = 0;
	int err = 0;

	while (!err) {
		__u32 n = BATCH;

		err = bpf_map_lookup_and_delete_batch(fd, in, &position, r->keys, r->details, &n,
						      NULL);
		if (err && errno != ENOENT)
			break;
		for (__u32 i = 0; i < n; i++) {
			const struct cgnet_event event = {r->keys[i], r->details[i]};

			if (event.detail.count)
				pass_on(r, &event);
		}
		found += n;
		in = &position;
	}
	return found;
}

static size_t take(struct event_reader *r)
{
	r->taken = 0;
	ring_buffer__consume(r->ring);
	return r->taken;
}

/* Has the programs tell no more, and takes what they told. */
static void drain(struct event_reader *r)
{
	__atomic_store_n(r->interval, 0, __ATOMIC_SEQ_CST);
	generation_wait(NULL);
	take(r);
	for (size_t i = 0; i < INTERVALS; i++)
		sweep(r, r->pending[i]);
}

static void release(struct event_reader *r)
{
	for (size_t i = 0; i < INTERVALS; i++)
		if (r->pending[i] >= 0)
			close(r->pending[i]);
	if (r->interval)
		munmap((void *)r->interval, sizeof(*r->interval));
	ring_buffer__free(r->ring);
	if (r->lock >= 0)
		close(r->lock);
	free(r);
}

struct event_reader *event_reader_open(const struct instance *in, struct event_names *names,
				       bool keep, int *err, struct why *why)
{
	struct event_reader *r = calloc(1, sizeof(*r));

	if (!r) {
		*err = why_set(why, -ENOMEM, "out of memory");
		return NULL;
	}
	r->names = names;
	r->lock = r->pending[0] = r->pending[1] = -1;
	*err = lock(r, in, why);
	if (!*err)
		*err = open_ring(r, in, why);
	if (!*err)
		*err = open_pending(r, in, why);
	if (!*err)
		*err = open_interval(r, in, why);
	if (*err) {
		release(r);
		return NULL;
	}
	if (!keep)
		drain(r);
	if (!*r->interval)
		__atomic_store_n(r->interval, FIRST_INTERVAL, __ATOMIC_SEQ_CST);
	return r;
}

int event_reader_fd(const struct event_reader *r)
{
	return ring_buffer__epoll_fd(r->ring);
}

size_t event_reader_take(struct event_reader *r, event_fn fn, void *arg)
{
	r->fn = fn;
	r->arg = arg;
	return take(r);
}

size_t event_reader_end_interval(struct event_reader *r, event_fn fn, void *arg)
{
	__u32 old = *r->interval, next = old + 1 ? old + 1 : FIRST_INTERVAL;

	r->fn = fn;
	r->arg = arg;
	__atomic_store_n(r->interval, next, __ATOMIC_SEQ_CST);
	if (generation_wait(NULL))
		return 1; /* they may still write: the next time will do */
	return sweep(r, r->pending[old % INTERVALS]);
}

void event_reader_close(struct event_reader *r, event_fn fn, void *arg)
{
	if (!r)
		return;
	r->fn = fn;
	r->arg = arg;
	drain(r);
	release(r);
}
