#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The policy changes while sessions run: they get the new one at once and as a whole, v4, v6 and
# ports in one step, and never none, also when the loader is killed.

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
lab_enter "$@"

reloads=100
kills=40

# policy NAME ALLOW: one of the two that take turns.
policy() {
    policy_file "$1" <<END
default_class = "hammered"
class hammered {
    default = allow
    deny = { "@local" }
    allow = { $2 }
    loopback = deny
}
END
}

policy_a=$(policy a '"10.1.0.1", "fd61::1", "10.3.0.1:1000-1999/udp"')
policy_b=$(policy b '"10.2.0.1", "fd62::1", "10.3.0.1:2000-2999/udp"')
targets=(A:10.1.0.1:80 "A:[fd61::1]:80" A:10.3.0.1:1500 B:10.2.0.1:80 "B:[fd62::1]:80"
    B:10.3.0.1:2500 shut:10.9.0.1:80 "shut:[fd69::1]:80" shut:127.0.0.1:8080 shut:10.3.0.1:3000
    "open:$provider4:443" "open:[$provider6]:443")

load "$policy_a"

# --- the same file again -------------------------------------------------------------------------
pins() {
    find "$bpffs" -printf '%p %i\n' | sort
}

pins >"$dir/pins"
output=$(cgnetd load "$policy_a" 2>&1)
if [[ $output == *"nothing changed"* ]]; then
    pass "a second load of the same file says that nothing changed"
else
    fail "a second load of the same file says that nothing changed" "$output"
fi
check "a second load of the same file leaves every pin alone" diff "$dir/pins" <(pins)

# --- reload under way ----------------------------------------------------------------------------
enter_class hammered
declare -A hammer_pid

# start_hammer NAME: a session of its own that hammers; its findings go to $dir/NAME.
start_hammer() {
    "$build/cgnet-run" "${instance[@]}" --class hammered -- "$build/tests/live/hammer" \
        "${targets[@]}" >"$dir/$1" 2>&1 &
    hammer_pid[$1]=$!
}

# stop_hammer NAME MINIMUM: it saw at least that many changes and nothing wrong.
stop_hammer() {
    local rounds judged switches wrong what="$1: every verdict fits the policy in force"

    kill -TERM "${hammer_pid[$1]}"
    wait "${hammer_pid[$1]}"
    read -r rounds judged switches wrong <<<"$(tail -n 1 "$dir/$1")"
    if [[ ! $wrong =~ ^[0-9]+$ ]]; then
        fail "$what" "$(tail -n 3 "$dir/$1")"
    elif [ "$wrong" != 0 ]; then
        fail "$what" "$wrong of $rounds rounds: $(head -n 1 "$dir/$1")"
    elif [ "$switches" -lt "$2" ]; then
        fail "$what" "saw only $switches changes in $judged of $rounds rounds"
    else
        pass "$what ($rounds rounds, $switches changes)"
    fi
}

# in_force A|B: what a session that has been there all along meets right now. Sets detail to what is
# wrong.
in_force() {
    local order expected

    while read -r expected order; do
        [ "$1" = A ] || expected=$([ "$expected" = ok ] && echo EPERM || echo ok)
        # shellcheck disable=SC2086 # words of an order
        ask in $order
        [ "$word" = "$expected" ] || { detail="$order: $word under policy $1"; return 1; }
    done <<'END'
ok tcp 10.1.0.1 80
EPERM tcp 10.2.0.1 80
ok tcp fd61::1 80
EPERM udp-sendto fd62::1 80
END
}

what="a running session gets each of $reloads policies at once"
start_hammer one
start_hammer two
detail=
for ((i = 1; i <= reloads; i++)); do
    if ((i % 2)); then
        load "$policy_b"
        in_force B || break
    else
        load "$policy_a"
        in_force A || break
    fi
done
if [ -z "$detail" ]; then
    pass "$what"
else
    fail "$what" "reload $i: $detail"
fi
stop_hammer one $((reloads * 9 / 10))
stop_hammer two $((reloads * 9 / 10))

# --- the loader killed at random moments ---------------------------------------------------------
what="after the loader was killed, the policy in force is one of the two"
start_hammer three
detail=
killed=0
for ((i = 1; i <= kills; i++)); do
    next=$policy_b
    ((i % 2)) || next=$policy_a
    "$build/cgnetd" load "${instance[@]}" "$next" >/dev/null 2>&1 &
    loader=$!
    sleep "0.0$(printf %02d $((RANDOM % 40)))"
    {
        kill -KILL "$loader" && killed=$((killed + 1))
        wait "$loader"
    } 2>/dev/null
    in_force A || in_force B || break
    detail=
    if ! cgnetd status >/dev/null 2>"$dir/status.err"; then
        detail="status: $(cat "$dir/status.err")"
        break
    fi
done
if [ -n "$detail" ]; then
    fail "$what" "kill $i: $detail"
elif [ "$killed" = 0 ]; then
    fail "$what" "every load ended before it was killed"
else
    pass "$what ($killed of $kills loads killed)"
fi
load "$policy_b"
detail=
in_force B
check "a load after those that were killed takes effect" [ -z "$detail" ]
load "$policy_a"
stop_hammer three 1

# --- a class that the file drops -----------------------------------------------------------------
other=$(
    policy_file other <<'END'
default_class = "other"
class other {
    default = deny
}
END
)
what="a load that would drop a class with sessions is refused and names it"
output=$(cgnetd load "$other" 2>&1)
status=$?
if [ "$status" = 1 ] && [[ $output == *hammered* ]]; then
    pass "$what"
else
    fail "$what" "exit status $status: $output"
fi
detail=
in_force A
check "the refused load changed nothing" [ -z "$detail" ]
check "forced, it succeeds" cgnetd load --force "$other"
ask in tcp "$public4" 443
check "forced, it ended the session" [ "$word" != ok ]
agent_stop in
check "the dropped class has no cgroup" [ ! -e "$cgroup/hammered" ]
check "the dropped class has no pins" [ ! -e "$bpffs/hammered" ]

lab_finish
