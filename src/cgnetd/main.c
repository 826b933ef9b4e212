// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cgnetd: options and subcommands. */
#include <argp.h>
#include <bpf/libbpf.h>
#include <limits.h>
#include <string.h>

#include "cmd.h"
#include "num.h"

#define MAX_ARGS 1024

enum {
	OPT_BPFFS = 256,
	OPT_CGROUP,
	OPT_RUN_DIR,
	OPT_JSON,
	OPT_FORCE,
	OPT_POLICY,
	OPT_CLASS,
	OPT_COUNT,
	OPT_FOR,
	OPT_KEEP,
	OPT_LOG_EVENTS,
	OPT_METRICS_FILE
};

/* Bits of struct command.options. */
enum {
	TAKES_JSON = 1,
	TAKES_FORCE = 2,
	TAKES_POLICY = 4,
	TAKES_CLASS = 8,
	TAKES_COUNT = 16,
	TAKES_SERVICE = 32,
	TAKES_FOR = 64,
	TAKES_KEEP = 128,
};

struct arguments {
	struct options opt;
	unsigned int given; /* TAKES_ bits of the options seen */
	char *args[MAX_ARGS];
	int nargs;
};

struct command {
	const char *name;
	const char *operands; /* for messages */
	int min, max;	      /* how many operands */
	unsigned int options;
	int (*run)(const struct arguments *a);
};

static int run_check(const struct arguments *a)
{
	return cmd_check(a->nargs, (char **)a->args);
}

static int run_load(const struct arguments *a)
{
	return cmd_load(&a->opt, a->args[0]);
}

static int run_unload(const struct arguments *a)
{
	return cmd_unload(&a->opt);
}

static int run_status(const struct arguments *a)
{
	return cmd_status(&a->opt);
}

static int run_explain(const struct arguments *a)
{
	return cmd_explain(&a->opt, a->args[0], a->args[1]);
}

static int run_learn(const struct arguments *a)
{
	return cmd_learn(&a->opt);
}

static int run_metrics(const struct arguments *a)
{
	return cmd_metrics(&a->opt);
}

static int run_events(const struct arguments *a)
{
	return cmd_events(&a->opt);
}

static int run_sessions(const struct arguments *a)
{
	return cmd_sessions(&a->opt);
}

static int run_kill(const struct arguments *a)
{
	return cmd_kill(&a->opt, a->args[0]);
}

static int run_allow(const struct arguments *a)
{
	return cmd_allow(&a->opt, a->args[0]);
}

static int run_deny(const struct arguments *a)
{
	return cmd_deny(&a->opt, a->args[0]);
}

static int run_rules(const struct arguments *a)
{
	return cmd_rules(&a->opt);
}

static int run_forget(const struct arguments *a)
{
	return cmd_forget(&a->opt, a->args[0]);
}

static int run_serve(const struct arguments *a)
{
	return cmd_serve(&a->opt, a->args[0]);
}

static int run_doctor(const struct arguments *a)
{
	return cmd_doctor(&a->opt);
}

static const struct command commands[] = {
	{"check", "FILE...", 1, MAX_ARGS, 0, run_check},
	{"load", "FILE", 1, 1, TAKES_FORCE, run_load},
	{"unload", "", 0, 0, TAKES_FORCE, run_unload},
	{"status", "", 0, 0, TAKES_JSON, run_status},
	{"metrics", "", 0, 0, 0, run_metrics},
	{"learn", "", 0, 0, TAKES_CLASS | TAKES_FOR, run_learn},
	{"events", "", 0, 0, TAKES_JSON | TAKES_CLASS | TAKES_COUNT, run_events},
	{"sessions", "", 0, 0, TAKES_JSON, run_sessions},
	{"kill", "SESSION", 1, 1, 0, run_kill},
	{"serve", "FILE", 1, 1, TAKES_SERVICE, run_serve},
	{"allow", "RULE", 1, 1, TAKES_CLASS | TAKES_FOR | TAKES_KEEP, run_allow},
	{"deny", "RULE", 1, 1, TAKES_CLASS | TAKES_FOR | TAKES_KEEP, run_deny},
	{"rules", "", 0, 0, TAKES_CLASS | TAKES_JSON, run_rules},
	{"forget", "NUMBER", 1, 1, 0, run_forget},
	{"doctor", "", 0, 0, TAKES_JSON, run_doctor},
	{"explain", "CLASS DEST", 2, 2, TAKES_JSON | TAKES_POLICY, run_explain},
};

const char *argp_program_version = "cgnetd " CGNET_VERSION;

static const char doc[] =
	"Decides in the kernel which networks a process tree may reach.\v"
	"Commands:\n"
	"  check FILE...        check policy files; needs no privilege\n"
	"  load FILE            make what is enforced equal to the file\n"
	"  unload               take everything down\n"
	"  status               show classes, layers, sessions and counters\n"
	"  serve FILE           load, then stay: let users in, reload on SIGHUP\n"
	"  allow RULE           add a rule to those of a class, at run time\n"
	"  deny RULE            the same\n"
	"  rules                list the rules that were added at run time\n"
	"  forget NUMBER        take one of them back\n"
	"  sessions             list the sessions that live\n"
	"  kill SESSION         end one, given as SESSION or CLASS/SESSION\n"
	"  explain CLASS DEST   say which rule decides for ADDR[:PORT][/PROTO]\n"
	"  events               show denials as they happen\n"
	"  learn                print rules that would allow what is denied meanwhile\n"
	"  metrics              print counters for Prometheus\n"
	"  doctor               say what this kernel and host can enforce\n"
	"\n"
	"Exit status: 0 done or allowed, 1 refused or denied, 2 wrong usage.";

static const struct argp_option options[] = {
	{"bpffs", OPT_BPFFS, "DIR", 0, "where maps and links are pinned (" CGNET_DEFAULT_BPFFS ")",
	 0},
	{"cgroup", OPT_CGROUP, "PATH", 0,
	 "cgroup of the classes, relative to the cgroup2 mount (" CGNET_DEFAULT_CGROUP ")", 0},
	{"run-dir", OPT_RUN_DIR, "DIR", 0,
	 "the instance's run directory (" CGNET_DEFAULT_RUN_DIR ")", 0},
	{"force", OPT_FORCE, NULL, 0, "load, unload: end the sessions that are in the way", 1},
	{"json", OPT_JSON, NULL, 0,
	 "status, sessions, rules, explain, events, doctor: for machines", 1},
	{"keep", OPT_KEEP, NULL, 0, "allow, deny: also when the policy is loaded again", 1},
	{"policy", OPT_POLICY, "FILE", 0, "explain: from this file instead of the kernel", 1},
	{"class", OPT_CLASS, "CLASS", 0, "events, learn, allow, deny, rules: of this class", 1},
	{"for", OPT_FOR, "TIME", 0, "learn, allow, deny: for so long: 90s, 10m, 8h, 7d", 1},
	{"log-events", OPT_LOG_EVENTS, "WHERE", 0, "serve: log denials to stderr or syslog", 1},
	{"metrics-file", OPT_METRICS_FILE, "FILE", 0,
	 "serve: keep this file up to date with what `metrics` prints", 1},
	{"count", OPT_COUNT, "N", 0, "events: end after so many", 1},
	{},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case OPT_BPFFS:
		a->opt.instance.bpffs = arg;
		return 0;
	case OPT_CGROUP:
		a->opt.instance.cgroup = arg;
		return 0;
	case OPT_RUN_DIR:
		a->opt.instance.run_dir = arg;
		return 0;
	case OPT_FORCE:
		a->opt.force = true;
		a->given |= TAKES_FORCE;
		return 0;
	case OPT_JSON:
		a->opt.json = true;
		a->given |= TAKES_JSON;
		return 0;
	case OPT_POLICY:
		a->opt.policy = arg;
		a->given |= TAKES_POLICY;
		return 0;
	case OPT_CLASS:
		a->opt.class_name = arg;
		a->given |= TAKES_CLASS;
		return 0;
	case OPT_FOR:
		a->opt.duration = arg;
		a->given |= TAKES_FOR;
		return 0;
	case OPT_LOG_EVENTS:
		a->opt.log_events = arg;
		a->given |= TAKES_SERVICE;
		if (!strcmp(arg, "stderr") || !strcmp(arg, "syslog"))
			return 0;
		argp_error(state, "--log-events takes stderr or syslog");
		return EINVAL;
	case OPT_METRICS_FILE:
		a->opt.metrics_file = arg;
		a->given |= TAKES_SERVICE;
		return 0;
	case OPT_COUNT:
		a->given |= TAKES_COUNT;
		if (!num_parse(arg, strlen(arg), ULONG_MAX, &a->opt.count) && a->opt.count)
			return 0;
		argp_error(state, "--count takes a number from 1");
		return EINVAL;
	case OPT_KEEP:
		a->opt.keep = true;
		a->given |= TAKES_KEEP;
		return 0;
	case ARGP_KEY_ARG:
		if (a->nargs == MAX_ARGS)
			return E2BIG;
		a->args[a->nargs++] = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static int wrong_usage(const char *what, const char *detail)
{
	fprintf(stderr, "cgnetd: %s%s (see cgnetd --help)\n", what, detail);
	return EXIT_USAGE;
}

/* The command is the first operand; the rest are its own. */
static int dispatch(struct arguments *a)
{
	const struct command *command;
	char usage[64];

	if (!a->nargs)
		return wrong_usage("no command given", "");
	command = find_command(a->args[0]);
	if (!command)
		return wrong_usage("unknown command ", a->args[0]);
	memmove(a->args, a->args + 1, --a->nargs * sizeof(a->args[0]));
	if (a->nargs < command->min || a->nargs > command->max) {
		snprintf(usage, sizeof(usage), "%s %s", command->name, command->operands);
		return wrong_usage("usage: cgnetd ", usage);
	}
	if (a->given & ~command->options)
		return wrong_usage("an option was given that does not belong to ", command->name);
	return command->run(a);
}

/* "" , "/", "a//b", ".." and the like would reach outside the place meant. */
static bool cgroup_path_is_plain(const char *path)
{
	for (const char *p = path;; p = strchr(p, '/') + 1) {
		size_t n = strcspn(p, "/");

		if (!n || (n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
			return false;
		if (!p[n])
			return true;
	}
}

/* Errors come back as codes and are reported once, by us. */
static int be_quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {options, parse, "COMMAND [OPERAND...]", doc, NULL,
					 NULL,	  NULL};
	static struct arguments a = {
		.opt.instance = {.bpffs = CGNET_DEFAULT_BPFFS,
				 .cgroup = CGNET_DEFAULT_CGROUP,
				 .run_dir = CGNET_DEFAULT_RUN_DIR},
	};

	argp_err_exit_status = EXIT_USAGE;
	libbpf_set_print(be_quiet);
	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		return wrong_usage("too many operands", "");
	if (!cgroup_path_is_plain(a.opt.instance.cgroup))
		return wrong_usage("--cgroup takes a relative path: ", a.opt.instance.cgroup);
	if (a.opt.instance.run_dir[0] != '/')
		return wrong_usage("--run-dir takes an absolute path: ", a.opt.instance.run_dir);
	if (a.opt.instance.bpffs[0] != '/')
		return wrong_usage("--bpffs takes an absolute path: ", a.opt.instance.bpffs);
	return dispatch(&a);
}
