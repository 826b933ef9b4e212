/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is counted, in the text format of Prometheus. */
#ifndef CGNETD_METRICS_H
#define CGNETD_METRICS_H

#include <stdint.h>

#include "names.h"
#include "status.h"

/* What only a service knows. */
struct service_counts {
	uint64_t loaded, refused; /* policies, since it started */
	int64_t last_time;	  /* of the last of them, seconds since 1970 */
	bool last_ok;
	size_t readers; /* of events */
	const struct names *names;
	uint64_t now; /* of the clock that names go by */
};

/* All metrics, *n bytes, to be freed; service is NULL without one. Returns 0 or a negative errno
 * with the reason. */
int metrics_text(const struct instance *in, const struct service_counts *service, char **text,
		 size_t *n, struct why *why);

/* The same to a file, which is replaced in one step. Returns 0 or a negative errno. */
int metrics_save(const char *file, const struct instance *in, const struct service_counts *service,
		 struct why *why);

#endif
