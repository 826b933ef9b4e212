# shellcheck shell=bash disable=SC2034,SC2154 # shared with lib.sh and the tests
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Readers of events, and what they read.

declare -A reader_pid
denier=$build/tests/live/denials

# reader_start NAME OPTION...: `events` in the background, to $dir/NAME.events. Returns when it reads.
reader_start() {
    local name=$1

    shift
    "$build/cgnetd" events "${instance[@]}" "$@" >"$dir/$name.events" 2>"$dir/$name.err" &
    reader_pid[$name]=$!
    for _ in {1..100}; do
        is_read && return
        sleep 0.02
    done
    lab_broken "events: $(cat "$dir/$name.err")"
}

# True if the programs are told that somebody reads.
is_read() {
    [[ $(bpftool map dump pinned "$bpffs/_interval" 2>/dev/null) =~ \"cgnet_interval\":\ [1-9] ]]
}

# reader_stop NAME [SIGNAL]
reader_stop() {
    kill "-${2:-TERM}" "${reader_pid[$1]}"
    wait "${reader_pid[$1]}" 2>/dev/null
    unset "reader_pid[$1]"
}

# session CLASS NAME ARGUMENT...: denials in a session. Sets pid and came.
session() {
    read -r pid came < <(cgnet_run --class "$1" --name "$2" -- "$denier" "${@:3}")
}

# await_lines NAME N
await_lines() {
    for _ in {1..150}; do
        [ "$(wc -l <"$dir/$1.events")" -ge "$2" ] && return
        sleep 0.02
    done
}

# events_say NAME EXPRESSION: of the events e that the reader got, Python says so.
events_say() {
    python3 - "$dir/$1.events" "$2" <<'END'
import json, sys
lines = open(sys.argv[1], "rb").read().decode().splitlines()
e = [json.loads(line) for line in lines]
if not eval(" ".join(sys.argv[2].split())):
    print("events:", *lines[:5], sep="\n")
    sys.exit(1)
END
}

# counter CLASS KEY: prints a counter of status --json.
counter() {
    local json field

    json=$("$build/cgnetd" status --json "${instance[@]}")
    json_field "$2" "${json#*\"name\":\""$1"\"}"
    echo "$field"
}
