#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""notified.py NAME: prints what a service tells its manager at NAME ("@..." for abstract names)."""
import socket
import sys

name = sys.argv[1]
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind("\0" + name[1:] if name.startswith("@") else name)
print("ready", flush=True)
while True:
    print(s.recv(4096).decode().replace("\n", " "), flush=True)
