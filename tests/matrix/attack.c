// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Makes one attempt to get around a class and says how it ended. With --serve it takes one attempt
 * a line from standard input and carries out each in a child of its own, so that a process that is
 * confined already can be asked for many. The answer is "WORD COUNT - USEC STEPS".
 */
#include "attack.h"

#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define MAX_WORDS 24

static const struct attack *const tables[] = {
	net_attacks,	packet_attacks, option_attacks, header_attacks,
	socket_attacks, own_attacks,	leave_attacks,	mount_attacks,
	trace_attacks,	unix_attacks,	undo_attacks,	member_attacks,
};

/* Shared with the child that carries an attempt out. */
static struct outcome *shared;

int step(struct outcome *o, const char *what, int e)
{
	size_t len = strlen(o->steps);

	snprintf(o->steps + len, sizeof(o->steps) - len, "%s%s: %s", len ? "; " : "", what,
		 e ? strerrorname_np(-e) : "done");
	return e;
}

void end_word(struct outcome *o, const char *word)
{
	snprintf(o->word, sizeof(o->word), "%s", word);
}

void end(struct outcome *o, int e)
{
	const char *name = e ? strerrorname_np(-e) : "silent";

	end_word(o, name ? name : "?");
}

struct peer peer_arg(const char *addr, const char *port)
{
	struct peer p;

	if (!peer_parse(addr, number_arg(port), &p))
		errx(2, "%s: not an address", addr);
	return p;
}

unsigned long number_arg(const char *text)
{
	unsigned long n;

	if (!number_parse(text, ~0UL, &n))
		errx(2, "%s: not a number", text);
	return n;
}

struct attempt attempt_at(const struct peer *to)
{
	return (struct attempt){.to = *to, .timeout_ms = 1000, .fd = -1};
}

static int read_answer(struct outcome *o, int fd)
{
	char data[64] = "";
	ssize_t n = recv(fd, data, sizeof(data) - 1, 0);

	if (n <= 0)
		return n ? -errno : -ECONNRESET;
	data[strcspn(data, "\n")] = 0;
	if (number_parse(data, ~0UL, &o->count))
		end_word(o, "ok");
	return 0;
}

void conclude(struct outcome *o, struct attempt *a, int e)
{
	o->usec = a->usec;
	end(o, e);
	if (!e && a->fd >= 0) {
		e = wait_for(a->fd, POLLIN, a->timeout_ms);
		if (!e)
			e = read_answer(o, a->fd);
		if (e && e != -ETIMEDOUT)
			end(o, e);
	}
	if (a->setup_failed)
		snprintf(o->word, sizeof(o->word), "setup-%s", strerrorname_np(-e));
	if (a->fd >= 0)
		close(a->fd);
}

void try_tcp(struct outcome *o, const char *addr, const char *port)
{
	struct peer to = peer_arg(addr, port);
	struct attempt a = attempt_at(&to);

	conclude(o, &a, path_tcp(&a));
}

int send_bytes(struct attempt *a, const void *data, size_t len, const void *to, socklen_t size)
{
	long start = now_usec();
	int e = sendto(a->fd, data, len, 0, to, size) < 0 ? -errno : 0;

	a->usec = now_usec() - start;
	return e;
}

int write_file(const char *path, const char *text)
{
	int e, fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	e = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return e;
}

static const struct attack *attack_named(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (const struct attack *a = tables[i]; a->name; a++)
			if (!strcmp(a->name, name))
				return a;
	return NULL;
}

static const char *check_words(int n, char **words)
{
	const struct attack *a = n ? attack_named(words[0]) : NULL;

	if (!a)
		return "no-such-attack";
	return n - 1 < a->args ? "too-few-words" : NULL;
}

static void carry_out(char **words)
{
	struct outcome o = {0};

	attack_named(words[0])->run(&o, words + 1);
	if (!o.child)
		*shared = o;
}

static void print_outcome(void)
{
	printf("%s %lu - %ld %s\n", shared->word, shared->count, shared->usec,
	       shared->steps[0] ? shared->steps : "-");
	fflush(stdout);
}

/* Waits for the last descendant: each holds the pipe's other end. */
static void await_child(pid_t pid, int end)
{
	int status;

	if (wait_for(end, POLLIN, 8000) && pid > 0)
		kill(pid, SIGKILL);
	close(end);
	if (pid > 0 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && !shared->word[0])
		snprintf(shared->word, sizeof(shared->word), "SIG%s",
			 sigabbrev_np(WTERMSIG(status)));
}

static void carry_out_apart(char **words)
{
	int ends[2];
	pid_t pid;

	memset(shared, 0, sizeof(*shared));
	if (pipe2(ends, O_CLOEXEC))
		err(1, "pipe");
	pid = fork();
	if (!pid) {
		close(ends[0]);
		carry_out(words);
		_exit(0);
	}
	close(ends[1]);
	await_child(pid, ends[0]);
	if (!shared->word[0])
		end_word(shared, "no-word");
}

static void serve(void)
{
	char line[1024], *words[MAX_WORDS + 1], *rest, *word;
	const char *wrong;

	while (fgets(line, sizeof(line), stdin)) {
		int n = 0;

		rest = line;
		line[strcspn(line, "\n")] = 0;
		while (n < MAX_WORDS && (word = strsep(&rest, " ")))
			if (*word)
				words[n++] = word;
		words[n] = NULL;
		wrong = check_words(n, words);
		if (wrong) {
			memset(shared, 0, sizeof(*shared));
			end_word(shared, wrong);
		} else {
			carry_out_apart(words);
		}
		print_outcome();
	}
}

int main(int argc, char **argv)
{
	const char *wrong;

	signal(SIGPIPE, SIG_IGN);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		err(1, "mmap");
	if (argc == 2 && !strcmp(argv[1], "--serve")) {
		serve();
		return 0;
	}
	wrong = check_words(argc - 1, argv + 1);
	if (wrong) {
		fprintf(stderr, "attack: %s\nusage: attack ATTACK WORD...\n       attack --serve\n",
			wrong);
		return 2;
	}
	/* In this very process: what it inherited, it still has. */
	carry_out(argv + 1);
	print_outcome();
	return 0;
}
