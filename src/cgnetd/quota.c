// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "quota.h"

#include <stdlib.h>

#define SLOTS 256

#define SECOND_US 1000000ULL

/* A bucket that fills at a rate. Tokens are counted in millionths. */
struct bucket {
	uint64_t tokens, last_us;
};

struct account {
	struct account *next;
	uid_t uid;
	size_t clients;
	struct bucket requests, lines;
	unsigned int missed;
};

struct limits {
	struct account *slots[SLOTS];
};

static void bucket_fill(struct bucket *b, uint64_t now_us, uint64_t rate, uint64_t burst)
{
	uint64_t passed = now_us - b->last_us;

	b->last_us = now_us;
	/* So long a time fills any bucket; and the product cannot overflow. */
	if (passed > 3600 * SECOND_US)
		passed = 3600 * SECOND_US;
	b->tokens += passed * rate;
	if (b->tokens > burst * SECOND_US)
		b->tokens = burst * SECOND_US;
}

static bool bucket_take(struct bucket *b)
{
	if (b->tokens < SECOND_US)
		return false;
	b->tokens -= SECOND_US;
	return true;
}

struct limits *limits_new(void)
{
	return calloc(1, sizeof(struct limits));
}

void limits_free(struct limits *l)
{
	for (size_t i = 0; l && i < SLOTS; i++) {
		struct account *a = l->slots[i];

		while (a) {
			struct account *next = a->next;

			free(a);
			a = next;
		}
	}
	free(l);
}

static void refill(struct account *a, uint64_t now_us)
{
	bucket_fill(&a->requests, now_us, LIMIT_RATE, LIMIT_BURST);
	bucket_fill(&a->lines, now_us, LIMIT_LOG_RATE, LIMIT_LOG_BURST);
}

/* An account is closed once nobody holds it and what it remembers makes no difference. */
static bool is_idle(struct account *a, uint64_t now_us)
{
	if (a->clients)
		return false;
	refill(a, now_us);
	return !a->missed && a->requests.tokens == LIMIT_BURST * SECOND_US &&
	       a->lines.tokens == LIMIT_LOG_BURST * SECOND_US;
}

struct account *account_get(struct limits *l, uid_t uid, uint64_t now_us)
{
	struct account **at = &l->slots[uid % SLOTS], *a;

	while ((a = *at)) {
		if (a->uid == uid) {
			a->clients++;
			return a;
		}
		if (is_idle(a, now_us)) {
			*at = a->next;
			free(a);
			continue;
		}
		at = &a->next;
	}
	a = malloc(sizeof(*a));
	if (!a)
		return NULL;
	*a = (struct account){
		.uid = uid,
		.clients = 1,
		.requests = {LIMIT_BURST * SECOND_US, now_us},
		.lines = {LIMIT_LOG_BURST * SECOND_US, now_us},
	};
	*at = a;
	return a;
}

void account_put(struct account *a)
{
	a->clients--;
}

size_t account_clients(const struct account *a)
{
	return a->clients;
}

uint64_t account_request(struct account *a, uint64_t now_us)
{
	if (a->uid == 0)
		return 0;
	refill(a, now_us);
	if (bucket_take(&a->requests))
		return 0;
	return (SECOND_US - a->requests.tokens) / LIMIT_RATE + 1;
}

bool account_log(struct account *a, uint64_t now_us, unsigned int *missed)
{
	refill(a, now_us);
	if (!bucket_take(&a->lines)) {
		a->missed++;
		return false;
	}
	*missed = a->missed;
	a->missed = 0;
	return true;
}
