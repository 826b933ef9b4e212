/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The class that a session is started in: found, and verified to be enforced. */
#ifndef CGNET_RUN_CLASS_H
#define CGNET_RUN_CLASS_H

#include <limits.h>

#include "instance.h"

struct class
{
	char name[CGNET_NAME_SIZE];
	char cgroup[PATH_MAX]; /* below the mount, "cgnet/restricted" */
	char dir[PATH_MAX];    /* its directory, "/sys/fs/cgroup/cgnet/restricted" */
	bool keep_privileges;  /* of a root session */
};

/*
 * Finds the class called name (NULL: the policy's own choice) and verifies that its cgroup is the
 * one that was loaded and that its programs are attached. Returns 0 or -errno with a reason.
 */
int class_find(struct class *c, const struct instance *in, const char *name, struct why *why);

#endif
