// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is read from this host: resolv.conf, and addresses and routes in a network namespace. */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>

#include "facts.h"
#include "resolv.h"
#include "suites.h"
#include "tempdir.h"

static const struct {
	const char *text, *servers;
} resolvs[] = {
	{"nameserver 192.0.2.53\n", "192.0.2.53"},
	{"nameserver 2001:db8::53\n", "2001:db8::53"},
	{"nameserver 192.0.2.53\nnameserver 2001:db8::53", "192.0.2.53 2001:db8::53"},
	{"nameserver\t192.0.2.53 \t\n", "192.0.2.53"},
	{"nameserver 192.0.2.53\r\n", "192.0.2.53"},
	{"nameserver 192.0.2.53 # the router\n", "192.0.2.53"},
	{"nameserver fe80::1%eth0\n", "fe80::1"},
	{"nameserver ::ffff:192.0.2.53\n", "192.0.2.53"},
	/* More than the three that the C library asks. */
	{"nameserver 192.0.2.1\nnameserver 192.0.2.2\nnameserver 192.0.2.3\nnameserver 192.0.2.4\n",
	 "192.0.2.1 192.0.2.2 192.0.2.3 192.0.2.4"},
	/* What the C library skips. */
	{"# nameserver 192.0.2.53\n;nameserver 192.0.2.54\n nameserver 192.0.2.55\n"
	 "nameservers 192.0.2.56\nnameserver192.0.2.57\nNAMESERVER 192.0.2.58\n"
	 "nameserver 192.0.2.0/24\nnameserver dns.example\nnameserver\noptions edns0\n"
	 "nameserver 192.0.2.53\n",
	 "192.0.2.53"},
	/* What it asks when there is none. */
	{"", "127.0.0.1"},
	{"search example\n", "127.0.0.1"},
	{"nameserver 300.0.0.1\n", "127.0.0.1"},
};

static void format_list(const struct prefixes *list, char *out, size_t size)
{
	char buf[PREFIX_STR_SIZE];
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < list->n && used < size; i++)
		used += snprintf(out + used, size - used, "%s%s", i ? " " : "",
				 prefix_format(&list->items[i], buf));
}

static void test_resolv(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(resolvs); i++) {
		struct prefixes list = {0};
		char found[256];

		CU_ASSERT(!resolv_parse(resolvs[i].text, &list));
		format_list(&list, found, sizeof(found));
		CHECK_ROW(!strcmp(found, resolvs[i].servers), "row %zu: %s", i, found);
		prefixes_free(&list);
	}
}

static void test_resolv_file(void)
{
	struct prefixes list = {0};
	struct tempdir dir;
	char path[PATH_MAX], found[64];
	struct why why;

	CU_ASSERT_FATAL(!tempdir_make(&dir));
	tempdir_path(&dir, "resolv.conf", path);
	CU_ASSERT_EQUAL(resolv_read(path, &list, &why), -ENOENT);
	CU_ASSERT(!tempdir_write(&dir, "resolv.conf", "nameserver 192.0.2.53\n", 0644));
	list.n = 0;
	CU_ASSERT(!resolv_read(path, &list, &why));
	format_list(&list, found, sizeof(found));
	CHECK_ROW(!strcmp(found, "192.0.2.53"), "file: %s", found);
	CU_ASSERT(resolv_read(dir.path, &list, &why) < 0);
	CHECK_ROW(strstr(why.text, dir.path) && strstr(why.text, "is a directory"), "directory: %s",
		  why.text);
	prefixes_free(&list);
	tempdir_remove(&dir);
}

/* No address here is used outside of the namespace, and nothing is sent inside of it. */
static const char setup[] =
	"set -e\n"
	"PATH=$PATH:/usr/sbin:/sbin\n"
	"ip link set lo up\n"
	"ip link add lan0 type veth peer name ptp0\n"
	"ip link set lan0 up\n"
	"ip link set ptp0 up\n"
	"ip addr add 192.0.2.1/24 dev lan0\n"
	"ip -6 addr add 2001:db8:1::1/64 dev lan0 nodad\n"
	/* Both ends of a point-to-point link. */
	"ip addr add 198.51.100.1 peer 198.51.100.2 dev ptp0\n"
	"ip -6 addr add 2001:db8:2::1 peer 2001:db8:2::2 dev ptp0 nodad\n"
	/* On lo: addresses of this host, but no network. */
	"ip addr add 127.1.2.3/8 dev lo\n"
	"ip addr add 203.0.113.9/32 dev lo\n"
	"ip -6 addr add 2001:db8:3::9/128 dev lo nodad\n"
	"ip route add local 203.0.113.64/28 dev lo table 99\n"
	"ip -6 route add local 2001:db8:3:1::/64 dev lo table 99\n"
	"ip -6 route add anycast 2001:db8:3:2::/128 dev lan0\n"
	/* Routes to neighbours, also in other tables and (v4 only) on one leg of several. */
	"ip route add 10.9.0.0/16 dev lan0\n"
	"ip -6 route add 2001:db8:9::/48 dev lan0\n"
	"ip route add 10.10.0.0/16 dev ptp0 table 99\n"
	"ip -6 route add 2001:db8:10::/48 dev ptp0 table 99\n"
	"ip route add 10.11.0.0/16 nexthop via 192.0.2.254 dev lan0 nexthop dev ptp0\n"
	"ip route add 10.12.0.0/16 dev lan0 scope global\n"
	/* Routes through a gateway, to nowhere, and over lo. */
	"ip route add 10.13.0.0/16 via 192.0.2.254\n"
	"ip -6 route add 2001:db8:13::/48 via 2001:db8:1::fe\n"
	"ip route add 10.14.0.0/16 nexthop via 192.0.2.254 nexthop via 192.0.2.253\n"
	"ip -6 route add 2001:db8:14::/48 nexthop via 2001:db8:1::fe nexthop via 2001:db8:1::fd\n"
	"ip route add 10.15.0.0/16 via inet6 2001:db8:1::fe dev lan0\n"
	"ip route add unreachable 10.16.0.0/16\n"
	"ip -6 route add unreachable 2001:db8:16::/48\n"
	"ip route add 10.17.0.0/16 dev lo\n"
	/* A tunnel has no neighbours, where there are tunnels. */
	"if ip tuntap add vpn0 mode tun 2>/dev/null; then\n"
	"ip link set vpn0 up\n"
	"ip route add 11.0.0.0/8 dev vpn0\n"
	"ip -6 route add 2001:db8:18::/48 dev vpn0\n"
	"fi\n"
	/* Full tunnels, whole and in halves, and a transparent proxy. */
	"ip route add default dev lan0 table 99\n"
	"ip -6 route add default dev lan0 table 99\n"
	"ip route add 0.0.0.0/1 dev lan0\n"
	"ip route add 128.0.0.0/1 dev lan0\n"
	"ip -6 route add ::/1 dev lan0\n"
	"ip -6 route add 2000::/3 dev lan0\n"
	"ip route add local 0.0.0.0/0 dev lo table 98\n"
	"ip -6 route add local ::/0 dev lo table 98\n";

/* Without the link-local addresses, which differ each time. */
static const char wanted[] =
	"host: 192.0.2.1 198.51.100.1 203.0.113.9 203.0.113.64/28 2001:db8:1::1 2001:db8:2::1 "
	"2001:db8:3::9 2001:db8:3:1::/64 2001:db8:3:2::\n"
	"onlink: 10.9.0.0/16 10.10.0.0/16 10.11.0.0/16 10.12.0.0/16 192.0.2.0/24 198.51.100.2 "
	"2001:db8:1::/64 2001:db8:2::2 2001:db8:9::/48 2001:db8:10::/48\n"
	"broadcast: 192.0.2.255\n"
	"resolver: 127.0.0.1\n";

static void drop_linklocal(struct prefixes *list)
{
	static const struct prefix linklocal = {.family = 10, .len = 10, .bytes = {0xfe, 0x80}};
	size_t kept = 0;

	for (size_t i = 0; i < list->n; i++)
		if (!prefix_contains(&linklocal, &list->items[i]))
			list->items[kept++] = list->items[i];
	list->n = kept;
}

static void print_list(FILE *out, const char *name, struct prefixes *list)
{
	char text[2048];

	drop_linklocal(list);
	format_list(list, text, sizeof(text));
	fprintf(out, "%s: %s\n", name, text);
}

/* A network namespace, as root or else inside a user namespace. Returns 0 or -1. */
static int enter_namespace(void)
{
	unsigned int uid = geteuid();
	_cleanup_fclose_ FILE *map = NULL;

	if (!unshare(CLONE_NEWNET))
		return 0;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET))
		return -1;
	/* Root there, for ip(8) to keep its capabilities. */
	map = fopen("/proc/self/uid_map", "w");
	return !map || fprintf(map, "0 %u 1", uid) < 0 ? -1 : 0;
}

/* Returns 0 if the shell did. */
static int run_setup(void)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		execl("/bin/sh", "sh", "-c", setup, (char *)NULL);
		_exit(127);
	}
	return pid < 0 || waitpid(pid, &status, 0) != pid || status;
}

/* Writes what a namespace of its own holds, or "skip: REASON", to fd. */
static void child(int fd)
{
	FILE *out = fdopen(fd, "w");
	struct facts facts = {0};
	struct why why;

	if (enter_namespace())
		fprintf(out, "skip: no network namespace: %s", strerror(errno));
	else if (run_setup())
		fprintf(out, "skip: ip(8) could not set the namespace up");
	else if (facts_read(&facts, "/nonexistent", &why))
		fprintf(out, "error: %s", why.text);
	else {
		print_list(out, "host", &facts.host);
		print_list(out, "onlink", &facts.onlink);
		print_list(out, "broadcast", &facts.broadcast);
		print_list(out, "resolver", &facts.resolver);
	}
	facts_free(&facts);
	fclose(out);
}

static void skip(const char *reason)
{
	const char *require = getenv("CGNET_REQUIRE");

	printf("%s ... ", reason);
	CHECK_ROW(!require || strcmp(require, "all") != 0, "%s", reason);
}

static void test_netlink(void)
{
	char found[8192] = "";
	size_t used = 0;
	ssize_t n;
	int ends[2];
	pid_t pid;

	CU_ASSERT_FATAL(!pipe(ends));
	fflush(NULL);
	pid = fork();
	CU_ASSERT_FATAL(pid >= 0);
	if (!pid) {
		close(ends[0]);
		child(ends[1]);
		_exit(0);
	}
	close(ends[1]);
	while ((n = read(ends[0], found + used, sizeof(found) - 1 - used)) > 0)
		used += n;
	close(ends[0]);
	CU_ASSERT(waitpid(pid, NULL, 0) == pid);
	if (!strncmp(found, "skip: ", 6))
		skip(found + 6);
	else
		CHECK_ROW(!strcmp(found, wanted), "%s", found);
}

/* Wherever this runs, the snapshot can be taken, and loopback is not in it. */
static void test_here(void)
{
	static const struct prefix loopback4 = {.family = 2, .len = 8, .bytes = {127}};
	struct facts facts = {0};
	struct why why = {""};

	CHECK_ROW(!facts_read(&facts, NULL, &why), "%s", why.text);
	for (size_t i = 0; i < facts.host.n; i++)
		CU_ASSERT(!prefix_contains(&loopback4, &facts.host.items[i]));
	CU_ASSERT(facts.resolver.n > 0);
	facts_free(&facts);
}

static const struct unit_test tests[] = {
	{"resolv.conf", test_resolv},
	{"resolv.conf as a file", test_resolv_file},
	{"netlink", test_netlink},
	{"this host", test_here},
};

int suite_facts(void)
{
	return add_suite("facts", tests, ARRAY_SIZE(tests));
}
