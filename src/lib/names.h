/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What host names lead to, as far as is known, and until when that holds. An answer holds for its
 * TTL, which is not taken below NAMES_FLOOR or above NAMES_CEILING, and NAMES_GRACE beyond that,
 * for those who still have it from before. A name that cannot be looked up keeps what it has until
 * then. Times are in microseconds of a clock that does not jump.
 */
#ifndef CGNET_NAMES_H
#define CGNET_NAMES_H

#include <stdint.h>

#include "addr.h"

#define NAMES_FLOOR   UINT64_C(5000000)
#define NAMES_CEILING UINT64_C(3600000000)
#define NAMES_GRACE   UINT64_C(300000000)

/* After a failure: from the floor on, twice as long each time, up to this. */
#define NAMES_RETRY_MAX UINT64_C(300000000)

/* Of one name; of more, those that hold longest. */
#define NAME_MAX_ADDRS 128

/* Room for a name and its NUL. */
#define NAME_HOST_SIZE 256

struct name_addr {
	struct prefix prefix; /* a whole address */
	uint64_t until;
};

struct name {
	char host[NAME_HOST_SIZE];
	struct name_addr addrs[NAME_MAX_ADDRS]; /* sorted by prefix_compare() */
	size_t n;
	uint64_t answered; /* when the last answer came; 0 for never */
	uint64_t ask_at;   /* when it is to be asked for */
	uint64_t retry;	   /* after the next failure; 0 if the last one succeeded */
	bool asking;
	bool listed; /* used by names_set() */
};

struct names {
	struct name *items;
	size_t n, cap;
};

/* Begins a new list of names: all are forgotten that names_want() does not ask for until _set(). */
void names_begin(struct names *names);
int names_want(struct names *names, const char *host, uint64_t now);
/* Returns true if addresses were forgotten with their names. */
bool names_set(struct names *names);

/* NULL if there is none. */
struct name *names_find(const struct names *names, const char *host);

/*
 * An answer: n whole addresses that hold for ttl seconds. Mapped addresses and those of no known
 * family are not taken. Returns true if the name leads elsewhere now.
 */
bool name_answer(struct name *name, const struct prefix *addrs, size_t n, uint32_t ttl,
		 uint64_t now);

/* There is no answer. */
void name_failure(struct name *name, uint64_t now);

/* Drops what does not hold any more. Returns true if there was such. */
bool names_expire(struct names *names, uint64_t now);

/* When there is something to do next: to ask, or to drop. 0 for never. */
uint64_t names_next(const struct names *names);

void names_free(struct names *names);

#endif
