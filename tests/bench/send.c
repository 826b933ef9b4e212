// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * send [-b BLOCKS] [-r ROUNDS] -w NAME -c CLASS_DIR -k COUNTERS -p DIR [-n NETNS LIST]
 *
 * send() on a connected UDP socket in a session of the class whose cgroup is CLASS_DIR, against the
 * same call under an empty egress program and under none, in cgroups below DIR: to a server of the
 * same cgroup on loopback, and into the network namespace at NETNS, which takes every address. The
 * destinations there are neighbours of the prefixes in the file LIST, which the class denies.
 *
 * Every datagram is received; that it is delivered belongs to what is timed, the receipt does not.
 */
#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>

#include "destinations.h"
#include "inet.h"
#include "lab.h"
#include "ratio.h"

#define CALLS	250 /* datagrams a slice */
#define SIZE	64
#define POOL	16 /* sockets of a place: where one lies in memory is not to decide */
#define BUFFERS (1 << 20)

#define EGRESS_TARGET 1.10

enum place { NONE, EMPTY, EMPTY_AGAIN, CLASS, PLACES };

static const char *const places[PLACES] = {
	[NONE] = "no program",
	[EMPTY] = "empty program",
	[EMPTY_AGAIN] = "empty program, again",
	[CLASS] = "class",
};

/* From a place to whoever receives its datagrams. */
struct lane {
	const char *place;
	int out[POOL];
	int in;
};

static struct counters expected; /* of the class */

static void receive(const struct lane *lane, uint64_t seed)
{
	char data[SIZE + 1];

	for (unsigned int i = 0; i < CALLS; i++) {
		ssize_t n = recv(lane->in, data, sizeof(data), 0);

		if (n != SIZE || memcmp(data, &seed, sizeof(seed)) != 0)
			errx(1, "%s: %u of %u datagrams are delivered", lane->place, i, CALLS);
	}
}

static double slice(void *arg, uint64_t seed)
{
	const struct lane *lane = arg;
	int fd = lane->out[seed % POOL];
	char data[SIZE] = "";
	uint64_t start, end;

	memcpy(data, &seed, sizeof(seed));
	start = now_ns();
	for (unsigned int i = 0; i < CALLS; i++)
		if (send(fd, data, sizeof(data), 0) != sizeof(data))
			err(1, "%s: send", lane->place);
	end = now_ns();
	receive(lane, seed);
	return (double)(end - start) / CALLS;
}

/* kind: of the row that holds the class against the empty program. */
static void measure(const struct bench *how, struct lane lanes[PLACES], const char *what,
		    enum row_kind kind)
{
	const struct row class = {what, kind, CLASS, EMPTY, NULL, EGRESS_TARGET};
	const struct row bare = {what, ROW_CONTEXT, CLASS, NONE, NULL, 0};
	const struct row same = {what, ROW_SAME, EMPTY_AGAIN, EMPTY, NULL, 0};
	struct variant variants[PLACES];
	struct bench b = *how;

	for (unsigned int p = 0; p < PLACES; p++)
		variants[p] = (struct variant){places[p], slice, &lanes[p]};
	b.n = PLACES;
	b.variants = variants;
	bench_run_sound(&b, &same);
	print_ratio(&b, &class);
	print_ratio(&b, &bare);
	print_ratio(&b, &same);
}

static void connect_lane(struct lane *lane, unsigned int i, const struct endpoint *to)
{
	lane->out[i] = open_socket(to->sa.sa_family, SOCK_DGRAM, 0);
	connect_socket(lane->out[i], to);
	set_buffers(lane->out[i], BUFFERS);
}

static void expect_connects(void)
{
	expected.layers[CGNET_LAYER_CONNECT].allowed += POOL;
}

static void close_lanes(const struct lane lanes[PLACES])
{
	for (unsigned int p = 0; p < PLACES; p++)
		for (unsigned int i = 0; i < POOL; i++)
			close(lanes[p].out[i]);
}

/* --- into the other network namespace --------------------------------------------------------- */

static struct endpoint to_endpoint(const struct prefix *p)
{
	struct destination d = to_sockaddr(p);

	if (p->family == AF_INET)
		return (struct endpoint){.v4 = d.v4, .len = sizeof(d.v4)};
	return (struct endpoint){.v6 = d.v6, .len = sizeof(d.v6)};
}

/* Takes what is sent to any address there. */
static int open_receiver(int family, const char *netns)
{
	struct prefix any = {.family = (uint8_t)family};
	struct endpoint at = to_endpoint(&any);
	int left = enter_netns(netns);
	int fd = open_socket(family, SOCK_DGRAM, 0);

	set_buffers(fd, BUFFERS);
	bind_socket(fd, &at);
	leave_netns(left);
	return fd;
}

/* Pings an address; no hook but egress sees that. Of ICMPv6 the kernel does not tell the error. */
static void ping(const char *dir, const struct endpoint *to)
{
	const struct icmphdr echo4 = {.type = ICMP_ECHO};
	const struct icmp6_hdr echo6 = {.icmp6_type = ICMP6_ECHO_REQUEST};
	bool v4 = to->sa.sa_family == AF_INET;
	_cleanup_close_ int fd = -1;

	cgroup_join(dir);
	fd = open_socket(to->sa.sa_family, SOCK_DGRAM, v4 ? IPPROTO_ICMP : IPPROTO_ICMPV6);
	if (sendto(fd, v4 ? (const void *)&echo4 : &echo6, v4 ? sizeof(echo4) : sizeof(echo6), 0,
		   &to->sa, to->len) < 0 &&
	    errno != EPERM)
		err(1, "ping");
}

/* The class's layer has to be in force: its counter tells. */
static void check_egress(int family, char *const dirs[PLACES], const struct prefixes *denied)
{
	uint64_t rng = 521288629U;
	struct prefix address = denied_address(denied, family, &rng);
	struct endpoint to = to_endpoint(&address);

	for (unsigned int p = 0; p < PLACES; p++)
		ping(dirs[p], &to);
	expected.layers[CGNET_LAYER_EGRESS].denied++;
}

static unsigned int count_family(const struct prefixes *list, int family)
{
	unsigned int n = 0;

	for (size_t i = 0; i < list->n; i++)
		n += list->items[i].family == family;
	return n;
}

static void measure_outside(const struct bench *how, int family, char *const dirs[PLACES],
			    const char *netns, const struct prefixes *denied)
{
	int in = open_receiver(family, netns);
	struct lane lanes[PLACES];
	uint64_t rng = 362436069U;
	char what[64];

	check_egress(family, dirs, denied);
	for (unsigned int i = 0; i < POOL; i++) {
		struct prefix address = neighbour_address(denied, family, &rng);
		struct endpoint to = to_endpoint(&address);

		for (unsigned int p = 0; p < PLACES; p++) {
			cgroup_join(dirs[p]);
			connect_lane(&lanes[p], i, &to);
		}
	}
	expect_connects();
	for (unsigned int p = 0; p < PLACES; p++) {
		lanes[p].place = places[p];
		lanes[p].in = in;
	}
	snprintf(what, sizeof(what), "UDP send, v%c, %u prefixes", family == AF_INET ? '4' : '6',
		 count_family(denied, family));
	measure(how, lanes, what, ROW_TARGET);
	close_lanes(lanes);
	close(in);
}

/* --- to a server of one's own ----------------------------------------------------------------- */

static void measure_own(const struct bench *how, int family, char *const dirs[PLACES],
			const char *name)
{
	struct endpoint at[PLACES];
	struct lane lanes[PLACES];
	char what[64];

	for (unsigned int p = 0; p < PLACES; p++) {
		cgroup_join(dirs[p]);
		at[p] = loopback_endpoint(family);
		lanes[p].place = places[p];
		lanes[p].in = open_socket(family, SOCK_DGRAM, 0);
		set_buffers(lanes[p].in, BUFFERS);
		bind_socket(lanes[p].in, &at[p]);
	}
	for (unsigned int i = 0; i < POOL; i++) {
		for (unsigned int p = 0; p < PLACES; p++) {
			cgroup_join(dirs[p]);
			connect_lane(&lanes[p], i, &at[p]);
		}
	}
	expect_connects();
	snprintf(what, sizeof(what), "UDP send, v%c, %s", family == AF_INET ? '4' : '6', name);
	measure(how, lanes, what, ROW_CONTEXT);
	close_lanes(lanes);
	for (unsigned int p = 0; p < PLACES; p++)
		close(lanes[p].in);
}

/* --- all -------------------------------------------------------------------------------------- */

static void read_list(const char *path, struct prefixes *list)
{
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	char line[PREFIX_STR_SIZE + 1];
	struct prefix p;
	struct why why;

	if (!file)
		err(1, "%s", path);
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (prefix_parse(line, &p, &why) < 0)
			errx(1, "%s: %s", path, why.text);
		if (prefixes_add(list, &p) < 0)
			errx(1, "out of memory");
	}
}

static void make_places(char *dirs[PLACES], const char *parent, const char *class)
{
	for (unsigned int p = 0; p < CLASS; p++) {
		const char name[] = {(char)('0' + p), '\0'};

		dirs[p] = cgroup_child(parent, name);
		if (p != NONE)
			empty_attach(dirs[p], BPF_CGROUP_INET_EGRESS, 1);
	}
	dirs[CLASS] = cgroup_child(class, "bench");
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

static void measure_all(const struct bench *how, char *const dirs[PLACES], const char *name,
			const char *netns, const char *list)
{
	static const int families[] = {AF_INET, AF_INET6};
	struct prefixes denied = {0};

	if (list)
		read_list(list, &denied);
	for (unsigned int i = 0; i < ARRAY_SIZE(families); i++) {
		if (list)
			measure_outside(how, families[i], dirs, netns, &denied);
		measure_own(how, families[i], dirs, name);
	}
	prefixes_free(&denied);
}

int main(int argc, char **argv)
{
	struct bench how = {.blocks = 40, .rounds = 15, .undisturbed = true};
	const char *class = NULL, *pin = NULL, *parent = NULL, *netns = NULL, *name = NULL;
	struct counters before;
	char *dirs[PLACES];
	int option;

	while ((option = getopt(argc, argv, "b:r:w:c:k:p:n:")) != -1) {
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
		case 'n':
			netns = optarg;
			break;
		default:
			return 2;
		}
	}
	if (!name || !class || !pin || !parent || !netns != !argv[optind])
		errx(2, "-w, -c, -k and -p are needed, and LIST with -n");
	stay_on_cpu();
	before = counters_read(pin);
	make_places(dirs, parent, class);
	measure_all(&how, dirs, name, netns, argv[optind]);
	counters_check(pin, &before, &expected);
	remove_places(dirs, parent);
	return 0;
}
