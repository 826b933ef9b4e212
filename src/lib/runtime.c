// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "name.h"
#include "num.h"
#include "sets.h"
#include "text.h"

#define SECOND UINT64_C(1000000)

#define FILE_HEAD     "cgnet run-time rules 1"
#define FILE_MAX_SIZE (16UL << 20)

#define BOOT_SIZE 64

static int check_rule(const struct runtime_rule *rule, struct why *why)
{
	struct rule parsed;
	int err;

	if (!name_is_valid(rule->class_name))
		return why_set(why, -EINVAL, "\"%.*s\" is not the name of a class", CGNET_NAME_SIZE,
			       rule->class_name);
	err = rule_parse(rule->text, &parsed, why);
	if (err)
		return err;
	if (parsed.list || parsed.host)
		err = why_set(why, -EINVAL, "a run-time rule names an address, a prefix or a @set");
	rule_free(&parsed);
	return err;
}

static bool same_rule(const struct runtime_rule *a, const char *class_name,
		      enum cgnet_verdict verdict, const char *text)
{
	return a->verdict == verdict && !strcmp(a->class_name, class_name) &&
	       !strcmp(a->text, text);
}

/* The rule of a class with this verdict and text; NULL if there is none. */
static const struct runtime_rule *find_text(const struct runtime *r, const char *class_name,
					    enum cgnet_verdict verdict, const char *text)
{
	for (size_t i = 0; i < r->n; i++)
		if (same_rule(&r->items[i], class_name, verdict, text))
			return &r->items[i];
	return NULL;
}

static size_t count_class(const struct runtime *r, const char *class_name)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		n += !strcmp(r->items[i].class_name, class_name);
	return n;
}

static int append(struct runtime *r, const struct runtime_rule *rule)
{
	int err = ARRAY_RESERVE(&r->items, &r->cap, r->n);

	if (!err)
		r->items[r->n++] = *rule;
	return err;
}

long runtime_add(struct runtime *r, const struct runtime_rule *rule, struct why *why)
{
	const struct runtime_rule *same;
	struct runtime_rule added = *rule;
	int err = check_rule(rule, why);

	if (err)
		return err;
	same = find_text(r, rule->class_name, rule->verdict, rule->text);
	if (!same && count_class(r, rule->class_name) >= RUNTIME_MAX_RULES)
		return why_set(why, -ENOSPC, "class %s has %d run-time rules already",
			       rule->class_name, RUNTIME_MAX_RULES);
	added.number = r->last + 1;
	err = append(r, &added);
	if (err)
		return why_set(why, err, "out of memory");
	if (same)
		runtime_drop(r, find_text(r, rule->class_name, rule->verdict, rule->text)->number);
	return ++r->last;
}

const struct runtime_rule *runtime_find(const struct runtime *r, uint32_t number)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->items[i].number == number)
			return &r->items[i];
	return NULL;
}

/* Keeps the rules that wanted() wants. Returns how many went. */
static size_t filter(struct runtime *r,
		     bool (*wanted)(const struct runtime_rule *rule, uint64_t arg), uint64_t arg)
{
	size_t kept = 0, had = r->n;

	for (size_t i = 0; i < had; i++)
		if (wanted(&r->items[i], arg))
			r->items[kept++] = r->items[i];
	r->n = kept;
	return had - kept;
}

static bool is_other(const struct runtime_rule *rule, uint64_t number)
{
	return rule->number != number;
}

bool runtime_drop(struct runtime *r, uint32_t number)
{
	return filter(r, is_other, number);
}

static bool is_running(const struct runtime_rule *rule, uint64_t now)
{
	return !rule->ends || rule->ends > now;
}

size_t runtime_expire(struct runtime *r, uint64_t now)
{
	return filter(r, is_running, now);
}

static bool survives(const struct runtime_rule *rule, uint64_t last)
{
	return rule->keep || rule->number > last;
}

size_t runtime_reload(struct runtime *r, uint32_t last)
{
	return filter(r, survives, last);
}

uint64_t runtime_next_end(const struct runtime *r)
{
	uint64_t next = 0;

	for (size_t i = 0; i < r->n; i++)
		if (r->items[i].ends && (!next || r->items[i].ends < next))
			next = r->items[i].ends;
	return next;
}

void runtime_free(struct runtime *r)
{
	free(r->items);
	*r = (struct runtime){0};
}

/* --- the file --- */

static const char *verdict_word(enum cgnet_verdict verdict)
{
	return verdict == CGNET_ALLOW ? "allow" : "deny";
}

static void print(const struct runtime *r, const char *boot, FILE *f)
{
	fprintf(f, "%s\n%s\n", FILE_HEAD, boot);
	for (size_t i = 0; i < r->n; i++) {
		const struct runtime_rule *rule = &r->items[i];

		if (rule->keep)
			fprintf(f, "%" PRIu32 " %s %" PRIu32 " %" PRIu64 " %s %s\n", rule->number,
				verdict_word(rule->verdict), rule->uid, rule->ends,
				rule->class_name, rule->text);
	}
}

static int write_file(const struct runtime *r, const char *path, const char *boot)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	int err = 0;

	if (!f) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	print(r, boot, f);
	if (fflush(f) || fsync(fd) || ferror(f))
		err = -errno;
	if (fclose(f) && !err)
		err = -errno;
	return err;
}

int runtime_save(const struct runtime *r, const char *path, const char *boot, struct why *why)
{
	char temp[PATH_MAX];
	int err;

	if (snprintf(temp, sizeof(temp), "%s.new", path) >= (int)sizeof(temp))
		return why_set(why, -ENAMETOOLONG, "%s: path too long", path);
	err = write_file(r, temp, boot);
	if (!err && rename(temp, path) < 0)
		err = -errno;
	if (err) {
		unlink(temp);
		return why_set(why, err, "cannot write %s: %s", path, strerror(-err));
	}
	return 0;
}

/* The next word of the line, cut off. NULL if there is none. */
static char *next_word(char **line)
{
	char *word = strsep(line, " ");

	return word && *word ? word : NULL;
}

static bool parse_number(const char *word, unsigned long max, unsigned long *out)
{
	return word && !num_parse(word, strlen(word), max, out);
}

static bool parse_line(char *line, struct runtime_rule *out)
{
	unsigned long number, uid, ends;
	const char *verdict, *class_name;

	if (!parse_number(next_word(&line), UINT32_MAX, &number) || !number)
		return false;
	verdict = next_word(&line);
	if (!verdict || (strcmp(verdict, "allow") != 0 && strcmp(verdict, "deny") != 0) ||
	    !parse_number(next_word(&line), UINT32_MAX, &uid) ||
	    !parse_number(next_word(&line), ULONG_MAX, &ends))
		return false;
	class_name = next_word(&line);
	if (!class_name || !line || strlen(class_name) >= sizeof(out->class_name) ||
	    strlen(line) >= sizeof(out->text))
		return false;
	*out = (struct runtime_rule){
		.number = number,
		.verdict = *verdict == 'a' ? CGNET_ALLOW : CGNET_DENY,
		.uid = uid,
		.keep = true,
		.ends = ends,
	};
	strcpy(out->class_name, class_name);
	strcpy(out->text, line);
	return !check_rule(out, NULL);
}

/* False for one that has ended. */
static bool still_holds(struct runtime_rule *rule, bool same_boot, uint64_t now)
{
	if (!rule->ends)
		return true;
	if (same_boot)
		return rule->ends > now;
	if (rule->verdict == CGNET_ALLOW)
		return false;
	rule->ends = 0;
	return true;
}

static int parse_file(struct runtime *r, char *text, const char *boot, uint64_t now,
		      struct why *why)
{
	const char *head = strsep(&text, "\n"), *saved_boot = strsep(&text, "\n");
	char *line;

	if (!head || !saved_boot || !*saved_boot || strcmp(head, FILE_HEAD) != 0)
		return why_set(why, -EINVAL, "is not a file of run-time rules");
	for (int n = 3; (line = strsep(&text, "\n")) && *line; n++) {
		struct runtime_rule rule;

		if (!parse_line(line, &rule) || rule.number <= r->last)
			return why_set(why, -EINVAL, "line %d is not a rule", n);
		r->last = rule.number;
		if (still_holds(&rule, !strcmp(saved_boot, boot), now) && append(r, &rule))
			return why_set(why, -ENOMEM, "out of memory");
	}
	return 0;
}

int runtime_load(struct runtime *r, const char *path, const char *boot, uint64_t now,
		 struct why *why)
{
	struct runtime loaded = {0};
	struct text text = {0};
	struct why inner;
	int err = text_read(path, FILE_MAX_SIZE, POLICY_CHECK_OWNER, &text, &inner);

	*r = (struct runtime){0};
	if (err == -ENOENT)
		return 0;
	if (!err)
		err = parse_file(&loaded, text.bytes, boot, now, &inner);
	text_free(&text);
	if (err) {
		runtime_free(&loaded);
		return why_set(why, err, "%s: %.400s", path, inner.text);
	}
	*r = loaded;
	return 0;
}

/* --- in a policy --- */

static struct class *find_class(struct policy *p, const char *name)
{
	for (size_t i = 0; i < p->nclasses; i++)
		if (!strcmp(p->classes[i].name, name))
			return &p->classes[i];
	return NULL;
}

static bool has_set(const struct policy *p, const char *name)
{
	if (set_is_builtin(name))
		return true;
	for (size_t i = 0; i < p->nsets; i++)
		if (!strcmp(p->sets[i].name, name))
			return true;
	return false;
}

/* Returns 0, -ENOMEM, or -ENOENT after a warning. */
static int add_to(const struct runtime_rule *rule, struct policy *p, struct diags *d)
{
	struct class *c = find_class(p, rule->class_name);
	struct rule parsed;
	int err;

	if (!c) {
		diag_warning(d, RUNTIME_FILE, rule->number, "%s \"%s\" is left out: no class %s",
			     verdict_word(rule->verdict), rule->text, rule->class_name);
		return -ENOENT;
	}
	err = rule_parse(rule->text, &parsed, NULL);
	if (err)
		return err;
	if (parsed.set && !has_set(p, parsed.set)) {
		diag_warning(d, RUNTIME_FILE, rule->number, "%s \"%s\" is left out: no set @%s",
			     verdict_word(rule->verdict), rule->text, parsed.set);
		rule_free(&parsed);
		return -ENOENT;
	}
	err = ARRAY_RESERVE(&c->rules.items, &c->rules.cap, c->rules.n);
	if (err) {
		rule_free(&parsed);
		return err;
	}
	parsed.verdict = rule->verdict;
	parsed.file = RUNTIME_FILE;
	parsed.line = rule->number;
	parsed.runtime = true;
	c->rules.items[c->rules.n++] = parsed;
	return 0;
}

int runtime_add_to(const struct runtime *r, struct policy *p, struct diags *d)
{
	int err = 0;

	for (size_t i = 0; i < r->n && err != -ENOMEM; i++)
		err = add_to(&r->items[i], p, d);
	return err == -ENOMEM ? err : 0;
}

bool runtime_is_in(const struct policy *p, uint32_t number)
{
	for (size_t i = 0; i < p->nclasses; i++) {
		const struct rules *rules = &p->classes[i].rules;

		for (size_t j = 0; j < rules->n; j++)
			if (rules->items[j].runtime && (uint32_t)rules->items[j].line == number)
				return true;
	}
	return false;
}

int runtime_copy(const struct runtime *r, struct runtime *out)
{
	struct runtime copy = {.n = r->n, .cap = r->n, .last = r->last};

	copy.items = calloc(r->n + 1, sizeof(*copy.items));
	if (!copy.items)
		return -ENOMEM;
	if (r->n)
		memcpy(copy.items, r->items, r->n * sizeof(*copy.items));
	*out = copy;
	return 0;
}

/* --- durations --- */

int duration_parse(const char *text, uint64_t *us, struct why *why)
{
	static const struct {
		char unit;
		unsigned int seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
	size_t n = strlen(text);
	unsigned long value = 0;

	for (size_t i = 0; n && i < ARRAY_SIZE(units); i++) {
		if (text[n - 1] != units[i].unit)
			continue;
		if (num_parse(text, n - 1, 365UL * 86400 / units[i].seconds, &value) || !value)
			break;
		*us = value * units[i].seconds * SECOND;
		return 0;
	}
	return why_set(why, -EINVAL, "\"%.32s\" is not a time: 90s, 10m, 8h or 7d, at most a year",
		       text);
}
