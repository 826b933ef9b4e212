/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What one user may ask of the service: how much at once, and how often. Root is not limited. */
#ifndef CGNETD_QUOTA_H
#define CGNETD_QUOTA_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Connections: of all, and of one user. */
#define LIMIT_CLIENTS	       1024
#define LIMIT_CLIENTS_PER_USER 128

/* Requests of one user: so many at once, and so many a second from then on. */
#define LIMIT_BURST 256
#define LIMIT_RATE  128

/* Lines in the log on behalf of one user. */
#define LIMIT_LOG_BURST 16
#define LIMIT_LOG_RATE	1

struct limits;

/* An account of a user, shared by the user's connections. */
struct account;

/* NULL if out of memory. */
struct limits *limits_new(void);
void limits_free(struct limits *l);

/* Finds or opens the user's account, to be given back by account_put(). NULL if out of memory. */
struct account *account_get(struct limits *l, uid_t uid, uint64_t now_us);
void account_put(struct account *a);

/* How many hold the account. */
size_t account_clients(const struct account *a);

/*
 * Takes a request off the account. Returns 0, or the microseconds after which it pays to try again.
 * now_us is of a clock that never goes back, as everywhere here.
 */
uint64_t account_request(struct account *a, uint64_t now_us);

/* Whether a line may be logged for this user; *missed lines were not since the last one. */
bool account_log(struct account *a, uint64_t now_us, unsigned int *missed);

#endif
