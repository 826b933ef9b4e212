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

pid_t proc_own_pid(pid_t pid)
{
	/* A number for each namespace from /proc's to the process's own: "NSpid: 4711 2". */
	static const char key[] = "\nNSpid:";
	char file[32], text[MAX_TEXT], *numbers, *last;
	int err;

	snprintf(file, sizeof(file), "/proc/%d/status", (int)pid);
	err = read_text(file, text, sizeof(text));
	if (err < 0)
		return err;
	numbers = strstr(text, key);
	if (!numbers)
		return -ENODATA;
	numbers += sizeof(key) - 1;
	numbers[strcspn(numbers, "\n")] = '\0';
	last = strrchr(numbers, '\t');
	return last ? (pid_t)strtol(last, NULL, 10) : -ENODATA;
}
