// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "cmd.h"
#include "live_class.h"
#include "report.h"

struct question {
	const struct options *opt;
	const char *class_name;
	struct dest dest;
};

struct answer {
	struct explanation explanation;
	struct cgnet_rule rule;
};

static int lookup_pinned(void *arg, uint8_t family, const uint8_t *addr, struct cgnet_prefix *out)
{
	const struct policy_maps *maps = arg;
	struct cgnet_key4 key4 = {.prefixlen = 32};
	struct cgnet_key6 key6 = {.prefixlen = 128};
	int ret;

	if (family == AF_INET) {
		memcpy(key4.addr, addr, sizeof(key4.addr));
		ret = bpf_map_lookup_elem(maps->deny4, &key4, out);
	} else {
		memcpy(key6.addr, addr, sizeof(key6.addr));
		ret = bpf_map_lookup_elem(maps->deny6, &key6, out);
	}
	return ret < 0 ? -errno : 0;
}

static int port_pinned(void *arg, uint32_t index, struct cgnet_port *out)
{
	const struct policy_maps *maps = arg;

	return bpf_map_lookup_elem(maps->ports, &index, out) < 0 ? -errno : 0;
}

static int ask_maps(const struct question *q, struct policy_maps *maps,
		    const struct cgnet_settings *settings, struct answer *a, struct why *why)
{
	const struct explain_source source = {
		.arg = maps,
		.settings = *settings,
		.lookup = lookup_pinned,
		.port = port_pinned,
	};
	int err = explain(&source, &q->dest, &a->explanation);

	if (!err && bpf_map_lookup_elem(maps->rules, &a->explanation.rule, &a->rule) < 0)
		err = -errno;
	return err ? why_set(why, err, "cannot read the maps: %s", strerror(-err)) : 0;
}

static int ask_class(const struct question *q, const char *dir, struct answer *a, struct why *why)
{
	struct policy_maps maps = POLICY_MAPS_NONE;
	struct live_class lc = LIVE_CLASS_NONE;
	struct cgnet_class_info info;
	int err = live_class_open(&lc, dir, why);

	if (!err)
		err = live_class_read(&lc, &info, why);
	if (!err)
		err = policy_maps_open(&maps, dir, why);
	if (!err)
		err = ask_maps(q, &maps, &info.settings, a, why);
	policy_maps_close(&maps);
	live_class_close(&lc);
	return err;
}

static int ask_kernel(const struct question *q, struct answer *a, struct why *why)
{
	_cleanup_close_ int lock = instance_lock(&q->opt->instance, LOCK_SH, false, why);
	struct cgnet_info info;
	char dir[PATH_MAX];
	int err = lock < 0 ? lock : instance_info(&q->opt->instance, &info, why);

	if (!err)
		err = instance_path(&q->opt->instance, dir, q->class_name, NULL, why);
	if (!err && access(dir, F_OK) < 0)
		err = why_set(why, -ENOENT, "class %s is not loaded", q->class_name);
	return err ? err : ask_class(q, dir, a, why);
}

static int ask_compiled(const struct question *q, const struct compiled *compiled, struct answer *a,
			struct why *why)
{
	const struct compiled_class *c = compiled ? compiled_class(compiled, q->class_name) : NULL;
	struct explain_source source;
	int err;

	if (!compiled)
		return why_set(why, -EINVAL, "%s has errors", q->opt->policy);
	if (!c)
		return why_set(why, -ENOENT, "%s has no class %s", q->opt->policy, q->class_name);
	source = explain_compiled(c);
	err = explain(&source, &q->dest, &a->explanation);
	if (err)
		return why_set(why, err, "%s", strerror(-err));
	a->rule = c->rules[a->explanation.rule];
	return 0;
}

/* Only errors are shown: warnings are for `check`. */
static int ask_file(const struct question *q, struct answer *a, struct why *why)
{
	struct diags d = {};
	struct facts facts = {};
	struct policy *policy = policy_read(q->opt->policy, POLICY_NAMES, &d);
	struct compiled *compiled = NULL;
	int err = policy ? facts_read(&facts, NULL, why) : -EINVAL;

	if (!policy)
		why_set(why, err, "%s has errors", q->opt->policy);
	if (!err) {
		compiled = compile_policy(policy, &facts, &d);
		err = ask_compiled(q, compiled, a, why);
	}
	if (d.errors)
		diags_print(&d, stderr);
	compiled_free(compiled);
	facts_free(&facts);
	policy_free(policy);
	diags_free(&d);
	return err;
}

static void show(const char *dest, const struct answer *a)
{
	const struct explanation *e = &a->explanation;
	char prefix[PREFIX_STR_SIZE];

	printf("%s: %s by %s, prefix %s", dest, e->verdict == CGNET_ALLOW ? "allowed" : "denied",
	       a->rule.text, prefix_format(&e->prefix, prefix));
	if (a->rule.line)
		printf(" (%s:%u)", a->rule.file, a->rule.line);
	if (explain_note(e))
		printf("; %s", explain_note(e));
	printf("\n");
}

int cmd_explain(const struct options *opt, const char *class_name, const char *dest)
{
	struct question q = {.opt = opt, .class_name = class_name};
	struct answer a = {};
	struct why why;
	int err = dest_parse(dest, &q.dest, &why);

	if (err) {
		fprintf(stderr, "cgnetd: explain: %s\n", why.text);
		return EXIT_USAGE;
	}
	if (strchr(class_name, '/') || class_name[0] < 'a' || class_name[0] > 'z') {
		fprintf(stderr, "cgnetd: explain: %s is not a class name\n", class_name);
		return EXIT_USAGE;
	}
	err = opt->policy ? ask_file(&q, &a, &why) : ask_kernel(&q, &a, &why);
	if (!err && opt->json)
		err = report_explanation(&a.explanation, &a.rule);
	else if (!err)
		show(dest, &a);
	if (err) {
		fprintf(stderr, "cgnetd: explain: %s\n",
			err == -ENOMEM ? "out of memory" : why.text);
		return EXIT_USAGE;
	}
	return a.explanation.verdict == CGNET_ALLOW ? EXIT_DONE : EXIT_REFUSED;
}
