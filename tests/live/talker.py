#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Holds sockets open and does with them what standard input says, one order a line.

An order starts with the number of seconds to wait for what may come. An answer is one word: "ok",
"silent" where nothing came in time, or the name of the errno. Sockets have names. Kinds: tcp,
mptcp, udp, udplite, ping, raw. Unix addresses start with "@" or are paths.

  listen NAME KIND ADDR PORT    binds and, where the kind has connections, listens
  connect NAME KIND ADDR PORT   waits for the handshake
  accept NAME NEW               takes a connection as NEW
  send NAME                     one byte to where it is connected
  sendto NAME KIND ADDR PORT    one datagram, from an existing socket NAME or a new one
  recv NAME                     waits for one byte or datagram
  answer NAME                   the same, and sends one back to where it came from
  socket NAME KIND 4|6          makes a socket only
  nops NAME                     gives it IPv4 options that say nothing
  route NAME SEGMENT...         gives it an IPv6 routing header: by way of the SEGMENTs
  join NAME GROUP               becomes a member of a multicast group
  pad NAME                      sets an option that is longer than a page
  unix-listen NAME stream|dgram ADDR
  unix-connect NAME stream|dgram ADDR
  unix-sendto NAME ADDR         one datagram
  close NAME
"""

import ctypes
import errno
import os
import select
import socket
import struct
import sys

IPV6_RTHDR = 57

libc = ctypes.CDLL(None, use_errno=True)
sockets = {}
timeout = 0.0


def address(text, port):
    """The family and the socket address of a literal."""
    family = socket.AF_INET6 if ":" in text else socket.AF_INET
    return family, socket.getaddrinfo(text, int(port), family, flags=socket.AI_NUMERICHOST)[0][4]


def make(kind, family):
    v6 = family == socket.AF_INET6
    types = {
        "tcp": (socket.SOCK_STREAM, 0),
        "mptcp": (socket.SOCK_STREAM, 262),
        "udp": (socket.SOCK_DGRAM, 0),
        "udplite": (socket.SOCK_DGRAM, 136),
        "ping": (socket.SOCK_DGRAM, socket.IPPROTO_ICMPV6 if v6 else socket.IPPROTO_ICMP),
        "raw": (socket.SOCK_RAW, socket.IPPROTO_UDP),
    }
    sock = socket.socket(family, *types[kind])
    sock.setblocking(False)
    return sock


def ready(sock, for_what):
    poll = select.poll()
    poll.register(sock, for_what)
    return bool(poll.poll(timeout * 1000))


def finish_connect(sock, addr):
    error = sock.connect_ex(addr)
    if error == errno.EINPROGRESS:
        if not ready(sock, select.POLLOUT):
            return "silent"
        error = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    return errno.errorcode[error] if error else "ok"


def payload(sock):
    """A byte; of a ping socket an echo request."""
    if sock.proto == socket.IPPROTO_ICMP:
        return struct.pack("!BBHHH", 8, 0, 0, 0, 1)
    if sock.proto == socket.IPPROTO_ICMPV6:
        return struct.pack("!BBHHH", 128, 0, 0, 0, 1)
    return b"x"


def receive(sock):
    if not ready(sock, select.POLLIN):
        return "silent", None
    data, peer = sock.recvfrom(64)
    return ("ok" if data else "closed"), peer


def do_listen(name, kind, text, port):
    family, addr = address(text, port)
    sock = make(kind, family)
    if family == socket.AF_INET6:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(addr)
    if sock.type == socket.SOCK_STREAM:
        sock.listen()
    sockets[name] = sock


def do_connect(name, kind, text, port):
    family, addr = address(text, port)
    sockets[name] = sockets.get(name) or make(kind, family)
    return finish_connect(sockets[name], addr)


def do_accept(name, new):
    if not ready(sockets[name], select.POLLIN):
        return "silent"
    sockets[new], _ = sockets[name].accept()
    sockets[new].setblocking(False)
    return "ok"


def do_send(name):
    sockets[name].send(payload(sockets[name]))


def do_sendto(name, kind, text, port):
    family, addr = address(text, port)
    sockets[name] = sockets.get(name) or make(kind, family)
    sockets[name].sendto(payload(sockets[name]), addr)


def do_recv(name):
    return receive(sockets[name])[0]


def do_answer(name):
    word, peer = receive(sockets[name])
    if word == "ok":
        sockets[name].sendto(b"x", peer)
    return word


def do_socket(name, kind, family):
    sockets[name] = make(kind, socket.AF_INET6 if family == "6" else socket.AF_INET)


def do_nops(name):
    sockets[name].setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, b"\1\1\1\1")


def do_route(name, *hops):
    # Segments stand in reverse order; the kernel writes the destination over the first one.
    segments = bytes(16) + b"".join(socket.inet_pton(socket.AF_INET6, hop) for hop in hops[::-1])
    n = len(hops)
    header = struct.pack("!BBBBBBH", 0, 2 * (n + 1), 4, n, n, 0, 0) + segments
    sockets[name].setsockopt(socket.IPPROTO_IPV6, IPV6_RTHDR, header)


def do_join(name, text):
    family, addr = address(text, 0)
    group = socket.inet_pton(family, addr[0])
    if family == socket.AF_INET:
        sockets[name].setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group + bytes(4))
    else:
        sockets[name].setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, group + bytes(4))


def do_pad(name):
    sockets[name].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, bytes(8192))


def unix_address(text):
    return "\0" + text[1:] if text[0] == "@" else text


def unix_call(call, sock, text, *args):
    """connect or sendto, without the NUL that Python puts behind a path and nobody needs."""
    address = struct.pack("=H", socket.AF_UNIX) + unix_address(text).encode()
    if call(sock.fileno(), *args, address, len(address)) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def unix_socket(kind):
    types = {"stream": socket.SOCK_STREAM, "dgram": socket.SOCK_DGRAM}
    sock = socket.socket(socket.AF_UNIX, types[kind])
    sock.setblocking(False)
    return sock


def do_unix_listen(name, kind, text):
    sockets[name] = unix_socket(kind)
    sockets[name].bind(unix_address(text))
    if kind == "stream":
        sockets[name].listen()


def do_unix_connect(name, kind, text):
    sockets[name] = unix_socket(kind)
    unix_call(libc.connect, sockets[name], text)


def do_unix_sendto(name, text):
    sockets[name] = unix_socket("dgram")
    unix_call(libc.sendto, sockets[name], text, b"x", ctypes.c_size_t(1), 0)


def do_close(name):
    sockets.pop(name).close()


def main():
    global timeout
    orders = {f[3:].replace("_", "-"): v for f, v in globals().items() if f.startswith("do_")}
    for line in sys.stdin:
        seconds, order, *words = line.split()
        timeout = float(seconds)
        try:
            word = orders[order](*words) or "ok"
        except OSError as error:
            word = errno.errorcode.get(error.errno, "error")
        except KeyError as error:
            word = f"unknown:{error.args[0]}"
        print(word, flush=True)


main()
