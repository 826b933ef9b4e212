// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "event_follow.h"

#include <poll.h>
#include <signal.h>
#include <time.h>

#define INTERVAL_NS 1000000000LL

static volatile sig_atomic_t stop;

static void on_signal(int signal)
{
	(void)signal;
	stop = 1;
}

void event_follow_signals(void)
{
	const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = on_signal};
	sigset_t blocked;

	sigemptyset(&blocked);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		sigaction(signals[i], &action, NULL);
		sigaddset(&blocked, signals[i]);
	}
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	signal(SIGPIPE, SIG_IGN);
}

bool event_follow_stopped(void)
{
	return stop;
}

int64_t event_follow_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INTERVAL_NS + t.tv_nsec;
}

/* Waits for events, a signal, a time (0: for none), or whoever reads our output to go away. */
static void wait_for(const struct event_reader *r, int64_t until)
{
	struct pollfd fds[] = {{event_reader_fd(r), POLLIN, 0}, {STDOUT_FILENO, 0, 0}};
	int64_t ns = until ? until - event_follow_now() : 0;
	struct timespec timeout = {.tv_sec = ns / INTERVAL_NS, .tv_nsec = ns % INTERVAL_NS};
	sigset_t none;

	if (ns < 0)
		return;
	sigemptyset(&none);
	if (ppoll(fds, ARRAY_SIZE(fds), until ? &timeout : NULL, &none) > 0 &&
	    (fds[1].revents & (POLLERR | POLLHUP)))
		stop = 1;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return !b || (a && a < b) ? a : b;
}

void event_follow(struct event_reader *r, uint64_t us, const bool *done, event_fn fn, void *arg)
{
	int64_t deadline = us ? event_follow_now() + (int64_t)us * 1000 : 0;
	int64_t until = 0; /* end of the interval; 0 while there is nothing to count */

	while (!stop && !*done && !(deadline && event_follow_now() >= deadline)) {
		wait_for(r, earlier(until, deadline));
		if (event_reader_take(r, fn, arg) && !until)
			until = event_follow_now() + INTERVAL_NS;
		if (until && event_follow_now() >= until)
			until = event_reader_end_interval(r, fn, arg)
					? event_follow_now() + INTERVAL_NS
					: 0;
		if (fflush(stdout) == EOF)
			stop = 1;
	}
}
