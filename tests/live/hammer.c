// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Connects UDP sockets, which sends nothing, round after round while policies A and B are being
 * exchanged, until it is told to end by SIGTERM. Each destination is tagged: "A:" is allowed by
 * policy A only, "B:" by B only, "open:" and "shut:" by both and by none. A round that took less
 * time than any two reloads, and in which the first destination fared alike at both ends, saw one
 * policy: all destinations have to fit it. The last line says how many rounds there were, in how
 * many a single policy could be told, how often it changed, and how many rounds were wrong.
 */
#include <err.h>
#include <signal.h>
#include <unistd.h>

#include "sock.h"

#define MAX_TARGETS 32
#define WINDOW_USEC 1000

enum tag { ONLY_A, ONLY_B, OPEN, SHUT };

struct target {
	const char *text;
	struct peer peer;
	enum tag tag;
	bool allowed; /* in this round */
};

static struct target targets[MAX_TARGETS];
static int n_targets;
static int sockets[2]; /* v4, v6 */
static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	(void)signal;
	stopped = 1;
}

static struct target target_parse(const char *text)
{
	static const char *const tags[] = {
		[ONLY_A] = "A:", [ONLY_B] = "B:", [OPEN] = "open:", [SHUT] = "shut:"};
	struct target t = {.text = text};

	for (t.tag = ONLY_A; t.tag <= SHUT; t.tag++) {
		size_t len = strlen(tags[t.tag]);

		if (!strncmp(text, tags[t.tag], len) && peer_parse_pair(text + len, &t.peer))
			return t;
	}
	errx(2, "%s: not TAG:ADDR:PORT", text);
}

static bool is_allowed(const struct target *t)
{
	int fd = sockets[t->peer.sa.sa_family == AF_INET6];

	if (!connect(fd, &t->peer.sa, t->peer.len))
		return true;
	if (errno != EPERM)
		err(1, "%s", t->text);
	return false;
}

/* Prints and returns false if a target does not fit the policy that was in force. */
static bool target_fits(const struct target *t, bool know_policy, bool is_a)
{
	bool expected = t->tag == OPEN;

	if (t->tag <= ONLY_B) {
		if (!know_policy)
			return true;
		expected = (t->tag == ONLY_A) == is_a;
	}
	if (t->allowed == expected)
		return true;
	printf("%s was %s", t->text, t->allowed ? "allowed" : "denied");
	puts(!know_policy ? "" : is_a ? " under policy A" : " under policy B");
	return false;
}

int main(int argc, char **argv)
{
	unsigned long rounds = 0, judged = 0, switches = 0, wrong = 0;
	bool was_a = false;
	int i;

	if (argc < 2 || argc > MAX_TARGETS)
		errx(2, "usage: hammer A:ADDR:PORT|B:ADDR:PORT|open:ADDR:PORT|shut:ADDR:PORT...");
	for (n_targets = 0; n_targets < argc - 1; n_targets++)
		targets[n_targets] = target_parse(argv[n_targets + 1]);
	if (targets[0].tag > ONLY_B)
		errx(2, "%s: the first target tells the policy", targets[0].text);
	sockets[0] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	sockets[1] = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (sockets[0] < 0 || sockets[1] < 0)
		err(1, "socket");
	signal(SIGTERM, stop);
	for (; !stopped; rounds++) {
		long start = now_usec();
		bool know_policy, is_a, fits = true;

		for (i = 0; i < n_targets; i++)
			targets[i].allowed = is_allowed(&targets[i]);
		know_policy = is_allowed(&targets[0]) == targets[0].allowed &&
			      now_usec() - start < WINDOW_USEC;
		is_a = targets[0].allowed == (targets[0].tag == ONLY_A);
		for (i = 0; i < n_targets; i++)
			fits &= target_fits(&targets[i], know_policy, is_a);
		wrong += !fits;
		usleep(100); /* leaves the processor to the loader */
		if (!know_policy)
			continue;
		switches += judged && is_a != was_a;
		was_a = is_a;
		judged++;
	}
	printf("%lu %lu %lu %lu\n", rounds, judged, switches, wrong);
	return wrong ? 1 : 0;
}
