// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Writes the seccomp filters of cgnet-run as a header to standard output. Run when cgnet is built,
 * so that cgnet-run itself needs no library for them.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/net.h>
#include <seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>

#include "filter.h"

/*
 * The second system call interface of a kernel for this architecture. A third one, x32, and any
 * that is not named here does not work in a session.
 */
#if defined(__x86_64__)
#define COMPAT_ARCH SCMP_ARCH_X86
#elif defined(__aarch64__)
#define COMPAT_ARCH SCMP_ARCH_ARM
#elif defined(__s390x__)
#define COMPAT_ARCH SCMP_ARCH_S390
#else
#define COMPAT_ARCH SCMP_ARCH_NATIVE
#endif

#define ACTION(err) SCMP_ACT_ERRNO(err)
#define LOW_WORD    UINT32_MAX
#define TYPE_MASK   0xf /* of a socket, without its flags */

/* The families that the BPF programs know, or that stay on this host. Ascending. */
static const uint32_t families[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK};

static int refuse(scmp_filter_ctx ctx, int nr, int err)
{
	return seccomp_rule_add(ctx, ACTION(err), nr, 0);
}

/* Refuses where argument number arg, an int to the kernel, is value in the bits of mask. */
static int refuse_word(scmp_filter_ctx ctx, int nr, int err, unsigned int arg, uint32_t mask,
		       uint32_t value)
{
	struct scmp_arg_cmp cmp = SCMP_CMP(arg, SCMP_CMP_MASKED_EQ, mask, value);

	return seccomp_rule_add_array(ctx, ACTION(err), nr, 1, &cmp);
}

/* Refuses an option of SOL_SOCKET; other levels use the same numbers. */
static int refuse_socket_option(scmp_filter_ctx ctx, uint32_t option)
{
	struct scmp_arg_cmp cmp[] = {
		SCMP_CMP(1, SCMP_CMP_MASKED_EQ, LOW_WORD, SOL_SOCKET),
		SCMP_CMP(2, SCMP_CMP_MASKED_EQ, LOW_WORD, option),
	};

	return seccomp_rule_add_array(ctx, ACTION(EPERM), SCMP_SYS(setsockopt), ARRAY_SIZE(cmp),
				      cmp);
}

/* Where setsockopt comes by socketcall(2) the option is in memory, so there is none of any kind. */
static int refuse_options_by_socketcall(scmp_filter_ctx ctx)
{
	struct scmp_arg_cmp call = SCMP_A0(SCMP_CMP_EQ, SYS_SETSOCKOPT);

	return seccomp_rule_add_array(ctx, ACTION(EPERM), SCMP_SYS(socketcall), 1, &call);
}

/* Refuses first to last in the first argument, by blocks whose size is a power of two. */
static int refuse_range(scmp_filter_ctx ctx, int nr, int err, uint64_t first, uint64_t last)
{
	int ret = 0;

	while (!ret && first <= last) {
		uint64_t size = 1;

		while (!(first & size) && first + 2 * size - 1 <= last)
			size *= 2;
		ret = refuse_word(ctx, nr, err, 0, (uint32_t) ~(size - 1), (uint32_t)first);
		first += size;
	}
	return ret;
}

/*
 * As a kernel that was built without the others, so that programs do what they do there. Where
 * sockets are made by socketcall(2), by most 32-bit programs on x86, the family is in memory: there
 * libseccomp refuses all.
 */
static int refuse_families(scmp_filter_ctx ctx, int nr)
{
	uint64_t first = 0;
	int ret = 0;

	for (size_t i = 0; !ret && i < ARRAY_SIZE(families); i++) {
		ret = refuse_range(ctx, nr, EAFNOSUPPORT, first, families[i] - 1);
		first = families[i] + 1;
	}
	return ret ? ret : refuse_range(ctx, nr, EAFNOSUPPORT, first, UINT32_MAX);
}

/*
 * Of another process, named by its number; its own has no other than 0 here. A limit on processor
 * time ends a process, and nothing else of the kernel's, Landlock included, keeps a session from
 * processes of its user.
 */
static int refuse_limits(scmp_filter_ctx ctx)
{
	struct scmp_arg_cmp set[] = {
		SCMP_A0(SCMP_CMP_NE, 0),
		SCMP_A2(SCMP_CMP_NE, 0),
	};

	return seccomp_rule_add_array(ctx, ACTION(EPERM), SCMP_SYS(prlimit64), ARRAY_SIZE(set),
				      set);
}

/* For every session. */
static int refuse_basics(scmp_filter_ctx ctx)
{
	/*
	 * With a description for an upcall: root's request-key runs outside, and asks name
	 * servers.
	 */
	struct scmp_arg_cmp upcall = SCMP_A2(SCMP_CMP_NE, 0);
	int ret;

	ret = refuse_families(ctx, SCMP_SYS(socket));
	/* The older name of a packet socket, which the kernel takes in any family of IP. */
	if (!ret)
		ret = refuse_word(ctx, SCMP_SYS(socket), EAFNOSUPPORT, 1, TYPE_MASK, SOCK_PACKET);
	if (!ret)
		ret = refuse_families(ctx, SCMP_SYS(socketpair));
	/* It makes sockets past this filter. Programs know kernels without it. */
	if (!ret)
		ret = refuse(ctx, SCMP_SYS(io_uring_setup), ENOSYS);
	if (!ret)
		ret = refuse(ctx, SCMP_SYS(io_uring_enter), ENOSYS);
	if (!ret)
		ret = refuse(ctx, SCMP_SYS(io_uring_register), ENOSYS);
	if (!ret)
		ret = refuse(ctx, SCMP_SYS(bpf), EPERM);
	/* They type into the terminal that the session shares with its caller. */
	if (!ret)
		ret = refuse_word(ctx, SCMP_SYS(ioctl), EPERM, 1, LOW_WORD, TIOCSTI);
	if (!ret)
		ret = refuse_word(ctx, SCMP_SYS(ioctl), EPERM, 1, LOW_WORD, TIOCLINUX);
	/*
	 * A filter of its own on a port that it shares with a service would let a session choose,
	 * by what is in a packet, who gets it: after the programs have looked up somebody else.
	 */
	if (!ret)
		ret = refuse_socket_option(ctx, SO_ATTACH_REUSEPORT_CBPF);
	if (!ret)
		ret = refuse_socket_option(ctx, SO_ATTACH_REUSEPORT_EBPF);
	if (!ret)
		ret = refuse_options_by_socketcall(ctx);
	if (!ret)
		ret = refuse_limits(ctx);
	if (!ret)
		ret = seccomp_rule_add_array(ctx, ACTION(ENOKEY), SCMP_SYS(request_key), 1,
					     &upcall);
	return ret;
}

/*
 * CLONE_INTO_CGROUP asks who owns a cgroup, not whether its mount is read-only, so root would leave
 * with it. Its flag is in memory; the C library takes clone(2) where there is no clone3(2).
 */
static int refuse_clone3(scmp_filter_ctx ctx)
{
	return refuse(ctx, SCMP_SYS(clone3), ENOSYS);
}

/* Reaching into processes outside. One's own children can still be traced by PTRACE_TRACEME. */
static int refuse_reaching(scmp_filter_ctx ctx)
{
	int ret;

	ret = refuse_word(ctx, SCMP_SYS(ptrace), EPERM, 0, LOW_WORD, PTRACE_ATTACH);
	if (!ret)
		ret = refuse_word(ctx, SCMP_SYS(ptrace), EPERM, 0, LOW_WORD, PTRACE_SEIZE);
	if (!ret)
		ret = refuse(ctx, SCMP_SYS(process_vm_readv), EPERM);
	if (!ret)
		ret = refuse(ctx, SCMP_SYS(process_vm_writev), EPERM);
	if (!ret)
		ret = refuse(ctx, SCMP_SYS(pidfd_getfd), EPERM);
	return ret;
}

static int fill(scmp_filter_ctx ctx, unsigned int parts)
{
	int ret;

	ret = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, ACTION(ENOSYS));
	if (!ret && COMPAT_ARCH != SCMP_ARCH_NATIVE)
		ret = seccomp_arch_add(ctx, COMPAT_ARCH);
	if (!ret)
		ret = refuse_basics(ctx);
	if (!ret && parts & FILTER_DROP)
		ret = refuse_clone3(ctx);
	if (!ret && parts & FILTER_STAND_IN)
		ret = refuse_reaching(ctx);
	return ret;
}

/* Writes the program in fd as an initializer. Returns 0 or -errno. */
static int print_program(int fd, unsigned int parts)
{
	struct sock_filter insn;
	ssize_t n;

	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	printf("\nstatic const struct sock_filter filter%u[] = {\n", parts);
	while ((n = read(fd, &insn, sizeof(insn))) == sizeof(insn))
		printf("\t{0x%02x, %u, %u, 0x%08x},\n", insn.code, insn.jt, insn.jf, insn.k);
	printf("};\n");
	return n ? -EIO : 0;
}

static int print_filter(unsigned int parts)
{
	_cleanup_close_ int fd = -1;
	scmp_filter_ctx ctx;
	int ret;

	fd = memfd_create("filter", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	ctx = seccomp_init(SCMP_ACT_ALLOW);
	if (!ctx)
		return -ENOMEM;
	ret = fill(ctx, parts);
	if (!ret)
		ret = seccomp_export_bpf(ctx, fd);
	if (!ret)
		ret = print_program(fd, parts);
	seccomp_release(ctx);
	return ret;
}

int main(void)
{
	int ret = 0;

	printf("/* Made by seccomp_gen.c, indexed by enum filter_part. */\n");
	for (unsigned int parts = 0; !ret && parts < FILTERS; parts++)
		ret = print_filter(parts);
	if (ret) {
		fprintf(stderr, "seccomp_gen: libseccomp: %s\n", strerror(-ret));
		return 1;
	}
	printf("\nstatic const struct {\n\tunsigned short len;\n"
	       "\tconst struct sock_filter *insns;\n} filters[] = {\n");
	for (unsigned int parts = 0; parts < FILTERS; parts++)
		printf("\t{sizeof(filter%u) / sizeof(filter%u[0]), filter%u},\n", parts, parts,
		       parts);
	printf("};\n");
	return fflush(stdout) || ferror(stdout);
}
