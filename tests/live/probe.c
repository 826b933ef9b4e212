// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Makes one attempt to reach a listener and says how it ended, in one word: "ok" if the listener
 * answered, "silent" if it did not but no call failed, or the name of the errno. "setup-ERRNO" is
 * for a path that did not get as far as naming the destination.
 *
 * With --serve it takes one attempt a line from standard input, so that a process that is already
 * confined can be asked for many.
 */
#include <err.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "paths.h"

#define MAX_WORDS 16

struct order {
	const struct path *path;
	struct attempt attempt;
	char *via; /* comma-separated ways to get away from this process, outermost first */
	bool time;
	bool verbose;
};

struct result {
	int err;
	bool setup_failed;
	bool answered;
	unsigned long count; /* what the listener counted up to this arrival */
	long usec;
	char from[PEER_STR_SIZE]; /* who answered */
};

/* Shared with the descendants that carry out the attempt. */
static struct result *shared;

static void await_answer(struct attempt *a, struct result *r)
{
	struct peer from = {.len = sizeof(from.any)};
	char data[32] = "";
	ssize_t n;
	int e = wait_for(a->fd, POLLIN, a->timeout_ms);

	if (e == -ETIMEDOUT)
		return;
	n = e ? -1 : recvfrom(a->fd, data, sizeof(data) - 1, 0, &from.sa, &from.len);
	if (n <= 0) {
		r->err = e ? e : n ? -errno : -ECONNRESET;
		return;
	}
	data[strcspn(data, "\n")] = 0;
	if (!number_parse(data, ~0UL, &r->count))
		return;
	if (!from.len) {
		from.len = sizeof(from.any);
		getpeername(a->fd, &from.sa, &from.len);
	}
	peer_format(&from, r->from);
	r->answered = true;
}

static void carry_out(struct order *o)
{
	struct attempt a = o->attempt;
	struct result r = {.from = "-"};

	a.fd = -1;
	r.err = o->path->run(&a);
	r.usec = a.usec;
	r.setup_failed = a.setup_failed;
	if (!r.err)
		await_answer(&a, &r);
	if (a.fd >= 0)
		close(a.fd);
	*shared = r;
}

static void go_via(struct order *o);

static void *thread_main(void *order)
{
	go_via(order);
	return NULL;
}

/* Runs the rest in a child; the caller sees its end by the pipe that every descendant holds. */
static pid_t fork_rest(struct order *o, bool new_session)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	if (new_session)
		setsid();
	go_via(o);
	_exit(0);
}

static void fork_and_wait(struct order *o, bool new_session)
{
	pid_t pid = fork_rest(o, new_session);

	if (pid > 0)
		waitpid(pid, NULL, 0);
}

/* The parent in between dies first: double fork, or (delayed) long after it. */
static void fork_twice(struct order *o, bool delayed)
{
	pid_t parent, pid = fork();

	if (pid > 0)
		waitpid(pid, NULL, 0);
	if (pid)
		return;
	setsid();
	parent = getpid();
	if (fork())
		_exit(0);
	while (getppid() == parent)
		usleep(1000);
	if (delayed)
		usleep(100000);
	go_via(o);
	_exit(0);
}

/* Peels the first way off o->via and goes on in the process or thread that it made. */
static void go_via(struct order *o)
{
	char *way = strsep(&o->via, ",");
	pthread_t thread;

	if (!way) {
		carry_out(o);
	} else if (!strcmp(way, "child")) {
		fork_and_wait(o, false);
	} else if (!strcmp(way, "setsid")) {
		fork_and_wait(o, true);
	} else if (!strcmp(way, "doublefork")) {
		fork_twice(o, false);
	} else if (!strcmp(way, "delayed")) {
		fork_twice(o, true);
	} else if (!strcmp(way, "thread")) {
		if (!pthread_create(&thread, NULL, thread_main, o))
			pthread_join(thread, NULL);
	} else if (!strcmp(way, "userns")) {
		if (!unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWCGROUP))
			fork_and_wait(o, false);
	} else {
		warnx("via=%s: no such way", way);
	}
}

/* Carries the order out in descendants, and waits for the last of them. */
static struct result carry_out_apart(struct order *o)
{
	struct result none = {.err = -ECHILD, .setup_failed = true, .from = "-"};
	int end[2];
	pid_t pid;

	*shared = none;
	if (pipe(end))
		err(1, "pipe");
	pid = fork();
	if (!pid) {
		close(end[0]);
		go_via(o);
		_exit(0);
	}
	close(end[1]);
	waitpid(pid, NULL, 0);
	wait_for(end[0], POLLIN, 5000);
	close(end[0]);
	return *shared;
}

static void word_of(const struct result *r, char word[64])
{
	const char *name = r->err ? strerrorname_np(-r->err) : NULL;

	if (!r->err)
		strcpy(word, r->answered ? "ok" : "silent");
	else
		snprintf(word, 64, "%s%s", r->setup_failed ? "setup-" : "", name ? name : "?");
}

/* One word; with verbose also the listener's count, the answering address and microseconds. */
static void print_result(const struct order *o, const struct result *r)
{
	char word[64];

	word_of(r, word);
	if (o->time)
		fprintf(stderr, "%ld\n", r->usec);
	if (!o->verbose)
		puts(word);
	else if (r->answered)
		printf("%s %lu %s %ld\n", word, r->count, r->from, r->usec);
	else
		printf("%s - %s %ld\n", word, r->from, r->usec);
	fflush(stdout);
}

static const struct path *path_named(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (!strcmp(paths[i].name, name))
			return &paths[i];
	return NULL;
}

/* Reads one "key=value" of an order. Returns false if it is not one. */
static bool read_option(struct order *o, char *word)
{
	char *value = strchr(word, '=');
	unsigned long ms;

	if (!value)
		return false;
	*value++ = 0;
	if (!strcmp(word, "first"))
		return peer_parse_pair(value, &o->attempt.first);
	if (!strcmp(word, "bind"))
		return peer_parse(value, 0, &o->attempt.bind);
	if (!strcmp(word, "device")) {
		o->attempt.device = value;
		return true;
	}
	if (!strcmp(word, "timeout") && number_parse(value, 60000, &ms)) {
		o->attempt.timeout_ms = ms;
		return true;
	}
	if (!strcmp(word, "via")) {
		o->via = value;
		return true;
	}
	return false;
}

/* Reads "PATH ADDR PORT [key=value]...". Returns false on anything else. */
static bool read_order(struct order *o, int n, char **words)
{
	unsigned long port;
	int i;

	if (n < 3 || !number_parse(words[2], 65535, &port))
		return false;
	o->path = path_named(words[0]);
	o->attempt.timeout_ms = 1000;
	if (!o->path || !peer_parse(words[1], port, &o->attempt.to))
		return false;
	for (i = 3; i < n; i++)
		if (!read_option(o, words[i]))
			return false;
	return !o->path->needs_first || o->attempt.first.len;
}

static void execute(struct order *o)
{
	struct result r;

	if (o->via) {
		r = carry_out_apart(o);
	} else {
		carry_out(o);
		r = *shared;
	}
	print_result(o, &r);
}

static void serve(void)
{
	char line[512], *words[MAX_WORDS], *rest, *word;

	while (fgets(line, sizeof(line), stdin)) {
		struct order o = {.verbose = true};
		int n = 0;

		rest = line;
		line[strcspn(line, "\n")] = 0;
		while (n < MAX_WORDS && (word = strsep(&rest, " ")))
			if (*word)
				words[n++] = word;
		if (read_order(&o, n, words)) {
			execute(&o);
		} else {
			puts("usage - - 0");
			fflush(stdout);
		}
	}
}

static void __attribute__((noreturn)) usage(void)
{
	size_t i;

	fputs("usage: probe [--time] [-v] PATH ADDR PORT [first=ADDR:PORT] [bind=ADDR] "
	      "[device=NAME]\n"
	      "             [via=WAY,...] [timeout=MS]\n"
	      "       probe --serve\n"
	      "ways: child setsid doublefork delayed thread userns\npaths:",
	      stderr);
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		fprintf(stderr, " %s", paths[i].name);
	fputc('\n', stderr);
	exit(2);
}

int main(int argc, char **argv)
{
	struct order o = {0};
	int i = 1;

	signal(SIGPIPE, SIG_IGN);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		err(1, "mmap");
	if (argc == 2 && !strcmp(argv[1], "--serve")) {
		serve();
		return 0;
	}
	for (; i < argc && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "--time"))
			o.time = true;
		else if (!strcmp(argv[i], "-v"))
			o.verbose = true;
		else
			usage();
	}
	if (!read_order(&o, argc - i, argv + i))
		usage();
	execute(&o);
	return 0;
}
