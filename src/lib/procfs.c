// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util.h"

/* One line for cgroup v2 and one for each v1 hierarchy. */
#define MAX_TEXT (4 * PATH_MAX)

/* Reads a file of /proc as a string. */
static int read_text(const char *path, char *text, size_t size)
{
	_cleanup_close_ int fd = -1;
	size_t len = 0;
	ssize_t n;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	do {
		n = read(fd, text + len, size - 1 - len);
		if (n < 0)
			return -errno;
		len += (size_t)n;
	} while (n > 0 && len < size - 1);
	if (n > 0)
		return -E2BIG;
	text[len] = '\0';
	return 0;
}

/* The path on the line of cgroup v2, "0::/PATH", cut out of text; NULL if there is none. */
static char *unified_path(char *text)
{
	static const char prefix[] = "0::";
	char *line, *rest = text;

	while ((line = strsep(&rest, "\n")))
		if (!strncmp(line, prefix, sizeof(prefix) - 1))
			return line + sizeof(prefix) - 1;
	return NULL;
}

int proc_place_in_cgroup(pid_t pid, const char *dir)
{
	char file[32] = "/proc/self/cgroup", text[MAX_TEXT], *path;
	size_t len = strlen(dir);
	int err;

	if (pid)
		snprintf(file, sizeof(file), "/proc/%d/cgroup", (int)pid);
	err = read_text(file, text, sizeof(text));
	if (err < 0)
		return err;
	path = unified_path(text);
	if (!path)
		return -ENODATA;
	while ((path = strchr(path, '/'))) {
		path++;
		if (strncmp(path, dir, len) != 0)
			continue;
		if (!path[len])
			return PROC_INSIDE;
		if (path[len] == '/')
			return PROC_BELOW;
	}
	return PROC_OUTSIDE;
}

int proc_cgroup(pid_t pid, char *path, size_t size)
{
	char file[32], text[MAX_TEXT], *found;
	int err;

	snprintf(file, sizeof(file), "/proc/%d/cgroup", (int)pid);
	err = read_text(file, text, sizeof(text));
	if (err < 0)
		return err;
	found = unified_path(text);
	if (!found || *found != '/')
		return -ENODATA;
	return snprintf(path, size, "%s", found + 1) < (int)size ? 0 : -ENAMETOOLONG;
}

int proc_comm(pid_t pid, char *comm, size_t size)
{
	char file[32], text[64];
	int err;

	snprintf(file, sizeof(file), "/proc/%d/comm", (int)pid);
	err = read_text(file, text, sizeof(text));
	if (err < 0)
		return err;
	text[strcspn(text, "\n")] = '\0';
	/* A process names itself: what a terminal would take for an order is not shown. */
	for (char *p = text; *p; p++)
		if ((unsigned char)*p < ' ' || (unsigned char)*p > '~')
			*p = '?';
	snprintf(comm, size, "%s", text);
	return 0;
}

/* Reads /proc/PID/status and finds what follows the key, "\nUid:". Returns 0 or -errno. */
static int status_field(pid_t pid, const char *key, char text[MAX_TEXT], char **value)
{
	char file[32];
	int err;

	snprintf(file, sizeof(file), "/proc/%d/status", (int)pid);
	err = read_text(file, text, MAX_TEXT);
	if (err < 0)
		return err;
	*value = strstr(text, key);
	if (!*value)
		return -ENODATA;
	*value += strlen(key);
	(*value)[strcspn(*value, "\n")] = '\0';
	return 0;
}

int proc_uids(pid_t pid, unsigned int ids[4])
{
	char text[MAX_TEXT], *value;
	int err = status_field(pid, "\nUid:", text, &value);

	if (err)
		return err;
	for (int i = 0; i < 4; i++)
		ids[i] = (unsigned int)strtoul(value, &value, 10);
	return 0;
}

pid_t proc_parent(pid_t pid)
{
	char text[MAX_TEXT], *value;
	int err = status_field(pid, "\nPPid:", text, &value);

	return err ? err : (pid_t)strtol(value, NULL, 10);
}

pid_t proc_own_pid(pid_t pid)
{
	/* A number for each namespace from /proc's to the process's own: "NSpid: 4711 2". */
	char text[MAX_TEXT], *numbers, *last;
	int err = status_field(pid, "\nNSpid:", text, &numbers);

	if (err < 0)
		return err;
	last = strrchr(numbers, '\t');
	return last ? (pid_t)strtol(last, NULL, 10) : -ENODATA;
}
