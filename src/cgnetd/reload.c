// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "reload.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "follow.h"
#include "log.h"
#include "rules.h"
#include "serve.h"

/* A worker that takes longer is stuck, in a name service for example. */
#define WORKER_MAX_S 600

#define RESULT_MAX (64UL << 20)

struct job {
	struct job *next;
	struct reloads *reloads;
	char *file; /* NULL: follows what changed */
	bool force;
	bool asked;	       /* by a client, who may have left since */
	uint32_t rule;	       /* a run-time rule that is to come into force; 0 if none */
	char *answer;	       /* what the client is told then */
	struct client *client; /* NULL if nobody waits */
};

struct reloads {
	struct serve *serve;
	struct job *first, **end; /* the first one runs if there is a worker */
	pid_t worker;		  /* 0 if none */
	int fd;
	struct event *event;
	struct evbuffer *result;
};

/* What a worker sends: this, the grants, the paths of lists, then the two texts. */
struct result {
	int err;
	struct load_result load; /* without its pointers */
	struct why why;
	size_t ngrants, nout, nerr;
};

/* --- the worker ----------------------------------------------------------------------------- */

struct output {
	FILE *file;
	char *text;
	size_t size;
};

static void output_open(struct output *o)
{
	o->file = open_memstream(&o->text, &o->size);
	if (!o->file)
		_exit(1);
}

static void send_all(int fd, const void *data, size_t n)
{
	while (n) {
		ssize_t sent = write(fd, data, n);

		if (sent < 0 && errno != EINTR)
			_exit(1);
		if (sent > 0) {
			data = (const char *)data + sent;
			n -= (size_t)sent;
		}
	}
}

/*
 * Of the service's descriptors it keeps standard ones, the pipe and the snapshot: connections end
 * when they end.
 */
static void close_others(int pipe_fd, const struct snapshot *snapshot)
{
	const int keep[] = {pipe_fd, snapshot->fds[0], snapshot->fds[1]};
	unsigned int at = STDERR_FILENO + 1, next = 0;

	while (next != ~0U) {
		next = ~0U;
		for (size_t i = 0; i < ARRAY_SIZE(keep); i++)
			if ((unsigned int)keep[i] >= at && (unsigned int)keep[i] < next)
				next = keep[i];
		if (next > at)
			syscall(SYS_close_range, at, next == ~0U ? next : next - 1, 0);
		at = next + 1;
	}
}

__attribute__((noreturn)) static void work(const struct job *job, int fd)
{
	struct result r = {};
	struct diags d = {};
	struct output out, err;

	struct follow *follow = serve_follow(job->reloads->serve);
	struct load_request request = {.file = job->file, .force = job->force, .rule = job->rule};

	close_others(fd, follow_snapshot(follow));
	signal(SIGHUP, SIG_IGN);
	output_open(&out);
	output_open(&err);
	follow_describe(follow, &request);
	r.err = load_policy(serve_instance(job->reloads->serve), &request, &d, &r.load, &r.why);
	if (!r.err && job->file)
		load_report(out.file, job->file, &r.load);
	diags_print(&d, err.file);
	/* What is wrong with the file has been said by now. */
	if (r.err && !d.errors)
		fprintf(err.file, "%s: %s\n", job->file ? job->file : "policy", r.why.text);
	fclose(out.file);
	fclose(err.file);
	r.ngrants = r.load.grants.n;
	r.nout = out.size;
	r.nerr = err.size;
	send_all(fd, &r, sizeof(r));
	send_all(fd, r.load.grants.items, r.ngrants * sizeof(*r.load.grants.items));
	send_all(fd, r.load.lists.bytes, r.load.lists.size);
	send_all(fd, r.load.hosts.bytes, r.load.hosts.size);
	send_all(fd, out.text, out.size);
	send_all(fd, err.text, err.size);
	_exit(0);
}

/* --- the loop ------------------------------------------------------------------------------- */

static void job_free(struct job *job)
{
	if (job->client)
		client_on_close(job->client, NULL, NULL);
	free(job->file);
	free(job->answer);
	free(job);
}

static void forget_client(void *arg)
{
	((struct job *)arg)->client = NULL;
}

static void say(const struct job *job, bool is_error, const char *text, size_t n)
{
	log_lines(is_error, text, n);
	if (job->client && n)
		client_text(job->client, is_error, text, n);
}

/* Takes the result apart; load gets what is its own. Returns 0, -EIO or -ENOMEM. */
static int unpack(struct evbuffer *from, struct result *r, char **text)
{
	struct granted *grants;
	char *lists, *hosts;

	if (evbuffer_remove(from, r, sizeof(*r)) != sizeof(*r))
		return -EIO;
	r->load.grants = (struct grants){};
	r->load.lists.bytes = r->load.hosts.bytes = NULL;
	if (evbuffer_get_length(from) != r->ngrants * sizeof(*grants) + r->load.lists.size +
						 r->load.hosts.size + r->nout + r->nerr)
		return -EIO;
	r->load.grants.items = grants = calloc(r->ngrants + 1, sizeof(*grants));
	r->load.lists.bytes = lists = calloc(r->load.lists.size + 1, 1);
	r->load.hosts.bytes = hosts = calloc(r->load.hosts.size + 1, 1);
	*text = calloc(r->nout + r->nerr + 1, 1);
	if (!grants || !lists || !hosts || !*text)
		return -ENOMEM;
	r->load.grants.n = r->ngrants;
	evbuffer_remove(from, grants, r->ngrants * sizeof(*grants));
	evbuffer_remove(from, lists, r->load.lists.size);
	evbuffer_remove(from, hosts, r->load.hosts.size);
	evbuffer_remove(from, *text, r->nout + r->nerr);
	return 0;
}

static void fail(const struct reloads *r, const struct job *job, const char *reason)
{
	follow_failed(serve_follow(r->serve), !job->file);
	if (job->rule)
		rules_failed(serve_rules(r->serve), job->rule);
	if (job->file)
		serve_not_loaded(r->serve, reason);
}

/* The worker is through with the first job. */
static void finish(struct reloads *r, const struct job *job)
{
	_cleanup_free_ char *text = NULL;
	struct result result = {};
	int err = unpack(r->result, &result, &text);

	if (err) {
		static const char died[] = "the worker died before it was through\n";

		say(job, true, died, sizeof(died) - 1);
		fail(r, job, died);
	} else {
		say(job, false, text, result.nout);
		say(job, true, text + result.nout, result.nerr);
		err = result.err;
		if (err)
			fail(r, job, result.why.text);
		else if (job->file)
			serve_loaded(r->serve, job->file, &result.load);
		if (!err && job->file)
			rules_reloaded(serve_rules(r->serve));
		if (!err)
			follow_loaded(serve_follow(r->serve), &result.load);
		/* The snapshot is lost: from the file, then. */
		if (err == -ESTALE && !job->file && reload_start(r))
			log_error("reload: out of memory");
	}
	if (job->client)
		client_end(job->client, err ? EXIT_REFUSED : EXIT_DONE, err ? NULL : job->answer);
	load_result_free(&result.load);
}

static void start_next(struct reloads *r);

static void end_worker(struct reloads *r)
{
	event_free(r->event);
	r->event = NULL;
	cleanup_closep(&r->fd);
	r->fd = -1;
	/* It has closed its end of the pipe, and so is gone or about to. */
	while (waitpid(r->worker, NULL, 0) < 0 && errno == EINTR)
		;
	r->worker = 0;
}

static void worker_event(evutil_socket_t fd, short what, void *arg)
{
	struct reloads *r = arg;
	struct job *job = r->first;

	if (what & EV_TIMEOUT) {
		log_error("the worker takes longer than %d s: killed", WORKER_MAX_S);
		kill(r->worker, SIGKILL);
	} else {
		int n = evbuffer_read(r->result, fd, -1);

		if (n > 0 && evbuffer_get_length(r->result) <= RESULT_MAX)
			return;
		if (n > 0)
			kill(r->worker, SIGKILL);
	}
	end_worker(r);
	r->first = job->next;
	if (!r->first)
		r->end = &r->first;
	finish(r, job);
	job_free(job);
	evbuffer_drain(r->result, evbuffer_get_length(r->result));
	start_next(r);
}

static int fork_worker(struct reloads *r)
{
	const struct timeval max = {.tv_sec = WORKER_MAX_S};
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	follow_started(serve_follow(r->serve), !r->first->file && r->first->asked ? LOAD_RULES : 0);
	if (r->first->file)
		rules_reloading(serve_rules(r->serve));
	r->event = event_new(serve_base(r->serve), fds[0], EV_READ | EV_PERSIST, worker_event, r);
	r->worker = r->event ? fork() : -1;
	if (!r->worker)
		work(r->first, fds[1]);
	close(fds[1]);
	if (r->worker < 0) {
		int err = -errno;

		if (r->event)
			event_free(r->event);
		r->event = NULL;
		r->worker = 0;
		close(fds[0]);
		return err;
	}
	r->fd = fds[0];
	evutil_make_socket_nonblocking(r->fd);
	event_add(r->event, &max);
	return 0;
}

static void start_next(struct reloads *r)
{
	int err = 0;

	if (r->worker || !r->first)
		return;
	if (r->first->file)
		serve_loading(r->serve);
	err = fork_worker(r);
	if (err) {
		struct job *job = r->first;
		struct why why;

		why_set(&why, err, "cannot start a worker: %s\n", strerror(-err));
		r->first = job->next;
		if (!r->first)
			r->end = &r->first;
		say(job, true, why.text, strlen(why.text));
		fail(r, job, why.text);
		if (job->client)
			client_end(job->client, EXIT_REFUSED, NULL);
		job_free(job);
		start_next(r);
	}
}

static struct job *add_job(struct reloads *r, const char *file)
{
	struct job *job = calloc(1, sizeof(*job));

	if (job && file)
		job->file = strdup(file);
	if (!job || (file && !job->file)) {
		free(job);
		return NULL;
	}
	job->reloads = r;
	*r->end = job;
	r->end = &job->next;
	return job;
}

/* Whether one of the kind that nobody asked for waits its turn. */
static bool is_waiting(const struct reloads *r, bool again)
{
	for (const struct job *job = r->first; job; job = job->next)
		if (!job->asked && !job->file == again && !(r->worker && job == r->first))
			return true;
	return false;
}

int reload_start(struct reloads *r)
{
	if (!is_waiting(r, false) && !add_job(r, serve_file(r->serve)))
		return -ENOMEM;
	start_next(r);
	return 0;
}

int reload_again(struct reloads *r)
{
	if (!is_waiting(r, true) && !add_job(r, NULL))
		return -ENOMEM;
	start_next(r);
	return 0;
}

void reload_request(struct client *c, const struct cgnet_msg *msg)
{
	const struct cgnet_load *request = (const struct cgnet_load *)msg;
	struct reloads *r = serve_reloads(client_serve(c));
	struct job *job = add_job(r, request->file);

	if (!job) {
		client_end(c, EXIT_REFUSED, "out of memory\n");
		return;
	}
	job->asked = true;
	job->force = request->force;
	job->client = c;
	client_on_close(c, forget_client, job);
	start_next(r);
}

void reload_rule(struct client *c, uint32_t rule, const char *answer)
{
	struct reloads *r = serve_reloads(client_serve(c));
	struct job *job = add_job(r, NULL);

	if (!job) {
		rules_failed(serve_rules(r->serve), rule);
		client_end(c, EXIT_REFUSED, "out of memory\n");
		return;
	}
	job->asked = true;
	job->rule = rule;
	job->answer = answer ? strdup(answer) : NULL;
	job->client = c;
	client_on_close(c, forget_client, job);
	start_next(r);
}

struct reloads *reloads_new(struct serve *s)
{
	struct reloads *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	*r = (struct reloads){.serve = s, .end = &r->first, .fd = -1, .result = evbuffer_new()};
	if (r->result)
		return r;
	free(r);
	return NULL;
}

void reloads_free(struct reloads *r)
{
	if (!r)
		return;
	if (r->worker)
		end_worker(r);
	while (r->first) {
		struct job *next = r->first->next;

		job_free(r->first);
		r->first = next;
	}
	evbuffer_free(r->result);
	free(r);
}
