#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What cgnetd cannot do it refuses: one line that says why, exit status 1, and nothing has changed,
# whether a policy was in force or none.

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
lab_enter "$@"
need_tools bpftool setpriv

foreign=$build/tests/live/foreign

# policy NAME OPEN: everything in @local is closed but for OPEN.
policy() {
    policy_file "$1" <<END
default_class = "tried"
class tried {
    default = allow
    deny = { "@local" }
    allow = { "$2" }
    loopback = deny
}
END
}

old=$(policy old 10.1.0.1)
new=$(policy new 10.2.0.1)

# All that a refused call must leave alone: pins, cgroups, programs, mounts, directories.
state() {
    find "$dir/bpf" "$dir/run" "$cgroup" -printf '%p %i %m\n' 2>/dev/null |
        grep -v '/tried/s' | sort
    [ ! -d "$cgroup/tried" ] || bpftool cgroup show "$cgroup/tried" | sort
    cut -d' ' -f 5- /proc/self/mountinfo
    find "$dir" "$(cgroup2_mount)" -maxdepth 1 -type d | grep -F -e "$CGNET_LAB" | sort
}

# What the next checks start from.
settle() {
    loaded=$1
    state >"$dir/before"
}

# refused WHAT PATTERN COMMAND...
refused() {
    local what="$loaded, $1: refused" pattern=$2 status

    shift 2
    timeout 20 "$@" >"$dir/stdout" 2>"$dir/stderr"
    status=$?
    state >"$dir/after"
    if [ "$status" != 1 ]; then
        fail "$what" "exit status $status: $(cat "$dir/stderr")"
    elif [ "$(wc -l <"$dir/stderr")" != 1 ]; then
        fail "$what" "$(wc -l <"$dir/stderr") lines: $(cat "$dir/stderr")"
    elif ! grep -qE -- "$pattern" "$dir/stderr"; then
        fail "$what" "does not say '$pattern': $(cat "$dir/stderr")"
    elif ! diff "$dir/before" "$dir/after" >"$dir/diff"; then
        fail "$what" "changed: $(grep '^[<>]' "$dir/diff" | head -n 3)"
        mv "$dir/after" "$dir/before"
    else
        pass "$what"
    fi
}

load_command=("$build/cgnetd" load "${instance[@]}")

# without CAPABILITIES: sets as_root to what runs a command as root that lacks them.
without() {
    local list="-${1//,/,-}"

    as_root=(setpriv --bounding-set="$list" --inh-caps="$list")
}

bad_files() {
    local file=$dir/bad.conf

    refused "missing file" "nowhere.conf.*No such file" "${load_command[@]}" "$dir/nowhere.conf"
    refused "directory" "$dir/run.*directory" "${load_command[@]}" "$dir/run"
    refused "device" "/dev/zero.*device" "${load_command[@]}" /dev/zero
    rm -f "$dir/fifo"
    mkfifo "$dir/fifo"
    refused "FIFO" "$dir/fifo.*FIFO" "${load_command[@]}" "$dir/fifo"
    cp "$new" "$file"
    chmod 666 "$file"
    refused "world-writable file" "bad.conf.*writable" "${load_command[@]}" "$file"
    chmod 664 "$file"
    chgrp 1 "$file"
    refused "group-writable file" "bad.conf.*writable" "${load_command[@]}" "$file"
    chmod 644 "$file"
    chown 65534 "$file"
    refused "foreign owner" "bad.conf.*65534" "${load_command[@]}" "$file"
    chown 0:0 "$file"
    chmod 0 "$file"
    without dac_override,dac_read_search
    refused "unreadable file" "bad.conf.*Permission denied" \
        "${as_root[@]}" "${load_command[@]}" "$file"
    rm "$file"
    : >"$file"
    refused "empty file" "bad.conf.*class" "${load_command[@]}" "$file"
    head -c 5000000 /dev/zero | tr '\0' '\n' >"$file"
    refused "huge file" "bad.conf.*larger" "${load_command[@]}" "$file"
    head -c 1000 /dev/zero >"$file"
    refused "file of zeros" "bad.conf" "${load_command[@]}" "$file"
    sed 's/default = allow/default = maybe/' "$new" >"$file"
    refused "syntax error" "bad.conf:3" "${load_command[@]}" "$file"
}

bad_places() {
    local mount

    mount=$(cgroup2_mount)
    refused "no privilege" "root" setpriv --reuid=65534 --regid=65534 --clear-groups \
        "${load_command[@]}" "$new"
    without bpf,net_admin,sys_admin,perfmon
    refused "no capability for BPF" "Operation not permitted|CAP_" \
        "${as_root[@]}" "${load_command[@]}" "$new"
    without sys_admin
    # shellcheck disable=SC2016 # the inner shell expands it
    refused "no cgroup2" "cgroup2" unshare -m sh -c 'umount -l "$0"; exec "$@"' "$mount" \
        "${load_command[@]}" "$new"
    refused "no bpffs, and none can be mounted" "bpf" \
        "${as_root[@]}" "$build/cgnetd" load --bpffs "$dir/nothing/cgnet" \
        --cgroup "$CGNET_LAB-x" --run-dir "$dir/run/x" "$new"
    refused "bpffs where none can be" "/proc/nothing" "$build/cgnetd" load --bpffs /proc/nothing \
        --cgroup "$CGNET_LAB-x" --run-dir "$dir/run/x" "$new"
    refused "a file where the bpffs should be" "old.conf" "$build/cgnetd" load --bpffs "$old" \
        --cgroup "$CGNET_LAB-x" --run-dir "$dir/run/x" "$new"
}

settle "nothing loaded"
bad_files
bad_places
refused "status" "nothing is loaded" "$build/cgnetd" status "${instance[@]}"

load "$old"
settle "a policy loaded"
bad_files
bad_places

# --- in use --------------------------------------------------------------------------------------
enter_class tried
session=$(find "$cgroup/tried" -mindepth 1 -type d -printf '%f\n')
refused "unload with a session" "$session" "$build/cgnetd" unload "${instance[@]}"
sed 's/tried/other/g' "$new" >"$dir/other.conf"
settle "a session"
refused "dropping a class with a session" "tried.*$session" "${load_command[@]}" "$dir/other.conf"
rule=10.1.0.1
allowed tcp 10.1.0.1 80
rule=@local
denied tcp 10.2.0.1 80

# --- two at once ---------------------------------------------------------------------------------
what="two loaders at once take turns"
detail=
for i in {1..10}; do
    "${load_command[@]}" "$old" >"$dir/out1" 2>&1 &
    one=$!
    "${load_command[@]}" "$new" >"$dir/out2" 2>&1 &
    two=$!
    wait "$one" || detail="round $i: $(cat "$dir/out1")"
    wait "$two" || detail="round $i: $(cat "$dir/out2")"
    ask in udp 10.1.0.1 80
    first=$word
    ask in udp 10.2.0.1 80
    [[ "$first $word" =~ ^(ok EPERM|EPERM ok)$ ]] || detail="round $i: $first and $word"
done
if [ -z "$detail" ]; then pass "$what"; else fail "$what" "$detail"; fi
agent_stop in

# --- what others left in the way -----------------------------------------------------------------
load "$old"
info=$(find "$bpffs" -maxdepth 1 -name '*info')
mapfile -t abi < <(bpftool map dump pinned "$info" -j | tr -d ' \n' |
    sed 's/.*"value":\[\([^]]*\)\].*/\1/' | tr -d '"' | tr ',' '\n')
# set_abi BYTE: the version that the pins claim.
set_abi() {
    bpftool map update pinned "$info" key hex 00 00 00 00 value hex "$1" "${abi[@]:1}"
}
abi=("${abi[@]#0x}")
set_abi 63
settle "pins of another version"
refused "load" "version" "${load_command[@]}" "$new"
refused "status" "version" "$build/cgnetd" status "${instance[@]}"
cgnet_run --class tried -- touch "$dir/ran" 2>"$dir/stderr"
status=$?
check "pins of another version: cgnet-run refuses" [ "$status $(wc -l <"$dir/stderr")" = "125 1" ]
check "pins of another version: the command did not run" [ ! -e "$dir/ran" ]
set_abi "${abi[0]}"
check "with its own version again, load works" cgnetd load "$new"
check "unload works" cgnetd unload

# A pin of others is refused or replaced.
# in_the_way WHAT
in_the_way() {
    local what="$1: refused or replaced" status
    local attempt=(cgnet_run --class tried -- "$probe" tcp 10.1.0.1 80)

    "${load_command[@]}" "$new" >"$dir/stdout" 2>"$dir/stderr"
    status=$?
    if [ "$status" = 1 ] && [ "$(wc -l <"$dir/stderr")" = 1 ] && grep -q tried "$dir/stderr"; then
        pass "$what"
    elif [ "$status" = 0 ] && [ "$("${attempt[@]}")" = EPERM ]; then
        pass "$what"
    else
        fail "$what" "exit status $status: $(cat "$dir/stderr")"
    fi
    cgnetd unload >/dev/null 2>&1
    rm -rf "$bpffs"
}

mkdir -m 700 "$bpffs"
bpftool map create "$bpffs/tried" type array key 4 value 4 entries 1 name foreign
in_the_way "a pin where the class's directory should be"
mkdir -m 700 "$bpffs" "$bpffs/tried"
bpftool map create "$bpffs/tried/deny4" type array key 4 value 4 entries 1 name foreign
in_the_way "a foreign map where the trie should be"

# A program that others attached without BPF_F_ALLOW_MULTI shuts all others out.
mkdir -p "$cgroup/tried"
"$foreign" none "$cgroup/tried"
settle "a foreign program"
refused "a foreign exclusive program on the class" "tried|connect4" "${load_command[@]}" "$new"
"$foreign" detach "$cgroup/tried"
"$foreign" override "$cgroup/tried"
settle "a foreign program"
refused "a foreign overridable program on the class" "tried|connect4" "${load_command[@]}" "$new"
"$foreign" detach "$cgroup/tried"
rmdir "$cgroup/tried"
"$foreign" none "$cgroup"
settle "a foreign program"
refused "a foreign exclusive program above the class" "tried|connect4" "${load_command[@]}" "$new"
rmdir "$cgroup"

# One in multi mode is a neighbour; what it allows does not count.
mkdir -p "$cgroup/tried"
"$foreign" multi "$cgroup/tried"
load "$old"
enter_class tried
rule=@local
denied tcp 10.2.0.1 80
rule=10.1.0.1
allowed tcp 10.1.0.1 80
agent_stop in
check "unload beside a foreign program" cgnetd unload
[ ! -d "$cgroup/tried" ] || rmdir "$cgroup/tried" "$cgroup"

# --- bpffs that is not mounted -------------------------------------------------------------------
# In a mount namespace of its own, where /sys/fs/bpf is hidden: load mounts it, unload leaves none.
# shellcheck disable=SC2016 # the inner shell expands it
check "bpffs is mounted where it is not, at DIR" unshare -m bash -c '
    set -e
    args=(--bpffs "$2/fresh/cgnet" --cgroup "$3-f" --run-dir "$2/run/f")
    "$1" load "${args[@]}" "$4"
    grep -q " $2/fresh/cgnet .* - bpf " /proc/self/mountinfo
    "$1" unload "${args[@]}"
    ! grep "$2/fresh/cgnet" /proc/self/mountinfo' bash "$build/cgnetd" "$dir" "$CGNET_LAB" "$new"
# shellcheck disable=SC2016 # the inner shell expands it
check "bpffs is mounted where it is not, at /sys/fs/bpf" unshare -m bash -c '
    set -e
    umount -l /sys/fs/bpf 2>/dev/null || true
    args=(--bpffs "/sys/fs/bpf/$3" --cgroup "$3-f" --run-dir "$2/run/f")
    "$1" load "${args[@]}" "$4"
    "$1" status "${args[@]}" >"$2/status"
    grep -q " /sys/fs/bpf .* - bpf " /proc/self/mountinfo
    "$1" unload "${args[@]}"' bash "$build/cgnetd" "$dir" "$CGNET_LAB" "$new"
check "no cgroup of those is left" [ ! -e "$cgroup-f" ]

lab_finish
