/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The BPF file system: mounting it, pinning to it, removing from it. */
#ifndef CGNETD_BPFFS_H
#define CGNETD_BPFFS_H

#include "util.h"

/* The name of a pin until it takes the place of another. */
#define BPFFS_TEMP "_new"

/*
 * Makes dir (mode 0700) on a bpffs: mounts one at /sys/fs/bpf, or at dir itself if dir lies
 * elsewhere, where there is none. Returns 0 or a negative errno with the reason.
 */
int bpffs_make_dir(const char *dir, struct why *why);

/*
 * Removes dir if it is empty, and the mount below it that bpffs_make_dir() made, if empty too.
 * *lock is a descriptor on dir, or -1; it is closed on the way, since it keeps the mount busy.
 */
void bpffs_remove_dir(const char *dir, int *lock);

/* Pins fd as dir/name, in one step replacing what is there. Returns 0 or a negative errno. */
int bpffs_pin(int fd, const char *dir, const char *name, struct why *why);

/* Opens the pin dir/name. Returns a descriptor or a negative errno with the reason. */
int bpffs_open(const char *dir, const char *name, struct why *why);

/* Removes the directory path and the pins in it. Returns 0 (also if it is gone) or a negative
 * errno. */
int bpffs_remove_tree(const char *path);

#endif
