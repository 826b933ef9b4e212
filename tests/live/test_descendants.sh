#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The class holds for whatever a session starts, however far it gets away from it.

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
lab_enter "$@"

load "$(shipped restricted)"
enter_class restricted

ways=(child "child,child" setsid doublefork delayed thread "child,thread"
    "setsid,doublefork,thread,child" "child,setsid,delayed,child")
if unshare -U true 2>/dev/null; then
    ways+=(userns "doublefork,userns,setsid" "userns,thread")
else
    skip "descendants in a user namespace" "unshare of a user namespace is refused here"
fi
for way in "${ways[@]}"; do
    rule=@local
    denied tcp 10.1.2.3 80 via="$way"
    rule=
    denied tcp fd50::10 80 via="$way"
    denied udp 127.0.0.1 8080 via="$way"
    denied udp-sendto ::1 8080 via="$way"
    allowed tcp "$provider4" 443 via="$way"
    allowed udp "$provider6" 443 via="$way"
done

# --- what outlives its session's command ---------------------------------------------------------
sessions() {
    local field

    json_field sessions "$(cgnetd status --json)"
    echo "$field"
}

# Waits for what a process that nobody waits for writes to $dir/NAME.
outcome() {
    for _ in {1..100}; do
        [ -s "$dir/$1" ] && break
        sleep 0.05
    done
    cat "$dir/$1" 2>/dev/null
}

is() {
    if [ "$2" = "$3" ]; then
        pass "$1"
    else
        fail "$1" "'$2' instead of '$3'"
    fi
}

# A daemon that waits until it is told to go on, by a file.
cat >"$dir/daemon" <<'END'
#!/bin/sh
# daemon PROBE GO OUT ADDR...: one attempt for each address, once the file GO exists.
probe=$1 go=$2 out=$3
shift 3
: >"$out.started"
while [ ! -e "$go" ]; do sleep 0.02; done
for addr in "$@"; do "$probe" tcp "$addr" 80; done >"$out.tmp"
mv "$out.tmp" "$out"
while [ -e "$go" ]; do sleep 0.02; done
END
chmod 755 "$dir/daemon"

# wait_for_file NAME
wait_for_file() {
    for _ in {1..200}; do
        [ -e "$dir/$1" ] && return
        sleep 0.02
    done
}

agent_stop in
expected="EPERM EPERM EPERM ok"
targets=(127.0.0.1 10.1.2.3 fd50::10 "$public4")

# shellcheck disable=SC2016 # the session's shell expands it
cgnet_run --class restricted -- sh -c 'setsid "$0" "$@" </dev/null >/dev/null 2>&1 &
    while [ ! -e "$3.started" ]; do sleep 0.02; done' \
    "$dir/daemon" "$probe" "$dir/go1" "$dir/out1" "${targets[@]}"
is "the session of a daemon is listed after its command has ended" "$(sessions)" 1
touch "$dir/go1"
is "a daemon that outlives the command is confined" "$(outcome out1 | xargs)" "$expected"
rm "$dir/go1"
for _ in {1..100}; do
    [ "$(sessions)" = 0 ] && break
    sleep 0.05
done
is "no session is left when the daemon has ended" "$(sessions)" 0

# shellcheck disable=SC2016 # the session's shell expands it
"$build/cgnet-run" "${instance[@]}" --class restricted -- \
    sh -c 'setsid "$0" "$@" & exec sleep 100' "$dir/daemon" "$probe" "$dir/go2" "$dir/out2" "${targets[@]}" &
runner=$!
wait_for_file out2.started
{
    kill -KILL "$runner"
    wait "$runner"
} 2>/dev/null
touch "$dir/go2"
is "a daemon is confined after cgnet-run was killed" "$(outcome out2 | xargs)" "$expected"
rm "$dir/go2"

lab_finish
