/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Predicates on addresses and port entries. Pure: also compiled on the host, for `explain` and the
 * tests. Addresses are four words in network byte order, ports in host byte order.
 */
#ifndef CGNET_MATCH_BPF_H
#define CGNET_MATCH_BPF_H

#include <linux/types.h>
#include <stdbool.h>

#include <bpf/bpf_endian.h>

#include "cgnet_abi.h"

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

/* ::ffff:a.b.c.d, which the kernel routes as the v4 address in the last word. */
static __always_inline bool addr6_is_mapped(const __be32 a[4])
{
	return !a[0] && !a[1] && a[2] == bpf_htonl(0xffff);
}

static __always_inline bool addr6_is_any(const __be32 a[4])
{
	return !a[0] && !a[1] && !a[2] && !a[3];
}

/* 64:ff9b::/96, the well-known NAT64 prefix (RFC 6052). */
static __always_inline bool addr6_is_nat64(const __be32 a[4])
{
	return a[0] == bpf_htonl(0x0064ff9b) && !a[1] && !a[2];
}

/* 2002::/16 (RFC 3056): the v4 address follows the first 16 bits. */
static __always_inline bool addr6_is_6to4(const __be32 a[4])
{
	return (a[0] & bpf_htonl(0xffff0000)) == bpf_htonl(0x20020000);
}

/* 2001::/32 (RFC 4380): the client's v4 address ends it, every bit inverted. */
static __always_inline bool addr6_is_teredo(const __be32 a[4])
{
	return a[0] == bpf_htonl(0x20010000);
}

/* ::a.b.c.d (RFC 4291, deprecated), but for :: and ::1. */
static __always_inline bool addr6_is_compatible(const __be32 a[4])
{
	return !a[0] && !a[1] && !a[2] && bpf_ntohl(a[3]) > 1;
}

/*
 * Writes the v4 address that a v6 address carries to v4 (network byte order) and returns true, or
 * returns false. Mapped addresses are not among them: those are v4, not v6 that carries it.
 */
static __always_inline bool addr6_carried4(const __be32 a[4], __be32 *v4)
{
	if (addr6_is_nat64(a) || addr6_is_compatible(a)) {
		*v4 = a[3];
		return true;
	}
	if (addr6_is_6to4(a)) {
		*v4 = bpf_htonl(bpf_ntohl(a[0]) << 16 | bpf_ntohl(a[1]) >> 16);
		return true;
	}
	if (addr6_is_teredo(a)) {
		*v4 = ~a[3];
		return true;
	}
	return false;
}

/* ICMPv6 is judged by the rules for ICMP. */
static __always_inline __u8 proto_fold(__u8 proto)
{
	return proto == 58 ? 1 : proto;
}

/*
 * True if entry covers a folded protocol and a port; ICMP comes with port 0. Without a branch but
 * the last, so that the verifier's walk through a loop of these stays short.
 */
static __always_inline bool port_matches(const struct cgnet_port *entry, __u32 proto, __u32 port)
{
	__u64 other = (proto ^ entry->proto) & (__u64)-entry->proto >> 56; /* 0 for any */
	__u64 below = (__u64)port - entry->lo;
	__u64 above = (__u64)entry->hi - port;

	return !((other << 1) | (below | above) >> 63);
}

#endif
