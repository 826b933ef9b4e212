#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A policy is in force as a whole, in each class, from the first instruction of a session on, or it
# is refused.

# Parts are called by way of a variable:
# shellcheck disable=SC2317
# shellcheck source-path=SCRIPTDIR source=talk.sh
. "$(dirname "$0")/talk.sh"

# --- switching -----------------------------------------------------------------------------------
# classes NAME RULES-OF-LEFT RULES-OF-RIGHT [MORE]
classes() {
    policy_file "$1" <<END
default_class = "left"
class left {
    default = allow
    deny = { $2 }
}
class right {
    default = allow
    deny = { $3 }
}
${4:-}
END
}

# A class that stays as it is keeps its last policy while others change, time and again.
switching() {
    local i

    load "$(classes c0 '"10.1.0.0/16"' '"10.3.0.0/16"')"
    session l left
    session r right
    load "$(classes c1 '"10.2.0.0/16", "fd62::/64"' '"10.3.0.0/16"')"
    for i in 4 5 6; do
        load "$(classes c"$i" '"10.2.0.0/16", "fd62::/64"' "\"10.$i.0.0/16\"" "class new$i {
            default = allow
            deny = { \"10.9.0.0/16\" }
        }")"
        says ok l connect "a$i" udp 10.1.0.1 80
        says EPERM l connect "b$i" udp 10.2.0.1 80
        says EPERM l connect "c$i" udp fd62::1 80
        says EPERM r connect "d$i" udp "10.$i.0.1" 80
        says ok r connect "e$i" udp 10.3.0.1 80
        # One that is new has its policy, whichever slot is in force.
        session n "new$i"
        says EPERM n connect a udp 10.9.0.1 80
        says ok n connect b udp "$public4" 80
        says ok n connect c udp "$public6" 80
        agent_stop n
    done
}

# Rules and ports of one policy only: the port entries of the second policy stand elsewhere, so that
# an index of the first, used there, leads to entries of another address.
ports_of_one_policy() {
    local a b i pids=() output

    ports_policy() {
        policy_file "$1" <<END
default_class = "tried"
class tried {
    default = allow
    deny = { "10.0.0.0/8" }
    allow = { $2 }
}
END
    }
    a=$(ports_policy a '"10.3.0.1:1000-1999/udp"')
    b=$(ports_policy b '"10.2.0.1:3000-3999/udp", "10.3.0.1:2000-2999/udp"')
    load "$a"
    for i in 1 2; do
        "$build/cgnet-run" "${instance[@]}" -- "$build/tests/live/hammer" A:10.3.0.1:1500 \
            shut:10.3.0.1:3000 B:10.3.0.1:2500 shut:10.3.0.1:3001 >"$dir/hammer$i" &
        pids+=($!)
    done
    for i in {1..30}; do
        load "$b"
        load "$a"
    done
    # cgnet-run passes it on.
    kill -TERM "${pids[@]}"
    for i in 1 2; do
        wait "${pids[i - 1]}"
        output=$(tail -n 1 "$dir/hammer$i")
        if [[ $output =~ ^[0-9]+\ [0-9]+\ [0-9]+\ 0$ ]]; then
            pass "ports are those of the prefix's policy ($output)"
        else
            fail "ports are those of the prefix's policy" "$(head -n 1 "$dir/hammer$i"), $output"
        fi
    done
}

# --- from the start ------------------------------------------------------------------------------
# CMD is in its class with its first instruction, however slow cgnet-run is to write to a file.
from_the_start() {
    load "$(policy start '' '')"
    if ! strace -o /dev/null true 2>/dev/null; then
        skip "CMD starts in its class" "strace does not work here"
        return
    fi
    check "CMD starts in its class" strace -o /dev/null -e trace=openat,write \
        -e inject=openat,write:delay_enter=50000 "$build/cgnet-run" "${instance[@]}" -- \
        grep -q "^0::.*/$CGNET_LAB/tried/s" /proc/self/cgroup
}

# --- sessions do not nest ------------------------------------------------------------------------
# Also where the session could: it keeps root's privileges, and sees the pins.
nested() {
    load "$(
        policy_file nested <<'END'
default_class = "tried"
class tried {
    default = allow
    deny = { "@local" }
    privileges = keep
}
class wide {
    default = allow
    deny = { "203.0.113.0/24" }
}
END
    )"
    check "the control: a class that cgnet-run enters" cgnet_run --class wide -- true
    cgnet_run -- "$build/cgnet-run" "${instance[@]}" --class wide -- touch "$dir/ran" 2>"$dir/err"
    check "from inside: refused" [ "$? $(cat "$dir/err")" = \
        "125 cgnet-run: already in a class of $CGNET_LAB: may enter no other" ]
    check "from inside: CMD did not run" [ ! -e "$dir/ran" ]
}

# --- self-test -----------------------------------------------------------------------------------
# load_refused WHAT FILE: because the self-test got through; nothing has changed.
load_refused() {
    local what="$1: refused" before

    before=$(find "$bpffs" "$cgroup" -print 2>/dev/null | sort)
    if cgnetd load "$2" >"$dir/load.out" 2>&1; then
        fail "$what" "it was loaded"
    elif ! grep -q 'self-test: .* was not refused' "$dir/load.out"; then
        fail "$what" "$(cat "$dir/load.out")"
    elif [ "$(find "$bpffs" "$cgroup" -print 2>/dev/null | sort)" != "$before" ]; then
        fail "$what" "something has changed"
    else
        pass "$what"
    fi
}

self_test() {
    local old new

    old=$(policy old '' '')
    new=$(policy new ', "11.0.0.0/8"' '')
    mkdir "$cgroup"
    "$build/tests/live/undo" "$cgroup"
    load_refused "a first load" "$old"
    rmdir "$cgroup"
    load "$old"
    "$build/tests/live/undo" "$cgroup"
    load_refused "a changed class" "$new"
    check "its rules are the old ones" grep -q allow <(cgnetd explain tried 11.0.0.1:80)
    check "unload" cgnetd unload
}

run_parts switching ports_of_one_policy from_the_start nested self_test -- "$@"
