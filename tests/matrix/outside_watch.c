// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * watch LOG...: counts the packets that leave this network namespace or are delivered inside it,
 * and the lines that listeners add to their logs. Each line of input, "ADDR PORT COUNTERS", is
 * answered by
 *
 *     PACKETS ARRIVALS DENIED LOST
 *
 * PACKETS to ADDR that carry something to it (of TCP: a SYN or data), to PORT or to none; ARRIVALS
 * in all logs; DENIED by each layer of the class whose map is pinned at COUNTERS, with commas; LOST
 * is the number of packets that were missed.
 */
#include <err.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <sys/syscall.h>

#include "cgnet_abi.h"
#include "outside.h"

#define MAX_SEEN 4096
#define MAX_LOGS 8
#define MAX_CPUS 1024

static struct seen {
	struct in6_addr addr; /* v4 as mapped */
	unsigned int port;    /* host byte order, 0 for none */
	unsigned long packets;
} seen[MAX_SEEN];

static int seen_n;
static unsigned long lost;

static void note(const struct in6_addr *addr, unsigned int port)
{
	int i;

	for (i = 0; i < seen_n; i++)
		if (seen[i].port == port && !memcmp(&seen[i].addr, addr, sizeof(*addr)))
			break;
	if (i == MAX_SEEN) {
		lost++;
		return;
	}
	if (i == seen_n)
		seen[seen_n++] = (struct seen){.addr = *addr, .port = port};
	seen[i].packets++;
}

static struct in6_addr mapped(struct in_addr v4)
{
	struct in6_addr a = {.s6_addr = {[10] = 0xff, [11] = 0xff}};

	memcpy(&a.s6_addr[12], &v4, sizeof(v4));
	return a;
}

/* A port of a transport header, or 0. Returns false if there is nothing in it for its destination.
 */
static bool read_transport(unsigned char proto, const unsigned char *p, size_t len,
			   unsigned int *port)
{
	*port = 0;
	/*
	 * Neighbours and routers looked for, groups reported; but for what version 1 sends to the
	 * group itself (131), which tells it of somebody.
	 */
	if (proto == IPPROTO_ICMPV6)
		return !(len && p[0] != 131 && ((p[0] >= 130 && p[0] <= 137) || p[0] == 143));
	if (proto == IPPROTO_TCP && len >= 20) {
		*port = (unsigned int)p[2] << 8 | p[3];
		return (p[13] & 0x12) == 0x02 || len > (size_t)(p[12] >> 4) * 4;
	}
	if ((proto == IPPROTO_UDP || proto == IPPROTO_UDPLITE) && len >= 8)
		*port = (unsigned int)p[2] << 8 | p[3];
	return true;
}

static void read_packet4(const unsigned char *p, size_t len)
{
	const struct iphdr *ip = (const void *)p;
	size_t head = ip->ihl * 4u, total = ntohs(ip->tot_len);
	struct in6_addr to = mapped((struct in_addr){ip->daddr});
	unsigned int port;

	if (len < sizeof(*ip) || len < head)
		return;
	if (total > len || !total)
		total = len;
	if (read_transport(ip->protocol, p + head, total - head, &port))
		note(&to, port);
}

static void read_packet6(const unsigned char *p, size_t len)
{
	const struct ip6_hdr *ip = (const void *)p;
	size_t at = sizeof(*ip);
	unsigned char next;
	unsigned int port;

	if (len < sizeof(*ip))
		return;
	next = ip->ip6_nxt;
	while (at + 8 <= len && (next == 0 || next == 60 || next == 43 || next == 44)) {
		size_t size = next == 44 ? 8 : (p[at + 1] + 1u) * 8;

		next = p[at];
		at += size;
	}
	if (at <= len && read_transport(next, p + at, len - at, &port))
		note(&ip->ip6_dst, port);
}

static void read_packets(int fd)
{
	static _Alignas(8) unsigned char data[2048];
	struct tpacket_stats stats;
	socklen_t size = sizeof(stats);

	for (;;) {
		struct sockaddr_ll from = {0};
		socklen_t len = sizeof(from);
		ssize_t n = recvfrom(fd, data, sizeof(data), MSG_DONTWAIT, (void *)&from, &len);

		if (n < 0)
			break;
		if (from.sll_pkttype != PACKET_OUTGOING)
			continue;
		if (from.sll_protocol == htons(ETH_P_IP))
			read_packet4(data, (size_t)n);
		else if (from.sll_protocol == htons(ETH_P_IPV6))
			read_packet6(data, (size_t)n);
	}
	if (!getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &stats, &size))
		lost += stats.tp_drops;
}

static unsigned long packets_to(const char *addr, unsigned int port)
{
	unsigned long n = 0;
	struct peer p;
	struct in6_addr to;

	if (!peer_parse(addr, 0, &p))
		return 0;
	to = p.sa.sa_family == AF_INET ? mapped(p.v4.sin_addr) : p.v6.sin6_addr;
	for (int i = 0; i < seen_n; i++)
		if (!memcmp(&seen[i].addr, &to, sizeof(to)) &&
		    (!seen[i].port || !port || seen[i].port == port))
			n += seen[i].packets;
	return n;
}

static unsigned long read_logs(char **logs)
{
	static int fds[MAX_LOGS];
	static unsigned long lines;
	char data[4096];
	ssize_t n;

	for (int i = 0; i < MAX_LOGS && logs[i]; i++) {
		if (fds[i] <= 0)
			fds[i] = open(logs[i], O_RDONLY | O_CLOEXEC);
		while ((n = read(fds[i], data, sizeof(data))) > 0)
			for (ssize_t j = 0; j < n; j++)
				lines += data[j] == '\n';
	}
	return lines;
}

static int cpus(void)
{
	long n = sysconf(_SC_NPROCESSORS_CONF);
	FILE *f = fopen("/sys/devices/system/cpu/possible", "re");
	int last = -1;

	/* "0-3": one value for each that could be there. */
	if (f && fscanf(f, "0-%d", &last) == 1)
		n = last + 1;
	if (f)
		fclose(f);
	return n < MAX_CPUS ? (int)n : MAX_CPUS;
}

static void print_denied(const char *pin)
{
	static struct cgnet_counts values[MAX_CPUS];
	union bpf_attr attr = {.pathname = (unsigned long)pin};
	int fd = (int)syscall(SYS_bpf, BPF_OBJ_GET, &attr, sizeof(attr)), n = cpus();

	if (fd < 0) {
		printf("-");
		return;
	}
	for (__u32 layer = 0; layer < CGNET_LAYERS; layer++) {
		union bpf_attr look = {.map_fd = (__u32)fd,
				       .key = (unsigned long)&layer,
				       .value = (unsigned long)values};
		unsigned long long denied = 0;

		if (!syscall(SYS_bpf, BPF_MAP_LOOKUP_ELEM, &look, sizeof(look)))
			for (int i = 0; i < n; i++)
				denied += values[i].denied;
		printf("%s%llu", layer ? "," : "", denied);
	}
	close(fd);
}

int role_watch(char **logs)
{
	char line[512], addr[128], pin[256];
	int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, htons(ETH_P_ALL));
	unsigned int port;

	if (fd < 0)
		err(1, "packet socket");
	set_flag(fd, SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20);
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "%127s %u %255s", addr, &port, pin) != 3)
			errx(2, "not ADDR PORT COUNTERS");
		read_packets(fd);
		printf("%lu %lu ", packets_to(addr, port), read_logs(logs));
		print_denied(pin);
		printf(" %lu\n", lost);
		fflush(stdout);
	}
	return 0;
}
