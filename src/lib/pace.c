// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "pace.h"

uint64_t pace_change(struct pace *p, uint64_t now)
{
	if (!p->pending) {
		p->pending = true;
		p->due = now + PACE_SETTLE;
		if (p->due < p->not_until)
			p->due = p->not_until;
	}
	return p->due;
}

void pace_done(struct pace *p, uint64_t started, uint64_t now)
{
	uint64_t gap = now - started;

	if (gap < PACE_GAP)
		gap = PACE_GAP;
	if (gap > PACE_MAX_GAP)
		gap = PACE_MAX_GAP;
	p->pending = false;
	p->not_until = now + gap;
}
