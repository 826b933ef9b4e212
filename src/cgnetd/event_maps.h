/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The maps behind events, which all classes of an instance share: see bpf/event.bpf.h. */
#ifndef CGNETD_EVENT_MAPS_H
#define CGNETD_EVENT_MAPS_H

#include <bpf/libbpf.h>

#include "instance.h"
#include "session.h"

/*
 * Before obj is loaded: has it use the maps that are pinned; those that are not, loading makes.
 * Returns 0 or a negative errno.
 */
int event_maps_share(struct bpf_object *obj, const struct instance *in);

/* After it: pins what was made. Returns 0 or a negative errno with the reason. */
int event_maps_pin(const struct bpf_object *obj, const struct instance *in, struct why *why);

/*
 * Tells under which name events are to show a session, while it is open. One that cannot be told is
 * shown by its number, so this does not fail.
 */
void event_maps_announce(const struct instance *in, const struct session *s);

/* Unpins all. */
void event_maps_remove(const struct instance *in);

#endif
