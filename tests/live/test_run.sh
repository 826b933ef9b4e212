#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# cgnet-run: what CMD gets and gives back, what is refused, what is left behind (nothing).
# CMD is often a shell whose variables are its own, and the cases are called by way of a variable:
# shellcheck disable=SC2016,SC2317
PATH=/usr/sbin:/usr/bin:/sbin:/bin
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
lab_enter "$@"

# shellcheck disable=SC2154 # lab_enter sets dir, bpffs and cgroup
name=$(basename "$cgroup")
run=("$build/cgnet-run" --bpffs "$bpffs" --cgroup "$name")
restricted=$cgroup/restricted
tmp=$dir

load_again() {
    load "$tmp/run.conf"
}

policy_file run >/dev/null <<'EOF'
default_class = "restricted"
class restricted {
    default = allow
    deny = { "198.51.100.0/24" }
}
class lan {
    default = allow
    deny = { "203.0.113.0/24" }
}
class keep {
    default = allow
    deny = { "203.0.113.0/24" }
    privileges = keep
}
EOF
load_again

# --- helpers -------------------------------------------------------------------------------------

is() { # NAME GOT WANTED
    if [ "$2" = "$3" ]; then pass "$1"; else fail "$1" "got '$2', wanted '$3'"; fi
}

sessions() { # [CLASS]
    find "$cgroup/${1:-restricted}" -mindepth 1 -maxdepth 1 -type d -printf '%f\n' 2>/dev/null
}

nothing_left() { # NAME
    local left

    left=$(sessions restricted && sessions lan && sessions keep)
    is "$1: nothing is left" "$left" ""
    [ -z "$left" ] || find "$cgroup"/*/ -mindepth 1 -depth -type d -exec rmdir {} \; 2>/dev/null
}

# Runs a command and compares its exit status and what it wrote to stderr: nothing for "", else one
# line that matches.
try() { # NAME STATUS PATTERN COMMAND...
    local name=$1 status=$2 pattern=$3 got lines

    shift 3
    timeout 60 "$@" >"$tmp/out" 2>"$tmp/err"
    got=$?
    lines=$(wc -l <"$tmp/err")
    if [ "$got" != "$status" ]; then
        fail "$name" "status $got, wanted $status: $(head -n 3 "$tmp/err")"
    elif [ -z "$pattern" ] && [ -s "$tmp/err" ]; then
        fail "$name" "said $(head -n 3 "$tmp/err")"
    elif [ -n "$pattern" ] && ! { [ "$lines" = 1 ] && grep -qE -- "$pattern" "$tmp/err"; }; then
        fail "$name" "said '$(cat "$tmp/err")', wanted one line with '$pattern'"
    else
        pass "$name"
    fi
}

# As try, for what cgnet-run has to refuse: 125, and CMD never ran.
refused() { # NAME PATTERN COMMAND-UP-TO-CMD...
    local name=$1 pattern=$2

    shift 2
    rm -f "$tmp/ran"
    try "$name" 125 "$pattern" "$@" touch "$tmp/ran"
    if [ -e "$tmp/ran" ]; then fail "$name" "CMD ran"; else pass "$name: CMD did not run"; fi
    nothing_left "$name"
}

wait_for() { # CONDITION...
    local i

    for ((i = 0; i < 1000; i++)); do
        "$@" 2>/dev/null && return
        sleep 0.02
    done
    return 1
}

# Starts a command in the background and waits until it has written "ready" to $tmp/log. Its pid is
# then $job.
start() { # COMMAND...
    : >"$tmp/log"
    "$@" >>"$tmp/log" 2>&1 &
    job=$!
    wait_for grep -q ready "$tmp/log" || fail "start" "not ready: $*: $(cat "$tmp/log")"
}

pid_in() { # SESSION
    head -n 1 "$restricted/$1/cgroup.procs"
}

gone() { # PID
    ! kill -0 "$1"
}

# --- cases ---------------------------------------------------------------------------------------

exit_statuses() {
    local n

    try "status 0" 0 '' "${run[@]}" -- true
    for n in 1 3 125 255; do try "status $n" "$n" '' "${run[@]}" -- sh -c "exit $n"; done
    for n in HUP INT QUIT KILL TERM SEGV; do
        try "killed by $n" $((128 + $(kill -l "$n"))) '' "${run[@]}" -- \
            sh -c "ulimit -c 0; kill -$n \$\$"
    done
    echo 'exit 7' >"$tmp/script"
    try "not executable" 126 'script: Permission denied' "${run[@]}" -- "$tmp/script"
    try "a directory" 126 'Permission denied' "${run[@]}" -- "$tmp"
    try "not found in PATH" 127 'no-such-cmd: No such file' "${run[@]}" -- no-such-cmd
    try "not found" 127 '/no/such: No such file' "${run[@]}" -- /no/such
    try "an empty name" 127 'No such file' "${run[@]}" -- ''
    chmod +x "$tmp/script"
    try "a script without #!" 7 '' "${run[@]}" -- "$tmp/script"
    nothing_left "exit statuses"
}

command_line() {
    try "--help" 0 '' "$build/cgnet-run" --help
    is "--help goes to stdout" "$(head -c 17 "$tmp/out")" "Usage: cgnet-run "
    try "--version" 0 '' "$build/cgnet-run" --version
    try "no command" 125 '^cgnet-run: no command' "${run[@]}"
    try "no command after --" 125 '^cgnet-run: no command' "${run[@]}" --
    refused "an unknown option" "^cgnet-run: unrecognized option '--foo'" "${run[@]}" --foo --
    refused "a short option" "^cgnet-run: invalid option -- 'x'" "${run[@]}" -x --
    try "a missing value" 125 "^cgnet-run: option '--class' requires" "${run[@]}" --class
    try "options after CMD are its own" 0 '' "${run[@]}" echo --class x --help
    is "options after CMD are its own" "$(cat "$tmp/out")" "--class x --help"
    try "CMD after --" 0 '' "${run[@]}" -- echo -- -n
    is "CMD after --" "$(cat "$tmp/out")" "-- -n"
    try "--class=C" 0 '' "${run[@]}" --class=lan grep -c "^0::/.*$name/lan/s" /proc/self/cgroup
    try "--cgroup, slashes aside" 0 '' "${run[@]}" --cgroup "/$name/" --run-dir "$tmp/run" true
}

refusals() {
    local bad_name long

    long=$(printf 'a%.0s' {1..33})
    refused "an unknown class" 'unknown class nope; known: keep, lan, restricted$' \
        "${run[@]}" --class nope --
    for bad_name in '' . .. ../i/lan lan/ Lan 1lan _info "$long"; do
        refused "the class '$bad_name'" 'not a name' "${run[@]}" --class "$bad_name" --
    done
    for bad_name in '' . .. .x -x a/b ../x A 'a b' "$long$long" $'a\nb'; do
        refused "the session '$bad_name'" '^cgnet-run: --name ' \
            "${run[@]}" --name="${bad_name//$'\n'/:}" --
    done
    for bad_name in cgroup.procs cgroup.x memory.max cpu.stat pids.x io.pressure; do
        refused "the session '$bad_name'" "kernel's own" "${run[@]}" --name "$bad_name" --
    done
    refused "another --cgroup" "--cgroup other: what is loaded uses $name" \
        "${run[@]}" --cgroup other --
    refused "no bpffs directory" 'no policy is loaded in .*: cgnetd load' \
        "$build/cgnet-run" --bpffs "$tmp/none" --
    refused "nothing loaded" 'no policy is loaded in .*: cgnetd load' \
        "$build/cgnet-run" --bpffs "$dir/bpf" --
    refused "a file for bpffs" 'Not a directory' "$build/cgnet-run" --bpffs "$tmp/run.conf" --
    refused "not root" 'root' setpriv --reuid 65534 --clear-groups "${run[@]}" --
    refused "root without CAP_SYS_ADMIN" '^cgnet-run: ' \
        setpriv --bounding-set -all --inh-caps -all "${run[@]}" --
    refused "the same class again" 'already in a class' "${run[@]}" -- "${run[@]}" --
    refused "another class from inside" 'already in a class' \
        "${run[@]}" -- "${run[@]}" --class lan --
    refused "another class from a nested cgroup" 'already in a class' "${run[@]}" --class keep --name n -- \
        sh -c 'mkdir "$0/x" && echo $$ >"$0/x/cgroup.procs" && exec "$@"' "$cgroup/keep/n" \
        "${run[@]}" --class lan --

    mkdir "$dir/bpf/old"
    bpftool map create "$dir/bpf/old/_info" type array key 4 value 8 entries 1 name info
    refused "another version" 'not of this version' "$build/cgnet-run" --bpffs "$dir/bpf/old" --
    rm -r "$dir/bpf/old"
}

not_enforced() {
    local hook

    for hook in connect4 connect6 sendmsg4 sendmsg6 setsockopt create egress; do
        bpftool link detach pinned "$bpffs/lan/$hook"
        refused "no $hook" "class lan: not enforced, its $hook program is not attached" \
            "${run[@]}" --class lan --
        load_again
        try "$hook again" 0 '' "${run[@]}" --class lan -- true
    done
    rm "$bpffs/lan/connect4"
    refused "an unpinned link" 'its connect4 program is not attached' \
        "${run[@]}" --class lan --
    load_again
    rmdir "$cgroup/lan"
    refused "no cgroup" 'class lan: its cgroup .*: No such file' "${run[@]}" --class lan --
    mkdir "$cgroup/lan"
    refused "a cgroup made by hand" 'is not the cgroup that was loaded' \
        "${run[@]}" --class lan --
    load_again
    chown 65534 "$cgroup/lan"
    refused "a cgroup of another user" 'can be changed by others' "${run[@]}" --class lan --
    chown 0 "$cgroup/lan"
    chmod g+w "$cgroup/lan"
    refused "a cgroup that a group can write" 'can be changed by others' \
        "${run[@]}" --class lan --
    chmod g-w "$cgroup/lan"
    refused "a mount over the cgroup" 'not a cgroup2' unshare -m \
        sh -c 'mount -t tmpfs none "$0" && exec "$@"' "$cgroup/lan" "${run[@]}" --class lan --
    try "all as before" 0 '' "${run[@]}" --class lan -- true
}

locking() {
    local since

    flock -x "$bpffs" sleep 1 &
    sleep 0.2
    since=$SECONDS
    try "waits for cgnetd" 0 '' "${run[@]}" -- true
    is "waited" $((SECONDS - since < 3)) 1
    flock -x "$bpffs" sleep 30 &
    sleep 0.2
    refused "a cgnetd that does not finish" 'cgnetd is changing it' "${run[@]}" --
    kill "$(pgrep -P $!)"
    wait $! 2>/dev/null
    start "${run[@]}" -- sh -c 'echo ready; exec sleep 30'
    try "no lock while CMD runs" 0 '' flock -n -x "$bpffs" true
    kill "$job"
    wait "$job" 2>/dev/null
    nothing_left "locking"
}

placement() {
    local own connect

    connect='import socket, sys
try: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("198.51.100.7", 9))
except PermissionError: sys.exit("PermissionError")'

    try "the default class" 0 '' "${run[@]}" -- sed -n 's/^0:://p' /proc/self/cgroup
    own=$(cat "$tmp/out")
    [[ $own =~ /"$name"/restricted/s[0-9]+-[0-9a-f]{8}$ ]]
    is "the session's cgroup: $own" $? 0
    try "children" 0 '' "${run[@]}" --name kids -- sh -c 'setsid sh -c "cat /proc/self/cgroup; :"; :'
    is "children" "$(grep -c "^0::.*/$name/restricted/kids$" "$tmp/out")" 1
    try "mode of the cgroup" 0 '' sh -c 'umask 077; exec "$@"' - "${run[@]}" --name m -- \
        sh -c 'umask; stat -c "%a %u" "$0"' "$restricted/m"
    is "mode of the cgroup, umask of CMD" "$(paste -sd' ' "$tmp/out")" "0077 755 0"
    # Connecting a UDP socket sends nothing.
    try "the control: connect outside" 0 '' python3 -c "$connect"
    try "the policy holds from the start" 1 'PermissionError' \
        "${run[@]}" -- python3 -c "$connect"
    try "and the neighbour still works" 0 '' \
        "${run[@]}" --class lan -- python3 -c "$connect"
    nothing_left "placement"
}

descriptors() {
    local closed want list

    # Without a pipe, whose ends the shell holds while it starts what is behind it.
    list='ls -v /proc/$$/fd; :'
    try "closed" 0 '' "${run[@]}" -- sh -c "$list" 4</dev/null 5</dev/null 200</dev/null
    is "closed" "$(paste -sd' ' "$tmp/out")" "0 1 2"
    try "kept" 0 '' "${run[@]}" --keep-fd 5 --keep-fd=200 --keep-fd 3 --keep-fd 5 -- sh -c "$list" \
        3</dev/null 4</dev/null 5</dev/null 6</dev/null 200</dev/null
    is "kept" "$(paste -sd' ' "$tmp/out")" "0 1 2 3 5 200"
    try "standard ones kept" 0 '' "${run[@]}" --keep-fd 0 --keep-fd 2 -- sh -c "$list" 3</dev/null
    is "standard ones kept" "$(paste -sd' ' "$tmp/out")" "0 1 2"
    try "a kept one works" 0 '' "${run[@]}" --keep-fd 7 -- cat /proc/self/fd/7 7<"$tmp/run.conf"
    is "a kept one works" "$(cat "$tmp/out")" "$(cat "$tmp/run.conf")"
    refused "a closed one" '--keep-fd 9: not open' "${run[@]}" --keep-fd 9 --
    for want in '' -1 x 1x ' 1' 99999999999 4294967296; do
        refused "--keep-fd '$want'" 'not a descriptor' "${run[@]}" --keep-fd="$want" --
    done
    try "a socket" 0 '' python3 -c 'if 1:
        import os, socket, sys
        a = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        b = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        os.dup2(a.fileno(), 20), os.dup2(b.fileno(), 21)
        os.execv(sys.argv[1], sys.argv[1:])' \
        "${run[@]}" --keep-fd 21 -- sh -c "$list"
    is "a socket" "$(paste -sd' ' "$tmp/out")" "0 1 2 21"

    # Standard descriptors that are closed stay closed; what cgnet-run opens is not taken for one.
    for closed in 0 1 2 '0 1' '0 2' '1 2' '0 1 2'; do
        python3 - "$closed" "$tmp/fds" "${run[@]}" -- python3 -c 'if 1:
            import os, sys
            open_fds = set()
            for fd in range(64):
                try: os.fstat(fd), open_fds.add(fd)
                except OSError: pass
            with open(sys.argv[1], "w") as f: f.write(" ".join(map(str, sorted(open_fds))))
            ' "$tmp/fds" <<'EOF' 2>/dev/null
import os, sys
for fd in sys.argv[1].split():
    os.close(int(fd))
os.execv(sys.argv[3], sys.argv[3:])
EOF
        want=$(for fd in 0 1 2; do [[ " $closed " == *" $fd "* ]] || echo "$fd"; done | paste -sd' ')
        is "closed on entry: $closed" "$(cat "$tmp/fds")" "$want"
    done
    nothing_left "descriptors"
}

streams() {
    head -c 3000000 /dev/urandom >"$tmp/data"
    "${run[@]}" -- cat <"$tmp/data" >"$tmp/copy"
    is "stdin to stdout" "$? $(cmp "$tmp/copy" "$tmp/data")" "0 "
    "${run[@]}" -- sh -c 'echo out; echo err >&2' >"$tmp/out" 2>"$tmp/err"
    is "stdout and stderr" "$(cat "$tmp/out")+$(cat "$tmp/err")" "out+err"
    # CMD alone holds the pipe: once it has closed its end, the reader is through.
    timeout 60 sh -c '"$@" -- sh -c "exec >&-; echo ready >&2; exec sleep 50 2>&-" 2>"$0" | cat' \
        "$tmp/log" "${run[@]}" &
    job=$!
    wait_for grep -q ready "$tmp/log"
    wait_for sh -c '! pgrep -P "$(pgrep -P "$0")" cat' "$job"
    is "an end of file reaches the reader" $? 0
    kill -9 "$(cat "$restricted"/*/cgroup.procs)"
    wait "$job" 2>/dev/null
    nothing_left "streams"
}

signals() {
    local sig catch got want prog

    catch='import signal, sys, time
def caught(n, frame):
    print("got", signal.Signals(n).name, flush=True)
    time.sleep(0.3)
    sys.exit(9)
signal.signal(getattr(signal, "SIG" + sys.argv[1]), caught)
print("ready", flush=True)
time.sleep(30)'
    for sig in HUP INT QUIT USR1 USR2 PIPE ALRM TERM CONT TSTP TTIN WINCH CHLD RTMIN RTMAX; do
        start "${run[@]}" -- python3 -c "$catch" "$sig"
        kill -"$sig" "$job"
        wait "$job"
        is "$sig is passed on" "$? $(grep -c "got SIG$sig" "$tmp/log")" "9 1"
    done
    for sig in TERM HUP USR1 ALRM; do
        start "${run[@]}" -- sh -c 'echo ready; exec sleep 30'
        kill -"$sig" "$job"
        wait "$job" 2>/dev/null
        is "CMD dies of $sig" $? $((128 + $(kill -l "$sig")))
    done

    # What was ignored or blocked is so for CMD, and nothing else.
    prog='import os, signal, sys
for s in sys.argv[1].split(): signal.signal(getattr(signal, "SIG" + s), signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, {getattr(signal, "SIG" + s) for s in sys.argv[2].split()})
os.execvp(sys.argv[3], sys.argv[3:])'
    for sig in '' HUP PIPE CHLD 'HUP INT CHLD TSTP' 'CHLD USR2 WINCH RTMAX'; do
        want=$(python3 -c "$prog" "$sig" "$sig" grep -E '^Sig(Blk|Ign)' /proc/self/status)
        got=$(python3 -c "$prog" "$sig" "$sig" "${run[@]}" -- grep -E '^Sig(Blk|Ign)' /proc/self/status)
        is "ignored and blocked: $sig" "$got" "$want"
    done
    python3 -c "$prog" CHLD '' "${run[@]}" -- sh -c 'exit 4'
    is "SIGCHLD ignored: status" $? 4
    python3 -c "$prog" '' 'CHLD TERM' "${run[@]}" -- sh -c 'exit 5'
    is "SIGCHLD blocked: status" $? 5
    start nohup "${run[@]}" -- sh -c 'echo ready; sleep 1; exit 6'
    kill -HUP "$job"
    wait "$job"
    is "nohup" $? 6

    # A signal that the session sends to its whole group does not come back to it.
    start setsid -w "${run[@]}" -- python3 -c 'if 1:
        import os, signal, time
        n = 0
        def caught(*_):
            global n
            n += 1
        signal.signal(signal.SIGTERM, caught)
        print("ready", flush=True)
        if not os.fork():
            os.kill(0, signal.SIGTERM)
            os._exit(0)
        os.wait()
        end = time.time() + 0.5
        while time.time() < end: time.sleep(0.1)
        os._exit(n)'
    wait "$job"
    is "kill 0 in the session" $? 1
    nothing_left "signals"
}

killed() {
    local cmd left

    start "${run[@]}" --name victim -- sh -c 'echo ready; sleep 30; :'
    cmd=$(pid_in victim)
    kill -9 "$job"
    wait "$job" 2>/dev/null
    wait_for gone "$cmd"
    is "CMD dies with cgnet-run" $? 0

    # What CMD started in the background stays, in its cgroup; cgnet-run does not wait for it.
    left=$(cat "$restricted/victim/cgroup.procs")
    is "its child is confined" "$(sed -n 's/^0:://p' "/proc/$left/cgroup" | sed 's/.*\///')" victim
    refused_busy victim
    kill -9 "$left"
    wait_for sh -c '[ -z "$(cat "$0")" ]' "$restricted/victim/cgroup.procs"
    try "an empty leftover of that name is replaced" 0 '' "${run[@]}" --name victim -- true
    nothing_left "killed"

    try "a daemon is left behind" 0 '' "${run[@]}" --name daemon -- \
        sh -c 'setsid sleep 30 >/dev/null 2>&1 </dev/null & exit 0'
    is "it is confined" "$(wc -l <"$restricted/daemon/cgroup.procs")" 1
    refused_busy daemon
    kill -9 "$(pid_in daemon)"
    wait_for rmdir "$restricted/daemon"
    nothing_left "a daemon"
}

refused_busy() { # NAME
    rm -f "$tmp/ran"
    try "the name of a live session" 125 "session $1: exists already" \
        "${run[@]}" --name "$1" -- touch "$tmp/ran"
    is "the name of a live session: CMD did not run" "$([ -e "$tmp/ran" ] && echo ran)" ""
}

# What confines a root session makes cgroupfs read-only for it.
nested_cgroups() {
    local keep=("${run[@]}" --class keep) n=$cgroup/keep/n

    try "nested cgroups" 0 '' "${keep[@]}" --name n -- \
        sh -c 'mkdir -p "$0/a/b/c" "$0/a/d" "$0/e" && echo $$ >"$0/e/cgroup.procs"' "$n"
    nothing_left "nested cgroups"
    try "nested cgroups with a process" 0 '' "${keep[@]}" --name n -- sh -c '
        mkdir -p "$0/a/b" "$0/c"
        sh -c "echo \$\$ >$0/a/b/cgroup.procs; exec sleep 30 >/dev/null 2>&1" & sleep 0.2' \
        "$n"
    is "they stay" "$(find "$n" -type d | wc -l)" 4
    kill -9 "$(cat "$n/a/b/cgroup.procs")"
    wait_for sh -c '[ -z "$(cat "$0")" ]' "$n/a/b/cgroup.procs"
    try "and are replaced" 0 '' "${keep[@]}" --name n -- true
    nothing_left "nested cgroups"
}

sweeping() {
    local i

    start "${run[@]}" --name live -- sh -c 'echo ready; exec sleep 60'
    mkdir -p "$restricted/old" "$restricted/older/a/b"
    stat "$restricted/old" "$restricted/older" >/dev/null # a cgroup gets its times when it is looked at
    sleep 2.1
    mkdir "$restricted/fresh"
    "${run[@]}" -- true
    is "leftovers are swept, fresh and live ones not" "$(sessions | sort | paste -sd' ')" "fresh live"
    for i in {1..40}; do mkdir "$restricted/l$i" && stat "$restricted/l$i" >/dev/null; done
    sleep 2.1
    for i in {1..200}; do
        "${run[@]}" -- true
        [ "$(sessions)" = live ] && break
    done
    is "many leftovers are swept little by little ($i starts)" "$(sessions)" live
    kill "$job"
    wait "$job" 2>/dev/null
    nothing_left "sweeping"
}

concurrency() {
    local i pids=() all rival

    rm -f "$tmp"/own.*
    for i in {1..50}; do
        "${run[@]}" -- sh -c 'grep ^0:: /proc/self/cgroup >"$0"' "$tmp/own.$i" &
        pids+=($!)
    done
    all=0
    for i in "${pids[@]}"; do wait "$i" || all=$?; done
    is "50 at once: statuses" "$all" 0
    is "50 at once: each in its own cgroup" \
        "$(sort -u "$tmp"/own.* | grep -c "^0::.*/$name/restricted/s")" 50
    nothing_left "50 at once"

    # One name: whoever gets it is alone in it.
    rm -f "$tmp"/own.* "$tmp"/alone
    pids=()
    for i in {1..30}; do
        "${run[@]}" --name one -- bash -c 'mapfile -t p <"$0"; [ "${p[*]}" = $$ ]' \
            "$restricted/one/cgroup.procs" 2>"$tmp/own.$i" &
        pids+=($!)
    done
    all=
    for i in "${pids[@]}"; do
        wait "$i"
        all+="$?"$'\n'
    done
    is "one name: nothing but 0 and 125" "$(grep -cvE '^(0|125|)$' <<<"$all")" 0
    is "one name: somebody got it" "$(grep -qx 0 <<<"$all" && echo yes)" yes
    is "one name: what the others said" "$(cat "$tmp"/own.* | grep -vE 'exists already|at once')" ""
    nothing_left "one name"

    # The policy is loaded again and again meanwhile.
    (while :; do load_again; done) &
    rival=$!
    all=0
    for i in {1..60}; do "${run[@]}" -- true 2>>"$tmp/reloads" || all=$?; done
    kill "$rival"
    wait "$rival" 2>/dev/null
    is "reloads under way: statuses" "$all $(cat "$tmp/reloads")" "0 "
    nothing_left "reloads under way"

    # Somebody removes empty cgroups as fast as they are made.
    (while :; do rmdir "$restricted"/s* 2>/dev/null; done) &
    rival=$!
    rm -f "$tmp/own.x"
    all=0
    for i in {1..100}; do
        "${run[@]}" -- sh -c 'grep ^0:: /proc/self/cgroup >>"$0"' "$tmp/own.x" 2>/dev/null
        case $? in 0 | 125) ;; *) all=$? ;; esac
    done
    kill "$rival"
    wait "$rival" 2>/dev/null
    is "a rival sweeper: statuses" "$all" 0
    is "a rival sweeper: never outside" "$(grep -cv "/$name/restricted/s" "$tmp/own.x")" 0
    is "a rival sweeper: it starts all the same" "$([ -s "$tmp/own.x" ] && echo yes)" yes
    nothing_left "a rival sweeper"
}

# Each call that cgnet-run makes until CMD runs fails in turn. CMD runs inside its class, or not at
# all, and then the status is 125.
fail_call() { # STRACE-OPTION CALL ERROR N
    local what="$2 number $4 fails with $3" status options=()

    [ -z "$1" ] || options=("$1")
    rm -f "$tmp/ran"
    timeout 20 strace "${options[@]}" -o "$tmp/strace" -e trace="$2" -e inject="$2:error=$3:when=$4" \
        "${run[@]}" -- sh -c 'grep ^0:: /proc/self/cgroup >"$0"' "$tmp/ran" >/dev/null 2>"$tmp/err"
    status=$?
    grep -q INJECTED "$tmp/strace" || return 1
    if [ ! -e "$tmp/ran" ]; then
        is "$what: refused" "$status" 125
        is "$what: says why" "$(grep -c '^cgnet-run: ' "$tmp/err")" 1
    elif grep -q "^0::.*/$name/restricted/s" "$tmp/ran"; then
        pass "$what: CMD ran inside"
    else
        fail "$what" "CMD ran in $(cat "$tmp/ran")"
    fi
    find "$restricted" -mindepth 1 -depth -type d -exec rmdir {} \; 2>/dev/null
    is "$what: nothing is left" "$(sessions)" ""
}

failing_calls() {
    local call error n

    if ! strace -o /dev/null true 2>/dev/null; then
        skip "failing calls" "strace does not work here"
        return
    fi
    for call in bpf openat /^mkdir clone3 flock read /fstatat fstatfs fcntl close getrandom \
        rt_sigprocmask rt_sigaction unlinkat; do
        for error in EPERM ENOENT; do
            for ((n = 1; n < 30; n++)); do fail_call '' "$call" "$error" "$n" || break; done
            is "$call was made to fail" $((n > 1)) 1
        done
    done
    for error in ENOSYS E2BIG EINVAL EAGAIN EBUSY ENODEV EOPNOTSUPP; do
        fail_call '' clone3 "$error" 1+
    done
    for error in ENOSYS EINVAL EPERM; do
        for n in 1 2 3 4; do fail_call '' bpf "$error" "$n+"; done
        fail_call "" /^mkdir "$error" 1+
        fail_call '' openat "$error" 1+
        fail_call '' flock "$error" 1+
    done
    # And in the child, before CMD is executed.
    for call in prctl close_range rt_sigprocmask; do
        fail_call -f "$call" EPERM 1
    done
    fail_call "" /^mkdir EEXIST 1
    fail_call '' clone3 ENODEV 1
    is "a removed cgroup is made again" "$([ -e "$tmp/ran" ] && echo yes)" yes
}

terminal() {
    local line

    while IFS= read -r line; do
        case $line in
        'ok '*) pass "${line#ok }" ;;
        *) fail terminal "$line" ;;
        esac
    done < <(timeout 300 python3 "$live_dir/run_tty.py" "${run[@]}" -- 2>&1 || echo "status $?")
    nothing_left "terminal"
}

if [ $# = 0 ]; then
    set -- exit_statuses command_line refusals not_enforced locking placement descriptors streams \
        signals killed nested_cgroups sweeping concurrency failing_calls terminal
fi
for part; do $part; done
lab_finish
