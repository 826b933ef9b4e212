// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What doctor says of the host and of the classes in force, rather than of the kernel. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/limits.h>
#include <string.h>
#include <sys/stat.h>

#include "cgroup.h"
#include "doctor.h"
#include "status.h"

/* Sockets whose owner acts for whoever connects: it runs outside the class, and so does what it
 * does. */
static const struct {
	const char *name, *pattern, *power;
} delegates[] = {
	{"systemd", "/run/systemd/private", "starts processes outside the class"},
	{"systemd --user", "/run/user/*/systemd/private", "starts processes outside the class"},
	{"system bus", "/run/dbus/system_bus_socket", "reaches systemd and other services"},
	{"user bus", "/run/user/*/bus", "reaches systemd --user and other services"},
	{"docker", "/run/docker.sock", "starts containers on the host's network"},
	{"docker", "/run/user/*/docker.sock", "starts containers on the host's network"},
	{"podman", "/run/podman/podman.sock", "starts containers on the host's network"},
	{"podman", "/run/user/*/podman/podman.sock", "starts containers on the host's network"},
	{"containerd", "/run/containerd/containerd.sock",
	 "starts containers on the host's network"},
	{"cri-o", "/run/crio/crio.sock", "starts containers on the host's network"},
	{"libvirt", "/run/libvirt/*-sock", "starts virtual machines"},
	{"lxd", "/var/lib/lxd/unix.socket", "starts containers on the host's network"},
	{"incus", "/var/lib/incus/unix.socket", "starts containers on the host's network"},
	{"tmux", "/tmp/tmux-*/*", "runs commands in a server started outside"},
	{"screen", "/run/screen/S-*/*", "runs commands in a server started outside"},
	{"ssh-agent", "/tmp/ssh-*/agent.*", "signs with the user's keys"},
	{"gpg-agent", "/run/user/*/gnupg/S.gpg-agent*", "signs with the user's keys"},
	{"X11", "/tmp/.X11-unix/X*", "types into other windows"},
	{"Wayland", "/run/user/*/wayland-*", "reaches the compositor"},
	{"tailscaled", "/run/tailscale/tailscaled.sock", "changes the tailnet's settings"},
	{"resolved", "/run/systemd/resolve/io.systemd.Resolve", "resolves names without port 53"},
	{"nscd", "/run/nscd/socket", "resolves names without port 53"},
};

/* A socket that the caller may connect to, which takes write permission. */
static bool is_reachable(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISSOCK(st.st_mode) &&
	       faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0;
}

static int add_matches(struct findings *f, size_t i)
{
	char detail[PATH_MAX];
	glob_t found = {};
	int err = 0;

	if (glob(delegates[i].pattern, GLOB_NOSORT, NULL, &found))
		return 0;
	for (size_t k = 0; k < found.gl_pathc && !err; k++) {
		if (!is_reachable(found.gl_pathv[k]))
			continue;
		snprintf(detail, sizeof(detail), "%s: %s %s", delegates[i].name, found.gl_pathv[k],
			 delegates[i].power);
		err = finding_add(f, "Unix socket", FINDING_WARNING, detail,
				  "unix = none closes it to a class");
	}
	globfree(&found);
	return err;
}

int doctor_sockets(struct findings *f)
{
	size_t before = f->n;
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(delegates) && !err; i++)
		err = add_matches(f, i);
	if (!err && f->n == before)
		err = finding_add(f, "Unix socket", FINDING_OK,
				  "none known to delegate authority is within reach", "");
	return err;
}

static int check_class_limits(struct findings *f, const struct class_status *c)
{
	char detail[256], wanted[LIMIT_STR_SIZE], in_force[LIMIT_STR_SIZE];
	int err = 0;

	for (int i = 0; i < CGNET_LIMITS && !err; i++) {
		const struct class_limit *l = &c->limits[i];

		if (!l->lost)
			continue;
		snprintf(detail, sizeof(detail), "class %s has %s %s in its cgroup, not %s",
			 c->name, cgroup_limit_name(i), limit_format(i, l->in_force, in_force),
			 limit_format(i, l->wanted, wanted));
		err = finding_add(f, "class", FINDING_WARNING, detail, "load sets it again");
	}
	return err;
}

static int check_class(struct findings *f, const struct class_status *c)
{
	char detail[128];
	int err = check_class_limits(f, c);

	if (err)
		return err;
	snprintf(detail, sizeof(detail), "class %s has privileges = keep", c->name);
	if (c->info.keep_privileges)
		err = finding_add(f, "class", FINDING_WARNING, detail,
				  "a root session of it can undo the policy");
	snprintf(detail, sizeof(detail), "class %s has mode = audit", c->name);
	if (!err && status_audits(c))
		err = finding_add(f, "class", FINDING_WARNING, detail,
				  "NOTHING IS REFUSED in it: what would be is only told");
	return err;
}

int doctor_classes(struct findings *f, const struct instance *in)
{
	struct status s;
	int err = 0;

	if (status_read(in, true, &s, NULL))
		return 0;
	for (size_t i = 0; i < s.n && !err; i++)
		err = check_class(f, &s.classes[i]);
	status_free(&s);
	return err;
}
