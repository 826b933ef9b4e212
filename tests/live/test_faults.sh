#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Each system call of `load` that can fail is made to fail in turn, and the loader is killed at
# each: the policy in force is the old or the new one, never less, and nothing is left that the next
# load or unload would not take up. A sample of the calls is tried; CGNET_SWEEP=all tries every one.

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
lab_enter "$@"
need_tools strace

sample=12 # calls of one kind in one situation, unless all are wanted

# policy NAME OPEN CLOSED
policy() {
    policy_file "$1" <<END
default_class = "tried"
class tried {
    default = allow
    deny = { "@local" }
    allow = { "$2", "[fd61::1]:$3/tcp" }
    loopback = deny
}
END
}

old=$(policy old 10.1.0.1 80)
new=$(policy new 10.2.0.1 443)
load_command=("$build/cgnetd" load "${instance[@]}")

# in_force old|new: what a session meets right now. Sets detail to what is wrong.
in_force() {
    local expected order

    while read -r expected order; do
        [ "$1" = old ] || expected=$([ "$expected" = ok ] && echo EPERM || echo ok)
        # shellcheck disable=SC2086 # words of an order
        ask in $order
        [ "$word" = "$expected" ] || { detail="$order: $word under the $1 policy"; return 1; }
    done <<'END'
ok tcp 10.1.0.1 80
EPERM udp-sendto 10.2.0.1 80
ok tcp fd61::1 80
EPERM tcp fd61::1 443
END
    ask in tcp 127.0.0.1 8080
    [ "$word" = EPERM ] || { detail="127.0.0.1: $word"; return 1; }
}

names() {
    {
        find "$dir/bpf"
        find "$cgroup" -type d | grep -v '/tried/s[0-9]'
    } 2>/dev/null | sort
}

# calls SYSCALL: which of a load's calls to try, by number: all but those of the dynamic linker, of
# which a sample, spread evenly. Some of them are the self-test's child's.
calls() {
    local numbers step

    mapfile -t numbers < <(grep -E "^[0-9]+ +$1\(" "$dir/trace" |
        awk '!/\.so|ld\.so\.cache/ {print NR}')
    step=1
    [ "${CGNET_SWEEP:-}" = all ] || step=$(((${#numbers[@]} + sample - 1) / sample))
    for ((i = ${#numbers[@]} ? RANDOM % step : 0; i < ${#numbers[@]}; i += step)); do
        echo "${numbers[i]}"
    done
}

# trace FILE: notes the calls of a load that succeeds.
trace() {
    strace -f -o "$dir/trace" -e trace=bpf,openat,mkdir,write,clone3,rename,unlink,unlinkat,rmdir \
        "${load_command[@]}" "$1" >/dev/null
}

# inject SYSCALL HOW NUMBER FILE: a load in which that call fails. Sets status.
inject() {
    # The shell would tell on its own standard error that a command was killed.
    {
        timeout 20 strace -f -o /dev/null -e trace="$1" -e inject="$1:$2:when=$3" \
            "${load_command[@]}" "$4" >"$dir/stdout" 2>"$dir/stderr"
        status=$?
    } 2>/dev/null
}

# says_why SYSCALL: nothing or one line on standard error, as the exit status wants it, unless it
# may be just the writing of that line that failed. Sets detail to what is wrong.
says_why() {
    local lines

    lines=$(wc -l <"$dir/stderr")
    case "$1 $status $lines" in
    *" 0 0" | *" 1 1" | "write 1 0") return 0 ;;
    esac
    detail="exit status $status, $lines lines: $(head -n 3 "$dir/stderr")"
    return 1
}

# Names are as they were. Sets detail to what is wrong, and cleans up for the next case.
nothing_left() {
    diff <(names) "$dir/names" >"$dir/diff" && return
    detail="left: $(grep '^[<>]' "$dir/diff" | head -n 3)"
    if [ -z "${agent_pid[in]:-}" ]; then
        cgnetd unload --force >/dev/null 2>&1
        find "$cgroup" -depth -type d -exec rmdir {} + 2>/dev/null
        rm -rf "$bpffs"
    fi
    return 1
}

# --- a call fails --------------------------------------------------------------------------------
# The old policy is in force and a session is there. After a load that says that it failed nothing
# has changed, unless it says, too, that the new policy is in force; after one that could do without
# the call it is.
fails_beside_old() {
    local what="$1 number $3 fails with $2 while a policy is in force" detail=

    inject "$1" "error=$2" "$3" "$new"
    if ! says_why "$1"; then
        fail "$what" "$detail"
    elif [ "$status" = 0 ] || grep -q "new policy is in force" "$dir/stderr"; then
        if in_force new; then pass "$what"; else fail "$what" "$detail"; fi
        status=0
    elif ! in_force old; then
        fail "$what" "$detail ($(cat "$dir/stderr"))"
        status=0
    elif ! nothing_left; then
        fail "$what" "$detail ($(cat "$dir/stderr"))"
    else
        pass "$what"
    fi
    [ "$status" != 0 ] || load "$old"
}

# Nothing is loaded. After a load that says that it failed there is nothing either.
fails_alone() {
    local what="$1 number $3 fails with $2 at the first load" detail=

    inject "$1" "error=$2" "$3" "$new"
    if ! says_why "$1"; then
        fail "$what" "$detail"
    elif [ "$status" = 0 ]; then
        check "$what" first_load_holds
    elif ! nothing_left; then
        fail "$what" "$detail ($(cat "$dir/stderr"))"
    else
        pass "$what"
    fi
    [ "$status" = 1 ] || cgnetd unload >/dev/null
}

# A session is refused, or it is confined.
first_load_holds() {
    local output

    output=$(cgnet_run --class tried -- "$probe" tcp 127.0.0.1 8080 2>&1)
    case $?,$output in
    0,EPERM | 125,cgnet-run:*) return 0 ;;
    esac
    echo "$output"
    return 1
}

# --- the loader is killed ------------------------------------------------------------------------
killed_beside_old() {
    local what="killed at $1 number $2 while a policy is in force" detail=

    inject "$1" signal=KILL "$2" "$new"
    if ! in_force old && ! in_force new; then
        fail "$what" "$detail"
    elif ! cgnetd status >/dev/null 2>"$dir/stderr"; then
        fail "$what" "status: $(cat "$dir/stderr")"
    elif ! cgnetd load "$old" >/dev/null 2>"$dir/stderr"; then
        fail "$what" "the next load: $(cat "$dir/stderr")"
    elif ! in_force old; then
        fail "$what" "after the next load: $detail"
    elif ! nothing_left; then
        fail "$what" "after the next load: $detail"
    else
        pass "$what"
    fi
}

killed_alone() {
    local what="killed at $1 number $2 of the first load" output detail=

    inject "$1" signal=KILL "$2" "$new"
    if ! output=$(first_load_holds); then
        fail "$what" "a session: $output"
    elif ((RANDOM % 2)) && ! cgnetd load "$new" >/dev/null 2>"$dir/stderr"; then
        fail "$what" "the next load: $(cat "$dir/stderr")"
    elif ! cgnetd unload >/dev/null 2>"$dir/stderr"; then
        fail "$what" "unload: $(cat "$dir/stderr")"
    elif ! nothing_left; then
        fail "$what" "after unload: $detail"
    else
        pass "$what"
    fi
}

# --- nothing loaded ------------------------------------------------------------------------------
names >"$dir/names"
trace "$new"
cgnetd unload >/dev/null
while read -r syscall errno; do
    for number in $(calls "$syscall"); do
        fails_alone "$syscall" "$errno" "$number"
    done
done <<'END'
bpf EPERM
openat EMFILE
mkdir ENOSPC
write ENOSPC
clone3 EAGAIN
rename ENOSPC
END
for syscall in bpf mkdir clone3 rename unlink; do
    for number in $(calls "$syscall"); do
        killed_alone "$syscall" "$number"
    done
done

# --- a policy in force ---------------------------------------------------------------------------
load "$old"
enter_class tried
names >"$dir/names"
trace "$new"
load "$old"
while read -r syscall errno; do
    for number in $(calls "$syscall"); do
        fails_beside_old "$syscall" "$errno" "$number"
    done
done <<'END'
bpf ENOMEM
openat ENFILE
mkdir ENOSPC
write EIO
clone3 ENOMEM
rename ENOSPC
END
for syscall in bpf mkdir clone3 rename unlink; do
    for number in $(calls "$syscall"); do
        killed_beside_old "$syscall" "$number"
    done
done
agent_stop in

lab_finish
