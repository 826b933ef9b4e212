#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Run in a session: does one thing that a policy may refuse, and prints its pid and what came of it.
#
#     denials.py tcp|udp|sendto ADDR PORT     denials.py ping ADDR      denials.py socket PROTOCOL
#     denials.py unix NAME                    denials.py flood ADDR PORTS COUNT
#     denials.py listen PORT                  denials.py named NAME ADDR PORT

import ctypes
import errno
import os
import socket
import sys


def family(addr):
    return socket.AF_INET6 if ":" in addr else socket.AF_INET


def tcp(addr, port):
    with socket.socket(family(addr), socket.SOCK_STREAM) as s:
        s.settimeout(3)
        s.connect((addr, int(port)))


def udp(addr, port):
    with socket.socket(family(addr), socket.SOCK_DGRAM) as s:
        s.connect((addr, int(port)))


def sendto(addr, port):
    with socket.socket(family(addr), socket.SOCK_DGRAM) as s:
        s.sendto(b"x", (addr, int(port)))


def ping(addr):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP) as s:
        s.sendto(b"\x08\0\0\0\0\1\0\1", (addr, 0))


def make(protocol):
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM, int(protocol)).close()


def unix(name):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as s:
        s.connect("\0" + name)


def named(name, addr, port):
    """Under another name for itself, of any bytes."""
    ctypes.CDLL(None).prctl(15, os.fsencode(name), 0, 0, 0)
    tcp(addr, port)


def flood(addr, ports, count):
    """Connects a UDP socket, which sends nothing, to one port after the other."""
    denied = 0
    with socket.socket(family(addr), socket.SOCK_DGRAM) as s:
        for i in range(int(count)):
            try:
                s.connect((addr, 1 + i % int(ports)))
            except PermissionError:
                denied += 1
    print("denied", denied, flush=True)


def listen(port):
    with socket.socket() as s:
        s.bind(("0.0.0.0", int(port)))
        s.listen()
        print("listens", flush=True)
        sys.stdin.read()


ways = {"tcp": tcp, "udp": udp, "sendto": sendto, "ping": ping, "socket": make, "unix": unix,
        "flood": flood, "listen": listen, "named": named}

try:
    ways[sys.argv[1]](*sys.argv[2:])
    print(os.getpid(), "ok")
except OSError as e:
    print(os.getpid(), errno.errorcode[e.errno] if e.errno else "timeout")
