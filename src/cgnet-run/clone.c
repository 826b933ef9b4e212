// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "clone.h"

#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef void (*child_fn)(void *arg);

/*
 * A child on its parent's stack must not return from the function that made it, since it would
 * overwrite the frame that the parent returns to. Hence the system call is made here, and the child
 * goes straight to a function that does not return, its frame below all that is the parent's.
 */
#if defined(__x86_64__)

#define SHARED_MEMORY CLONE_VM

static long clone3(struct clone_args *args, child_fn child, void *arg)
{
	long ret;

	/* Below the stack pointer are up to 128 bytes in use, the red zone. */
	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "sub $128, %%rsp\n\t"
			 "and $-16, %%rsp\n\t"
			 "mov %[arg], %%rdi\n\t"
			 "call *%[child]\n\t"
			 "ud2\n"
			 "1:"
			 : "=a"(ret)
			 : "a"(SYS_clone3), "D"(args),
			   "S"(sizeof(*args)), [child] "r"(child), [arg] "r"(arg)
			 : "rcx", "r11", "cc", "memory");
	return ret;
}

#elif defined(__aarch64__)

#define SHARED_MEMORY CLONE_VM

static long clone3(struct clone_args *args, child_fn child, void *arg)
{
	register long nr __asm__("x8") = SYS_clone3;
	register long ret __asm__("x0") = (long)args;
	register long size __asm__("x1") = sizeof(*args);

	__asm__ volatile("svc #0\n\t"
			 "cbnz x0, 1f\n\t"
			 "mov x29, xzr\n\t"
			 "mov x0, %[arg]\n\t"
			 "blr %[child]\n\t"
			 "brk #1\n"
			 "1:"
			 : "+r"(ret)
			 : "r"(nr), "r"(size), [child] "r"(child), [arg] "r"(arg)
			 : "cc", "memory");
	return ret;
}

#else

#define SHARED_MEMORY 0

static long clone3(struct clone_args *args, child_fn child, void *arg)
{
	long ret = syscall(SYS_clone3, args, sizeof(*args));

	if (!ret) {
		child(arg);
		__builtin_trap();
	}
	return ret < 0 ? -errno : ret;
}

#endif

pid_t clone_into_cgroup(int cgroup_fd, child_fn child, void *arg)
{
	struct clone_args args = {
		.flags = CLONE_INTO_CGROUP | CLONE_VFORK | SHARED_MEMORY,
		.exit_signal = SIGCHLD,
		.cgroup = (__u64)cgroup_fd,
	};

	return (pid_t)clone3(&args, child, arg);
}
