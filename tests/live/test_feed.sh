#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Events from the service: any number of readers, who may be one, the log, the line on the terminal.

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
lab_enter "$@"
need_tools python3 bpftool setpriv script
# shellcheck source-path=SCRIPTDIR source=events.sh
. "$live_dir/events.sh"
# shellcheck source-path=SCRIPTDIR source=service.sh
. "$live_dir/service.sh"

file=$(policy_file feed <<'END'
default_class = "net"
class net { default = allow deny = { "@local" } }
class other { default = allow deny = { "@local" } }
user uid-that-is-not { class = net }
END
)
cp "$build/cgnetd" "$dir/cgnetd"
install -m 0755 "$denier" "$dir/denials"

# on_terminal FILE COMMAND...: with a terminal for all three; the output goes to the file.
on_terminal() {
    local out=$1

    shift
    script -qec "$(printf '%q ' "$@")" /dev/null >"$out" </dev/null
}

# --- the line on the terminal, without a service -------------------------------------------------
load "$file"
hint="cgnet-run: tcp to 10.0.0.9:22 denied by @local in class net ($file:2); to allow it: cgnetd allow --class net 10.0.0.9:22/tcp"
on_terminal "$dir/tty" "$build/cgnet-run" "${instance[@]}" --class net -- "$dir/denials" tcp 10.0.0.9 22
check "a session's first denial is said on its terminal" grep -qF "$hint" "$dir/tty"
check "in one line" [ "$(grep -c cgnet-run: "$dir/tty")" = 1 ]
on_terminal "$dir/tty" "$build/cgnet-run" "${instance[@]}" --quiet --class net -- "$dir/denials" tcp 10.0.0.9 22
check "with --quiet it is not" [ "$(grep -c cgnet-run: "$dir/tty")" = 0 ]
on_terminal "$dir/tty" "$build/cgnet-run" "${instance[@]}" --class net -- "$dir/denials" tcp "$public4" 443
check "nor without a denial" [ "$(grep -c cgnet-run: "$dir/tty")" = 0 ]
cgnet_run --class net -- "$dir/denials" tcp 10.0.0.9 22 >"$dir/out" 2>&1
check "nor where there is no terminal" [ "$(grep -c cgnet-run: "$dir/out")" = 0 ]

# --- readers -------------------------------------------------------------------------------------
serve_start "$file"
check "while nobody wants events nobody reads" [ "$(is_read && echo yes)" = "" ]
denied0=$(counter net denied)
dropped0=$(counter net dropped)
reader_start a --json
reader_start b --json --class net
reader_start c --json --class other
sleep 0.3
session net one tcp 10.0.0.9 22
session other two tcp 10.0.0.9 22
await_lines a 2
await_lines b 1
await_lines c 1
check "each reader gets what it asks for" events_say a "[x['session'] for x in e] == ['one', 'two']"
check "of one class" events_say b "[x['session'] for x in e] == ['one'] and e[0]['pid'] > 0"
check "of the other" events_say c "[x['session'] for x in e] == ['two']"
cgnet_run --class net --name flood -- "$dir/denials" flood 203.0.113.9 3 30000 >/dev/null
sleep 2.5
for name in a b c; do
    reader_stop "$name"
done
denied=$(($(counter net denied) - denied0))
dropped=$(($(counter net dropped) - dropped0))
check "told and dropped is denied, of $denied" events_say b "
    sum(x['count'] for x in e) + $dropped == $denied and $denied == 30001 and len(e) < 60"
wait_for eval '! is_read'
check "when the last one has gone nobody reads" [ "$(is_read && echo yes)" = "" ]
as 1000 "$dir/cgnetd" events --json "${instance[@]}" >"$dir/user" 2>&1
check "events are not for every user" grep -q "no right to it" "$dir/user"

# --- a user's own first denial -------------------------------------------------------------------
on_terminal "$dir/tty" setpriv --reuid 1000 --regid 1000 --clear-groups "$dir/cgnet-run" \
    "${instance[@]}" -- sh -c "$dir/denials tcp 10.0.0.9 22; sleep 1"
check "a user's session has its line, too" grep -qF "$hint" "$dir/tty"
cgnet_run --class net --name roots -- sh -c "$dir/denials tcp 10.0.0.9 23; sleep 6" >/dev/null &
roots=$!
sleep 1
as 1000 timeout 10 python3 - "$control" <<'END' >"$dir/spy" 2>&1
import socket, struct, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(sys.argv[1])
s.send(struct.pack("=IHHI36s72s", 0x74656e67, 1, 5, 120, b"net", b"roots"))
s.settimeout(1.5)
print(s.recv(4096))
END
check "nobody hears of another user's session" [ "$(grep -c 10.0.0.9 "$dir/spy")" = 0 ]
check "(who asked, was waiting)" grep -q -i "timed\? \?out\|timeout" "$dir/spy"
wait "$roots"

# --- learn, from the service -----------------------------------------------------------------------
"$build/cgnetd" learn "${instance[@]}" --class net >"$dir/learn" 2>"$dir/learn.err" &
learner=$!
wait_for is_read
session net learn-a tcp 10.0.0.7 80
session net learn-b tcp 10.0.0.6 80
session other learn-c tcp 10.0.0.5 80
sleep 0.5
kill -INT "$learner"
wait "$learner"
check "learn asks the service" grep -qF '"10.0.0.6/31:80/tcp", # denials (uid 0), 2 times' "$dir/learn"
check "and for its class only" [ "$(grep -c '"' "$dir/learn")" = 1 ]
serve_stop

# --- the log -------------------------------------------------------------------------------------
"$build/cgnetd" serve "${instance[@]}" --log-events stderr "$file" >/dev/null 2>"$serve_log.now" &
serve_pid=$!
wait_for serve_is_ready
wait_for is_read
session net logged named $'x\ny' 10.0.0.9 22
wait_for grep -q "net/logged: tcp connect4 to 10.0.0.9:22 denied by @local" "$serve_log.now"
check "events are logged" [ "$(logged "net/logged: tcp connect4 to 10.0.0.9:22 denied by @local")" = 1 ]
check "a name with a newline stays in its line" [ "$(logged 'x\x0ay[')" = 1 ]
# What happens while there is no service is told by the next one.
serve_end KILL
session net between tcp 10.0.0.9 22
"$build/cgnetd" serve "${instance[@]}" --log-events stderr "$file" >/dev/null 2>"$serve_log.now" &
serve_pid=$!
wait_for serve_is_ready
wait_for grep -q "net/between" "$serve_log.now"
check "a service that was killed misses nothing" [ "$(logged "net/between: tcp")" = 1 ]
serve_stop

# In a /dev of its own.
# shellcheck disable=SC2016 # for the inner shell
unshare -m -- bash -c '
    mount -t tmpfs none /dev && mknod -m 666 /dev/null c 1 3 || exit
    python3 -c "
import socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(\"/dev/log\")
s.settimeout(30)
print(s.recv(4096).decode(), flush=True)" >"$0" 2>&1 &
    while [ ! -e /dev/log ]; do sleep 0.05; done
    exec "$@"' "$dir/syslog" "$build/cgnetd" serve "${instance[@]}" --log-events syslog "$file" \
    >/dev/null 2>"$serve_log.now" &
serve_pid=$!
wait_for serve_is_ready
wait_for is_read
session net syslogged tcp 10.0.0.9 22
wait_for grep -q syslogged "$dir/syslog"
check "syslog gets them, too" grep -q "^<29>cgnetd\[$serve_pid\]: .* net/syslogged: tcp" "$dir/syslog"
serve_stop

lab_finish
