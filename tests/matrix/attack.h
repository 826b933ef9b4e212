/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the attacks share. Each is one exact attempt: steps that prepare it, whose outcomes are
 * noted, and a last word that says how it ended, "ok" only if a listener answered.
 */
#ifndef CGNET_MATRIX_ATTACK_H
#define CGNET_MATRIX_ATTACK_H

#include "../live/paths.h"

struct outcome {
	char word[64];
	char steps[512]; /* "setns: EPERM; ..." */
	long usec;	 /* of the call that names the destination */
	unsigned long count;
	bool child; /* a child has it; this process has nothing to say */
};

/* Gets the words behind its name, as many as it asks for at least; a NULL ends them. */
struct attack {
	const char *name;
	int args;
	void (*run)(struct outcome *o, char **args);
};

/* Tables, ended by a NULL name. */
extern const struct attack net_attacks[], packet_attacks[], option_attacks[], header_attacks[],
	socket_attacks[], own_attacks[], leave_attacks[], mount_attacks[], trace_attacks[],
	unix_attacks[], undo_attacks[], member_attacks[];

/* err is 0 or a negative errno. Returns err. */
int step(struct outcome *o, const char *what, int err);

/* Sets the last word from 0 ("silent") or a negative errno. */
void end(struct outcome *o, int err);

/* As above, for any word. */
void end_word(struct outcome *o, const char *word);

/* Exits with a message where an argument is not what it has to be. */
struct peer peer_arg(const char *addr, const char *port);
unsigned long number_arg(const char *text);

/* Starts an attempt at a destination: nothing made yet, a second to wait. */
struct attempt attempt_at(const struct peer *to);

/* Ends with what the attempt came to: err, or the answer that it waits for. */
void conclude(struct outcome *o, struct attempt *a, int err);

/* What most attacks end with: a plain TCP connect from wherever this process has got to. */
void try_tcp(struct outcome *o, const char *addr, const char *port);

/* 0 or -errno. */
int write_file(const char *path, const char *text);

static inline int open_proto(struct attempt *a, int type, int proto)
{
	return open_socket(a, a->to.sa.sa_family, type, proto);
}

/* One datagram or packet, on the attempt's socket. */
int send_bytes(struct attempt *a, const void *data, size_t len, const void *to, socklen_t size);

static inline int made(long ret)
{
	return ret < 0 ? -errno : 0;
}

#endif
