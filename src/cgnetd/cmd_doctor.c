// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cmd.h"
#include "doctor.h"
#include "report.h"

static const char *const words[] = {
	[FINDING_OK] = "ok",
	[FINDING_WARNING] = "warning",
	[FINDING_MISSING] = "MISSING",
};

static void show(const struct findings *f)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct finding *item = &f->items[i];

		printf("%-8s %-15s %s\n", words[item->state], item->name, item->detail);
		if (item->advice[0])
			printf("%-24s %s\n", "", item->advice);
	}
}

int cmd_doctor(const struct options *opt)
{
	struct findings f = {};
	int err = doctor_kernel(&f), missing = 0;

	if (!err)
		err = doctor_classes(&f, &opt->instance);
	if (!err)
		err = doctor_sockets(&f);
	if (!err && opt->json)
		err = report_findings(&f);
	else if (!err)
		show(&f);
	for (size_t i = 0; i < f.n; i++)
		missing |= f.items[i].state == FINDING_MISSING;
	free(f.items);
	if (err)
		fprintf(stderr, "cgnetd: doctor: out of memory\n");
	return err || missing ? EXIT_REFUSED : EXIT_DONE;
}
