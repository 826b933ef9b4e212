// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * bare ADDR PORT: connects by system calls of its own, without a C library, as Go programs do.
 * Prints what the listener says and exits with 0, or with the errno.
 */
#include <errno.h>
#include <linux/in.h>
#include <linux/socket.h>
#include <sys/syscall.h>

static long call(long nr, long a, long b, long c, long d)
{
	long ret = -ENOSYS;
#if defined(__x86_64__)
	register long r10 __asm__("r10") = d;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	ret = x0;
#else
	(void)nr, (void)a, (void)b, (void)c, (void)d;
#endif
	return ret;
}

/* Reads a decimal number and the character behind it. */
static unsigned int number(const char **text)
{
	unsigned int n = 0;

	while (**text >= '0' && **text <= '9')
		n = n * 10 + (unsigned int)(*(*text)++ - '0');
	if (**text)
		(*text)++;
	return n;
}

static unsigned int address(const char *text)
{
	unsigned int a = 0;

	for (int i = 0; i < 4; i++)
		a |= number(&text) << 8 * i;
	return a;
}

static long run(char **argv)
{
	const char *port = argv[2];
	unsigned int p = number(&port);
	struct sockaddr_in to = {.sin_family = 2, .sin_port = (__be16)(p << 8 | p >> 8)};
	char data[32];
	long fd, n;

	to.sin_addr.s_addr = address(argv[1]);
	fd = call(SYS_socket, 2, 1, 0, 0);
	if (fd < 0)
		return -fd;
	n = call(SYS_connect, fd, (long)&to, sizeof(to), 0);
	if (n < 0)
		return -n;
	n = call(SYS_read, fd, (long)data, sizeof(data), 0);
	return n > 0 && call(SYS_write, 1, (long)data, n, 0) > 0 ? 0 : 1;
}

/* The stack as the kernel leaves it: the number of arguments, then the arguments. */
void start(long *stack) __attribute__((noreturn, used));

void start(long *stack)
{
	long status = stack[0] == 3 ? run((char **)(stack + 1)) : 2;

	for (;;)
		call(SYS_exit_group, status, 0, 0, 0);
}

#if defined(__x86_64__)
__asm__(".globl _start\n_start: mov %rsp, %rdi\n and $-16, %rsp\n call start\n");
#elif defined(__aarch64__)
__asm__(".globl _start\n_start: mov x0, sp\n bl start\n");
#endif
