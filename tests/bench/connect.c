// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * connect [-b BLOCKS] [-r ROUNDS] -c CLASS_DIR -k COUNTERS -p DIR PREFIX...
 *
 * UDP connect() in a session of the class whose cgroup is CLASS_DIR and which denies just the
 * PREFIXes, against the same call under an empty program and under none, in cgroups below DIR.
 * Connecting a UDP socket sends nothing, and a refused TCP connect neither. One process does it
 * all, since what a hook applies to is the cgroup that a socket was made in.
 */
#include <arpa/inet.h>

#include "destinations.h"
#include "lab.h"
#include "ratio.h"

#define CALLS 250 /* connects a slice */
#define POOL  16  /* sockets of a kind and place: where one lies in memory is not to decide */

#define LATENCIES  20000
#define LATENCY_NS 1e6 /* "a denied connect returns in under 1 ms" */

#define POLICY_TARGET 1.25

enum place { NONE, EMPTY, EMPTY_AGAIN, REFUSING, REFUSING_AGAIN, CLASS, PLACES };

static const struct {
	const char *name;
	int verdict; /* of the empty program, -1 for none */
} places[PLACES] = {
	[NONE] = {"no program", -1},
	[EMPTY] = {"empty program", 1},
	[EMPTY_AGAIN] = {"empty program, again", 1},
	[REFUSING] = {"refusing program", 0},
	[REFUSING_AGAIN] = {"refusing program, again", 0},
	[CLASS] = {"class", -1},
};

struct sockets {
	int udp[PLACES][POOL];
	int tcp[PLACES][POOL];
};

/* One variant: connects from a place to destinations that it allows or not. */
struct caller {
	enum place place;
	const int *sockets;
	const struct destinations *to;
	bool denied;
};

static struct counters expected; /* of the class */

static void expect(const struct caller *c, unsigned int calls)
{
	if (c->place == CLASS && c->denied)
		expected.layers[CGNET_LAYER_CONNECT].denied += calls;
	else if (c->place == CLASS)
		expected.layers[CGNET_LAYER_CONNECT].allowed += calls;
}

__attribute__((noreturn)) static void wrong(const struct caller *c, const struct destination *d,
					    int got)
{
	char text[INET6_ADDRSTRLEN] = "";

	if (d->sa.sa_family == AF_INET)
		inet_ntop(AF_INET, &d->v4.sin_addr, text, sizeof(text));
	else
		inet_ntop(AF_INET6, &d->v6.sin6_addr, text, sizeof(text));
	errx(1, "%s: %s is to be %s: %s", places[c->place].name, text,
	     c->denied ? "denied" : "allowed", got ? strerror(got) : "connected");
}

static inline void call(const struct caller *c, int fd, const struct destination *d)
{
	int got = connect(fd, &d->sa, c->to->len) ? errno : 0;

	if (got != (c->denied ? EPERM : 0))
		wrong(c, d, got);
}

static double slice(void *arg, uint64_t seed)
{
	const struct caller *c = arg;
	int fd = c->sockets[seed % POOL];
	unsigned int first = (unsigned int)(seed >> 32);
	uint64_t start = now_ns(), end;

	for (unsigned int i = 0; i < CALLS; i++)
		call(c, fd, &c->to->items[(first + i) % DESTINATIONS]);
	end = now_ns();
	expect(c, CALLS);
	return (double)(end - start) / CALLS;
}

/* The same calls from some places. */
struct matrix {
	struct caller callers[MAX_VARIANTS];
	struct variant variants[MAX_VARIANTS];
};

static void prepare(struct bench *b, struct matrix *m, const struct sockets *s,
		    const struct destinations *to, bool denied, const enum place *from)
{
	for (unsigned int i = 0; i < b->n; i++) {
		m->callers[i] = (struct caller){from[i], s->udp[from[i]], to, denied};
		m->variants[i] = (struct variant){places[from[i]].name, slice, &m->callers[i]};
	}
	b->variants = m->variants;
}

static void measure_allowed(const struct bench *how, const struct sockets *s, const char *what,
			    const struct destinations *to)
{
	static const enum place from[] = {NONE, EMPTY, EMPTY_AGAIN, CLASS};
	const struct row policy = {what, ROW_TARGET, 3, 1, NULL, POLICY_TARGET};
	const struct row empty = {what, ROW_CONTEXT, 1, 0, NULL, 0};
	const struct row same = {what, ROW_SAME, 2, 1, NULL, 0};
	struct bench b = *how;
	struct matrix m;

	b.n = ARRAY_SIZE(from);
	prepare(&b, &m, s, to, false, from);
	bench_run_sound(&b, &same);
	print_ratio(&b, &policy);
	print_ratio(&b, &empty);
	print_ratio(&b, &same);
}

static void measure_denied(const struct bench *how, const struct sockets *s, const char *what,
			   const struct destinations *to)
{
	static const enum place from[] = {REFUSING, REFUSING_AGAIN, CLASS};
	const struct row policy = {what, ROW_CONTEXT, 2, 0, NULL, 0};
	const struct row same = {what, ROW_SAME, 1, 0, NULL, 0};
	struct bench b = *how;
	struct matrix m;

	b.n = ARRAY_SIZE(from);
	prepare(&b, &m, s, to, true, from);
	bench_run_sound(&b, &same);
	print_ratio(&b, &policy);
	print_ratio(&b, &same);
}

static double latency(const struct caller *c, unsigned int i)
{
	int fd = c->sockets[i % POOL];
	uint64_t start = now_ns(), end;

	call(c, fd, &c->to->items[i % DESTINATIONS]);
	end = now_ns();
	expect(c, 1);
	return (double)(end - start);
}

/* How long a denied connect takes, each for itself, whatever else the machine does meanwhile. */
static void measure_latency(const char *what, const int (*sockets)[POOL],
			    const struct destinations *to)
{
	const struct caller floor = {REFUSING, sockets[REFUSING], to, true};
	const struct caller over = {CLASS, sockets[CLASS], to, true};
	static double floor_ns[LATENCIES], over_ns[LATENCIES];

	for (unsigned int i = 0; i < LATENCIES; i++) {
		floor_ns[i] = latency(&floor, i);
		over_ns[i] = latency(&over, i);
	}
	print_time(what, places[CLASS].name, places[REFUSING].name, over_ns, floor_ns, LATENCIES,
		   LATENCY_NS);
}

static int open_socket(int family, int type)
{
	int fd = socket(family, type | SOCK_CLOEXEC, 0);

	if (fd < 0)
		err(1, "socket");
	return fd;
}

/* In turns, so that the sockets of no place lie together. */
static void open_sockets(struct sockets *s, int family, char *const dirs[PLACES])
{
	for (unsigned int i = 0; i < POOL; i++) {
		for (unsigned int p = 0; p < PLACES; p++) {
			cgroup_join(dirs[p]);
			s->udp[p][i] = open_socket(family, SOCK_DGRAM);
			s->tcp[p][i] = open_socket(family, SOCK_STREAM);
		}
	}
}

static void close_sockets(const struct sockets *s)
{
	for (unsigned int p = 0; p < PLACES; p++) {
		for (unsigned int i = 0; i < POOL; i++) {
			close(s->udp[p][i]);
			close(s->tcp[p][i]);
		}
	}
}

static void measure_family(const struct bench *how, int family, const struct prefixes *denied,
			   char *const dirs[PLACES])
{
	const char v = family == AF_INET ? '4' : '6';
	struct destinations hot = make_hot(denied, family);
	struct destinations spread = make_destinations(denied, family, allowed_address);
	struct destinations refused = make_destinations(denied, family, denied_address);
	struct sockets s;
	char what[64];

	open_sockets(&s, family, dirs);
	snprintf(what, sizeof(what), "UDP connect, v%c, hot", v);
	measure_allowed(how, &s, what, &hot);
	snprintf(what, sizeof(what), "UDP connect, v%c, random", v);
	measure_allowed(how, &s, what, &spread);
	snprintf(what, sizeof(what), "UDP connect, v%c, denied", v);
	measure_denied(how, &s, what, &refused);
	measure_latency(what, s.udp, &refused);
	snprintf(what, sizeof(what), "TCP connect, v%c, denied", v);
	measure_latency(what, s.tcp, &refused);
	close_sockets(&s);
	free(hot.items);
	free(spread.items);
	free(refused.items);
}

/*
 * Makes a place's cgroup below parent, with its empty program for as long as this program runs.
 * Returns the cgroup's directory, the caller's to free.
 */
static char *make_place(enum place place, const char *parent)
{
	static const enum bpf_attach_type hooks[] = {BPF_CGROUP_INET4_CONNECT,
						     BPF_CGROUP_INET6_CONNECT};
	const char name[] = {'0' + place, '\0'};
	char *dir = cgroup_child(parent, name);

	for (unsigned int i = 0; places[place].verdict >= 0 && i < ARRAY_SIZE(hooks); i++)
		empty_attach(dir, hooks[i], places[place].verdict);
	return dir;
}

/* The programs go when this one ends. */
static void remove_places(char *dirs[PLACES], const char *parent)
{
	cgroup_join(parent);
	for (unsigned int p = 0; p < PLACES; p++) {
		rmdir(dirs[p]);
		free(dirs[p]);
	}
}

static void parse_prefixes(struct prefixes *denied, char **texts)
{
	struct prefix p;
	struct why why;

	for (; *texts; texts++) {
		if (prefix_parse(*texts, &p, &why) < 0)
			errx(2, "%s: %s", *texts, why.text);
		if (prefixes_add(denied, &p) < 0)
			errx(1, "out of memory");
	}
}

static void measure_all(const struct bench *how, const char *parent, const char *class,
			const char *pin, const struct prefixes *denied)
{
	struct counters before = counters_read(pin);
	char *dirs[PLACES];

	for (unsigned int p = 0; p < CLASS; p++)
		dirs[p] = make_place(p, parent);
	dirs[CLASS] = cgroup_child(class, "bench");
	measure_family(how, AF_INET, denied, dirs);
	measure_family(how, AF_INET6, denied, dirs);
	counters_check(pin, &before, &expected);
	remove_places(dirs, parent);
}

int main(int argc, char **argv)
{
	struct bench how = {.blocks = 40, .rounds = 15, .undisturbed = true};
	char *class = NULL, *counters = NULL, *parent = NULL;
	struct prefixes denied = {0};
	int option;

	while ((option = getopt(argc, argv, "b:r:c:k:p:")) != -1) {
		switch (option) {
		case 'b':
			how.blocks = number(optarg, MAX_BLOCKS);
			break;
		case 'r':
			how.rounds = number(optarg, MAX_ROUNDS);
			break;
		case 'c':
			class = optarg;
			break;
		case 'k':
			counters = optarg;
			break;
		case 'p':
			parent = optarg;
			break;
		default:
			return 2;
		}
	}
	if (!class || !counters || !parent)
		errx(2, "-c, -k and -p are needed");
	parse_prefixes(&denied, argv + optind);
	stay_on_cpu();
	measure_all(&how, parent, class, counters, &denied);
	prefixes_free(&denied);
	return 0;
}
