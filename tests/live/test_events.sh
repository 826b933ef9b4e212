#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Events: every field of one denial for each hook, what a session can do to them, and that what was
# told and what was dropped add up to what was denied.

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
lab_enter "$@"
need_tools python3 bpftool
# shellcheck source-path=SCRIPTDIR source=events.sh
. "$live_dir/events.sh"

load "$(policy_file events <<'END'
default_class = "net"
class net {
    default = allow
    deny = { "203.0.113.0/24", "2001:db8::/32", "@private" }
    allow = { "192.168.50.10:443/tcp" }
}
class closed {
    default = deny
    allow = { "192.0.2.1:443/tcp" }
    inbound = deny
    protocols = { tcp, udp }
}
END
)"
file=$dir/events.conf
user=$(id -u)

# hook NAME CLASS FIELDS ARGUMENT...: the attempt is refused and makes one event with these fields.
hook() {
    local name=$1 class=$2 fields=$3 began

    shift 3
    began=$(date -u +%FT%T)
    session "$class" "$name" "$@"
    hooks=$((hooks + 1))
    await_lines hooks "$hooks"
    check "$name: one event with every field" events_say hooks "
        [x for x in e if x['session'] == '$name'] == e[-1:]
        and {k: e[-1][k] for k in dict($fields)} == dict($fields)
        and e[-1]['class'] == '$class' and e[-1]['verdict'] == 'deny' and e[-1]['file'] == '$file'
        and e[-1]['count'] == 1 and e[-1]['uid'] == $user and e[-1]['cgroup'] > 0
        and '$began' <= e[-1]['time'] <= '$(date -u +%FT%TZ)Z'"
}

in_task() {
    check "$1: it names the process" events_say hooks \
        "e[-1]['pid'] == $pid and e[-1]['comm'] == 'denials'"
}

hooks=0
reader_start hooks --json
hook connect4 net "hook='connect4', proto='tcp', dst='203.0.113.9', dport=80,
    rule='203.0.113.0/24', prefix='203.0.113.0/24', line=4" tcp 203.0.113.9 80
check "connect4: refused" [ "$came" = EPERM ]
in_task connect4
hook connect6 net "hook='connect6', proto='udp', dst='2001:db8::9', dport=81,
    rule='2001:db8::/32', prefix='2001:db8::/32', line=4" udp 2001:db8::9 81
in_task connect6
hook sendmsg4 net "hook='sendmsg4', proto='udp', dst='192.168.50.10', dport=443, rule='@private',
    prefix='192.168.50.10', line=4" sendto 192.168.50.10 443
in_task sendmsg4
hook sendmsg6 net "hook='sendmsg6', proto='udp', dst='2001:db8::a', dport=53,
    rule='2001:db8::/32', prefix='2001:db8::/32', line=4" sendto 2001:db8::a 53
in_task sendmsg6
hook mapped net "hook='connect6', proto='tcp', dst='203.0.113.7', prefix='203.0.113.0/24'" \
    tcp ::ffff:203.0.113.7 80
hook carried net "hook='connect6', dst='64:ff9b::cb00:7107', rule='203.0.113.0/24',
    prefix='203.0.113.0/24'" tcp 64:ff9b::cb00:7107 80
hook default closed "hook='connect4', rule='default = deny', prefix='0.0.0.0/0', line=8" \
    tcp 192.0.2.9 80
hook create closed "hook='create', proto='icmp', dst='', dport=0, prefix='', rule='protocols',
    line=11" socket 1
in_task create
hook egress net "hook='egress', proto='icmp', dst='203.0.113.5', dport=0, rule='203.0.113.0/24',
    prefix='203.0.113.0/24', line=4, pid=0, comm=''" ping 203.0.113.5
reader_stop hooks
check "each was told once" [ "$(wc -l <"$dir/hooks.events")" = "$hooks" ]
denied=$(($(counter net denied) + $(counter closed denied)))
check "as it was counted" [ "$denied" = "$hooks" ]

# --- ingress: a packet that nobody in the class sent ----------------------------------------------
reader_start one --json
coproc inside { cgnet_run --class closed --name server -- "$denier" listen 7777; }
read -r -t 5 line <&"${inside[0]}"
"$denier" tcp 45.33.7.2 7777 >/dev/null
await_lines one 1
check "ingress: says who connects, and to which port" events_say one "
    e[0]['hook'] == 'ingress' and e[0]['dst'] == '45.33.7.2' and e[0]['dport'] == 7777
    and e[0]['session'] == 'server' and e[0]['rule'] == 'inbound = deny' and e[0]['line'] == 10
    and e[0]['pid'] == 0"
eval "exec ${inside[1]}>&-"
# shellcheck disable=SC2154 # coproc sets it
wait "$inside_PID" 2>/dev/null
reader_stop one

# --- unix ----------------------------------------------------------------------------------------
if cgnetd check "$(policy_file unix <<'END'
default_class = "net"
class net { default = allow deny = { "203.0.113.0/24" } unix = none }
END
)" >/dev/null && cgnetd load "$dir/unix.conf" --force >/dev/null 2>"$dir/unix.err"; then
    reader_start one --json
    session net unix unix nobody
    await_lines one 1
    check "unix: told, with the rule" events_say one "
        e[0]['hook'] == 'connect_unix' and e[0]['rule'] == 'unix = none' and e[0]['dst'] == ''
        and e[0]['pid'] == $pid"
    reader_stop one
else
    skip "unix: told" "$(cat "$dir/unix.err")"
fi
load "$file"

# --- forms and filters ---------------------------------------------------------------------------
reader_start one --json --count 2 --class net
session closed other tcp 192.0.2.1 80
for port in 1 2 3; do
    session net "counted$port" tcp 203.0.113.9 "$port"
done
wait "${reader_pid[one]}"
check "--count ends after so many, --class leaves out the others" events_say one \
    "[x['dport'] for x in e] == [1, 2] and {x['class'] for x in e} == {'net'}"
check "then nobody reads" [ "$(is_read && echo yes)" = "" ]

script -qec "$build/cgnetd events ${instance[*]} --count 1" /dev/null >"$dir/tty" </dev/null &
for _ in {1..100}; do
    is_read && break
    sleep 0.02
done
session net people tcp 203.0.113.9 80
wait $!
check "people get words" grep -q \
    "net/people: tcp connect4 to 203.0.113.9:80 denied by 203.0.113.0/24 ($file:4), denials\[$pid\]" "$dir/tty"

# --- one reader ----------------------------------------------------------------------------------
reader_start one --json
cgnetd events --json >"$dir/second" 2>&1
check "a second reader is refused" [ "$?" = 1 ]
check "and told why" grep -q "another process reads the events" "$dir/second"
kill -9 "${reader_pid[one]}"
wait "${reader_pid[one]}" 2>/dev/null
session net before tcp 203.0.113.9 80
reader_start one --json
session net after tcp 203.0.113.9 80
await_lines one 1
check "after one that was killed another can read, from then on" events_say one \
    "[x['session'] for x in e] == ['after']"
reader_stop one

# --- what a session can do -----------------------------------------------------------------------
reader_start one --json
session net fake named $'a\n{"x":1}\e[2J' 203.0.113.9 80
await_lines one 1
check "a name with a newline stays in its field" events_say one \
    "len(e) == 1 and e[0]['comm'] == 'a\\n{\"x\":1}\\x1b[2J'[:15]"
session net bytes named $'\xff\xc2\x9b31m' 203.0.113.9 81
await_lines one 2
check "bytes that are no text are replaced" events_say one "e[1]['comm'] == '\ufffd\ufffd\ufffd31m' or e[1]['comm'] == '\ufffd\ufffd31m'"
reader_stop one

# exact NAME CLASS: stops the reader; what it got and what was dropped since start_count is what was
# denied.
start_count() {
    denied0=$(counter "$1" denied)
    dropped0=$(counter "$1" dropped)
}
exact() {
    local what=$1 name=$2 class=$3 denied dropped

    reader_stop "$name"
    denied=$(($(counter "$class" denied) - denied0))
    dropped=$(($(counter "$class" dropped) - dropped0))
    check "$what: $denied denied, $dropped of them dropped, the rest told" events_say "$name" \
        "sum(x['count'] for x in e) + $dropped == $denied and $denied >= $4 and len(e) < $5"
}

flood() {
    cgnet_run --class net --name "$1" -- "$denier" flood 203.0.113.9 "$2" "$3"
}

start_count net
reader_start one --json
flood same1 1 50000 >"$dir/f1" &
pids=$!
flood same2 1 50000 >"$dir/f2"
wait "$pids"
exact "a flood to one destination" one net 100000 100
start_count net
reader_start one --json
flood many1 60000 50000 >"$dir/f1" &
pids=$!
flood many2 60000 50000 >"$dir/f2"
wait "$pids"
exact "a flood to many destinations" one net 100000 30000

# A reader that does not keep up: the ring and the hashes run full.
start_count net
reader_start one --json
kill -STOP "${reader_pid[one]}"
pids=()
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
    flood "stop$i" 60000 2000 >"$dir/f$i" &
    pids+=($!)
done
wait "${pids[@]}"
check "a reader that is stopped holds up nobody" true
kill -CONT "${reader_pid[one]}"
exact "a flood while the reader is stopped" one net 24000 24000

# One who floods does not hide what another does.
reader_start one --json
flood loud 60000 100000 >"$dir/f1" &
loud=$!
sleep 0.2
session net quiet tcp 203.0.113.9 4444
await_lines one 3000
wait "$loud"
check "another session's flood hides nothing" events_say one \
    "[x['dport'] for x in e if x['session'] == 'quiet'] == [4444]"
reader_stop one

# Nobody reads: all is dropped, and counted.
start_count net
session net unread tcp 203.0.113.9 80
check "while nobody reads a denial is dropped" [ "$(($(counter net dropped) - dropped0))" = 1 ]

# A rule's text is that of the policy by which it was denied.
reader_start one --json
session net old tcp 203.0.113.9 80
sed 's/"203.0.113.0\/24", /"203.0.113.0\/25", /' "$file" >"$dir/changed.conf"
load "$dir/changed.conf"
session net new tcp 203.0.113.9 80
await_lines one 2
check "events name the rule of their policy" events_say one \
    "[x['rule'] for x in e] == ['203.0.113.0/24', '203.0.113.0/25'] and
     [x['file'][-12:] for x in e] == ['/events.conf', 'changed.conf']"
reader_stop one

lab_finish
