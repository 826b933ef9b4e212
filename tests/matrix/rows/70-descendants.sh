# shellcheck shell=bash disable=SC2034,SC2154 # the engine's variables
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The class holds for whatever a session starts.

target 10.1.2.3 80
layer=connect
blocked DESC-01 "a child" tcp 10.1.2.3 80 via=child
blocked DESC-02 "a grandchild" tcp 10.1.2.3 80 via=child,child
blocked DESC-03 "a session of its own (setsid)" tcp 10.1.2.3 80 via=setsid
both blocked DESC-04 "a double fork" tcp 10.1.2.3 80 via=doublefork
both blocked DESC-05 "detached, long after its parent's death" tcp 10.1.2.3 80 via=delayed
blocked DESC-06 "a thread" tcp 10.1.2.3 80 via=thread
blocked DESC-07 "a thread of a grandchild" tcp 10.1.2.3 80 via=child,child,thread
both blocked DESC-08 "in new user, mount, pid and cgroup namespaces" tcp 10.1.2.3 80 via=userns
blocked DESC-09 "all of these in turn" tcp 10.1.2.3 80 via=setsid,doublefork,delayed,userns,thread
layer=sendmsg
blocked DESC-10 "a double fork, UDP" udp-sendto 10.1.2.3 80 via=doublefork
layer=

# after_end WHERE ADDR PORT: an attempt made by what is left of a session when its command has ended.
# shellcheck disable=SC2016 # the session's shell expands it
daemon='setsid sh -c "while [ ! -e \"$0\" ]; do sleep 0.02; done
    \"$1\" tcp \"$2\" \"$3\" >\"$4.tmp\"; mv \"$4.tmp\" \"$4\"" "$@" </dev/null >/dev/null 2>&1 &'
after_end() {
    local command

    rm -f "$dir/shared/go" "$dir/shared/out"
    command_in "$1" sh -c "$daemon exit 0" "$dir/shared/go" "$bin/probe" "$2" "$3" "$dir/shared/out"
    launch "${command[@]}" &
    wait $!
    outcome_of_daemon
}

# after_kill WHERE ADDR PORT: the same when cgnet-run, or whoever started it, was killed.
after_kill() {
    local command pid

    rm -f "$dir/shared/go" "$dir/shared/out"
    command_in "$1" sh -c "$daemon : >\"\$0.started\"; exec sleep 20" "$dir/shared/go" "$bin/probe" \
        "$2" "$3" "$dir/shared/out"
    rm -f "$dir/shared/go.started"
    launch "${command[@]}" &
    pid=$!
    for _ in {1..200}; do
        [ ! -e "$dir/shared/go.started" ] || break
        sleep 0.02
    done
    {
        kill -KILL "$pid"
        wait "$pid"
    } 2>/dev/null
    outcome_of_daemon
}

outcome_of_daemon() {
    : >"$dir/shared/go"
    for _ in {1..200}; do
        [ ! -s "$dir/shared/out" ] || break
        sleep 0.02
    done
    word=$(cat "$dir/shared/out" 2>/dev/null)
}

layer=connect
both blocked DESC-11 "a daemon, when the session's command has ended" function after_end 10.1.2.3 80
both blocked DESC-12 "a daemon, when cgnet-run was killed" function after_kill 10.1.2.3 80
layer=
