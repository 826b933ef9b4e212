// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "tempdir.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "util.h"

int tempdir_make(struct tempdir *dir)
{
	*dir = (struct tempdir){"/tmp/cgnet-unit.XXXXXX"};
	return mkdtemp(dir->path) ? 0 : -1;
}

const char *tempdir_path(const struct tempdir *dir, const char *name, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%s", dir->path, name);
	return path;
}

int tempdir_write(const struct tempdir *dir, const char *name, const char *text, mode_t mode)
{
	char path[PATH_MAX];
	FILE *f = fopen(tempdir_path(dir, name, path), "w");
	int err;

	if (!f)
		return -1;
	err = fputs(text, f) < 0;
	if (fclose(f) || err)
		return -1;
	return chmod(path, mode);
}

void tempdir_remove(const struct tempdir *dir)
{
	DIR *stream = opendir(dir->path);
	struct dirent *entry;
	char path[PATH_MAX];

	while (stream && (entry = readdir(stream)))
		if (entry->d_name[0] != '.')
			unlink(tempdir_path(dir, entry->d_name, path));
	if (stream)
		closedir(stream);
	rmdir(dir->path);
}
