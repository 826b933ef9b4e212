// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "announce.h"

#include <limits.h>
#include <sys/stat.h>

#include "bpf.h"
#include "cgnet_state.h"

void announce(const struct session *s, const char *bpffs)
{
	struct cgnet_session record = {0};
	char path[PATH_MAX];
	struct stat st;
	__u64 id;

	if (fstat(s->fd, &st) < 0 ||
	    snprintf(path, sizeof(path), "%s/" CGNET_PIN_SESSIONS, bpffs) >= (int)sizeof(path))
		return;
	id = st.st_ino;
	snprintf(record.name, sizeof(record.name), "%s", s->name);
	bpf_write_pin(path, &id, sizeof(id), &record, sizeof(record));
}
