// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Packets of one's own making. ADDR PORT come first. */
#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <net/ethernet.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <sys/ioctl.h>

#include "attack.h"

/* --- packets of one's own making ----------------------------------------------------------------
 */

struct udp4_packet {
	struct iphdr ip;
	struct udphdr udp;
	char data[2];
} __attribute__((packed));

static unsigned short checksum(struct iphdr ip)
{
	unsigned short words[sizeof(ip) / 2];
	unsigned int sum = 0;

	memcpy(words, &ip, sizeof(words));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		sum += words[i];
	sum = (sum & 0xffff) + (sum >> 16);
	return ~(sum + (sum >> 16));
}

/* A whole IPv4 packet; without a source the kernel fills in one, where it looks at it at all. */
static struct udp4_packet udp4_packet(const struct peer *to, unsigned int source)
{
	struct udp4_packet p = {
		.ip = {.version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_UDP},
		.udp = {.source = htons(40000), .dest = to->v4.sin_port},
		.data = "x",
	};

	p.ip.tot_len = htons(sizeof(p));
	p.ip.saddr = source;
	p.ip.daddr = to->v4.sin_addr.s_addr;
	p.ip.check = checksum(p.ip);
	p.udp.len = htons(sizeof(p.udp) + sizeof(p.data));
	return p;
}

static void attack_raw_udp(struct outcome *o, char **args)
{
	struct peer to = peer_arg(args[0], args[1]), name = to;
	struct udp4_packet p = udp4_packet(&to, 0);
	struct attempt a = attempt_at(&to);
	int e = open_proto(&a, SOCK_RAW, IPPROTO_UDP);

	name.v4.sin_port = 0;
	if (!e)
		e = send_bytes(&a, &p.udp, sizeof(p.udp) + sizeof(p.data), &name.sa, name.len);
	end(o, e);
	o->usec = a.usec;
}

static void attack_raw_header(struct outcome *o, char **args)
{
	struct peer to = peer_arg(args[0], args[1]);
	struct udp4_packet p = udp4_packet(&to, 0);
	struct attempt a = attempt_at(&to);
	int e = open_proto(&a, SOCK_RAW, IPPROTO_RAW);

	if (!e)
		e = send_bytes(&a, &p, sizeof(p), &to.sa, to.len);
	end(o, e);
	o->usec = a.usec;
}

/* ADDR PORT DEVICE SOURCE: past IP, straight to the device, for every station on its link. */
static void attack_packet(struct outcome *o, char **args)
{
	struct peer to = peer_arg(args[0], args[1]), from = peer_arg(args[3], "0");
	struct udp4_packet p = udp4_packet(&to, from.v4.sin_addr.s_addr);
	struct sockaddr_ll station = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_IP),
		.sll_ifindex = (int)if_nametoindex(args[2]),
		.sll_halen = ETH_ALEN,
		.sll_addr = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
	};
	int fd = socket(AF_PACKET, SOCK_DGRAM, 0);

	if (step(o, "packet socket", made(fd))) {
		end(o, -errno);
		return;
	}
	end(o, made(sendto(fd, &p, sizeof(p), 0, (void *)&station, sizeof(station))));
}

static int tun_up(const char *addr)
{
	struct ifreq r = {.ifr_name = "tun9", .ifr_flags = IFF_TUN | IFF_NO_PI};
	int s, fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
	struct sockaddr_in *in = (struct sockaddr_in *)&r.ifr_addr;

	if (fd < 0)
		return -errno;
	s = socket(AF_INET, SOCK_DGRAM, 0);
	if (ioctl(fd, TUNSETIFF, &r))
		return -errno;
	*in = (struct sockaddr_in){.sin_family = AF_INET};
	inet_pton(AF_INET, addr, &in->sin_addr);
	if (ioctl(s, SIOCSIFADDR, &r))
		return -errno;
	r.ifr_flags = IFF_UP | IFF_RUNNING;
	return ioctl(s, SIOCSIFFLAGS, &r) ? -errno : fd;
}

/* OWN PEER: a device of one's own, from which PEER sends a packet into this host. */
static void attack_tun(struct outcome *o, char **args)
{
	struct peer to = peer_arg(args[0], args[1]), peer = peer_arg(args[3], "0");
	struct udp4_packet p = udp4_packet(&to, peer.v4.sin_addr.s_addr);
	char answer[256];
	ssize_t n;
	int fd = tun_up(args[2]);

	if (step(o, "device", fd < 0 ? fd : 0)) {
		end(o, fd);
		return;
	}
	end(o, made(write(fd, &p, sizeof(p))));
	while (!wait_for(fd, POLLIN, 500) && (n = read(fd, answer, sizeof(answer))) > 0)
		if (n > 28 && answer[9] == IPPROTO_UDP)
			end_word(o, "ok");
}

const struct attack packet_attacks[] = {
	{"raw-udp", 2, attack_raw_udp},
	{"raw-header", 2, attack_raw_header},
	{"packet", 4, attack_packet},
	{"tun", 4, attack_tun},
	{NULL, 0, NULL},
};
