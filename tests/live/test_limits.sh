#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# pids_max and memory_max: in force for the sessions of a class together, changed by a reload, and
# refused by name where the controller is not on cgroup2.

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
lab_enter "$@"
need_tools python3 setpriv

# limited [OPTION...]: a policy with a class that has these options, beside one without limits.
limited() {
    policy_file limited <<END
default_class = "free"
class limited { default = deny $* }
class free    { default = deny }
user nobody { class = limited }
END
}

# says TEXT COMMAND...: a check that the output has a line with the text.
says() {
    local text=$1

    shift
    check "$* says: $text" grep -qF -- "$text" <("$@" 2>&1)
}

# in_force FILE VALUE: what the kernel has for the class.
in_force() {
    check "$1 is $2" [ "$(cat "$cgroup/limited/$1" 2>&1)" = "$2" ]
}

# exits STATUS WHAT COMMAND...
exits() {
    local status=$1 what=$2 got

    shift 2
    "$@" >"$dir/exits" 2>&1
    got=$?
    if [ "$got" = "$status" ]; then
        pass "$what"
    else
        fail "$what" "exit status $got, not $status: $(tail -n 1 "$dir/exits")"
    fi
}

# has CONTROLLER: on cgroup2.
has() {
    grep -qw "$1" "$(cgroup2_mount)/cgroup.controllers"
}

# --- without the controller ----------------------------------------------------------------------
load "$(limited)"
for option in pids_max=100 memory_max=64M; do
    controller=${option%%_*}
    has "$controller" && continue
    exits 1 "$option is refused without its controller" cgnetd load "$(limited "$option")"
    check "the message names class, option and controller" \
        grep -q "class limited: ${option%%=*}: .*controller $controller " "$dir/exits"
    check "one line says it" [ "$(wc -l <"$dir/exits")" = 1 ]
    says "a class with ${option%%=*} is refused" "$build/cgnetd" doctor "${instance[@]}"
    exits 0 "$option needs no controller to be checked" "$build/cgnetd" check "$(limited "$option")"
done
exits 0 "what was in force is in force" cgnet_run --class limited -- true

# --- processes -----------------------------------------------------------------------------------
# Prints how many children it can have at the same time, 50 at most, and why there are no more.
fork_all='
import errno, os, signal, sys
pids = []
why = "enough"
while len(pids) < 50:
    try:
        pid = os.fork()
    except OSError as e:
        why = errno.errorcode[e.errno]
        break
    if not pid:
        signal.pause()
    pids.append(pid)
print(len(pids), why, flush=True)
if len(sys.argv) > 1:
    sys.stdin.read()
for pid in pids:
    os.kill(pid, signal.SIGKILL)
'

# Starts a session of the class that has all children it can have, until release. Sets got.
hold() {
    mkfifo "$dir/held.in" "$dir/held.out"
    cgnet_run --class limited -- python3 -c "$fork_all" hold <"$dir/held.in" >"$dir/held.out" 2>&1 &
    held=$!
    exec {held_in}>"$dir/held.in" {held_out}<"$dir/held.out"
    read -r -t 20 got <&"$held_out" || got="no answer"
}

release() {
    exec {held_in}>&- {held_out}<&-
    wait "$held"
}

pids() {
    load "$(limited pids_max=10)"
    in_force pids.max 10
    check "beside it a class without limit" [ "$(cat "$cgroup/free/pids.max")" = max ]
    check "outside there are 50" [ "$(python3 -c "$fork_all")" = "50 enough" ]
    check "without a limit there are 50" \
        [ "$(cgnet_run --class free -- python3 -c "$fork_all")" = "50 enough" ]
    check "with one there are 10, the command included" \
        [ "$(cgnet_run --class limited -- python3 -c "$fork_all")" = "9 EAGAIN" ]

    hold
    check "a session takes all there are" [ "$got" = "9 EAGAIN" ]
    exits 125 "a second session finds none left" cgnet_run --class limited -- true
    check "and says why" grep -q "no more processes (pids_max of the class" "$dir/exits"
    says "pids_max 10, 10 in use" cgnetd status
    check "the JSON form has limit and usage" python3 -c '
import json, sys
limits = {c["name"]: c["limits"] for c in json.loads(sys.argv[1])["classes"]}
assert limits["limited"]["pids_max"] == {"limit": 10, "usage": 10, "policy": 10}, limits
assert limits["free"]["pids_max"] is None, limits
' "$(cgnetd status --json)"

    # A user's session is moved into the class, which the kernel does not count as a fork.
    "$build/cgnetd" serve "${instance[@]}" "$policy" 2>"$dir/serve.err" &
    service=$!
    for _ in {1..100}; do
        grep -q "serve: ready" "$dir/serve.err" && break
        sleep 0.1
    done
    user=(setpriv --reuid nobody --regid nogroup --clear-groups "$build/cgnet-run" "${instance[@]}")
    exits 125 "nor does a user's session" "${user[@]}" --class limited -- true
    check "and says why" grep -q "no more processes (pids_max of the class is 10)" "$dir/exits"
    exits 0 "the other class takes it" "${user[@]}" --class free -- true
    kill "$service"
    wait "$service"

    # The self-test needs a process in the class.
    load "$(limited pids_max=20 'allow = { "192.0.2.1" }')"
    in_force pids.max 20
    exits 1 "the new rule is in force" cgnetd explain limited 192.0.2.2
    exits 0 "the new rule is in force" cgnetd explain limited 192.0.2.1
    exits 0 "there is room again" cgnet_run --class limited -- true
    load "$(limited pids_max=5 'allow = { "192.0.2.3" }')"
    in_force pids.max 5
    exits 0 "a policy gets in where no process does" cgnetd explain limited 192.0.2.3
    release

    echo 7 >"$cgroup/limited/pids.max"
    says "pids_max is 7 in the cgroup" cgnetd status
    says "class limited has pids_max 7 in its cgroup, not 5" "$build/cgnetd" doctor "${instance[@]}"
    load "$policy"
    in_force pids.max 5
    exits 1 "a load that fails" cgnetd load "$(limited pids_max=6 'deny = { "@nowhere" }')"
    in_force pids.max 5
    load "$(limited)"
    in_force pids.max max
    exits 0 "without the option there is no limit" \
        cgnet_run --class limited -- python3 -c "$fork_all"
    echo 9 >"$cgroup/limited/pids.max"
    load "$(limited 'allow = { "192.0.2.1" }')"
    in_force pids.max 9
}

# --- memory --------------------------------------------------------------------------------------
fill='
held = bytearray(100 << 20)
for i in range(0, len(held), 4096): held[i] = 1
'

memory() {
    load "$(limited memory_max=32M)"
    in_force memory.max $((32 << 20))
    exits 0 "outside 100 MiB can be had" python3 -c "$fill"
    exits 0 "without a limit 100 MiB can be had" cgnet_run --class free -- python3 -c "$fill"
    if [ "$(wc -l </proc/swaps)" -le 1 ]; then
        exits 137 "with one of 32 MiB it is killed" cgnet_run --class limited -- python3 -c "$fill"
        check "by that limit" \
            [ "$(awk '/^oom_kill / {print $2}' "$cgroup/limited/memory.events")" -ge 1 ]
    else
        skip "more memory than the limit" "this host swaps"
    fi
    exits 0 "what takes less runs" cgnet_run --class limited -- python3 -c pass
    says "memory_max 32M" cgnetd status
    load "$(limited memory_max=256M)"
    in_force memory.max $((256 << 20))
    exits 0 "with more it can be had" cgnet_run --class limited -- python3 -c "$fill"
    load "$(limited memory_max=33554433)"
    in_force memory.max $((32 << 20))
    check "a limit that is not of whole pages is not reported as lost" \
        [ "$(cgnetd status | grep -c warning)" = 0 ]
    load "$(limited)"
    in_force memory.max max
}

if has pids; then
    pids
else
    skip "pids_max in force" "the controller pids is not on cgroup2 here"
fi
if has memory; then
    memory
else
    skip "memory_max in force" "the controller memory is not on cgroup2 here"
fi

lab_finish
