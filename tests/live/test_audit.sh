#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# mode = audit: everything works, and is told; the self-test and the boundary stay. learn makes a
# policy of it that allows just that.

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
lab_enter "$@"
need_tools python3 bpftool
# shellcheck source-path=SCRIPTDIR source=events.sh
. "$live_dir/events.sh"

policy_file audit >/dev/null <<'END'
default_class = "net"
class net {
    default = allow
    deny = { "@local", "93.184.216.0/24" }
    protocols = { tcp, udp, icmp }
    mode = audit
}
END
sed 's/mode = audit/mode = enforce/' "$dir/audit.conf" >"$dir/enforce.conf"
cgnetd check "$dir/audit.conf" >"$dir/check" 2>&1
check "check warns" grep -q "audit.conf:6: warning: mode = audit: class \"net\" refuses nothing" "$dir/check"

load "$dir/audit.conf"
cgnetd status >"$dir/status"
check "status says so, loudly" grep -q "WARNING   mode = audit: NOTHING IS REFUSED" "$dir/status"
check "status --json too" grep -q '"mode":"audit"' <(cgnetd status --json)
cgnetd doctor >"$dir/doctor"
check "doctor too" grep -q "class net has mode = audit" "$dir/doctor"

reader_start one --json
for way in "tcp $neighbour4 80" "tcp $public4 443" "sendto $neighbour4 11434" "ping $neighbour4" "socket 136"; do
    # shellcheck disable=SC2086 # words
    session net "audit-${way%% *}-${way##* }" $way
    check "audit: $way works" [ "$came" = ok ]
done
session net audit-own tcp 127.0.0.1 8080
check "audit: a service of this host answers" [ "$came" = ok ]
await_lines one 6
reader_stop one
check "audit: each is told, once, as would_deny" events_say one "
    sorted((x['hook'], x['proto'], x['dst'], x['count']) for x in e) == [
        ('connect4', 'tcp', '127.0.0.1', 1), ('connect4', 'tcp', '192.168.50.10', 1),
        ('connect4', 'tcp', '93.184.216.34', 1), ('create', 'udplite', '', 1),
        ('egress', 'icmp', '192.168.50.10', 1), ('sendmsg4', 'udp', '192.168.50.10', 1)]
    and {x['verdict'] for x in e} == {'would_deny'}"
check "audit: counted apart" [ "$(counter net would_deny) $(counter net denied)" = "6 0" ]

# The sentinel is refused, whatever the mode: load has proved that, and so does a session.
reader_start one --json
session net sentinel tcp 240.67.71.78 9
check "audit: the sentinel is refused" [ "$came" = EPERM ]
reader_stop one
check "audit: and is no event" [ ! -s "$dir/one.events" ]

# What keeps a session in its class is enforced.
cgnet_run --class net -- sh -c 'echo x >/proc/sys/kernel/core_pattern' 2>/dev/null
check "audit: settings of the host stay closed" [ "$(cat /proc/sys/kernel/core_pattern)" != x ]

# --- learn ---------------------------------------------------------------------------------------
# learnt: a policy of what was printed loads, and what was used works under it.
learnt() {
    local what=$1

    {
        echo 'default_class = "net"'
        echo 'class net {'
        echo '    default = allow'
        echo '    deny = { "@local", "93.184.216.0/24" }'
        cat "$dir/learn"
        echo '}'
    } >"$dir/learnt.conf"
    check "$what: it makes a policy" cgnetd check "$dir/learnt.conf"
    check "$what: names who used it" grep -q '192.168.50.10:80,443/tcp", # denials (uid 0), 2 times' "$dir/learn"
    load "$dir/learnt.conf"
    for port in 80 443; do
        session net "learnt-$port" tcp "$neighbour4" "$port"
        check "$what: port $port works" [ "$came" = ok ]
    done
    session net learnt-next tcp "$neighbour4" 22
    check "$what: the next port does not" [ "$came" = EPERM ]
}

# lesson COMMAND...: learns while the two ports are used.
lesson() {
    "$build/cgnetd" learn "${instance[@]}" --class net "$@" >"$dir/learn" 2>"$dir/learn.err" &
    learner=$!
    for _ in {1..100}; do
        is_read && break
        sleep 0.02
    done
    session net lesson-80 tcp "$neighbour4" 80
    session net lesson-443 tcp "$neighbour4" 443
}

lesson
kill -INT "$learner"
wait "$learner"
check "learn ends with a signal" [ "$?" = 0 ]
learnt learn
load "$dir/enforce.conf"
lesson --for 15s
wait "$learner"
check "learn ends with --for" [ "$?" = 0 ]
learnt "learn --for"

lab_finish
