/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads a packet. Offset 0 is the IP header, for both directions. */
#ifndef CGNET_PACKET_BPF_H
#define CGNET_PACKET_BPF_H

#include "flow.bpf.h"

#include <linux/ip.h>
#include <linux/ipv6.h>

#include <bpf/bpf_helpers.h>

#define IPV6_EXTENSIONS	 6	/* headers looked at before a packet is given up */
#define IPV6_OFFSET_MASK 0x3fff /* more than six headers of 2 KiB; tells the verifier a bound */
#define TCP_FLAGS	 13
#define TCP_SYN		 0x02
#define TCP_ACK		 0x10
#define IP_FRAGMENT	 0x1fff

struct packet {
	struct flow f;
	bool opens; /* a TCP SYN without ACK */
};

/* Reads in place where the packet lies in one piece, as headers do; that spares a call. */
static __always_inline bool load(struct __sk_buff *skb, __u32 offset, void *to, __u32 size)
{
	void *from = (void *)(long)skb->data + offset;

	if (from + size > (void *)(long)skb->data_end)
		return !bpf_skb_load_bytes(skb, offset, to, size);
	__builtin_memcpy(to, from, size);
	return true;
}

/*
 * Sets of protocols as bits, those below 64 and those from 128 on: a comparison with each would
 * split the verifier's walk there, and everything after it.
 */
#define PORTS_LOW  (1ULL << IPPROTO_TCP | 1ULL << IPPROTO_UDP | 1ULL << IPPROTO_DCCP)
#define PORTS_HIGH (1ULL << (IPPROTO_SCTP - 128) | 1ULL << (IPPROTO_UDPLITE - 128))
#define EXTENSIONS (1ULL << IPPROTO_HOPOPTS | 1ULL << IPPROTO_DSTOPTS)

static __always_inline bool has_ports(__u8 proto)
{
	__u64 set = proto & 128 ? PORTS_HIGH : PORTS_LOW;

	return !(proto & 64) && (set >> (proto & 63) & 1);
}

static __always_inline bool read_transport(struct __sk_buff *skb, __u32 offset, __u8 proto,
					   struct packet *p)
{
	__be16 ports[2];
	__u8 flags;

	p->f.proto = proto_fold(proto);
	if (!has_ports(proto))
		return true;
	if (!load(skb, offset, ports, sizeof(ports)))
		return false;
	p->f.src_port = bpf_ntohs(ports[0]);
	p->f.port = bpf_ntohs(ports[1]);
	if (proto != IPPROTO_TCP)
		return true;
	if (!load(skb, offset + TCP_FLAGS, &flags, sizeof(flags)))
		return false;
	p->opens = (flags & (TCP_SYN | TCP_ACK)) == TCP_SYN;
	return true;
}

/* Options could name another first hop; a later fragment shows no ports. Neither is let through. */
static __always_inline bool read4(struct __sk_buff *skb, struct packet *p)
{
	struct iphdr ip;

	if (!load(skb, 0, &ip, sizeof(ip)) || ip.ihl != 5 || (ip.frag_off & bpf_htons(IP_FRAGMENT)))
		return false;
	p->f.src4 = ip.saddr;
	flow_set4(&p->f, ip.daddr);
	return read_transport(skb, sizeof(ip), ip.protocol, p);
}

static __always_inline bool is_extension(__u8 next)
{
	return next < 64 && (EXTENSIONS >> next & 1);
}

/*
 * Moves on from extension headers to the transport header. A routing header (43) is where the final
 * destination differs from the one in the packet, and a fragment comes only from raw sockets here.
 */
static __always_inline bool skip_extensions(struct __sk_buff *skb, __u32 *offset, __u8 *next)
{
	for (int i = 0; i < IPV6_EXTENSIONS && is_extension(*next); i++) {
		__u8 header[2]; /* next header, length in eights after the first eight bytes */

		if (bpf_skb_load_bytes(skb, *offset, header, sizeof(header)))
			return false;
		*next = header[0];
		*offset = (*offset + (header[1] + 1) * 8) & IPV6_OFFSET_MASK;
	}
	return !is_extension(*next) && *next != IPPROTO_ROUTING && *next != IPPROTO_FRAGMENT;
}

static __always_inline bool read6(struct __sk_buff *skb, struct packet *p)
{
	__u32 offset = sizeof(struct ipv6hdr);
	struct ipv6hdr ip;
	__u8 next;

	if (!load(skb, 0, &ip, sizeof(ip)))
		return false;
	next = ip.nexthdr;
	if (!skip_extensions(skb, &offset, &next) || !read_transport(skb, offset, next, p))
		return false;
	__builtin_memcpy(p->f.src6, &ip.saddr, sizeof(p->f.src6));
	__builtin_memcpy(p->f.v6, &ip.daddr, sizeof(p->f.v6));
	if (addr6_is_mapped(p->f.v6))
		flow_set4(&p->f, p->f.v6[3]);
	else
		flow_set6(&p->f, p->f.v6);
	return true;
}

/* False for what cannot be judged, which is then denied. */
static __always_inline bool packet_read(struct __sk_buff *skb, struct packet *p)
{
	__u8 version;

	if (!load(skb, 0, &version, sizeof(version)))
		return false;
	if (version >> 4 == 4)
		return read4(skb, p);
	return version >> 4 == 6 && read6(skb, p);
}

/* Seen from the other end: the flow to where the packet came from. */
static __always_inline void flow_reverse(const struct flow *f, struct flow *out)
{
	*out = (struct flow){.proto = f->proto,
			     .port = f->src_port,
			     .src_port = f->port,
			     .v4 = f->src4,
			     .src4 = f->v4,
			     .has4 = !f->has6,
			     .has6 = f->has6};
	__builtin_memcpy(out->v6, f->src6, sizeof(out->v6));
	__builtin_memcpy(out->src6, f->v6, sizeof(out->src6));
}

#endif
