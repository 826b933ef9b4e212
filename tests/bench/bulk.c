// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * bulk [-b BLOCKS] [-r ROUNDS] -w NAME -c CLASS_DIR -k COUNTERS -p DIR
 *
 * The time that bytes take over a TCP connection on loopback, of which both ends are in a session
 * of the class whose cgroup is CLASS_DIR, against the same in a cgroup below DIR, without a
 * program. One process writes and another reads: both on one CPU, and each on one of its own.
 */
#include <sys/wait.h>

#include "inet.h"
#include "lab.h"
#include "ratio.h"

#define CHUNK (1U << 17) /* written at once */
#define SLICE (1U << 22)
#define POOL  4 /* connections of a place: where one lies in memory is not to decide */

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

/* What the reader is told: to take a slice of bytes made of seed from a connection. */
struct order {
	unsigned int place, connection;
	uint64_t seed;
};

/* A connection's other end is read by a process of its own. */
struct reader {
	int control; /* takes orders, and answers each with a byte */
	pid_t pid;
};

struct variant_arg {
	const struct lane *lane;
	const struct reader *reader;
	unsigned int place;
};

/* The byte at an offset of a slice. */
static char byte_at(uint64_t seed, size_t offset)
{
	return (char)(seed >> offset % sizeof(seed) * 8);
}

static void read_all(const struct lane *lane, unsigned int connection, uint64_t seed)
{
	static char data[CHUNK];
	ssize_t n;

	for (size_t at = 0; at < SLICE; at += (size_t)n) {
		n = recv(lane->in[connection], data, sizeof(data), 0);
		if (n <= 0)
			errx(1, "%s: %zu of %u bytes are delivered", lane->place, at, SLICE);
		if (data[0] != byte_at(seed, at) ||
		    data[n - 1] != byte_at(seed, at + (size_t)n - 1))
			errx(1, "%s: other bytes are delivered", lane->place);
	}
}

__attribute__((noreturn)) static void obey(const struct lane lanes[PLACES], int control)
{
	struct order o;

	while (read(control, &o, sizeof(o)) == sizeof(o)) {
		read_all(&lanes[o.place], o.connection, o.seed);
		if (write(control, "", 1) != 1)
			break;
	}
	exit(0);
}

/* Starts the reader; apart: on another CPU. */
static void start_reader(struct reader *r, const struct lane lanes[PLACES], bool apart)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		err(1, "socketpair");
	fflush(stdout); /* or else the reader's end would write it too */
	r->pid = fork();
	if (r->pid < 0)
		err(1, "fork");
	if (!r->pid) {
		close(ends[0]);
		if (apart)
			leave_cpu();
		obey(lanes, ends[1]);
	}
	close(ends[1]);
	r->control = ends[0];
}

static void stop_reader(const struct reader *r)
{
	int status;

	close(r->control);
	if (waitpid(r->pid, &status, 0) < 0 || status)
		errx(1, "the reader failed");
}

static double slice(void *arg, uint64_t seed)
{
	static char data[CHUNK];
	const struct variant_arg *v = arg;
	const struct order o = {v->place, seed % POOL, seed};
	int fd = v->lane->out[o.connection];
	uint64_t start, end;
	char done;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = byte_at(seed, i);
	start = now_ns();
	if (write(v->reader->control, &o, sizeof(o)) != sizeof(o))
		err(1, "the reader is gone");
	for (unsigned int at = 0; at < SLICE; at += CHUNK)
		if (send(fd, data, CHUNK, 0) != CHUNK)
			err(1, "%s: send", v->lane->place);
	if (read(v->reader->control, &done, 1) != 1)
		errx(1, "the reader is gone");
	end = now_ns();
	return (double)(end - start) * CHUNK / SLICE;
}

/*
 * On one CPU all that both ends do is timed, and nothing else runs meanwhile; so that is held to
 * the target. On two, the time is that of waking each other, and it strays.
 */
static void measure(const struct bench *how, const struct lane lanes[PLACES], const char *what,
		    bool apart)
{
	const struct row class = {what,	      apart ? ROW_CONTEXT : ROW_TARGET, CLASS, NONE, NULL,
				  BULK_TARGET};
	const struct row same = {what, ROW_SAME, NONE_AGAIN, NONE, NULL, 0};
	struct variant_arg args[PLACES];
	struct variant variants[PLACES];
	struct bench b = *how;
	struct reader reader;

	start_reader(&reader, lanes, apart);
	for (unsigned int p = 0; p < PLACES; p++) {
		args[p] = (struct variant_arg){&lanes[p], &reader, p};
		variants[p] = (struct variant){places[p], slice, &args[p]};
	}
	b.n = PLACES;
	b.variants = variants;
	if (apart)
		bench_run(&b);
	else
		bench_run_sound(&b, &same);
	stop_reader(&reader);
	print_ratio(&b, &class);
	if (!apart)
		print_ratio(&b, &same);
}

static int open_listener(int family, struct endpoint *at)
{
	int fd = open_socket(family, SOCK_STREAM, 0);

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
	const char v = family == AF_INET ? '4' : '6';
	struct lane lanes[PLACES];
	char what[64];

	for (unsigned int i = 0; i < POOL; i++) {
		for (unsigned int p = 0; p < PLACES; p++) {
			cgroup_join(dirs[p]);
			lanes[p].place = places[p];
			open_connection(&lanes[p], i, family);
		}
	}
	snprintf(what, sizeof(what), "bulk TCP, v%c, %s", v, name);
	measure(how, lanes, what, false);
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1) {
		snprintf(what, sizeof(what), "bulk TCP, v%c, %s, two CPUs", v, name);
		measure(how, lanes, what, true);
	}
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
