// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "generation.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "bpffs.h"

/* One element of one word, as libbpf lays out the programs' section ".data.generation". */
static int make_word(struct why *why)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "generation", sizeof(__u32), sizeof(__u32), 1,
				&opts);

	return fd < 0 ? why_set(why, -errno, "cannot create a BPF map: %s", strerror(errno)) : fd;
}

/* Takes the descriptor. */
static int map_word(struct generation *g, int *fd, bool made, struct why *why)
{
	void *word = mmap(NULL, sizeof(*g->word), PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);

	if (word == MAP_FAILED)
		return why_set(why, -errno, "cannot map the generation: %s", strerror(errno));
	g->fd = take_fd(fd);
	g->word = word;
	g->made = made;
	return 0;
}

int generation_make(struct generation *g, struct why *why)
{
	_cleanup_close_ int fd = make_word(why);

	return fd < 0 ? fd : map_word(g, &fd, true, why);
}

int generation_pin(const struct generation *g, const struct instance *in, struct why *why)
{
	return bpffs_pin(g->fd, in->bpffs, CGNET_PIN_GENERATION, why);
}

int generation_open(struct generation *g, const struct instance *in, struct why *why)
{
	_cleanup_close_ int fd = bpffs_open(in->bpffs, CGNET_PIN_GENERATION, why);
	int err;

	if (fd >= 0)
		return map_word(g, &fd, false, why);
	if (fd != -ENOENT)
		return fd;
	err = generation_make(g, why);
	return err ? err : generation_pin(g, in, why);
}

__u32 generation_slot(const struct generation *g)
{
	return __atomic_load_n(g->word, __ATOMIC_SEQ_CST) % 2;
}

__u32 generation_standby(const struct generation *g)
{
	return 1 - generation_slot(g);
}

void generation_flip(struct generation *g)
{
	__atomic_fetch_add(g->word, 1, __ATOMIC_SEQ_CST);
}

/*
 * An update of an outer map returns only after a grace period ("userspace ... knows that all
 * non-sleepable programs use the new map value", maybe_wait_bpf_programs() in the kernel, since
 * 4.20), so an update of one that nobody reads is a way to wait for one.
 */
int generation_wait(struct why *why)
{
	_cleanup_close_ int inner = -1, outer = -1;
	__u32 key = 0;

	inner = bpf_map_create(BPF_MAP_TYPE_ARRAY, "wait_inner", sizeof(key), sizeof(key), 1, NULL);
	if (inner >= 0) {
		LIBBPF_OPTS(bpf_map_create_opts, opts, .inner_map_fd = inner);

		outer = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "wait", sizeof(key), sizeof(key),
				       1, &opts);
	}
	if (inner < 0 || outer < 0 || bpf_map_update_elem(outer, &key, &inner, BPF_ANY) < 0)
		return why_set(why, -errno, "cannot wait for running programs: %s",
			       strerror(errno));
	return 0;
}

void generation_close(struct generation *g)
{
	if (g->word)
		munmap(g->word, sizeof(*g->word));
	if (g->fd >= 0)
		close(g->fd);
	*g = GENERATION_NONE;
}
