// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "policy.h"

static const char *type_name(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR:
		return "a directory";
	case S_IFIFO:
		return "a FIFO";
	case S_IFSOCK:
		return "a socket";
	default:
		return "a device";
	}
}

static int check_owner(const struct stat *st, struct why *why)
{
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return why_set(why, -EPERM, "belongs to uid %u, not to root or the caller",
			       st->st_uid);
	if (st->st_mode & S_IWOTH)
		return why_set(why, -EPERM, "is writable for everybody (mode %04o)",
			       st->st_mode & 07777);
	if ((st->st_mode & S_IWGRP) && st->st_gid != 0 && st->st_gid != getegid())
		return why_set(why, -EPERM, "is writable for group %u (mode %04o)", st->st_gid,
			       st->st_mode & 07777);
	return 0;
}

static int check_file(int fd, size_t max, unsigned int flags, size_t *size, struct why *why)
{
	struct stat st;

	if (fstat(fd, &st)) {
		int err = -errno;

		return why_set(why, err, "cannot stat: %s", strerror(-err));
	}
	if (!S_ISREG(st.st_mode))
		return why_set(why, -EINVAL, "is %s, not a regular file", type_name(st.st_mode));
	if ((uintmax_t)st.st_size > max)
		return why_set(why, -EFBIG, "is larger than %zu bytes", max);
	*size = st.st_size;
	return flags & POLICY_CHECK_OWNER ? check_owner(&st, why) : 0;
}

/* Reads to the end. expected is only a start: a file may grow, and in procfs states no size. */
static int read_all(int fd, size_t expected, size_t max, struct text *out, struct why *why)
{
	_cleanup_free_ char *bytes = NULL;
	size_t used = 0, cap = 0;
	ssize_t n = 1;

	while (n) {
		if (used == cap) {
			size_t want = cap ? cap * 2 : expected + 1;
			char *grown = realloc(bytes, want + 1);

			if (!grown)
				return why_set(why, -ENOMEM, "out of memory");
			bytes = grown;
			cap = want;
		}
		n = read(fd, bytes + used, cap - used);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int err = -errno;

			return why_set(why, err, "cannot read: %s", strerror(-err));
		}
		used += n;
		if (used > max)
			return why_set(why, -EFBIG, "is larger than %zu bytes", max);
	}
	bytes[used] = '\0';
	*out = (struct text){take_ptr(&bytes), used};
	return 0;
}

int text_read(const char *path, size_t max, unsigned int flags, struct text *out, struct why *why)
{
	/* O_NONBLOCK: opening a FIFO returns at once. */
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	size_t size = 0;
	int err;

	if (fd < 0) {
		err = -errno;
		return why_set(why, err, "cannot open: %s", strerror(-err));
	}
	err = check_file(fd, max, flags, &size, why);
	return err ? err : read_all(fd, size, max, out, why);
}

/* Length of the UTF-8 sequence at s, of at most n bytes; 0 if it is none. */
static size_t utf8_length(const uint8_t *s, size_t n)
{
	/* The second byte's range excludes overlong forms, surrogates and what is past U+10FFFF. */
	uint8_t lo = s[0] == 0xe0 ? 0xa0 : s[0] == 0xf0 ? 0x90 : 0x80;
	uint8_t hi = s[0] == 0xed ? 0x9f : s[0] == 0xf4 ? 0x8f : 0xbf;
	size_t length;

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	length = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (length > n || s[1] < lo || s[1] > hi)
		return 0;
	for (size_t i = 2; i < length; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

static bool is_control(uint8_t c)
{
	return (c < 0x20 && c != '\t' && c != '\n') || c == 0x7f;
}

static int refuse_control(uint8_t c, struct why *why)
{
	if (c == '\r')
		return why_set(why, -EINVAL, "carriage return; lines end in a newline alone");
	if (!c)
		return why_set(why, -EINVAL, "NUL byte");
	return why_set(why, -EINVAL, "control character 0x%02x", c);
}

int text_check(const char *bytes, size_t size, int *line, struct why *why)
{
	const uint8_t *s = (const uint8_t *)bytes;
	int at = 1;

	for (size_t i = 0; i < size;) {
		size_t n = utf8_length(s + i, size - i);

		if (!n || is_control(s[i])) {
			*line = at;
			return n ? refuse_control(s[i], why)
				 : why_set(why, -EINVAL, "not valid UTF-8 (byte 0x%02x)", s[i]);
		}
		at += s[i] == '\n';
		i += n;
	}
	return 0;
}

void text_free(struct text *text)
{
	free(text->bytes);
	*text = (struct text){0};
}
