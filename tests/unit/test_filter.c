// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The seccomp filters of cgnet-run, run here by a few lines instead of the kernel, so that also the
 * system call interfaces that this machine lacks are seen.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "seccomp_filter.h"
#include "suites.h"
#include "util.h"

/* Of enum filter_part, which is cgnet-run's own. */
enum { BASIC = 0, DROP = 1, STAND_IN = 2, BOTH = 3 };

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#define I386   AUDIT_ARCH_I386
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#endif

/* In low and high halves that an int argument leaves open. */
#define HIGH (1ULL << 32)

#ifdef NATIVE

static uint32_t alu(uint16_t code, uint32_t a, uint32_t k)
{
	CU_ASSERT_EQUAL(code, BPF_ALU | BPF_AND | BPF_K);
	return a & k;
}

static bool holds(uint16_t code, uint32_t a, uint32_t k)
{
	switch (BPF_OP(code)) {
	case BPF_JEQ:
		return a == k;
	case BPF_JGT:
		return a > k;
	case BPF_JGE:
		return a >= k;
	case BPF_JSET:
		return a & k;
	default:
		return true;
	}
}

/* What a filter returns: SECCOMP_RET_ALLOW or SECCOMP_RET_ERRNO with the errno. */
static uint32_t run(unsigned int parts, const struct seccomp_data *data)
{
	uint32_t a = 0;

	for (const struct sock_filter *i = filters[parts].insns;
	     i < filters[parts].insns + filters[parts].len; i++) {
		switch (BPF_CLASS(i->code)) {
		case BPF_LD:
			memcpy(&a, (const char *)data + i->k, sizeof(a));
			break;
		case BPF_ALU:
			a = alu(i->code, a, i->k);
			break;
		case BPF_JMP:
			if (BPF_OP(i->code) == BPF_JA)
				i += i->k;
			else
				i += holds(i->code, a, i->k) ? i->jt : i->jf;
			break;
		case BPF_RET:
			return i->k;
		default:
			CU_FAIL("an instruction that the filter should not have");
		}
	}
	CU_FAIL("the filter does not return");
	return 0;
}

/* The errno, 0 for allowed. */
static int verdict(unsigned int parts, uint32_t arch, long nr, const uint64_t args[3])
{
	struct seccomp_data data = {.nr = (int)nr, .arch = arch};
	uint32_t ret;

	memcpy(data.args, args, 3 * sizeof(args[0]));
	ret = run(parts, &data);
	if (ret == SECCOMP_RET_ALLOW)
		return 0;
	CU_ASSERT_EQUAL(ret & SECCOMP_RET_ACTION_FULL, SECCOMP_RET_ERRNO);
	return (int)(ret & SECCOMP_RET_DATA);
}

/* The errno in the filters in turn: for every session, DROP, STAND_IN, BOTH. */
struct call_row {
	uint32_t arch;
	long nr;
	uint64_t args[3];
	int err[4];
};

#define ALWAYS(err)                                                                                \
	{                                                                                          \
		err, err, err, err                                                                 \
	}

static const struct call_row rows[] = {
	{NATIVE, SYS_read, {0}, ALWAYS(0)},
	{NATIVE, SYS_clone, {0}, ALWAYS(0)},
	{NATIVE, SYS_mount, {0}, ALWAYS(0)},
	{NATIVE, SYS_connect, {0}, ALWAYS(0)},
	{NATIVE, -1, {0}, ALWAYS(0)}, /* a tracer that cancels a call */
	{NATIVE, SYS_bpf, {0}, ALWAYS(EPERM)},
	{NATIVE, SYS_io_uring_setup, {0}, ALWAYS(ENOSYS)},
	{NATIVE, SYS_io_uring_enter, {0}, ALWAYS(ENOSYS)},
	{NATIVE, SYS_io_uring_register, {0}, ALWAYS(ENOSYS)},
	{NATIVE, SYS_clone3, {0}, {0, ENOSYS, 0, ENOSYS}},
	{NATIVE, SYS_ioctl, {0, TIOCSTI}, ALWAYS(EPERM)},
	{NATIVE, SYS_ioctl, {0, HIGH | TIOCSTI}, ALWAYS(EPERM)},
	{NATIVE, SYS_ioctl, {0, ~0xffffffffULL | TIOCLINUX}, ALWAYS(EPERM)},
	{NATIVE, SYS_ioctl, {TIOCSTI, TCGETS}, ALWAYS(0)},
	{NATIVE, SYS_socket, {AF_INET, SOCK_PACKET}, ALWAYS(EAFNOSUPPORT)},
	{NATIVE, SYS_socket, {AF_INET, HIGH | SOCK_CLOEXEC | SOCK_PACKET}, ALWAYS(EAFNOSUPPORT)},
	{NATIVE, SYS_socket, {AF_INET, SOCK_CLOEXEC | SOCK_DGRAM}, ALWAYS(0)},
	{NATIVE, SYS_setsockopt, {0, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF}, ALWAYS(EPERM)},
	{NATIVE, SYS_setsockopt, {0, HIGH | SOL_SOCKET, SO_ATTACH_REUSEPORT_EBPF}, ALWAYS(EPERM)},
	{NATIVE, SYS_setsockopt, {0, SOL_SOCKET, SO_REUSEPORT}, ALWAYS(0)},
	{NATIVE, SYS_setsockopt, {0, IPPROTO_IPV6, SO_ATTACH_REUSEPORT_CBPF}, ALWAYS(0)},
	{NATIVE, SYS_request_key, {1, 1, 0}, ALWAYS(0)},
	{NATIVE, SYS_request_key, {1, 1, 1}, ALWAYS(ENOKEY)},
	{NATIVE, SYS_request_key, {1, 1, HIGH}, ALWAYS(ENOKEY)},
	{NATIVE, SYS_prlimit64, {0, RLIMIT_CPU, 1}, ALWAYS(0)},
	{NATIVE, SYS_prlimit64, {1, RLIMIT_CPU, 0}, ALWAYS(0)},
	{NATIVE, SYS_prlimit64, {1, RLIMIT_CPU, 1}, ALWAYS(EPERM)},
	{NATIVE, SYS_prlimit64, {1, RLIMIT_NOFILE, HIGH}, ALWAYS(EPERM)},
	{NATIVE, SYS_prlimit64, {HIGH | 1, RLIMIT_CPU, 1}, ALWAYS(EPERM)},
	{NATIVE, SYS_ptrace, {PTRACE_ATTACH, 1}, {0, 0, EPERM, EPERM}},
	{NATIVE, SYS_ptrace, {PTRACE_SEIZE, 1}, {0, 0, EPERM, EPERM}},
	{NATIVE, SYS_ptrace, {HIGH | PTRACE_SEIZE, 1}, {0, 0, EPERM, EPERM}},
	{NATIVE, SYS_ptrace, {PTRACE_TRACEME}, ALWAYS(0)},
	{NATIVE, SYS_ptrace, {PTRACE_CONT, 1}, ALWAYS(0)},
	{NATIVE, SYS_process_vm_readv, {1}, {0, 0, EPERM, EPERM}},
	{NATIVE, SYS_process_vm_writev, {1}, {0, 0, EPERM, EPERM}},
	{NATIVE, SYS_pidfd_getfd, {1}, {0, 0, EPERM, EPERM}},
	{AUDIT_ARCH_MIPS, SYS_read, {0}, ALWAYS(ENOSYS)},
#ifdef I386
	{I386, 3, {0}, ALWAYS(0)}, /* read */
	{I386, 357, {0}, ALWAYS(EPERM)},
	{I386, 425, {0}, ALWAYS(ENOSYS)},
	{I386, 435, {0}, {0, ENOSYS, 0, ENOSYS}},
	{I386, 54, {0, TIOCSTI}, ALWAYS(EPERM)},
	{I386, 54, {0, TIOCLINUX}, ALWAYS(EPERM)},
	{I386, 359, {AF_INET, SOCK_PACKET}, ALWAYS(EAFNOSUPPORT)},
	{I386, 287, {1, 1, 1}, ALWAYS(ENOKEY)},
	{I386, 340, {1, RLIMIT_CPU, 1}, ALWAYS(EPERM)},
	{I386, 340, {1, RLIMIT_CPU, 0}, ALWAYS(0)},
	{I386, 26, {PTRACE_ATTACH}, {0, 0, EPERM, EPERM}},
	{I386, 348, {0}, {0, 0, EPERM, EPERM}},
	{I386, 438, {0}, {0, 0, EPERM, EPERM}},
	{I386, 366, {0, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF}, ALWAYS(EPERM)},
	{I386, 366, {0, SOL_SOCKET, SO_REUSEPORT}, ALWAYS(0)},
	/* socketcall: what makes sockets, and setsockopt, whose arguments are in memory. */
	{I386, 102, {1}, ALWAYS(EAFNOSUPPORT)},
	{I386, 102, {8}, ALWAYS(EAFNOSUPPORT)},
	{I386, 102, {14}, ALWAYS(EPERM)},
	{I386, 102, {2}, ALWAYS(0)},
	{I386, 102, {3}, ALWAYS(0)},
	/* x32 */
	{NATIVE, 0x40000000 | SYS_read, {0}, ALWAYS(ENOSYS)},
	{NATIVE, 0x40000000 | SYS_socket, {AF_UNIX}, ALWAYS(ENOSYS)},
	{NATIVE, 0x40000000 | SYS_bpf, {0}, ALWAYS(ENOSYS)},
#endif
};

static void test_calls(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (unsigned int parts = BASIC; parts <= BOTH; parts++) {
			const struct call_row *r = &rows[i];
			int err = verdict(parts, r->arch, r->nr, r->args);

			CHECK_ROW(err == r->err[parts], "arch %x, call %ld, filter %u: %d", r->arch,
				  r->nr, parts, err);
		}
}

static bool is_known(uint32_t family)
{
	return family == AF_UNIX || family == AF_INET || family == AF_INET6 || family == AF_NETLINK;
}

static void check_family(uint32_t arch, long nr, uint64_t family)
{
	const uint64_t args[3] = {family, 1, 0};

	for (unsigned int parts = BASIC; parts <= BOTH; parts++)
		CHECK_ROW(verdict(parts, arch, nr, args) ==
				  (is_known((uint32_t)family) ? 0 : EAFNOSUPPORT),
			  "arch %x, call %ld, filter %u: family %llx", arch, nr, parts,
			  (unsigned long long)family);
}

static void check_families(uint32_t arch, long nr)
{
	for (uint64_t family = 0; family < 300; family++) {
		check_family(arch, nr, family);
		check_family(arch, nr, HIGH | family);
	}
	for (int bit = 8; bit < 32; bit++) {
		check_family(arch, nr, 1ULL << bit);
		check_family(arch, nr, (1ULL << bit) - 1);
		check_family(arch, nr, 1ULL << bit | AF_INET);
	}
}

static void test_families(void)
{
	check_families(NATIVE, SYS_socket);
	check_families(NATIVE, SYS_socketpair);
#ifdef I386
	check_families(I386, 359);
	check_families(I386, 360);
#endif
}

int suite_filter(void)
{
	static const struct unit_test tests[] = {
		{"calls", test_calls},
		{"families", test_families},
	};

	return add_suite("filter", tests, ARRAY_SIZE(tests));
}

#else

/* Numbers of other architectures are not in the table. */
int suite_filter(void)
{
	return 0;
}

#endif
