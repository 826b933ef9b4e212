/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Strict parsers for numbers and port lists. */
#ifndef CGNET_NUM_H
#define CGNET_NUM_H

#include "policy.h"

/*
 * Parses the n characters at text as a decimal number of at most max: digits only, no sign, space
 * or leading zero. Returns 0, -EINVAL if it is no such number, or -ERANGE if it is above max.
 */
int num_parse(const char *text, size_t n, unsigned long max, unsigned long *out);

/*
 * Parses the n characters at text as ports: "443", "80,443", "8000-8100" or "*". Writes a sorted
 * array of disjoint ranges to *ports, the caller's to free; NULL and 0 for "*". Returns 0, -ENOMEM,
 * or -EINVAL with the reason in why.
 */
int ports_parse(const char *text, size_t n, struct port_range **ports, size_t *nports,
		struct why *why);

#endif
