#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""record.py PIN FIELD [VALUE]: prints or sets a 32-bit field of a pinned record, found by its type."""
import json
import subprocess
import sys

pin, field = sys.argv[1:3]
key = ["key", "0", "0", "0", "0"]
entry = json.loads(subprocess.check_output(["bpftool", "-j", "map", "lookup", "pinned", pin, *key]))
value = bytes(int(b, 16) for b in entry["value"])
number = entry["formatted"]["value"][field] & 0xFFFFFFFF
if len(sys.argv) == 3:
    print(number)
    sys.exit()
# The first place with that number; a field that is the record's first word is at its start.
at = value.index(number.to_bytes(4, sys.byteorder))
value = value[:at] + int(sys.argv[3]).to_bytes(4, sys.byteorder) + value[at + 4 :]
subprocess.check_call(["bpftool", "map", "update", "pinned", pin, *key, "value", *map(str, value)])
