#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A session of an ordinary user can neither change the policy nor leave its class: by pins, maps,
# links and programs, by cgroups, by namespaces of its own, or with cgnet's own programs.

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
lab_enter "$@"
need_tools bpftool setpriv

user=65534
as_user=(setpriv --reuid="$user" --regid="$user" --clear-groups --no-new-privs)

switch "$(
    policy_file two <<'END'
default_class = "restricted"
class restricted {
    default = allow
    deny = { "@local" }
    loopback = deny
}
class wide {
    default = allow
    deny = { "203.0.113.0/24" }
    loopback = allow
}
END
)" wide

# The programs, where the user can read them.
mkdir "$dir/bin" "$dir/mnt"
cp "$build/cgnetd" "$build/cgnet-run" "$probe" "$(command -v bpftool)" "$dir/bin/"
chmod -R a+rX "$dir/bin"
agent_stop in
class=restricted
agent_start in cgnet_run --class restricted -- "${as_user[@]}" "$dir/bin/probe" --serve
read_counters

still_confined() {
    read_counters
    rule=@local
    denied tcp 10.1.2.3 80
    denied udp fd50::10 80
    rule=
    allowed tcp "$provider4" 443
}
still_confined

# State that no attempt may change.
state() {
    find "$bpffs" -printf '%p %i %m %u\n' | sort
    for map in deny4 deny6 ports rules class; do
        bpftool map dump pinned "$bpffs/restricted/$map"
    done
    bpftool cgroup show "$cgroup/restricted"
    find "$cgroup" -type d -printf '%p %m %u\n' | grep -v '/s[0-9]' | sort
}
state >"$dir/state"

# refused NAME COMMAND...: a session of the user fails to do it, and the state is the same.
refused() {
    local what="$1: refused" output

    shift
    if output=$(cgnet_run --class restricted -- "${as_user[@]}" "$@" 2>&1 </dev/null); then
        fail "$what" "it worked: $output"
    elif [[ $output == *"not found"* || $output == *cgnet-run:*restricted* ]]; then
        fail "$what" "it was not tried: $output"
    elif ! diff "$dir/state" <(state) >"$dir/diff"; then
        fail "$what" "$(head -n 3 "$dir/diff")"
    else
        pass "$what"
    fi
}

# --- pins ----------------------------------------------------------------------------------------
deny4=$bpffs/restricted/deny4
key=(hex 20 00 00 00 0a 01 02 03)
value=(hex 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00)
check "root can look a key up" bpftool map lookup pinned "$deny4" key "${key[@]}"
refused "list pins" ls "$bpffs"
refused "list a class's pins" ls "$bpffs/restricted"
refused "remove the trie's pin" unlink "$deny4"
refused "remove a link's pin" unlink "$bpffs/restricted/connect4"
refused "rename the class's pins" mv "$bpffs/restricted" "$bpffs/gone"
refused "rename the instance" mv "$bpffs" "$bpffs.gone"
refused "pin something of its own" mkdir "$bpffs/restricted/mine"
refused "change the trie by its pin" \
    "$dir/bin/bpftool" map update pinned "$deny4" key "${key[@]}" value "${value[@]}"
refused "read the trie by its pin" "$dir/bin/bpftool" map dump pinned "$deny4"
refused "detach a link by its pin" "$dir/bin/bpftool" link detach pinned "$bpffs/restricted/connect4"

# --- ids -----------------------------------------------------------------------------------------
# id KIND PIN
id() {
    bpftool "$1" show pinned "$2" | head -n 1 | cut -d: -f1
}

map_id=$(id map "$deny4")
link_id=$(id link "$bpffs/restricted/connect4")
check "there is an id of the trie" [ -n "$map_id" ]
check "there is an id of the link" [ -n "$link_id" ]
refused "change the trie by its id" \
    "$dir/bin/bpftool" map update id "$map_id" key "${key[@]}" value "${value[@]}"
refused "read the trie by its id" "$dir/bin/bpftool" map dump id "$map_id"
refused "detach a link by its id" "$dir/bin/bpftool" link detach id "$link_id"
refused "detach from the class's cgroup" "$dir/bin/bpftool" cgroup detach "$cgroup/restricted" \
    cgroup_inet4_connect id "$(bpftool cgroup show "$cgroup/restricted" | awk 'NR == 2 {print $1}')"

# --- cgroups -------------------------------------------------------------------------------------
mount=$(cgroup2_mount)
for place in "$mount" "$mount/$CGNET_LAB-lab" "$cgroup" "$cgroup/restricted" "$cgroup/wide"; do
    check "$place has a cgroup.procs" [ -w "$place/cgroup.procs" ]
    # shellcheck disable=SC2016 # the session's shell expands it
    refused "move to $place" sh -c 'echo $$ >"$0/cgroup.procs"' "$place"
    # shellcheck disable=SC2016
    refused "move a thread to $place" sh -c 'echo $$ >"$0/cgroup.threads"' "$place"
    refused "make a cgroup in $place" mkdir "$place/mine"
done
refused "end a class" sh -c "echo 1 >'$cgroup/restricted/cgroup.kill'"
refused "remove a class" rmdir "$cgroup/wide"
refused "rename a class" mv "$cgroup/wide" "$cgroup/restricted2"

# --- namespaces ----------------------------------------------------------------------------------
# What a user namespace allows may work, as long as it leads nowhere.
# leads_nowhere NAME SCRIPT: in user, mount, cgroup and pid namespaces of its own; the last line of
# the script's output is the attempt's.
leads_nowhere() {
    local what="$1: leads nowhere" output

    output=$(cgnet_run --class restricted -- "${as_user[@]}" unshare --user --map-root-user --mount \
        --cgroup --pid --fork sh -c "$2; exec '$dir/bin/probe' tcp 10.1.2.3 80" 2>&1)
    if [ "$(tail -n 1 <<<"$output")" != EPERM ]; then
        fail "$what" "$output"
    elif ! diff "$dir/state" <(state) >"$dir/diff"; then
        fail "$what" "$(head -n 3 "$dir/diff")"
    else
        pass "$what"
    fi
}

if "${as_user[@]}" unshare --user --map-root-user true 2>/dev/null; then
    leads_nowhere "root in a user namespace" :
    leads_nowhere "a bpffs of its own" "mount -t bpf bpf '$dir/mnt'"
    leads_nowhere "a cgroup2 of its own" \
        "mount -t cgroup2 none '$dir/mnt' && echo \$\$ >'$dir/mnt/cgroup.procs'"
    leads_nowhere "detaching as root of a user namespace" \
        "'$dir/bin/bpftool' link detach id $link_id; '$dir/bin/bpftool' link detach pinned $bpffs/restricted/connect4"
    leads_nowhere "the host's namespaces" "nsenter -t 1 -n -C true"
    leads_nowhere "unmounting the pins" "umount '$dir/bpf'"
else
    skip "user namespaces" "an ordinary user may not make one here"
fi

# --- cgnet's own programs ------------------------------------------------------------------------
refused "cgnetd load" "$dir/bin/cgnetd" load "${instance[@]}" "$policy"
refused "cgnetd unload" "$dir/bin/cgnetd" unload "${instance[@]}" --force
refused "cgnet-run into another class" "$dir/bin/cgnet-run" "${instance[@]}" --class wide -- true
refused "ending cgnet-run" kill -KILL "${agent_pid[in]}"

still_confined
lab_finish
