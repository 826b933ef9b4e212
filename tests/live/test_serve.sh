#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The service: who gets into which class, what a hostile user can do to it, and that nothing opens
# or is left behind whatever becomes of it. CMD is often a shell whose variables are its own, and the
# cases are called by way of a variable:
# shellcheck disable=SC2016,SC2317

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
need_tools python3 setpriv
lab_enter "$@"
# shellcheck source-path=SCRIPTDIR source=service.sh
. "$live_dir/service.sh"

place=(sed -n 's,^0::.*/\([^/]*/[^/]*\)$,\1,p' /proc/self/cgroup)

policy=$(policy_file grants <<'END'
default_class = "restricted"
class restricted {
    default = allow
    deny = { "@local" }
}
class lan {
    default = deny
    allow = { "192.168.50.0/24" }
}
user "4001" { class = lan }
user "4002" { class = gone }
group "4100" { class = lan }
END
)
chmod 644 "$policy"

# is WHAT GOT WANTED
is() {
    if [ "$2" = "$3" ]; then
        pass "$1"
    else
        fail "$1" "$2 instead of $3"
    fi
}

# attempt WHAT STATUS TEXT COMMAND...: exit status, and what is said on stdout or stderr.
attempt() {
    local what=$1 want=$2 text=$3 output status

    shift 3
    output=$("$@" 2>&1)
    status=$?
    if [ "$status" != "$want" ]; then
        fail "$what" "status $status instead of $want: $output"
    elif [[ $output != *"$text"* ]]; then
        fail "$what" "said \"$output\", not \"$text\""
    else
        pass "$what"
    fi
}

hostile() { # UID SCENARIO ARG...
    local who=$1

    shift
    as "$who" "$python" "$dir/control.py" "$control" "$@"
}

hostile_is_held() { # WHAT UID SCENARIO ARG...
    local what=$1

    shift
    attempt "$what" 0 ok hostile "$@"
}

nothing_left() { # AFTER
    if wait_for no_sessions; then
        pass "$1: no session is left"
    else
        fail "$1: no session is left" "$(sessions | paste -sd' ')"
    fi
}

# --- without a service -------------------------------------------------------------------------------
without_a_service() {
    serve_stop
    load "$policy"
    attempt "no service" 125 "no service runs" user_run 4000 -- touch "$dir/open/ran"
    is "no service: CMD did not run" "$([ -e "$dir/open/ran" ] && echo ran)" ""
}

serve_ensure() {
    [ -n "$serve_pid" ] || serve_start "$policy"
}

# --- grants ----------------------------------------------------------------------------------------
grants() {
    local n

    attempt "no grant: the default class" 0 restricted/ user_run 4000 -- "${place[@]}"
    attempt "a grant" 0 lan/ user_run 4001 -- "${place[@]}"
    attempt "a group's grant, as the primary group" 0 lan/ user_run 4100 -- "${place[@]}"
    attempt "a group's grant" 0 lan/ user_run 4003:4100,4101 -- "${place[@]}"
    attempt "a granted class by name" 0 lan/ user_run 4001 --class lan -- "${place[@]}"
    attempt "the default class by name" 0 restricted/ user_run 4001 --class restricted -- "${place[@]}"
    attempt "a name for the session" 0 lan/mine user_run 4001 --name mine -- "${place[@]}"
    attempt "a grant of a missing class: the default class" 0 restricted/ user_run 4002 -- "${place[@]}"
    attempt "a grant of a missing class: a warning" 0 "warning: the class granted to uid 4002, gone" \
        user_run 4002 -- true
    n=$(logged "uid 4002")
    is "a grant of a missing class is logged" $((n > 0)) 1
    rm -f "$dir/open/ran"
    attempt "a class without a right to it" 125 "not granted to uid 4000" \
        user_run 4000 --class lan -- touch "$dir/open/ran"
    is "it is logged" "$(logged "enter refused: class lan: not granted to uid 4000")" 1
    attempt "a class that there is not" 125 "not granted" user_run 4000 --class other -- touch "$dir/open/ran"
    attempt "a wrong name" 125 "--name" user_run 4000 --name ../x -- touch "$dir/open/ran"
    attempt "another instance's cgroup" 125 "what is loaded uses" \
        as 4000 "$dir/cgnet-run" "${instance[@]}" --cgroup elsewhere -- touch "$dir/open/ran"
    is "refused: CMD did not run" "$([ -e "$dir/open/ran" ] && echo ran)" ""
    attempt "root goes its own way" 0 lan/ cgnet_run --class lan -- "${place[@]}"
    attempt "a status" 7 "" user_run 4000 -- sh -c 'exit 7'
    attempt "a signal" 143 "" user_run 4000 -- sh -c 'kill $$'
    attempt "not found" 127 "No such file" user_run 4000 -- /nonexistent
    attempt "no descriptors" 0 "0 1 2" user_run 4000 -- sh -c 'cd /proc/$$/fd && echo 0 1 2 && ! ls 9' 9<&0
    attempt "confined" 0 "NoNewPrivs: 1 Seccomp: 2 " user_run 4000 -- \
        awk '/NoNewPrivs|Seccomp:/ {printf "%s %s ", $1, $2}' /proc/self/status
    start_session 4000 named
    attempt "the name of a live session" 125 "exists already" user_run 4000 --name named -- true
    attempt "another user's kill, by the name" 1 "must be run as root" \
        as 4000 "$build/cgnetd" kill "${instance[@]}" named
    attempt "sessions" 0 "named" "$build/cgnetd" sessions "${instance[@]}"
    attempt "kill" 0 "ended restricted/named" "$build/cgnetd" kill "${instance[@]}" named
    wait "$session_pid" 2>/dev/null
    nothing_left "grants"
}

# start_session UID NAME: one that lives until session_pid, its cgnet-run, is ended.
start_session() {
    setpriv --reuid "$1" --regid "$1" --clear-groups -- "$dir/cgnet-run" "${instance[@]}" \
        --name "$2" -- sleep 300 &
    session_pid=$!
    wait_for grep -q . "$cgroup/restricted/$2/cgroup.procs"
}

# --- a verdict inside --------------------------------------------------------------------------------
verdicts() {
    agent_start in user_run 4000 -- "$dir/probe" --serve
    ask in tcp "$neighbour4" 80
    is "a denied neighbour" "$word" EPERM
    ask in tcp "$provider4" 443
    is "the provider" "$word" ok
    ask out tcp "$neighbour4" 80
    is "the neighbour from outside" "$word" ok
    agent_stop in
    nothing_left "verdicts"
}

# --- no way out, no second way in --------------------------------------------------------------------
second_way() {
    local name=$dir/open/offer

    attempt "a session in a session" 125 "already in a class" \
        user_run 4000 -- "$dir/cgnet-run" "${instance[@]}" --class lan -- true
    attempt "a session that hides its instance" 125 "already in a class" \
        user_run 4001 -- "$dir/cgnet-run" --run-dir "$dir/run/cgnet" --cgroup x -- true
    attempt "su inside a root session" 125 "already in a class" cgnet_run --class restricted -- \
        setpriv --reuid 4001 --regid 4001 --clear-groups -- "$dir/cgnet-run" --run-dir "$dir/run/cgnet" \
        --cgroup x -- true
    hostile_is_held "two connections" 4001 double
    hostile_is_held "two connections at once" 4001 both
    # Both wait until a load is through, and the service has looked at both before.
    flock -x "$bpffs" sleep 4 &
    wait_for sh -c '! flock -n -x "$0" true' "$bpffs"
    hostile_is_held "two connections that wait" 4001 both
    wait $!
    hostile_is_held "a connection passed to a child" 4000 child
    hostile_is_held "a process that forks" 4000 fork
    nothing_left "two connections"

    hostile 4001 offer "$name" >/dev/null 2>&1 &
    wait_for test -S "$name"
    attempt "a connection passed into a session" 0 ok \
        user_run 4000 -- "$python" "$dir/control.py" "$control" take "$name" enter
    wait $!
    rm -f "$name"
    # Root's authority is not for a session either.
    hostile 0 offer "$name" >/dev/null 2>&1 &
    wait_for test -S "$name"
    attempt "root's connection passed into a session" 0 ok \
        user_run 4000 -- "$python" "$dir/control.py" "$control" take "$name" load
    wait $!
    nothing_left "passed connections"

    hostile_is_held "gone before the answer" 4000 vanish
    nothing_left "gone before the answer"
    reused_pid
}

# A process asks and dies while the service does not look; another one gets its number.
reused_pid() {
    local what="a reused pid is not moved" pid victim got

    rm -f "$dir/go"
    kill -STOP "$serve_pid"
    hostile 4000 delayed "$dir/go" >"$dir/delayed" &
    wait_for test -s "$dir/delayed"
    pid=$(cat "$dir/delayed")
    sleep 0.1
    touch "$dir/go"
    wait $!
    victim=
    for _ in {1..50}; do
        echo $((pid - 1)) 2>/dev/null >/proc/sys/kernel/ns_last_pid || break
        sleep 60 &
        victim=$!
        [ "$victim" = "$pid" ] && break
        kill "$victim"
        wait "$victim" 2>/dev/null
        victim=
    done
    kill -CONT "$serve_pid"
    if [ -z "$victim" ]; then
        skip "$what" "cannot choose a pid here"
    else
        sleep 0.3
        got=$(sed -n 's/^0:://p' "/proc/$victim/cgroup")
        is "$what" "$got" "$(sed -n 's/^0:://p' /proc/self/cgroup)"
        kill "$victim"
        wait "$victim" 2>/dev/null
    fi
    nothing_left "$what"
}

# Two instances: what is in a class of one is not let into the other's.
another_instance() {
    local other=(--bpffs "$dir/bpf/other" --cgroup "$CGNET_LAB-lab/other" --run-dir "$dir/run/other")

    "$build/cgnetd" load "${other[@]}" "$policy" >/dev/null 2>&1 || {
        fail "another instance" "cannot be loaded"
        return
    }
    attempt "a session of another instance" 125 "another policy on connect" \
        "$dir/cgnet-run" "${other[@]}" --class lan -- \
        setpriv --reuid 4000 --regid 4000 --clear-groups -- "$dir/cgnet-run" "${instance[@]}" -- true
    attempt "the other instance goes" 0 unloaded "$build/cgnetd" unload "${other[@]}"
}

# --- messages ----------------------------------------------------------------------------------------
messages() {
    hostile_is_held "malformed requests" 4000 malformed
    hostile_is_held "random requests" 4003 random 300
    hostile_is_held "requests without a right" 4000 no_right
    kill -0 "$serve_pid"
    is "the service still runs" $? 0
    # Users may fill the log with a few lines only.
    is "few lines of one user" $(($(logged "uid 4003") < 100)) 1
}

crowd() {
    local jobs=() i n

    n=$(descriptors)
    for i in 1 2; do
        rm -f "$dir/ready$i"
    done
    hostile 4005 silent 1990 "$dir/ready1" 8 >/dev/null 2>&1 &
    jobs+=($!)
    wait_for test -e "$dir/ready1"
    hostile_is_held "1,990 silent connections: others are answered" 4000 latency 100
    attempt "1,990 silent connections: a session of the same user" 0 restricted/ user_run 4005 -- "${place[@]}"
    is "no more than its share is held" $(($(descriptors) < n + 2 * 140)) 1
    hostile 4006 talkative "$dir/ready2" 3 >/dev/null 2>&1 &
    jobs+=($!)
    wait_for test -e "$dir/ready2"
    hostile_is_held "a flood of requests: others are answered" 4000 latency 100
    attempt "a flood of requests: a session" 0 restricted/ user_run 4000 -- "${place[@]}"
    kill "${jobs[@]}" 2>/dev/null
    wait "${jobs[@]}" 2>/dev/null
    wait_for few_descriptors $((n + 4))
    is "descriptors are given back" $? 0
}

descriptors() {
    find "/proc/$serve_pid/fd" -mindepth 1 | wc -l
}

few_descriptors() {
    [ "$(descriptors)" -le "$1" ]
}

# --- many sessions -----------------------------------------------------------------------------------
many() {
    local jobs=() i rss open wrong

    rss=$(awk '/VmRSS/ {print $2}' "/proc/$serve_pid/status")
    open=$(descriptors)
    watches=$(cat "/proc/$serve_pid/fdinfo/"* | grep -c ^inotify)
    for i in {1..10}; do
        (
            who=400$((i % 2))
            for _ in {1..20}; do user_run "$who" -- "${place[@]}" || echo "status $?"; done
        ) >"$dir/many.$i" 2>&1 &
        jobs+=($!)
    done
    for i in "${jobs[@]}"; do wait "$i"; done
    wrong=$(for i in {1..10}; do
        want=$([ $((i % 2)) = 1 ] && echo lan/ || echo restricted/)
        grep -v "^$want" "$dir/many.$i"
    done)
    is "200 sessions by 10 clients: each in its class" "$wrong" ""
    is "200 sessions, each its own" "$(cat "$dir"/many.* | sort -u | wc -l)" 200
    nothing_left "200 sessions"
    is "200 sessions: no descriptor is left" "$(descriptors)" "$open"
    is "200 sessions: no watch is left" "$(cat "/proc/$serve_pid/fdinfo/"* | grep -c ^inotify)" \
        "$watches"
    is "200 sessions: no memory is left" \
        $(($(awk '/VmRSS/ {print $2}' "/proc/$serve_pid/status") < rss + 512)) 1
}

# --- life --------------------------------------------------------------------------------------------
life() {
    local first

    start_session 4000 survivor
    agent_start in user_run 4000 -- "$dir/probe" --serve
    ask in tcp "$neighbour4" 80
    first=$word
    serve_end KILL
    ask in tcp "$neighbour4" 80
    is "after kill -9 the session is as it was" "$first $word" "EPERM EPERM"
    attempt "after kill -9 nobody is let in" 125 "no service" user_run 4000 -- true
    serve_start "$policy"
    ask in tcp "$neighbour4" 80
    is "after a restart it is, too" "$word" EPERM
    attempt "after a restart users are let in" 0 lan/ user_run 4001 -- "${place[@]}"
    is "the session lives" "$(sessions | grep -c survivor)" 1
    kill "$session_pid"
    wait "$session_pid" 2>/dev/null
    agent_stop in
    nothing_left "sessions of the service before"
    attempt "two services of one run directory" 1 "another service runs" \
        "$build/cgnetd" serve "${instance[@]}" "$policy"
    attempt "unload under a service" 1 "a service runs" "$build/cgnetd" unload "${instance[@]}"
    serve_end TERM
    is "SIGTERM ends it" "$status" 0
    is "its socket is gone" "$([ -e "$control" ] && echo there)" ""
    attempt "the policy stays" 0 "restricted" "$build/cgnetd" status "${instance[@]}"
    serve_start "$policy"
}

privileges() {
    local field

    # CAP_DAC_OVERRIDE, CAP_SYS_MODULE and CAP_SYS_RAWIO are gone, CAP_BPF is not.
    field=$(awk '/CapEff/ {print $2}' "/proc/$serve_pid/status")
    is "capabilities" $((0x$field & 1 << 1 | 0x$field & 1 << 16 | 0x$field & 1 << 17 | !(0x$field & 1 << 39))) 0
    is "no_new_privs" "$(awk '/NoNewPrivs/ {print $2}' "/proc/$serve_pid/status")" 1
    is "seccomp" "$(awk '/^Seccomp:/ {print $2}' "/proc/$serve_pid/status")" 2
}

changes() {
    local changed

    changed=$(policy_file changed <<<"$(sed 's/deny = { "@local" }/deny = { "@local", "45.99.0.0\/16" }/' "$policy")")
    cp "$changed" "$dir/followed.conf"
    cp "$policy" "$dir/followed.conf"
    attempt "load, to a service" 0 "followed.conf: 2 classes in force" \
        "$build/cgnetd" load "${instance[@]}" "$dir/followed.conf"
    is "it says that it follows that file" "$(logged "follows $dir/followed.conf from now on")" 1
    explain_is allow "before the change"
    cp "$changed" "$dir/followed.conf"
    kill -HUP "$serve_pid"
    wait_for explain_says deny
    explain_is deny "after SIGHUP"
    cp "$policy" "$dir/followed.conf"
    attempt "load of the same file" 0 "in force" \
        "$build/cgnetd" load "${instance[@]}" "$dir/followed.conf"
    explain_is allow "after load"
    echo 'class broken { default = perhaps }' >>"$dir/followed.conf"
    attempt "load of a broken file" 1 "followed.conf:$(wc -l <"$dir/followed.conf"): " \
        "$build/cgnetd" load "${instance[@]}" "$dir/followed.conf"
    kill -HUP "$serve_pid"
    wait_for test "$(logged "default is allow or deny")" -ge 2
    explain_is allow "after a broken file"
    attempt "users are still let in" 0 lan/ user_run 4001 -- "${place[@]}"
    # A class that goes has no sessions, or is kept.
    sed '/^class lan/,/^}/d' "$policy" >"$dir/followed.conf"
    agent_start in user_run 4001 -- "$dir/probe" --serve
    ask in tcp "$neighbour4" 80
    attempt "load without a class that has sessions" 1 "has sessions" \
        "$build/cgnetd" load "${instance[@]}" "$dir/followed.conf"
    agent_stop in
    nothing_left "a class with sessions"
    attempt "load without a class" 0 "1 dropped" \
        "$build/cgnetd" load "${instance[@]}" "$dir/followed.conf"
    attempt "what was granted is gone: the default class" 0 restricted/ user_run 4001 -- "${place[@]}"
    attempt "back again" 0 "1 added" "$build/cgnetd" load "${instance[@]}" "$policy"
    attempt "another instance's load does not come here" 1 "" "$build/cgnetd" load \
        --bpffs "$dir/bpf/third" --cgroup "$CGNET_LAB-lab/third" --run-dir "$dir/run/cgnet" /nonexistent
}

# A connection that a new policy denies ends at once; others go on, and so does what the session
# accepted, though it is from there.
flows() {
    local denied=45.99.0.1 allowed=45.98.0.1 host=45.33.7.2 world session

    install -m 0644 "$live_dir/flows.py" "$dir"
    in_world "$python" "$dir/flows.py" world "$denied" "$allowed" "$host" >"$dir/flows.world" 2>&1 &
    world=$!
    wait_for grep -q ready "$dir/flows.world"
    user_run 4000 -- "$python" "$dir/flows.py" session "$denied" "$allowed" "$host" >"$dir/flows" 2>&1 &
    session=$!
    wait_for grep -q ready "$dir/flows"
    sed 's/deny = { "@local" }/deny = { "@local", "45.99.0.0\/16" }/' "$policy" | policy_file flowing >/dev/null
    attempt "a policy that denies a flow" 0 "reset 1 connection" \
        "$build/cgnetd" load "${instance[@]}" "$dir/flowing.conf"
    wait "$session"
    is "the flow is reset, others go on" "$(tail -n 1 "$dir/flows")" "reset True True"
    kill "$world"
    wait "$world" 2>/dev/null
    attempt "back again" 0 "changed" "$build/cgnetd" load "${instance[@]}" "$policy"
    nothing_left "flows"
}

explain_says() {
    [[ $("$build/cgnetd" explain "${instance[@]}" --json restricted 45.99.0.1:80 2>&1) == *"\"verdict\":\"$1\""* ]]
}

explain_is() { # VERDICT WHEN
    check "$2: $1" explain_says "$1"
}

# --- what the manager is told ------------------------------------------------------------------------
notices() {
    local name manager

    serve_stop
    for name in "$dir/notify" "@$CGNET_LAB"; do
        python3 "$live_dir/notified.py" "$name" >"$dir/notices" &
        manager=$!
        wait_for grep -q ready "$dir/notices"
        serve_start "$policy" NOTIFY_SOCKET="$name" WATCHDOG_USEC=200000
        wait_for grep -q WATCHDOG=1 "$dir/notices"
        kill -HUP "$serve_pid"
        wait_for grep -q RELOADING=1 "$dir/notices"
        wait_for test "$(grep -c READY=1 "$dir/notices")" = 2
        sleep 0.2
        serve_end TERM
        wait_for grep -q STOPPING=1 "$dir/notices"
        kill "$manager"
        wait "$manager" 2>/dev/null
        is "what the manager is told at $name" \
            "$(sed 's/MONOTONIC_USEC=[0-9][0-9]*/MONOTONIC_USEC=N/' "$dir/notices" | grep -v WATCHDOG | paste -sd,)" \
            "ready,READY=1,RELOADING=1 MONOTONIC_USEC=N,READY=1,STOPPING=1"
        is "the watchdog is fed at $name" $(($(grep -c WATCHDOG=1 "$dir/notices") > 1)) 1
    done
    serve_start "$policy"
}

# --- hardships ---------------------------------------------------------------------------------------
# What fails does so in the worker; the service goes on with what it has.
hardships() {
    serve_stop
    serve_start "$policy"
    prlimit --pid "$serve_pid" --data=$((64 << 20)):unlimited
    mount --bind "$dir/run" "$dir/run" && mount -o remount,bind,ro "$dir/run"
    awk 'BEGIN {for (i = 0; i < 600000; i++) printf "11.%d.%d.%d\n", i / 65536, i / 256 % 256, i % 256}' \
        >"$dir/large.list"
    sed 's/deny = { "@local" }/deny = { "@local", "@large" }/' "$policy" | policy_file large >/dev/null
    echo "set large { members = { \"file:$dir/large.list\" } }" >>"$dir/large.conf"
    attempt "a policy that does not fit" 1 "memory" "$build/cgnetd" load "${instance[@]}" "$dir/large.conf"
    explain_is allow "the policy before it is in force"
    attempt "users are let in" 0 lan/ user_run 4001 -- "${place[@]}"
    attempt "a policy that fits" 0 "in force" "$build/cgnetd" load "${instance[@]}" "$policy"
    umount "$dir/run"
    prlimit --pid "$serve_pid" --data=unlimited:unlimited
    attempt "the same, with room for it" 0 "2 changed" "$build/cgnetd" load "${instance[@]}" "$dir/large.conf"
    is "the service is as small as it was" $(($(awk '/RssAnon/ {print $2}' "/proc/$serve_pid/status") < 8192)) 1
    attempt "back again" 0 "changed" "$build/cgnetd" load "${instance[@]}" "$policy"
    nothing_left "hardships"
}

# --- versions ----------------------------------------------------------------------------------------
# What other versions of cgnetd pinned, as far as their records tell.
versions() {
    local abi ours old new out

    if ! command -v bpftool >/dev/null; then
        skip "versions" "no bpftool"
        return
    fi
    serve_stop
    load "$policy"
    abi=$(python3 "$live_dir/record.py" "$bpffs/_info" abi)
    hammer_start "A:$provider4:443" B:10.2.0.1:80 shut:10.9.0.1:80
    # A later version's pins are left alone.
    python3 "$live_dir/record.py" "$bpffs/_info" abi $((abi + 1))
    find "$bpffs" -printf '%p %i\n' | sort >"$dir/pins"
    for out in "load $policy" "serve $policy" status unload "unload --force" "sessions"; do
        # shellcheck disable=SC2086 # words of a command
        attempt "a later version's pins: $out" 1 "later version" "$build/cgnetd" $out "${instance[@]}"
    done
    attempt "a later version's pins: cgnet-run" 125 "not of this version" cgnet_run -- true
    check "a later version's pins are as they were" diff "$dir/pins" <(find "$bpffs" -printf '%p %i\n' | sort)
    # An earlier version's are taken over, all of them.
    python3 "$live_dir/record.py" "$bpffs/_info" abi $((abi - 1))
    attempt "an earlier version's pins: status" 1 "earlier version" "$build/cgnetd" status "${instance[@]}"
    old=$(python3 "$live_dir/record.py" "$bpffs/restricted/class" programs)
    serve_start "$policy"
    is "an earlier version's pins are taken over" "$(logged "2 changed")" 1
    is "and have this version" "$(python3 "$live_dir/record.py" "$bpffs/_info" abi)" "$abi"
    attempt "users are let in" 0 lan/ user_run 4001 -- "${place[@]}"
    # The same version with other programs.
    ours=$(python3 "$live_dir/record.py" "$bpffs/lan/class" programs)
    new=$(readlink_programs lan)
    python3 "$live_dir/record.py" "$bpffs/lan/class" programs 12345
    serve_stop
    serve_start "$policy"
    is "a class with other programs gets these" "$(logged "1 changed, 1 unchanged")" 1
    is "it says so" "$(python3 "$live_dir/record.py" "$bpffs/lan/class" programs)" "$ours"
    is "they are attached" "$([ "$(readlink_programs lan)" != "$new" ] && echo others)" others
    is "those of the other class are not touched" \
        "$(python3 "$live_dir/record.py" "$bpffs/restricted/class" programs)" "$old"
    hammer_stop "versions: no gap" 0
    nothing_left "versions"
}

# The id of a class's program on connect.
readlink_programs() {
    bpftool -j link show pinned "$bpffs/$1/connect4" | sed 's/.*"prog_id":\([0-9]*\).*/\1/'
}

# --- no gap ------------------------------------------------------------------------------------------
# hammer_start TARGET...: a session of an ordinary user's that connects all the time.
hammer_start() {
    "$build/cgnet-run" "${instance[@]}" --class restricted -- setpriv --reuid 4000 --regid 4000 \
        --clear-groups -- "$dir/hammer" "$@" >"$dir/hammered" 2>&1 &
    hammer=$!
    wait_for pgrep -P "$hammer"
}

# hammer_stop WHAT MINIMUM: nothing was wrong in any round, and there were so many changes.
hammer_stop() {
    local rounds judged switches wrong what=$1

    kill "$hammer"
    wait "$hammer"
    read -r rounds judged switches wrong <<<"$(tail -n 1 "$dir/hammered")"
    if [[ ! $wrong =~ ^[0-9]+$ ]]; then
        fail "$what" "$(tail -n 3 "$dir/hammered")"
    elif [ "$wrong" != 0 ] || [ "$switches" -lt "$2" ]; then
        fail "$what" "$wrong of $rounds rounds wrong, $switches changes: $(head -n 1 "$dir/hammered")"
    else
        pass "$what ($rounds rounds, $judged judged, $switches changes)"
    fi
}

no_gap() {
    local i what="reloads, kills and restarts: no gap"

    for i in a b; do
        policy_file "hammer_$i" >/dev/null <<END
default_class = "restricted"
class restricted {
    default = allow
    deny = { "@local" }
    allow = { $([ "$i" = a ] && echo '"10.1.0.1"' || echo '"10.2.0.1"') }
    loopback = deny
}
END
    done
    cp "$dir/hammer_a.conf" "$dir/hammer.conf"
    serve_stop
    serve_start "$dir/hammer.conf"
    hammer_start A:10.1.0.1:80 B:10.2.0.1:80 shut:10.9.0.1:80 shut:127.0.0.1:8080 "open:$provider4:443"
    for ((i = 1; i <= 40; i++)); do
        cp "$dir/hammer_$( ((i % 2)) && echo b || echo a).conf" "$dir/hammer.new"
        mv "$dir/hammer.new" "$dir/hammer.conf"
        case $((i % 4)) in
        0) cgnetd load "$dir/hammer.conf" >/dev/null 2>&1 || fail "$what" "load $i" ;;
        1)
            serve_end KILL
            serve_start "$dir/hammer.conf"
            ;;
        2) kill -HUP "$serve_pid" && sleep 0.0$((RANDOM % 10)) ;;
        3)
            kill -HUP "$serve_pid"
            sleep 0.0$((RANDOM % 10))
            serve_end "$([ $((i % 8)) = 3 ] && echo KILL || echo TERM)"
            serve_start "$dir/hammer.conf"
            ;;
        esac
    done
    hammer_stop "$what" 20
    nothing_left "$what"
}

install -m 0755 "$probe" "$build/tests/live/hammer" "$dir"
mkdir -m 1777 "$dir/open"
install -m 0644 "$live_dir/control.py" "$dir"
python=$(PATH=/usr/bin:/bin:/usr/local/bin command -v python3) || lab_broken "no python3 for everybody"
if [ $# = 0 ]; then
    set -- without_a_service grants verdicts second_way another_instance messages crowd many life \
        privileges changes flows hardships notices versions no_gap
fi
for part; do
    [ "$part" = without_a_service ] || serve_ensure
    $part
done
serve_stop
lab_finish
