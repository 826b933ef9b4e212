/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The control protocol: SOCK_SEQPACKET at RUN_DIR/control, which everybody may connect to.
 *
 * A packet is one message, a fixed struct that starts with struct cgnet_msg, in host byte order.
 * Strings in it end with a NUL inside their array. A client sends one request at a time and reads
 * packets until one comes without CGNET_REPLY_MORE; then it may send the next. The process that
 * connected is the one that has to send. A request that is not well-formed is answered with an
 * error, and the connection is closed.
 */
#ifndef CGNET_CONTROL_H
#define CGNET_CONTROL_H

#include <linux/types.h>

#include "cgnet_abi.h"

#define CGNET_CONTROL_SOCKET  "control"
#define CGNET_CONTROL_MAGIC   0x74656e67 /* "gnet" in memory on a little-endian machine */
#define CGNET_CONTROL_VERSION 1

#define CGNET_REQUEST_MAX 4096	/* bytes of a request */
#define CGNET_REPLY_MAX	  32768 /* bytes of a packet of a reply */

/* A year. */
#define CGNET_RULE_SECONDS_MAX 31536000

enum cgnet_msg_type {
	/* Requests. */
	CGNET_MSG_ENTER = 1,
	CGNET_MSG_LOAD = 2,
	CGNET_MSG_INSTANCE = 3,
	CGNET_MSG_EVENTS = 4,
	CGNET_MSG_FIRST = 5,
	CGNET_MSG_METRICS = 6, /* nothing but the header */
	CGNET_MSG_RULE_ADD = 16,
	CGNET_MSG_RULE_DROP = 17,
	CGNET_MSG_RULES = 18,
	CGNET_MSG_NAMES = 19,
	/* Replies. */
	CGNET_MSG_REPLY = 128,
	CGNET_MSG_ENTERED = 129,
};

struct cgnet_msg {
	__u32 magic;
	__u16 version;
	__u16 type;   /* enum cgnet_msg_type */
	__u32 length; /* of the whole packet in bytes */
};

/* Moves the calling process into a new session. Answered by CGNET_MSG_ENTERED, or by an error. */
struct cgnet_enter {
	struct cgnet_msg msg;
	char class_name[CGNET_NAME_SIZE]; /* "" for the class granted to the user */
	char session[CGNET_SESSION_SIZE]; /* "" for one made up */
};

/* Makes what is enforced equal to a file. */
struct cgnet_load {
	struct cgnet_msg msg;
	__u32 force; /* 1: end the sessions of classes that are dropped */
	char file[]; /* absolute, ends with the message */
};

/* Asks whether the service is that of an instance: the status is 0 if it is, else 1. */
struct cgnet_instance {
	struct cgnet_msg msg;
	char bpffs[256];
};

enum cgnet_events_form {
	CGNET_EVENTS_WORDS,
	CGNET_EVENTS_JSON,
	CGNET_EVENTS_RAW, /* struct cgnet_event, without names */
	CGNET_EVENTS_FORMS,
};

/* Events as they happen, one line each. */
struct cgnet_events {
	struct cgnet_msg msg;
	__u32 form;			  /* enum cgnet_events_form */
	__u64 count;			  /* end after so many; 0 for no end */
	char class_name[CGNET_NAME_SIZE]; /* "" for all */
	char session[CGNET_SESSION_SIZE]; /* "" */
};

/* The first denial of a session of the caller's user, in words for who runs it. */
struct cgnet_first {
	struct cgnet_msg msg;
	char class_name[CGNET_NAME_SIZE];
	char session[CGNET_SESSION_SIZE];
};

/* A rule beside those of the file, in force when the reply ends with status 0. */
struct cgnet_rule_add {
	struct cgnet_msg msg;
	__u32 verdict; /* enum cgnet_verdict */
	__u32 keep;    /* 1: survives reloads and restarts */
	__u32 pad;
	__u64 seconds; /* until it ends; 0 for never */
	char class_name[CGNET_NAME_SIZE];
	char rule[CGNET_RULE_SIZE];
};

struct cgnet_rule_drop {
	struct cgnet_msg msg;
	__u32 number;
};

/* Lists the rules that were given at run time. */
struct cgnet_rules {
	struct cgnet_msg msg;
	__u32 json;			  /* 1: JSON, else words */
	char class_name[CGNET_NAME_SIZE]; /* "" for all */
};

/* Lists the host names of the policy with what they lead to. */
struct cgnet_names {
	struct cgnet_msg msg;
	__u32 json; /* 1: JSON, else words */
};

enum cgnet_reply_flag {
	CGNET_REPLY_MORE = 1,  /* another packet follows */
	CGNET_REPLY_ERROR = 2, /* the text is for stderr */
};

/* Text that the client prints as it comes. */
struct cgnet_reply {
	struct cgnet_msg msg;
	__u32 flags;  /* enum cgnet_reply_flag */
	__s32 status; /* exit status of the command, in the last packet */
	char text[];  /* the rest of the packet; no NUL */
};

/* The caller lives in this session from now on. */
struct cgnet_entered {
	struct cgnet_msg msg;
	char class_name[CGNET_NAME_SIZE];
	char session[CGNET_SESSION_SIZE];
	char mount[256];   /* where the service sees cgroup2 */
	char cgroup[512];  /* below it */
	char warning[512]; /* one line for stderr, or "" */
};

#endif
