#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Connections that last: flows.py world | session DENIED ALLOWED HOST.

world echoes on port 9100, and connects from DENIED to HOST:9200, where the session echoes. The session
prints "ready" when all are there, and then what became of them: one connected to DENIED, one to
ALLOWED, one accepted from DENIED."""
import socket
import sys
import threading
import time

denied, allowed, host = sys.argv[2:5]


def echo(s):
    try:
        while data := s.recv(100):
            s.send(data)
    except OSError:
        pass


def world():
    server = socket.create_server(("0.0.0.0", 9100))
    print("ready", flush=True)

    def call():
        while True:
            try:
                s = socket.create_connection((host, 9200), 20, (denied, 0))
            except OSError:
                time.sleep(0.05)
                continue
            echo(s)
            s.close()

    threading.Thread(target=call, daemon=True).start()
    while True:
        threading.Thread(target=echo, args=(server.accept()[0],), daemon=True).start()


def works(s):
    s.settimeout(10)
    try:
        s.send(b"x")
        return s.recv(1) == b"x"
    except OSError:
        return False


def session():
    a = socket.create_connection((denied, 9100), 10)
    b = socket.create_connection((allowed, 9100), 10)
    c = socket.create_server(("0.0.0.0", 9200)).accept()[0]
    if not (works(a) and works(b) and works(c)):
        sys.exit("they do not work to begin with")
    print("ready", flush=True)
    start = time.monotonic()
    a.settimeout(20)
    try:
        a.recv(1)
        reset = False
    except TimeoutError:
        reset = False
    except OSError:
        reset = time.monotonic() - start < 15
    print("reset" if reset else "not reset", works(b), works(c), flush=True)


world() if sys.argv[1] == "world" else session()
