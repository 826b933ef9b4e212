// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * bulk [-b BLOCKS] [-r ROUNDS] -w NAME -c CLASS_DIR -k COUNTERS -p DIR
 *
 * The time for 4 MiB over a TCP connection on loopback, of which both ends are in a session of the
 * class whose cgroup is CLASS_DIR, against the same in a cgroup below DIR, without a program. One
 * thread writes and reads in turns, so that one CPU does all the work and all of it is timed.
 */
#include "inet.h"
#include "lab.h"
#include "ratio.h"

#define CHUNK	(1 << 16)
#define CHUNKS	64 /* a slice */
#define POOL	4  /* connections of a place: where one lies in memory is not to decide */
#define BUFFERS (1 << 21)

/* "within 3 % of no program" */
#define BULK_TARGET 1.03

enum place { NONE, NONE_AGAIN, CLASS, PLACES };

static const char *const places[PLACES] = {
	[NONE] = "no program",
	[NONE_AGAIN] = "no program, again",
	[CLASS] = "class",
};

struct lane {
	const char *place;
	int out[POOL];
	int in[POOL];
};

/* Moves what it can of size bytes; returns how much. */
static size_t moved(const char *place, ssize_t n)
{
	if (n < 0 && errno != EAGAIN)
		err(1, "%s", place);
	return n < 0 ? 0 : (size_t)n;
}

/* Sends all of size bytes over and reads them. */
static void transfer(const struct lane *lane, unsigned int i, const char *from, char *to,
		     size_t size)
{
	uint64_t start = now_ns();
	size_t sent = 0, received = 0;

	while (received < size) {
		if (sent < size)
			sent += moved(lane->place,
				      send(lane->out[i], from + sent, size - sent, MSG_DONTWAIT));
		received += moved(lane->place,
				  recv(lane->in[i], to + received, size - received, MSG_DONTWAIT));
		if (received < size && now_ns() - start > (uint64_t)patience.tv_sec * 1000000000U)
			errx(1, "%s: %zu of %zu bytes are delivered", lane->place, received, size);
	}
}

static double slice(void *arg, uint64_t seed)
{
	static char from[CHUNK], to[CHUNK];
	const struct lane *lane = arg;
	uint64_t start, end;

	for (size_t i = 0; i < sizeof(from); i += sizeof(seed))
		memcpy(from + i, &seed, sizeof(seed));
	start = now_ns();
	for (unsigned int i = 0; i < CHUNKS; i++)
		transfer(lane, seed % POOL, from, to, sizeof(to));
	end = now_ns();
	if (memcmp(from, to, sizeof(to)) != 0)
		errx(1, "%s: other bytes are delivered", lane->place);
	return (double)(end - start) / CHUNKS;
}

static void measure(const struct bench *how, struct lane lanes[PLACES], const char *what)
{
	const struct row class = {what, ROW_TARGET, CLASS, NONE, NULL, BULK_TARGET};
	const struct row same = {what, ROW_SAME, NONE_AGAIN, NONE, NULL, 0};
	struct variant variants[PLACES];
	struct bench b = *how;

	for (unsigned int p = 0; p < PLACES; p++)
		variants[p] = (struct variant){places[p], slice, &lanes[p]};
	b.n = PLACES;
	b.variants = variants;
	bench_run_sound(&b, &same);
	print_ratio(&b, &class);
	print_ratio(&b, &same);
}

static int open_listener(int family, struct endpoint *at)
{
	int fd = open_socket(family, SOCK_STREAM, 0);

	set_buffers(fd, BUFFERS);
	bind_socket(fd, at);
	if (listen(fd, 1) < 0)
		err(1, "listen");
	return fd;
}

static void open_connection(struct lane *lane, unsigned int i, int family)
{
	struct endpoint at = loopback_endpoint(family);
	_cleanup_close_ int listener = open_listener(family, &at);

	lane->out[i] = open_socket(family, SOCK_STREAM, 0);
	set_buffers(lane->out[i], BUFFERS);
	connect_socket(lane->out[i], &at);
	lane->in[i] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (lane->in[i] < 0)
		err(1, "accept");
}

static void close_lanes(const struct lane lanes[PLACES])
{
	for (unsigned int p = 0; p < PLACES; p++) {
		for (unsigned int i = 0; i < POOL; i++) {
			close(lanes[p].out[i]);
			close(lanes[p].in[i]);
		}
	}
}

static void measure_family(const struct bench *how, int family, const char *name,
			   char *const dirs[PLACES])
{
	struct lane lanes[PLACES];
	char what[64];

	for (unsigned int i = 0; i < POOL; i++) {
		for (unsigned int p = 0; p < PLACES; p++) {
			cgroup_join(dirs[p]);
			lanes[p].place = places[p];
			open_connection(&lanes[p], i, family);
		}
	}
	snprintf(what, sizeof(what), "bulk TCP, v%c, %s", family == AF_INET ? '4' : '6', name);
	measure(how, lanes, what);
	close_lanes(lanes);
}

static void measure_all(const struct bench *how, const char *name, const char *parent,
			const char *class, const char *pin)
{
	/* Nothing is denied, and each connection is counted once. */
	const struct counters expected = {
		.layers[CGNET_LAYER_CONNECT].allowed = 2UL * POOL,
	};
	struct counters before = counters_read(pin);
	char *dirs[PLACES] = {
		[NONE] = cgroup_child(parent, "0"),
		[NONE_AGAIN] = cgroup_child(parent, "1"),
		[CLASS] = cgroup_child(class, "bench"),
	};

	measure_family(how, AF_INET, name, dirs);
	measure_family(how, AF_INET6, name, dirs);
	counters_check(pin, &before, &expected);
	cgroup_join(parent);
	for (unsigned int p = 0; p < PLACES; p++) {
		rmdir(dirs[p]);
		free(dirs[p]);
	}
}

int main(int argc, char **argv)
{
	struct bench how = {.blocks = 40, .rounds = 15, .undisturbed = true};
	const char *class = NULL, *pin = NULL, *parent = NULL, *name = NULL;
	int option;

	while ((option = getopt(argc, argv, "b:r:w:c:k:p:")) != -1) {
		switch (option) {
		case 'b':
			how.blocks = number(optarg, MAX_BLOCKS);
			break;
		case 'r':
			how.rounds = number(optarg, MAX_ROUNDS);
			break;
		case 'w':
			name = optarg;
			break;
		case 'c':
			class = optarg;
			break;
		case 'k':
			pin = optarg;
			break;
		case 'p':
			parent = optarg;
			break;
		default:
			return 2;
		}
	}
	if (!name || !class || !pin || !parent)
		errx(2, "-w, -c, -k and -p are needed");
	stay_on_cpu();
	measure_all(&how, name, parent, class, pin);
	return 0;
}
