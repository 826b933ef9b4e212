/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A policy as written: classes with their rules, sets, grants. Made by policy_read(). */
#ifndef CGNET_POLICY_H
#define CGNET_POLICY_H

#include <stdint.h>

#include "addr.h"
#include "cgnet_state.h"
#include "diag.h"

/* What a policy file and a `file:` list may weigh, in bytes. */
#define POLICY_MAX_SIZE (4UL << 20)
#define LIST_MAX_SIZE	(512UL << 20)

/* Names in a class's unix_allow: the map unix_names has room for four times as many. */
#define UNIX_NAMES_MAX 1024

/* Bits of rule.protos. */
enum proto_bit {
	PROTO_TCP = 1,
	PROTO_UDP = 2,
	PROTO_ICMP = 4,
};

struct port_range {
	uint16_t lo, hi; /* inclusive, host byte order */
};

/* One member of allow, deny or of a set, as written. */
struct rule {
	char *text;
	const char *file; /* owned by the policy */
	int line;
	enum cgnet_verdict verdict; /* unused in a set */
	char *set;    /* "local" for @local; NULL, and so are the next two: prefix is the target */
	char *list;   /* a file: member's path (sets only) */
	char *host;   /* a host name (allow only), lower case, no dot at its end */
	bool private; /* of a host name: may lead to addresses that are denied */
	bool runtime; /* not from the file; see runtime.h */
	struct prefix prefix;
	struct port_range *ports; /* sorted, disjoint; none for every port */
	size_t nports;
	unsigned int protos; /* enum proto_bit, 0 for every protocol */
};

struct rules {
	struct rule *items;
	size_t n, cap;
};

struct class
{
	char name[CGNET_NAME_SIZE];
	int line;
	enum cgnet_verdict fallback; /* "default = ..." */
	int fallback_line;
	enum cgnet_loopback loopback; /* session if the file does not say */
	int loopback_line;	      /* 0 if the file does not say */
	unsigned int protocols;	      /* enum cgnet_protocol; tcp, udp and icmp by default */
	bool inbound_deny;
	bool unix_none;
	int protocols_line, inbound_line, unix_line,
		privileges_line; /* 0 if the file does not say */
	char **unix_allow;	 /* abstract names, without the "@" that stands for the NUL */
	size_t nunix_allow;
	int unix_allow_line;	    /* 0 if the file does not say */
	bool keep_privileges;	    /* "privileges = keep" */
	__u64 limits[CGNET_LIMITS]; /* 0 if the file does not say */
	bool audit;		    /* "mode = audit" */
	struct rules rules;	    /* deny and allow together, in file order */
	bool incomplete;	    /* a wrong rule or value was left out */
};

struct set {
	char name[CGNET_NAME_SIZE];
	int line;
	struct rules members;
	struct prefixes list; /* what its file: members hold */
	bool incomplete;      /* a wrong member was left out */
};

struct grant {
	bool group; /* a group's, else a user's */
	char *who;
	char class_name[CGNET_NAME_SIZE]; /* "" if none */
	bool is_operator;		  /* may change rules at run time */
	int line;
};

struct policy {
	char *file;			     /* as named by the caller */
	char default_class[CGNET_NAME_SIZE]; /* "" if none */
	struct class *classes;
	size_t nclasses;
	struct set *sets;
	size_t nsets;
	struct grant *grants;
	size_t ngrants;
};

enum policy_flag {
	/* Refuse files that others than root and the caller could have written. */
	POLICY_CHECK_OWNER = 1,
	/*
	 * Return the policy without its wrong rules if there was no error in its syntax, so that
	 * compile_policy() can find more errors. What it compiles to must not be used.
	 */
	POLICY_KEEP_WRONG = 2,
	/* Take host names, which somebody has to look up (see names.h). */
	POLICY_NAMES = 4,
};

/*
 * Parses one rule, TARGET[:PORTS][/PROTO], into out (zeroed here; text is copied, file and line are
 * the caller's to set) without looking up its set. Returns 0, -ENOMEM, or -EINVAL with the reason.
 */
int rule_parse(const char *text, struct rule *out, struct why *why);
void rule_free(struct rule *rule);

/*
 * Reads and checks the policy in file, its `file:` lists included, and adds every error and
 * warning to d. Returns a policy to be freed with policy_free() if there was no error, else NULL
 * (but see POLICY_KEEP_WRONG). Not reentrant: libconfuse is not.
 * Names are checked here; what needs the prefixes (contradictions, rules that never match) by
 * compile_policy().
 */
struct policy *policy_read(const char *file, unsigned int flags, struct diags *d);

/* The same from memory; name stands in messages. `file:` members are read. */
struct policy *policy_parse(const char *name, const char *text, size_t size, unsigned int flags,
			    struct diags *d);

/*
 * The same, without reading the files of the sets: lists holds the prefixes of each set of the file
 * (as policy->sets[i].list had them when this text was parsed before).
 */
struct policy *policy_parse_again(const char *name, const char *text, size_t size,
				  const struct prefixes *lists, unsigned int flags,
				  struct diags *d);

/* Where a file: member is read from; to be freed. NULL if out of memory. */
char *policy_list_path(const struct policy *p, const struct rule *member);

/*
 * Reads the files of p->sets[set] again, with POLICY_CHECK_OWNER. Returns true, or false with the
 * errors in d; then the set holds what it held.
 */
bool policy_reread_lists(struct policy *p, size_t set, struct diags *d);

void policy_free(struct policy *p);

/* Looks a class up by name; NULL if there is none. */
const struct class *policy_class(const struct policy *p, const char *name);

#endif
