// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "snapshot.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define MAGIC 0x70616e73 /* "snap" */

struct head {
	__u32 magic; /* written last */
	__u32 pad;
	__u64 number, size;
};

int snapshot_open(struct snapshot *s, struct why *why)
{
	*s = SNAPSHOT_NONE;
	for (size_t i = 0; i < ARRAY_SIZE(s->fds); i++) {
		s->fds[i] = memfd_create("cgnet-policy", MFD_CLOEXEC);
		if (s->fds[i] < 0) {
			int err = -errno;

			snapshot_close(s);
			return why_set(why, err, "memfd_create: %s", strerror(-err));
		}
	}
	return 0;
}

void snapshot_close(struct snapshot *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(s->fds); i++)
		if (s->fds[i] >= 0)
			close(s->fds[i]);
	*s = SNAPSHOT_NONE;
}

/* --- writing --- */

/* An array: its number of elements, then they, up to a multiple of eight bytes. */
static void put(FILE *f, const void *items, size_t n, size_t size)
{
	static const char zeros[8];
	__u64 count = n;

	fwrite(&count, sizeof(count), 1, f);
	if (n)
		fwrite(items, size, n, f);
	fwrite(zeros, 1, -(n * size) % 8, f);
}

static void put_prefixes(FILE *f, const struct prefixes *list)
{
	put(f, list->items, list->n, sizeof(*list->items));
}

static void put_facts(FILE *f, const struct facts *facts)
{
	put_prefixes(f, &facts->host);
	put_prefixes(f, &facts->onlink);
	put_prefixes(f, &facts->broadcast);
	put_prefixes(f, &facts->resolver);
}

static void put_class(FILE *f, const struct compiled_class *c)
{
	put(f, c, 1, sizeof(*c));
	put(f, c->keys4, c->n4, sizeof(*c->keys4));
	put(f, c->values4, c->n4, sizeof(*c->values4));
	put(f, c->keys6, c->n6, sizeof(*c->keys6));
	put(f, c->values6, c->n6, sizeof(*c->values6));
	put(f, c->ports, c->nports, sizeof(*c->ports));
	put(f, c->rules, c->nrules, sizeof(*c->rules));
	put(f, c->unix_names, c->nunix_names, sizeof(*c->unix_names));
}

static void put_all(FILE *f, const struct saved *s)
{
	__u64 nlists = s->nlists;

	put(f, s->file, strlen(s->file) + 1, 1);
	put(f, s->text, s->text_size + 1, 1);
	put(f, s->root_class, strlen(s->root_class) + 1, 1);
	fwrite(&nlists, sizeof(nlists), 1, f);
	for (size_t i = 0; i < s->nlists; i++)
		put_prefixes(f, &s->lists[i]);
	put_facts(f, &s->facts);
	put(f, s->compiled.default_class, sizeof(s->compiled.default_class), 1);
	put(f, s->sums, s->compiled.nclasses, sizeof(*s->sums));
	for (size_t i = 0; i < s->compiled.nclasses; i++)
		put_class(f, &s->compiled.classes[i]);
}

int snapshot_write(const struct snapshot *s, const struct saved *last, const struct saved *next,
		   struct why *why)
{
	struct head head = {.number = last->number + 1};
	int fd = dup(s->fds[head.number % 2]);
	_cleanup_fclose_ FILE *f = fd < 0 ? NULL : fdopen(fd, "r+");
	long end;

	if (!f) {
		if (fd >= 0)
			close(fd);
		return why_set(why, -ENOMEM, "out of memory");
	}
	if (ftruncate(fd, 0) < 0 || fseek(f, 0, SEEK_SET) < 0)
		return why_set(why, -errno, "snapshot: %s", strerror(errno));
	fwrite(&head, sizeof(head), 1, f);
	put_all(f, next);
	end = ftell(f);
	if (end < 0 || fflush(f) || ferror(f))
		return why_set(why, -ENOMEM, "no memory for the snapshot");
	head.magic = MAGIC;
	head.size = end;
	if (pwrite(fd, &head, sizeof(head), 0) != sizeof(head))
		return why_set(why, -EIO, "snapshot: cannot be completed");
	return 0;
}

/* --- reading --- */

struct reader {
	char *base;
	size_t at, size;
	bool bad;
};

static void *take(struct reader *r, size_t size, size_t *n)
{
	__u64 count = 0;
	char *items;

	*n = 0;
	if (r->bad || r->size - r->at < sizeof(count)) {
		r->bad = true;
		return NULL;
	}
	memcpy(&count, r->base + r->at, sizeof(count));
	r->at += sizeof(count);
	items = r->base + r->at;
	if (count > (r->size - r->at) / size) {
		r->bad = true;
		return NULL;
	}
	r->at += count * size + -(count * size) % 8;
	*n = count;
	return items;
}

static const char *take_text(struct reader *r, size_t *size)
{
	size_t n;
	const char *text = take(r, 1, &n);

	if (!n || text[n - 1])
		r->bad = true;
	*size = n ? n - 1 : 0;
	return text;
}

static void take_prefixes(struct reader *r, struct prefixes *list)
{
	list->items = take(r, sizeof(*list->items), &list->n);
	list->cap = list->n;
}

static void take_class(struct reader *r, struct compiled_class *c)
{
	size_t n;
	const struct compiled_class *head = take(r, sizeof(*head), &n);
	size_t n4, n6;

	if (n != 1) {
		r->bad = true;
		return;
	}
	*c = *head;
	c->keys4 = take(r, sizeof(*c->keys4), &c->n4);
	c->values4 = take(r, sizeof(*c->values4), &n4);
	c->keys6 = take(r, sizeof(*c->keys6), &c->n6);
	c->values6 = take(r, sizeof(*c->values6), &n6);
	c->ports = take(r, sizeof(*c->ports), &c->nports);
	c->rules = take(r, sizeof(*c->rules), &c->nrules);
	c->unix_names = take(r, sizeof(*c->unix_names), &c->nunix_names);
	r->bad |= n4 != c->n4 || n6 != c->n6;
}

static int take_lists(struct reader *r, struct saved *s)
{
	__u64 n = 0;

	if (r->size - r->at < sizeof(n))
		return -EIO;
	memcpy(&n, r->base + r->at, sizeof(n));
	r->at += sizeof(n);
	if (n > r->size)
		return -EIO;
	s->nlists = n;
	s->lists = calloc(n + 1, sizeof(*s->lists));
	if (!s->lists)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		take_prefixes(r, &s->lists[i]);
	return 0;
}

static int take_all(struct reader *r, struct saved *s)
{
	const char *default_class;
	size_t n;
	int err;

	s->file = take_text(r, &n);
	s->text = take_text(r, &s->text_size);
	s->root_class = take_text(r, &n);
	err = take_lists(r, s);
	if (err)
		return err;
	take_prefixes(r, &s->facts.host);
	take_prefixes(r, &s->facts.onlink);
	take_prefixes(r, &s->facts.broadcast);
	take_prefixes(r, &s->facts.resolver);
	default_class = take(r, 1, &n);
	if (n != sizeof(s->compiled.default_class))
		return -EIO;
	memcpy(s->compiled.default_class, default_class, n);
	s->sums = take(r, sizeof(*s->sums), &s->compiled.nclasses);
	s->compiled.classes = calloc(s->compiled.nclasses + 1, sizeof(*s->compiled.classes));
	if (!s->compiled.classes)
		return -ENOMEM;
	for (size_t i = 0; i < s->compiled.nclasses; i++)
		take_class(r, &s->compiled.classes[i]);
	return r->bad ? -EIO : 0;
}

static bool read_head(int fd, struct head *head)
{
	return pread(fd, head, sizeof(*head), 0) == sizeof(*head) && head->magic == MAGIC;
}

int snapshot_read(const struct snapshot *s, struct saved *out, struct why *why)
{
	struct saved saved = {};
	struct reader r;
	struct head head;
	int newest = -1, err;

	for (size_t i = 0; i < ARRAY_SIZE(s->fds); i++) {
		if (!read_head(s->fds[i], &head) || head.number < saved.number)
			continue;
		newest = s->fds[i];
		saved.number = head.number;
		saved.size = head.size;
	}
	*out = (struct saved){};
	if (newest < 0)
		return 0;
	saved.map = mmap(NULL, saved.size, PROT_READ, MAP_SHARED, newest, 0);
	if (saved.map == MAP_FAILED)
		return why_set(why, -errno, "snapshot: %s", strerror(errno));
	r = (struct reader){.base = saved.map, .at = sizeof(head), .size = saved.size};
	err = take_all(&r, &saved);
	if (err) {
		saved_free(&saved);
		return why_set(why, err, "snapshot: %s", strerror(-err));
	}
	*out = saved;
	return 0;
}

static void set_magic(int fd, __u32 magic)
{
	/* The page is there: this takes no memory and cannot fail. */
	if (pwrite(fd, &magic, sizeof(magic), offsetof(struct head, magic)) < 0)
		return;
}

void snapshot_hold(const struct snapshot *s)
{
	struct head head;

	for (size_t i = 0; i < ARRAY_SIZE(s->fds); i++)
		if (read_head(s->fds[i], &head))
			set_magic(s->fds[i], 0);
}

void snapshot_release(const struct snapshot *s, const struct saved *last)
{
	if (last->file)
		set_magic(s->fds[last->number % 2], MAGIC);
}

void saved_free(struct saved *saved)
{
	free(saved->lists);
	free(saved->compiled.classes);
	if (saved->map)
		munmap(saved->map, saved->size);
	*saved = (struct saved){};
}
