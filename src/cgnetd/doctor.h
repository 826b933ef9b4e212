/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What this kernel and host can enforce: a list of findings, each with what follows from it. */
#ifndef CGNETD_DOCTOR_H
#define CGNETD_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "instance.h"

enum finding_state {
	FINDING_OK,
	FINDING_WARNING, /* something optional is missing, or open by the host's choice */
	FINDING_MISSING, /* `load` fails without it */
};

struct finding {
	const char *name; /* "layer connect", "bpffs", "docker socket" */
	enum finding_state state;
	char detail[256]; /* what was tried and what came of it */
	char advice[256]; /* what a class loses and what to change here; "" if it is ok */
};

struct findings {
	struct finding *items;
	size_t n, cap;
};

/* Adds a finding. Returns 0 or -ENOMEM. */
int finding_add(struct findings *f, const char *name, enum finding_state state, const char *detail,
		const char *advice);

/* The host's basics and the layers, by the probes that `load` uses. Returns 0 or -ENOMEM. */
int doctor_kernel(struct findings *f);

/*
 * Sockets on this host by which a session could act through a process outside of its class: those
 * that exist and that the caller may connect to. Returns 0 or -ENOMEM.
 */
int doctor_sockets(struct findings *f);

/*
 * Classes in force whose own options leave a way out. Returns 0 or -ENOMEM; nothing loaded adds
 * nothing.
 */
int doctor_classes(struct findings *f, const struct instance *in);

#endif
