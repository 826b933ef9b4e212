#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Talks to the control socket as no honest client does.

control.py SOCKET SCENARIO [ARG...] prints one line, "ok" or what went wrong. Scenarios that enter a
session stay in it until they have looked around.
"""
import array
import os
import random
import socket
import struct
import sys
import time

MAGIC, VERSION = 0x74656E67, 1
ENTER, LOAD, INSTANCE, REPLY, ENTERED = 1, 2, 3, 128, 129
path = sys.argv[1]


def pad(text, size):
    return text.encode().ljust(size, b"\0")


def message(kind, body, magic=MAGIC, version=VERSION, length=None):
    return struct.pack("<IHHI", magic, version, kind, 12 + len(body) if length is None else length) + body


def enter(class_name="", session=""):
    return message(ENTER, pad(class_name, 36) + pad(session, 72))


def instance():
    return message(INSTANCE, pad("/nowhere", 256))


def connect(timeout=20):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.settimeout(timeout)
    s.connect(path)
    return s


def answer(s):
    """("entered", session), ("refused", text), or ("closed", "")."""
    try:
        data = s.recv(65536)
    except ConnectionResetError:
        data = b""
    if not data:
        return "closed", ""
    kind = struct.unpack_from("<H", data, 6)[0]
    if kind == ENTERED:
        return "entered", data[48:120].rstrip(b"\0").decode()
    return ("refused" if struct.unpack_from("<i", data, 16)[0] else "done"), data[20:].decode()


def cgroup(pid="self"):
    with open(f"/proc/{pid}/cgroup") as f:
        return [line[3:].strip() for line in f if line.startswith("0::")][0]


def expect(got, want, part=""):
    if got[0] != want or part not in got[1]:
        sys.exit(f"{got[0]}: {got[1]} (not {want}: {part})")


def scenario_double():
    """Two connections of one process, two requests."""
    a, b = connect(), connect()
    a.send(enter("", "double1"))
    expect(answer(a), "entered")
    inside = cgroup()
    b.send(enter("", "double2"))
    expect(answer(b), "refused", "already in a class")
    a.send(enter("", "double3"))
    expect(answer(a), "refused", "already in a class")
    c = connect()
    c.send(instance())
    expect(answer(c), "refused", "already in a class")
    if cgroup() != inside:
        sys.exit("moved a second time")


def scenario_both():
    """The same, with both requests there before the service looks."""
    a, b = connect(), connect()
    a.send(enter("", "both1"))
    b.send(enter("", "both2"))
    if sorted((answer(a)[0], answer(b)[0])) != ["entered", "refused"]:
        sys.exit("two sessions for one process")


def scenario_child():
    """The process that connected is not the one that sends."""
    s = connect()
    before = cgroup()
    pid = os.fork()
    if not pid:
        s.send(enter())
        got = answer(s)
        os._exit(0 if got[0] == "refused" and "not from the process" in got[1] else 1)
    if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]):
        sys.exit("a child could ask in the parent's name")
    if cgroup() != before:
        sys.exit("the parent was moved")


def scenario_offer(name):
    """Outside: connects and hands the connection to whoever asks at the Unix socket name."""
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.bind(name)
    os.chmod(name, 0o777)
    server.listen()
    s = connect()
    peer, _ = server.accept()
    peer.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [s.fileno()]))])
    peer.recv(1)


def scenario_take(name, request):
    """Inside a session: uses a connection from outside."""
    helper = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    helper.connect(name)
    _, ancillary, _, _ = helper.recvmsg(1, socket.CMSG_SPACE(4))
    fd = array.array("i", ancillary[0][2])[0]
    s = socket.socket(fileno=fd)
    s.settimeout(20)
    s.send(enter() if request == "enter" else message(LOAD, struct.pack("<I", 1) + b"/dev/null\0"))
    expect(answer(s), "refused", "not from the process that connected")


def scenario_vanish():
    """Asks, and is gone before the answer."""
    for i in range(20):
        pid = os.fork()
        if not pid:
            s = connect()
            s.send(enter("", f"vanish{i}"))
            os._exit(0)
        os.waitpid(pid, 0)


def scenario_fork():
    """Forks all the time while it is moved: none but itself and later children are inside."""
    outside = cgroup()
    s = connect()
    early = os.fork()
    if not early:
        time.sleep(30)
        os._exit(0)
    s.send(enter())
    expect(answer(s), "entered")
    if cgroup(early) != outside or cgroup() == outside:
        sys.exit("wrong process moved")
    os.kill(early, 9)
    os.waitpid(early, 0)


def scenario_malformed():
    """Each is answered by an error and the end of the connection."""
    body = bytes(108)
    cases = [
        (b"x", "not a message"),
        (b"\0" * 12, "not a message"),
        (bytes(11), "not a message"),
        (os.urandom(100), "not a message"),
        (message(ENTER, body)[:60], "came as"),
        (message(ENTER, body, version=2), "version 2"),
        (message(ENTER, body, version=0), "version 0"),
        (message(ENTER, body, length=0), "came as"),
        (message(ENTER, body, length=0xFFFFFFFF), "came as"),
        (message(ENTER, body[1:]), "bytes"),
        (message(ENTER, body + b"\0"), "bytes"),
        (message(ENTER, b"a" * 108), "not a name"),
        (enter("../lan"), "not a name"),
        (enter("", "../../x"), "not"),
        (enter("", "cgroup.procs"), "kernel"),
        (message(0, body), "unknown"),
        (message(REPLY, body), "unknown"),
        (message(LOAD, struct.pack("<I", 7) + b"/x\0"), "wrong"),
        (message(LOAD, struct.pack("<I", 0) + b"x" * 4000), "wrong"),
        (message(ENTER, bytes(5000)), "too long"),
        (message(ENTER, bytes(100000)), "too long"),
    ]
    for i, (packet, text) in enumerate(cases):
        s = connect()
        s.send(packet)
        try:
            expect(answer(s), "refused", text)
            expect(answer(s), "closed")
        except SystemExit as e:
            sys.exit(f"case {i}: {e}")
    # Descriptors are not taken.
    s = connect()
    s.sendmsg([enter()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0] * 200))])
    expect(answer(s), "refused")
    # Requests of a byte each, an empty one, and half a connection.
    s = connect()
    s.send(b"")
    expect(answer(s), "closed")
    s = connect()
    s.shutdown(socket.SHUT_WR)
    expect(answer(s), "closed")


def scenario_no_right():
    """Requests that are not for everybody."""
    for request in (message(LOAD, struct.pack("<I", 1) + b"/etc/passwd\0"),):
        s = connect()
        s.send(request)
        expect(answer(s), "refused", "no right")


def scenario_random(count):
    """Random changes of good messages."""
    rng = random.Random(1)
    good = [enter("lan", "x"), instance(), message(LOAD, struct.pack("<I", 1) + b"/etc/passwd\0")]
    for _ in range(int(count)):
        packet = bytearray(rng.choice(good))
        for _ in range(rng.randint(1, 8)):
            packet[rng.randrange(4, len(packet))] = rng.randrange(256)
        s = connect()
        s.send(packet[: rng.randint(1, len(packet))])
        got = answer(s)
        if got[0] == "entered":
            sys.exit("a changed request let somebody in")
        s.close()


def scenario_silent(count, ready, seconds):
    """Holds so many connections that say nothing, as far as the service lets them live."""
    held = []
    for _ in range(int(count)):
        held.append(connect())
    with open(ready, "w") as f:
        f.write("ready\n")
    time.sleep(float(seconds))


def scenario_talkative(ready, seconds):
    """Asks as fast as it can and never reads."""
    held = [connect() for _ in range(100)]
    with open(ready, "w") as f:
        f.write("ready\n")
    end = time.time() + float(seconds)
    while time.time() < end:
        for i, s in enumerate(held):
            try:
                s.send(instance(), socket.MSG_DONTWAIT)
            except BlockingIOError:
                pass
            except OSError:
                s.close()
                held[i] = connect()


def scenario_latency(limit_ms):
    """The median time of an answer."""
    times = []
    for _ in range(15):
        start = time.monotonic()
        s = connect()
        s.send(instance())
        expect(answer(s), "refused")
        times.append((time.monotonic() - start) * 1000)
        s.close()
    times.sort()
    if times[7] > float(limit_ms):
        sys.exit(f"the median of an answer took {times[7]:.1f} ms")


def scenario_delayed(go):
    """Connects and asks; exits when the file go is there, without an answer."""
    s = connect()
    s.send(enter("", "delayed"))
    print(os.getpid(), flush=True)
    while not os.path.exists(go):
        time.sleep(0.01)
    os._exit(0)


globals()["scenario_" + sys.argv[2]](*sys.argv[3:])
if sys.argv[2] != "delayed":
    print("ok")
