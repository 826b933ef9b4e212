// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A flow that lasts, and ways to start a session: at a terminal, and with descriptors. */
#include <err.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "outside.h"

/* --- a flow that lasts ---------------------------------------------------------------------------
 */

/* The kernel fills in checksum and number of an echo request. */
static int send_something(int fd, bool icmp)
{
	const char echo[8] = {8}, *data = icmp ? echo : "x";

	return send(fd, data, icmp ? sizeof(echo) : 1, 0) < 0 ? -errno : 0;
}

static void say(int e)
{
	printf("%s 0 - 0 -\n", e ? strerrorname_np(-e) : "ok");
	fflush(stdout);
}

static int wait_data(int fd, int ms)
{
	char data[256];
	int e = wait_for(fd, POLLIN, ms);

	if (!e)
		e = recv(fd, data, sizeof(data), 0) <= 0 ? -ECONNRESET : 0;
	return e;
}

/*
 * hold tcp|udp|icmp ADDR PORT: connects, and from then on sends at each "send", waiting for the
 * answer, and waits for one that is late at each "wait".
 */
int role_hold(char **args)
{
	struct attempt a = {.timeout_ms = 1000, .fd = -1};
	bool tcp = !strcmp(args[0], "tcp"), icmp = !strcmp(args[0], "icmp");
	char order[32];
	int e;

	if (!peer_parse(args[1], (unsigned int)atoi(args[2]), &a.to))
		errx(2, "%s: not an address", args[1]);
	e = open_socket(&a, a.to.sa.sa_family, tcp ? SOCK_STREAM : SOCK_DGRAM,
			icmp ? IPPROTO_ICMP : 0);
	if (!e)
		e = connect_to(&a, &a.to);
	if (!e && tcp)
		e = wait_data(a.fd, 1000);
	while (fgets(order, sizeof(order), stdin)) {
		if (!e && !strncmp(order, "send", 4)) {
			int sent = send_something(a.fd, icmp);

			say(sent ? sent : wait_data(a.fd, 500));
		} else {
			say(e ? e : wait_data(a.fd, 5000));
		}
	}
	return 0;
}

/* --- a terminal ----------------------------------------------------------------------------------
 */

/* What a shell does once CMD has ended: it reads the next line, and here connects to where it says.
 */
static const char *next_line(void)
{
	char line[128] = "";

	if (wait_for(STDIN_FILENO, POLLIN, 200) || read(STDIN_FILENO, line, sizeof(line) - 1) <= 0)
		return "nothing";
	return outside_connect_order(line);
}

static void be_shell(const char *slave, char **cmd, int report)
{
	int fd, status;
	pid_t pid;

	setsid();
	fd = open(slave, O_RDWR);
	if (fd < 0 || ioctl(fd, TIOCSCTTY, 0))
		err(1, "%s", slave);
	for (int i = 0; i < 3; i++)
		dup2(fd, i);
	pid = fork();
	if (!pid) {
		execvp(cmd[0], cmd);
		err(127, "%s", cmd[0]);
	}
	waitpid(pid, &status, 0);
	dprintf(report, "%s", next_line());
	_exit(0);
}

/* terminal CMD...: runs it as a shell at a terminal would; says what was typed there in its name.
 */
int role_terminal(char **args)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), ends[2];
	char text[512] = "", word[64] = "";
	size_t len = 0;
	pid_t pid;

	if (master < 0 || grantpt(master) || unlockpt(master) || pipe2(ends, O_CLOEXEC))
		err(1, "terminal");
	pid = fork();
	if (!pid)
		be_shell(ptsname(master), args, ends[1]);
	close(ends[1]);
	/* Its output, until it has ended. */
	while (len < sizeof(text) - 1) {
		ssize_t n;

		if (wait_for(master, POLLIN, 10000))
			break;
		n = read(master, text + len, sizeof(text) - 1 - len);
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	if (read(ends[0], word, sizeof(word) - 1) <= 0)
		strcpy(word, "no-shell");
	waitpid(pid, NULL, 0);
	for (char *c = text; *c; c++)
		if (*c == '\n' || *c == '\r')
			*c = ' ';
	printf("%s 0 - 0 %s\n", word, text);
	return 0;
}

/* --- descriptors ---------------------------------------------------------------------------------
 */

enum { FD_LINK = 7, FD_SOCKET = 7, FD_CONNECTED = 8, FD_FILE = 9 };

/* fds ADDR PORT FILE CMD...: with a socket, one that is connected to ADDR, and FILE open to write.
 */
int role_fds(char **args)
{
	struct attempt a = {.timeout_ms = 1000, .fd = -1};
	int sock = socket(AF_INET, SOCK_STREAM, 0), file = open(args[2], O_WRONLY);

	if (!peer_parse(args[0], (unsigned int)atoi(args[1]), &a.to) || datagram(&a) ||
	    connect_to(&a, &a.to) || sock < 0 || file < 0)
		err(1, "descriptors");
	if (dup2(sock, FD_SOCKET) < 0 || dup2(a.fd, FD_CONNECTED) < 0 || dup2(file, FD_FILE) < 0)
		err(1, "dup2");
	execvp(args[3], args + 3);
	err(127, "%s", args[3]);
}

/* stdin CMD...: with a socket as standard input. */
int role_stdin(char **args)
{
	if (dup2(socket(AF_INET, SOCK_STREAM, 0), STDIN_FILENO) < 0)
		err(1, "socket");
	execvp(args[0], args);
	err(127, "%s", args[0]);
}

/* link PIN CMD...: with a link of the policy as descriptor 7. */
int role_link(char **args)
{
	union bpf_attr attr = {.pathname = (unsigned long)args[0]};
	int fd = (int)syscall(SYS_bpf, BPF_OBJ_GET, &attr, sizeof(attr));

	if (fd < 0 || dup2(fd, FD_LINK) < 0)
		err(1, "%s", args[0]);
	execvp(args[1], args + 1);
	err(127, "%s", args[1]);
}
