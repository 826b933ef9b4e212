#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What doctor finds: the layers by trying, sockets that delegate authority, classes that keep privileges.

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
lab_enter "$@"
need_tools python3 setpriv

# says TEXT FILE: a check that doctor's output has a line with the text.
says() {
    check "doctor says: $1" grep -qF -- "$1" "$2"
}

check "doctor finds all that load needs" "$build/cgnetd" doctor "${instance[@]}"
"$build/cgnetd" doctor "${instance[@]}" >"$dir/doctor"
for layer in connect sendmsg create egress sysctl; do
    says "layer $layer" "$dir/doctor"
done
if grep -q ' - cgroup2 .*nsdelegate' /proc/self/mountinfo; then
    says "cgroup2 is mounted with nsdelegate" "$dir/doctor"
else
    says "cgroup2 is mounted without nsdelegate" "$dir/doctor"
fi
if grep -q ' - cgroup ' /proc/self/mountinfo; then
    says "cgroup v1" "$dir/doctor"
fi
check "the JSON form is JSON, and names states" python3 -c '
import json, sys
findings = json.loads(sys.argv[1])["findings"]
assert {f["state"] for f in findings} <= {"ok", "warning", "missing"}
assert all(f["name"] and f["detail"] for f in findings)
' "$("$build/cgnetd" doctor --json "${instance[@]}")"

# A tmux server's socket, as any process of the user could have it.
tmux=/tmp/tmux-$$
mkdir "$tmux"
python3 -c 'import socket, sys, time
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); print("ready", flush=True); time.sleep(60)' \
    "$tmux/default" >"$dir/tmux.out" &
server=$!
for _ in {1..100}; do
    grep -q ready "$dir/tmux.out" && break
    sleep 0.05
done
"$build/cgnetd" doctor "${instance[@]}" >"$dir/doctor"
says "tmux: $tmux/default" "$dir/doctor"
chmod 700 "$tmux"
setpriv --reuid 1000 --regid 1000 --clear-groups "$build/cgnetd" doctor "${instance[@]}" >"$dir/user"
check "without root doctor fails" [ "$?" = 1 ]
says "not running as root" "$dir/user"
check "a socket out of reach is not listed" [ "$(grep -c "$tmux" "$dir/user")" = 0 ]
kill "$server"
wait "$server" 2>/dev/null
rm -r "$tmux"

load "$(policy_file keep <<'END'
default_class = "keep"
class keep { default = allow deny = { "@local" } privileges = keep }
END
)"
"$build/cgnetd" doctor "${instance[@]}" >"$dir/doctor"
says "class keep has privileges = keep" "$dir/doctor"
check "status warns of it, too" grep -q "a root session can undo the policy" <(cgnetd status)

lab_finish
