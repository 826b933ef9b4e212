// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "builtin.h"

static const char *const no_blocks[] = {NULL};

static const char *const loopback[] = {"127.0.0.0/8", "0.0.0.0/8", "::1", "::", NULL};

static const char *const private[] = {"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7",
				      NULL};

/* Shared address space (RFC 6598), which tailnets use, and the ULA prefix of Tailscale. */
static const char *const tailnet[] = {"100.64.0.0/10", "fd7a:115c:a1e0::/48", NULL};

static const char *const linklocal[] = {"169.254.0.0/16", "fe80::/10", NULL};

/* Where clouds hand out credentials, keys and user data to whoever asks from inside a machine. */
static const char *const metadata[] = {
	"169.254.169.254",    /* nearly all of them */
	"169.254.169.252",    /* GKE, metadata server of workload identity */
	"169.254.169.250",    /* Rancher */
	"169.254.170.2",      /* AWS ECS, task credentials */
	"169.254.170.23",     /* AWS EKS, pod identity */
	"169.254.0.23",	      /* Tencent Cloud */
	"169.254.42.42",      /* Scaleway */
	"100.100.100.200",    /* Alibaba Cloud */
	"100.96.0.96",	      /* Volcano Engine */
	"100.80.80.80",	      /* UCloud */
	"168.63.129.16",      /* Azure, WireServer */
	"192.0.0.192",	      /* Oracle Cloud Classic */
	"fd00:ec2::254",      /* AWS */
	"fd00:ec2::23",	      /* AWS EKS, pod identity */
	"fd20:ce::254",	      /* Google Cloud */
	"fd00:c1::a9fe:a9fe", /* Oracle Cloud */
	"fd00:a9fe:a9fe::1",  /* Akamai, Linode */
	"fd00:42::42",	      /* Scaleway */
	"fd00:100::100:200",  /* Alibaba Cloud */
	"fe80::a9fe:a9fe",    /* OpenStack and clouds built on it */
	NULL,
};

static const char *const multicast[] = {"224.0.0.0/4", "255.255.255.255", "ff00::/8", NULL};

/*
 * The blocks that the IANA IPv4 and IPv6 Special-Purpose Address Registries call not globally
 * reachable; blocks inside another one of these are left out. Not here, because the address that
 * they carry is judged instead: ::ffff:0:0/96, 2002::/16, and Teredo, a hole below.
 */
static const char *const special[] = {
	"0.0.0.0/8",	   /* this network, RFC 791 */
	"10.0.0.0/8",	   /* private use, RFC 1918 */
	"100.64.0.0/10",   /* shared address space, RFC 6598 */
	"127.0.0.0/8",	   /* loopback, RFC 1122 */
	"169.254.0.0/16",  /* link local, RFC 3927 */
	"172.16.0.0/12",   /* private use, RFC 1918 */
	"192.0.0.0/24",	   /* IETF protocol assignments, RFC 6890 */
	"192.0.2.0/24",	   /* documentation, RFC 5737 */
	"192.88.99.2",	   /* 6a44 relay anycast, RFC 6751 */
	"192.168.0.0/16",  /* private use, RFC 1918 */
	"198.18.0.0/15",   /* benchmarking, RFC 2544 */
	"198.51.100.0/24", /* documentation, RFC 5737 */
	"203.0.113.0/24",  /* documentation, RFC 5737 */
	"240.0.0.0/4",	   /* reserved, RFC 1112, and limited broadcast, RFC 8190 */
	"::",		   /* unspecified, RFC 4291 */
	"::1",		   /* loopback, RFC 4291 */
	"64:ff9b:1::/48",  /* local translation, RFC 8215 */
	"100::/64",	   /* discard only, RFC 6666 */
	"100:0:0:1::/64",  /* dummy prefix, RFC 9780 */
	"2001::/23",	   /* IETF protocol assignments, RFC 2928 */
	"2001:db8::/32",   /* documentation, RFC 3849 */
	"3fff::/20",	   /* documentation, RFC 9637 */
	"5f00::/16",	   /* segment routing SIDs, RFC 9602 */
	"fc00::/7",	   /* unique local, RFC 4193 */
	"fe80::/10",	   /* link local, RFC 4291 */
	NULL,
};

/* What the registries call globally reachable inside those blocks, and Teredo. */
static const char *const special_holes[] = {
	"192.0.0.9",	   /* port control protocol anycast, RFC 7723 */
	"192.0.0.10",	   /* TURN anycast, RFC 8155 */
	"2001::/32",	   /* Teredo, RFC 4380 */
	"2001:1::1",	   /* port control protocol anycast, RFC 7723 */
	"2001:1::2",	   /* TURN anycast, RFC 8155 */
	"2001:1::3",	   /* DNS-SD service registration anycast, RFC 9665 */
	"2001:3::/32",	   /* automatic multicast tunneling, RFC 7450 */
	"2001:4:112::/48", /* AS112, RFC 7535 */
	"2001:20::/28",	   /* ORCHIDv2, RFC 7343 */
	"2001:30::/28",	   /* drone remote identification, RFC 9374 */
	NULL,
};

static const struct prefixes *live_broadcast(const struct facts *facts)
{
	return &facts->broadcast;
}

static const struct prefixes *live_host(const struct facts *facts)
{
	return &facts->host;
}

static const struct prefixes *live_onlink(const struct facts *facts)
{
	return &facts->onlink;
}

static const struct prefixes *live_resolver(const struct facts *facts)
{
	return &facts->resolver;
}

const struct builtin builtins[] = {
	{"local", no_blocks, NULL, NULL, false},
	{"loopback", loopback, NULL, NULL, true},
	{"private", private, NULL, NULL, true},
	{"tailnet", tailnet, NULL, NULL, true},
	{"linklocal", linklocal, NULL, NULL, true},
	{"metadata", metadata, NULL, NULL, true},
	{"multicast", multicast, NULL, live_broadcast, true},
	{"special", special, special_holes, NULL, true},
	{"host", no_blocks, NULL, live_host, true},
	{"onlink", no_blocks, NULL, live_onlink, true},
	{"resolver", no_blocks, NULL, live_resolver, false},
	{NULL, NULL, NULL, NULL, false},
};
