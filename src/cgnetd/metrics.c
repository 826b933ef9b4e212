// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

static void describe(FILE *out, const char *name, const char *type, const char *help)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* Names of classes and layers need no escapes. */
static void write_layers(FILE *out, const struct status *s)
{
	static const struct {
		const char *name, *help;
		size_t offset;
	} rows[] = {
		{"cgnet_allowed_total", "Calls that named a destination and went on.",
		 offsetof(struct cgnet_counts, allowed)},
		{"cgnet_denied_total", "Calls and packets that were refused.",
		 offsetof(struct cgnet_counts, denied)},
		{"cgnet_would_deny_total", "What a class in audit mode would have refused.",
		 offsetof(struct cgnet_counts, would_deny)},
		{"cgnet_dropped_total", "Of the last two, those that no event told of.",
		 offsetof(struct cgnet_counts, dropped)},
	};

	for (size_t row = 0; row < ARRAY_SIZE(rows); row++) {
		describe(out, rows[row].name, "counter", rows[row].help);
		for (size_t i = 0; i < s->n; i++)
			for (int layer = 0; layer < CGNET_LAYERS; layer++) {
				const char *counts = (const char *)&s->classes[i].counts[layer];

				fprintf(out, "%s{class=\"%s\",layer=\"%s\"} %llu\n", rows[row].name,
					s->classes[i].name, layer_name(layer),
					*(const unsigned long long *)(counts + rows[row].offset));
			}
	}
}

static void write_classes(FILE *out, const struct status *s)
{
	describe(out, "cgnet_layer_on", "gauge", "1 where the layer's programs are attached.");
	for (size_t i = 0; i < s->n; i++)
		for (int layer = 0; layer < CGNET_LAYERS; layer++)
			fprintf(out, "cgnet_layer_on{class=\"%s\",layer=\"%s\"} %d\n",
				s->classes[i].name, layer_name(layer),
				!s->classes[i].off[layer].text[0]);
	describe(out, "cgnet_sessions", "gauge", "Sessions that live.");
	for (size_t i = 0; i < s->n; i++)
		fprintf(out, "cgnet_sessions{class=\"%s\"} %zu\n", s->classes[i].name,
			s->classes[i].sessions.n);
	describe(out, "cgnet_prefixes", "gauge", "Prefixes in force.");
	for (size_t i = 0; i < s->n; i++)
		fprintf(out,
			"cgnet_prefixes{class=\"%s\",family=\"ipv4\"} %u\n"
			"cgnet_prefixes{class=\"%s\",family=\"ipv6\"} %u\n",
			s->classes[i].name, s->classes[i].info.prefixes4, s->classes[i].name,
			s->classes[i].info.prefixes6);
	describe(out, "cgnet_audit", "gauge", "1 where the class refuses nothing.");
	for (size_t i = 0; i < s->n; i++)
		fprintf(out, "cgnet_audit{class=\"%s\"} %d\n", s->classes[i].name,
			status_audits(&s->classes[i]));
}

/* Host names are made of letters, digits, dots and dashes. */
static void write_names(FILE *out, const struct names *names, uint64_t now)
{
	describe(out, "cgnet_name_addresses", "gauge", "Addresses that a host name stands for.");
	for (size_t i = 0; i < names->n; i++)
		fprintf(out, "cgnet_name_addresses{name=\"%s\"} %zu\n", names->items[i].host,
			names->items[i].n);
	describe(out, "cgnet_name_age_seconds", "gauge", "Time since the last answer for it.");
	for (size_t i = 0; i < names->n; i++)
		if (names->items[i].answered)
			fprintf(out, "cgnet_name_age_seconds{name=\"%s\"} %" PRIu64 "\n",
				names->items[i].host, (now - names->items[i].answered) / 1000000);
}

static void write_service(FILE *out, const struct service_counts *service)
{
	describe(out, "cgnet_reloads_total", "counter",
		 "Policies loaded since the service started.");
	fprintf(out,
		"cgnet_reloads_total{result=\"ok\"} %" PRIu64
		"\ncgnet_reloads_total{result=\"refused\"} %" PRIu64 "\n",
		service->loaded, service->refused);
	describe(out, "cgnet_last_reload_timestamp_seconds", "gauge", "When that was last tried.");
	fprintf(out, "cgnet_last_reload_timestamp_seconds %" PRId64 "\n", service->last_time);
	describe(out, "cgnet_last_reload_ok", "gauge", "1 if it was done.");
	fprintf(out, "cgnet_last_reload_ok %d\n", service->last_ok);
	describe(out, "cgnet_event_readers", "gauge", "Readers of events.");
	fprintf(out, "cgnet_event_readers %zu\n", service->readers);
	write_names(out, service->names, service->now);
}

static void write_all(FILE *out, const struct status *s, const struct service_counts *service)
{
	describe(out, "cgnet_build_info", "gauge", "The version of cgnetd.");
	fprintf(out, "cgnet_build_info{version=\"" CGNET_VERSION "\"} 1\n");
	write_layers(out, s);
	write_classes(out, s);
	if (service)
		write_service(out, service);
}

int metrics_text(const struct instance *in, const struct service_counts *service, char **text,
		 size_t *n, struct why *why)
{
	struct status s;
	FILE *out;
	int err = status_read(in, !service, &s, why);

	if (err)
		return err;
	*text = NULL;
	out = open_memstream(text, n);
	if (out)
		write_all(out, &s, service);
	status_free(&s);
	if (out && !fclose(out))
		return 0;
	free(*text);
	return why_set(why, -ENOMEM, "out of memory");
}

static int write_file(int fd, const char *text, size_t n)
{
	while (n) {
		ssize_t done = write(fd, text, n);

		if (done < 0 && errno != EINTR)
			return -errno;
		if (done > 0) {
			text += done;
			n -= (size_t)done;
		}
	}
	return 0;
}

/* What another user may have put at the new name is not followed. */
int metrics_save(const char *file, const struct instance *in, const struct service_counts *service,
		 struct why *why)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_close_ int fd = -1;
	char temp[PATH_MAX];
	size_t n;
	int err;

	if (snprintf(temp, sizeof(temp), "%s.new", file) >= (int)sizeof(temp))
		return why_set(why, -ENAMETOOLONG, "%s: path too long", file);
	err = metrics_text(in, service, &text, &n, why);
	if (err)
		return err;
	unlink(temp);
	fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	err = fd < 0 || fchmod(fd, 0644) < 0 ? -errno : write_file(fd, text, n);
	if (!err && rename(temp, file) < 0)
		err = -errno;
	if (err && fd >= 0)
		unlink(temp);
	return err ? why_set(why, err, "cannot write %s: %s", file, strerror(-err)) : 0;
}
