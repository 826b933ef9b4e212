// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "digest.h"

#include <sys/types.h>

#include <sha2.h>

/* The number of elements goes first, so that no two lists of fields look alike. */
static void add(SHA2_CTX *ctx, const void *items, size_t n, size_t size)
{
	__u64 count = n;

	SHA256Update(ctx, (const uint8_t *)&count, sizeof(count));
	if (n)
		SHA256Update(ctx, items, n * size);
}

void class_digest(const struct compiled_class *c, __u8 out[32])
{
	const __u32 head[] = {CGNET_ABI_VERSION, c->fallback, c->keep_privileges};
	SHA2_CTX ctx;

	SHA256Init(&ctx);
	add(&ctx, head, ARRAY_SIZE(head), sizeof(head[0]));
	add(&ctx, c->keys4, c->n4, sizeof(*c->keys4));
	add(&ctx, c->values4, c->n4, sizeof(*c->values4));
	add(&ctx, c->keys6, c->n6, sizeof(*c->keys6));
	add(&ctx, c->values6, c->n6, sizeof(*c->values6));
	add(&ctx, c->ports, c->nports, sizeof(*c->ports));
	add(&ctx, &c->settings, 1, sizeof(c->settings));
	add(&ctx, c->unix_names, c->nunix_names, sizeof(*c->unix_names));
	add(&ctx, c->rules, c->nrules, sizeof(*c->rules));
	SHA256Final(out, &ctx);
}
