// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "control.h"

#include <errno.h>
#include <event2/event.h>
#include <linux/limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "log.h"
#include "message.h"
#include "outbox.h"
#include "quota.h"
#include "requests.h"
#include "serve.h"

/* A connection that says nothing is closed after this time. */
#define SILENT_S 10

/* Connections taken in one go, before others are served. */
#define ACCEPT_FEW 64

#define TEXT_MAX (CGNET_REPLY_MAX - sizeof(struct cgnet_reply))

/* Behind CMSG_SPACE there is no room for a descriptor, so that none is ever installed. */
#define CONTROL_SIZE CMSG_SPACE(sizeof(struct ucred))

enum state {
	STATE_IDLE,    /* reads the next request */
	STATE_WAITING, /* has a request, which is one too many for now */
	STATE_BUSY,    /* a handler answers it */
	STATE_CLOSING, /* says its last words */
	STATE_BROKEN,  /* to be closed from the loop */
};

struct client {
	struct client *prev, *next; /* the oldest first */
	struct control *control;
	struct account *account;
	struct event *event;
	enum state state;
	int fd;
	struct peer peer;
	struct outbox outbox;
	struct cgnet_msg *request; /* STATE_WAITING: owned */
	void (*gone)(void *arg);
	void *gone_arg;
};

struct control {
	struct serve *serve;
	struct limits *limits;
	struct event *accept;
	struct client *oldest, *newest;
	size_t clients;
	int fd;
};

static void client_event(evutil_socket_t fd, short what, void *arg);

const struct peer *client_peer(const struct client *c)
{
	return &c->peer;
}

struct serve *client_serve(const struct client *c)
{
	return c->control->serve;
}

size_t client_queued(const struct client *c)
{
	return c->outbox.size;
}

void client_on_close(struct client *c, void (*gone)(void *arg), void *arg)
{
	c->gone = gone;
	c->gone_arg = arg;
}

void client_log(struct client *c, const char *fmt, ...)
{
	unsigned int missed = 0;
	struct why line;
	va_list ap;

	if (!account_log(c->account, serve_now_us(), &missed))
		return;
	va_start(ap, fmt);
	vsnprintf(line.text, sizeof(line.text), fmt, ap);
	va_end(ap);
	if (missed)
		log_warning("%s (and %u more of uid %u)", line.text, missed, c->peer.uid);
	else
		log_warning("%s", line.text);
}

static void client_close(struct client *c)
{
	struct control *control = c->control;

	if (c->gone)
		c->gone(c->gone_arg);
	*(c->prev ? &c->prev->next : &control->oldest) = c->next;
	*(c->next ? &c->next->prev : &control->newest) = c->prev;
	control->clients--;
	if (c->event)
		event_free(c->event);
	outbox_free(&c->outbox);
	if (c->account)
		account_put(c->account);
	peer_free(&c->peer);
	cleanup_closep(&c->fd);
	free(c->request);
	free(c);
}

/* Waits for what the state can do something with. */
static void client_wait(struct client *c, uint64_t wait_us)
{
	struct timeval timeout = {wait_us / 1000000, wait_us % 1000000};
	short what = EV_PERSIST;

	if (c->state == STATE_IDLE && !c->outbox.size)
		what |= EV_READ;
	else
		what |= EV_CLOSED;
	if (c->outbox.size)
		what |= EV_WRITE;
	event_del(c->event);
	event_assign(c->event, serve_base(c->control->serve), c->fd, what, client_event, c);
	if (event_add(c->event, wait_us ? &timeout : NULL))
		c->state = STATE_BROKEN;
}

static void client_update(struct client *c)
{
	if (c->state == STATE_CLOSING && !c->outbox.size)
		c->state = STATE_BROKEN;
	if (c->state == STATE_BROKEN)
		/* From the loop, since a caller may be about to use it. */
		event_active(c->event, EV_TIMEOUT, 0);
	else if (c->outbox.size)
		client_wait(c, CLIENT_STALL_S * 1000000ULL);
	else
		client_wait(c, c->state == STATE_IDLE ? SILENT_S * 1000000ULL : 0);
}

static void flush(struct client *c)
{
	if (outbox_send(&c->outbox, c->fd))
		c->state = STATE_BROKEN;
}

/* Room for a packet at the end of the queue; NULL where the client is given up. */
static struct packet *queue(struct client *c, size_t size)
{
	struct packet *p = NULL;

	if (c->state == STATE_BROKEN)
		return NULL;
	if (c->outbox.size + size <= CLIENT_QUEUE_MAX)
		p = outbox_add(&c->outbox, size);
	if (!p) {
		c->state = STATE_BROKEN;
		client_update(c);
	}
	return p;
}

static void queue_text(struct client *c, unsigned int flags, int status, const char *text, size_t n)
{
	struct cgnet_reply reply = {.flags = flags, .status = status};
	struct packet *p = queue(c, sizeof(reply) + n);

	if (!p)
		return;
	message_start(&reply.msg, CGNET_MSG_REPLY, sizeof(reply) + n);
	memcpy(p->bytes, &reply, sizeof(reply));
	if (n)
		memcpy(p->bytes + sizeof(reply), text, n);
}

void client_text(struct client *c, bool to_stderr, const char *text, size_t n)
{
	unsigned int flags = CGNET_REPLY_MORE | (to_stderr ? CGNET_REPLY_ERROR : 0);

	for (size_t part; n && c->state != STATE_BROKEN; text += part, n -= part) {
		part = n < TEXT_MAX ? n : TEXT_MAX;
		queue_text(c, flags, 0, text, part);
	}
	flush(c);
	client_update(c);
}

static void end(struct client *c)
{
	c->gone = NULL;
	if (c->state == STATE_BUSY)
		c->state = STATE_IDLE;
	flush(c);
	client_update(c);
}

void client_end(struct client *c, int status, const char *text)
{
	size_t n = text ? strlen(text) : 0;

	if (n > TEXT_MAX)
		n = TEXT_MAX;
	queue_text(c, status ? CGNET_REPLY_ERROR : 0, status, text, n);
	end(c);
}

void client_end_with(struct client *c, const struct cgnet_msg *msg)
{
	struct packet *p = queue(c, msg->length);

	if (p)
		memcpy(p->bytes, msg, msg->length);
	end(c);
}

/* The last words to a client that does not keep to the protocol. */
static void refuse(struct client *c, const char *reason)
{
	client_log(c, "uid %u, pid %d: refused: %s", c->peer.uid, c->peer.pid, reason);
	c->state = STATE_CLOSING;
	client_end(c, 1, reason);
}

/* The kernel states who sent it: the process that connected, and not one it passed the socket to.
 */
static bool is_from_peer(const struct client *c, struct msghdr *h)
{
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(h);
	struct ucred cred;

	if (h->msg_flags & MSG_CTRUNC || !cmsg || cmsg->cmsg_level != SOL_SOCKET ||
	    cmsg->cmsg_type != SCM_CREDENTIALS)
		return false;
	memcpy(&cred, CMSG_DATA(cmsg), sizeof(cred));
	return cred.pid == c->peer.pid && cred.uid == c->peer.uid;
}

static void handle(struct client *c, const struct cgnet_msg *msg)
{
	uint64_t wait_us = account_request(c->account, serve_now_us());

	if (!wait_us) {
		c->state = STATE_BUSY;
		client_update(c);
		request_dispatch(c, msg);
		return;
	}
	c->request = malloc(msg->length);
	c->state = c->request ? STATE_WAITING : STATE_BROKEN;
	if (c->request) {
		memcpy(c->request, msg, msg->length);
		client_wait(c, wait_us);
	}
}

/* The time has come for the request that waited. */
static void handle_again(struct client *c)
{
	_cleanup_free_ struct cgnet_msg *msg = take_ptr(&c->request);

	handle(c, msg);
}

static void receive(struct client *c)
{
	static _Alignas(struct cgnet_msg) char packet[CGNET_REQUEST_MAX + 1];
	_Alignas(struct cmsghdr) char control[CONTROL_SIZE];
	struct iovec iov = {packet, sizeof(packet)};
	struct msghdr h = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(c->fd, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct why why;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0)
		c->state = STATE_BROKEN;
	else if (!is_from_peer(c, &h))
		refuse(c, "the request is not from the process that connected");
	else if (n > CGNET_REQUEST_MAX)
		refuse(c, "the request is too long");
	else if (message_check(packet, n, &why))
		refuse(c, why.text);
	else
		handle(c, (const struct cgnet_msg *)packet);
}

static void client_event(evutil_socket_t fd, short what, void *arg)
{
	struct client *c = arg;

	(void)fd;
	if (c->state == STATE_BROKEN || what & EV_CLOSED) {
		client_close(c);
		return;
	}
	if (what & EV_TIMEOUT && c->state != STATE_WAITING) {
		client_close(c);
		return;
	}
	if (what & EV_TIMEOUT)
		handle_again(c);
	else if (what & EV_WRITE)
		flush(c);
	else if (what & EV_READ)
		receive(c);
	if (what & EV_WRITE || c->state == STATE_BROKEN)
		client_update(c);
}

/* Somebody has to make room: the one who has been silent for longest, of this user or of all. */
static bool make_room(struct control *control, const struct account *account)
{
	for (struct client *c = control->oldest; c; c = c->next) {
		if ((c->state != STATE_IDLE && c->state != STATE_CLOSING) ||
		    (account && c->account != account))
			continue;
		client_close(c);
		return true;
	}
	return false;
}

static bool has_room(struct control *control, const struct account *account, uid_t uid)
{
	if (uid != 0 && account_clients(account) > LIMIT_CLIENTS_PER_USER)
		return make_room(control, account);
	if (control->clients >= LIMIT_CLIENTS)
		return make_room(control, NULL);
	return true;
}

static int add_client(struct control *control, int *fd)
{
	struct peer peer = PEER_NONE;
	struct account *account = NULL;
	struct client *c = NULL;
	int err = peer_read(*fd, &peer, NULL);

	if (!err)
		account = account_get(control->limits, peer.uid, serve_now_us());
	if (account && has_room(control, account, peer.uid))
		c = calloc(1, sizeof(*c));
	if (!c) {
		if (account)
			account_put(account);
		peer_free(&peer);
		return -1;
	}
	*c = (struct client){
		.prev = control->newest,
		.control = control,
		.account = account,
		.fd = take_fd(fd),
		.peer = peer,
	};
	outbox_init(&c->outbox);
	*(c->prev ? &c->prev->next : &control->oldest) = c;
	control->newest = c;
	control->clients++;
	c->event = event_new(serve_base(control->serve), c->fd, EV_READ, client_event, c);
	if (!c->event) {
		client_close(c);
		return -1;
	}
	client_update(c);
	return 0;
}

static void accept_event(evutil_socket_t listening, short what, void *arg)
{
	struct control *control = arg;

	(void)what;
	for (int i = 0; i < ACCEPT_FEW; i++) {
		_cleanup_close_ int fd =
			accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		const int on = 1;

		if (fd < 0) {
			/* Of descriptors there are more than LIMIT_CLIENTS. */
			if (errno == EMFILE || errno == ENFILE)
				make_room(control, NULL);
			return;
		}
		if (!setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)))
			add_client(control, &fd);
	}
}

/* Bound under another name, so that nobody finds it before everybody may connect. */
static int listen_at(const char *run_dir, struct why *why)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	char path[sizeof(addr.sun_path)];
	_cleanup_close_ int fd = -1;
	const int on = 1;

	if (snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/" CGNET_CONTROL_SOCKET ".new",
		     run_dir) >= (int)sizeof(addr.sun_path))
		return why_set(why, -ENAMETOOLONG, "--run-dir %s: path too long", run_dir);
	snprintf(path, sizeof(path), "%s/" CGNET_CONTROL_SOCKET, run_dir);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	unlink(addr.sun_path);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) ||
	    bind(fd, (struct sockaddr *)&addr, sizeof(addr)) || chmod(addr.sun_path, 0666) ||
	    listen(fd, SOMAXCONN) || rename(addr.sun_path, path))
		return why_set(why, -errno, "cannot listen at %s: %s", path, strerror(errno));
	return take_fd(&fd);
}

int control_open(struct control **out, struct serve *s, struct why *why)
{
	struct control *c = calloc(1, sizeof(*c));

	if (!c)
		return why_set(why, -ENOMEM, "out of memory");
	c->serve = s;
	c->limits = limits_new();
	c->fd = listen_at(serve_run_dir(s), why);
	if (c->fd < 0) {
		int err = c->fd;

		control_close(c);
		return err;
	}
	c->accept = event_new(serve_base(s), c->fd, EV_READ | EV_PERSIST, accept_event, c);
	if (!c->limits || !c->accept || event_add(c->accept, NULL)) {
		control_close(c);
		return why_set(why, -ENOMEM, "out of memory");
	}
	*out = c;
	return 0;
}

void control_close(struct control *c)
{
	char path[PATH_MAX];

	if (!c)
		return;
	while (c->oldest)
		client_close(c->oldest);
	if (c->accept)
		event_free(c->accept);
	if (c->fd >= 0 && snprintf(path, sizeof(path), "%s/" CGNET_CONTROL_SOCKET,
				   serve_run_dir(c->serve)) < (int)sizeof(path))
		unlink(path);
	cleanup_closep(&c->fd);
	limits_free(c->limits);
	free(c);
}
