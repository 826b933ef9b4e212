// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A request of any content, as anybody may send it to the service. */
#include <stdint.h>
#include <string.h>

#include "message.h"
#include "name.h"
#include "session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Says which promise was broken by crashing there. */
#define PROMISE(holds)                                                                             \
	do {                                                                                       \
		if (!(holds))                                                                      \
			__builtin_trap();                                                          \
	} while (0)

static bool is_class(const char *name)
{
	return !*name || name_is_valid(name);
}

/* What the handlers rely on. */
static void check_accepted(const struct cgnet_msg *msg, size_t size)
{
	const struct cgnet_enter *enter = (const void *)msg;
	const struct cgnet_load *load = (const void *)msg;
	const struct cgnet_instance *instance = (const void *)msg;
	const struct cgnet_events *events = (const void *)msg;
	const struct cgnet_first *first = (const void *)msg;

	PROMISE(size >= sizeof(*msg) && size <= CGNET_REQUEST_MAX && msg->length == size);
	switch (msg->type) {
	case CGNET_MSG_ENTER:
		PROMISE(size == sizeof(*enter) && is_class(enter->class_name));
		PROMISE(!*enter->session || !session_check_name(enter->session, NULL));
		break;
	case CGNET_MSG_LOAD:
		PROMISE(load->file[0] == '/');
		PROMISE(sizeof(*load) + strlen(load->file) + 1 == size);
		break;
	case CGNET_MSG_INSTANCE:
		PROMISE(size == sizeof(*instance) && instance->bpffs[0] == '/');
		PROMISE(strlen(instance->bpffs) < sizeof(instance->bpffs));
		break;
	case CGNET_MSG_EVENTS:
		PROMISE(size == sizeof(*events) && is_class(events->class_name));
		PROMISE(events->form < CGNET_EVENTS_FORMS && !*events->session);
		break;
	case CGNET_MSG_FIRST:
		PROMISE(size == sizeof(*first) && is_class(first->class_name));
		PROMISE(!session_check_name(first->session, NULL));
		break;
	case CGNET_MSG_METRICS:
		PROMISE(size == sizeof(*msg));
		break;
	default:
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ void *packet = malloc(size);
	struct why why = {""};

	PROMISE(packet || !size);
	if (size)
		memcpy(packet, data, size);
	if (message_check(packet, size, &why))
		PROMISE(*why.text);
	else
		check_accepted(packet, size);
	return 0;
}
