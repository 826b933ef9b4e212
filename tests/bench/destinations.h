/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Destinations made before anything is timed. One address over and over would make every data
 * structure look free: "hot" is 64 addresses of which few are frequent (Zipf), every other one the
 * neighbour of a denied prefix; "random" is spread over all that is not denied; "denied" over the
 * denied prefixes.
 */
#ifndef CGNET_BENCH_DESTINATIONS_H
#define CGNET_BENCH_DESTINATIONS_H

#include <assert.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "addr.h"
#include "bench.h"

#define DESTINATIONS 65536 /* a power of two */
#define HOT	     64
#define PORT	     443

struct destination {
	union {
		struct sockaddr sa;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	};
};

struct destinations {
	struct destination *items; /* DESTINATIONS of them */
	socklen_t len;
};

static inline void random_bits(struct prefix *p, unsigned int from, uint64_t *rng)
{
	for (unsigned int bit = from; bit < prefix_width(p); bit++) {
		uint8_t mask = (uint8_t)(0x80 >> bit % 8);

		p->bytes[bit / 8] &= (uint8_t)~mask;
		if (random_next(rng) >> 63)
			p->bytes[bit / 8] |= mask;
	}
	p->len = (uint8_t)prefix_width(p);
}

/* Global unicast (v4 from 1/8 to 223/8, v6 in 2000::/3) that no prefix denies. */
static inline bool is_allowed(const struct prefixes *denied, const struct prefix *addr)
{
	uint8_t first = addr->bytes[0];

	if (addr->family == AF_INET ? !first || first >= 224 : first >> 5 != 1)
		return false;
	for (size_t i = 0; i < denied->n; i++)
		if (prefix_contains(&denied->items[i], addr))
			return false;
	return true;
}

/* Some denied prefix of the family. */
static inline struct prefix pick_denied(const struct prefixes *denied, int family, uint64_t *rng)
{
	assert(denied->items);
	for (;;) {
		const struct prefix p = denied->items[random_below(rng, (unsigned int)denied->n)];

		if (p.family == family)
			return p;
	}
}

static inline struct prefix denied_address(const struct prefixes *denied, int family, uint64_t *rng)
{
	struct prefix p = pick_denied(denied, family, rng);

	random_bits(&p, p.len, rng);
	return p;
}

static inline struct prefix allowed_address(const struct prefixes *denied, int family,
					    uint64_t *rng)
{
	struct prefix p;

	do {
		p = (struct prefix){.family = (uint8_t)family};
		random_bits(&p, 0, rng);
	} while (!is_allowed(denied, &p));
	return p;
}

/* Differs from a denied prefix in its last bit only, so that a lookup goes all the way down. */
static inline struct prefix neighbour_address(const struct prefixes *denied, int family,
					      uint64_t *rng)
{
	struct prefix p;

	do {
		p = pick_denied(denied, family, rng);
		p.bytes[(p.len - 1) / 8] ^= (uint8_t)(0x80 >> (p.len - 1) % 8);
		random_bits(&p, p.len, rng);
	} while (!is_allowed(denied, &p));
	return p;
}

static inline struct destination to_sockaddr(const struct prefix *p)
{
	struct destination d = {0};

	d.sa.sa_family = p->family;
	if (p->family == AF_INET) {
		d.v4.sin_port = htons(PORT);
		memcpy(&d.v4.sin_addr, p->bytes, sizeof(d.v4.sin_addr));
	} else {
		d.v6.sin6_port = htons(PORT);
		memcpy(&d.v6.sin6_addr, p->bytes, sizeof(d.v6.sin6_addr));
	}
	return d;
}

static inline struct destinations
make_destinations(const struct prefixes *denied, int family,
		  struct prefix (*make)(const struct prefixes *denied, int family, uint64_t *rng))
{
	struct destinations d = {
		.items = zalloc(DESTINATIONS, sizeof(*d.items)),
		.len = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6),
	};
	uint64_t rng = 2463534242U;

	for (unsigned int i = 0; i < DESTINATIONS; i++) {
		struct prefix p = make(denied, family, &rng);

		d.items[i] = to_sockaddr(&p);
	}
	return d;
}

/* Which of the HOT addresses comes next: the k-th is k times as rare as the first. */
static inline unsigned int zipf(uint64_t *rng)
{
	double total = 0, at;
	unsigned int k;

	for (k = 1; k <= HOT; k++)
		total += 1.0 / k;
	at = total * (double)random_below(rng, 1U << 24) / (1U << 24);
	for (k = 1; k < HOT; k++) {
		at -= 1.0 / k;
		if (at < 0)
			break;
	}
	return k - 1;
}

static inline struct destinations make_hot(const struct prefixes *denied, int family)
{
	struct destinations d = make_destinations(denied, family, allowed_address);
	struct destination hot[HOT];
	uint64_t rng = 362436069U;

	for (unsigned int i = 0; i < HOT; i++) {
		struct prefix p = i % 2 ? neighbour_address(denied, family, &rng)
					: allowed_address(denied, family, &rng);

		hot[i] = to_sockaddr(&p);
	}
	for (unsigned int i = 0; i < DESTINATIONS; i++)
		d.items[i] = hot[zipf(&rng)];
	return d;
}

#endif
