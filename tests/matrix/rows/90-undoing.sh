# shellcheck shell=bash disable=SC2034,SC2154 # the engine's variables
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Attempts to take the policy down from inside. Where the same attempt outside would, it is made
# there too, on a second instance: a session of that one has to reach the target then. Afterwards a
# new session has to be denied as before.

target 10.1.2.3 80
D=(10.1.2.3 80)
who=root

object_id() {
    json_field id "$(bpftool -j "$1" show pinned "$2")"
    echo "$field"
}

# objects WHERE: sets what the attempts name, of this instance or of the second one.
objects() {
    pins=$bpffs/restricted
    class_dir=$cgroup/main/restricted
    if [ "$1" = out ]; then
        pins=$dir/bpf/sac/restricted
        class_dir=$sacrifice_class
    fi
}

words_of_objects() {
    local w

    words=()
    for w in "$@"; do
        case $w in
        @links) words+=("$(object_id link "$pins/connect4")" "$(object_id link "$pins/egress")") ;;
        @prog)
            json_field prog_id "$(bpftool -j link show pinned "$pins/connect4")"
            words+=("$field")
            ;;
        @trie) words+=("$(object_id map "$pins/deny4")") ;;
        @pins) words+=("$pins/connect4" "$pins/egress") ;;
        @class) words+=("$class_dir") ;;
        *) words+=("$w") ;;
        esac
    done
}

# A session of the second instance, whose policy is whole. What was torn down a moment ago may still
# be on its way out.
sacrifice_session() {
    local i

    for i in 1 2 3; do
        agent_stop victim
        sacrifice_load
        agent_start victim launch "$build/cgnet-run" "${sacrifice[@]}" --class restricted -- \
            "$bin/probe" --serve
        ask victim tcp "${D[@]}"
        [ "$word" != EPERM ] || return 0
        echo "the second instance, try $i: $word: $(tail -1 "$dir/victim.err")" >&2
    done
}

# undo WHERE ATTACK WORD...: word is "ok" if the attempt itself, or another session, reaches the target.
undo() {
    local where=$1 words name w d

    shift
    [ "$where" = in ] || sacrifice_session
    objects "$where"
    words_of_objects "$@"
    if [ "$where" = out ]; then
        read -r w _ < <("$bin/attack" "${words[@]}")
        ask victim tcp "${D[@]}"
        [ "$w" != frozen ] || word=$w
        return
    fi
    agent in attack
    ask "$name" "${words[@]}"
    w=$word d=${usec#* }
    [ "$w" = EPERM ] || return
    agent in probe
    ask "$name" tcp "${D[@]}"
    detail=$d
}

# The user's control is a plain connect, since root's has shown already what the attempt can do.
both_undo() {
    local instead=() reached_by=$reached_by

    who=root blocked "$1-root" "${@:2}"
    instead=(tcp "${D[@]}")
    reached_by=answer
    who=user blocked "$1-user" "${@:2}"
}

layer=connect
both_undo UNDO-01 "links detached, by number" function undo link-id "${D[@]}" @links
both_undo UNDO-02 "links detached, by their pins" function undo link-pin "${D[@]}" @pins
both_undo UNDO-03 "pins removed" function undo unlink "${D[@]}" @pins
both_undo UNDO-04 "the target allowed in the map" function undo map-allow "${D[@]}" @trie 8
layer=
reached_by=frozen
both_undo UNDO-05 "the map frozen" function undo map-freeze "${D[@]}" @trie
reached_by=answer
layer=connect
# These do not work outside, either: the kernel, or another layer, is in the way.
instead=(tcp "${D[@]}")
blocked UNDO-06-root "a program detached from the class" \
    function undo prog-detach "${D[@]}" @class @prog 10
both blocked UNDO-07 "65 programs that undo a refusal" function undo attach "${D[@]}" @class 65
blocked UNDO-08-root "the class's cgroup removed" function undo rmdir "${D[@]}" @class
blocked UNDO-09-root "the session's parent frozen" \
    write "${D[@]}" "$cgroup/main/restricted/cgroup.freeze" 1
install -d -m 1777 "$dir/shared/mnt"
both blocked UNDO-10 "a fresh bpffs" fresh "${D[@]}" "$dir/shared/mnt" bpf cgnet/restricted/connect4 user
both blocked UNDO-11 "what hides the pins, taken away" \
    uncover "${D[@]}" "$dir/bpf" "$bpffs/restricted/connect4" user
both blocked UNDO-12 "as many sockets as there can be" many-sockets "${D[@]}"

# The processes of another class have to survive.
kill_others() {
    local name n out

    class=sibling agent in probe
    n=$name
    class=restricted agent in attack
    ask "$name" write "${D[@]}" "$cgroup/main/sibling/cgroup.kill" 1
    out=$word
    detail=${usec#* }
    ask "$n" udp-sendto "$public4" 80
    [ "$word" = ok ] && word=$out
    usec=0
}
extra=1 blocked UNDO-13-root "the sessions of another class killed" function kill_others
instead=()
layer=

# --- with cgnet's own programs -------------------------------------------------------------------
want="EPERM|exit-.*"
unload_inside() {
    local command

    # shellcheck disable=SC2016 # the session's shell expands it
    command_in "$1" sh -c '"$0" "$@" >/dev/null 2>&1; exit 0' \
        "$bin/cgnetd" "${cgnetd_words[@]}" "${instance[@]}"
    "${command[@]}"
    agent "$1" probe
    ask "$name" tcp "${D[@]}"
}
instead=(tcp "${D[@]}")
cgnetd_words=(unload --force)
both blocked UNDO-14 "cgnetd unload --force" function unload_inside
open_policy=$(policy_file open <<<'class restricted { default = allow deny = { "203.0.113.0/24" } loopback = allow }')
cgnetd_words=(load "$open_policy")
both blocked UNDO-15 "cgnetd load of another policy" function unload_inside
instead=()
target 10.7.7.7 80
want="exit-125"
blocked UNDO-16-root "cgnet-run into another class" \
    run "$bin/cgnet-run" "${instance[@]}" --class flows -- "$bin/bare" 10.7.7.7 80
instead=(tcp 10.7.7.7 80)
who=user blocked UNDO-16-user "cgnet-run into another class" \
    run "$bin/cgnet-run" "${instance[@]}" --class flows -- "$bin/bare" 10.7.7.7 80
want="(setup-)?EPERM"
target "${D[@]}"

# --- how cgnet-run and cgnetd are started --------------------------------------------------------
link_handed_down() {
    local command line

    objects "$1"
    if [ "$1" = out ]; then
        sacrifice_session
        launch "$bin/outside" link "$pins/egress" "$bin/attack" link-fd "${D[@]}" 7 >/dev/null &
        wait $!
        launch "$bin/outside" link "$pins/connect4" "$bin/attack" link-fd "${D[@]}" 7 >/dev/null &
        wait $!
        ask victim tcp "${D[@]}"
        return
    fi
    if [ "$1" = in ]; then
        command_in in "$bin/attack" link-fd "${D[@]}" 7
        line=$(launch "$bin/outside" link "$pins/connect4" "${command[@]}")
    fi
    read -r word _ _ _ detail <<<"$line"
}
instead=()
layer=connect
both_undo UNDO-17 "a link, open when cgnet-run was started" function link_handed_down

in_bpffs() {
    local command line

    command_in "$1" "$bin/attack" unlink "${D[@]}" connect4 egress
    line=$(cd "$bpffs/restricted" && launch "${command[@]}")
    read -r word _ _ _ detail <<<"$line"
}
instead=(tcp "${D[@]}")
both blocked UNDO-18 "the pins' directory as the current one" function in_bpffs

# What is mounted once the session runs; most hosts propagate it.
late_mount() {
    local name

    mount -t tmpfs none "$dir/late" && mount --make-shared "$dir/late"
    mkdir "$dir/late/bpf" "$dir/late/cgroup"
    leave_class restricted
    agent in attack
    mount --bind "$dir/bpf" "$dir/late/bpf"
    mount -t cgroup2 none "$dir/late/cgroup"
    ask "$name" "$@"
    detail=${usec#* } usec=0
    umount "$dir/late/bpf" "$dir/late/cgroup"
    umount "$dir/late"
    leave_class restricted
}
late_pins() {
    late_mount unlink "${D[@]}" "$dir/late/bpf/sac/restricted/connect4" \
        "$dir/late/bpf/sac/restricted/egress"
    [[ $detail != *done* ]] || word=unlinked
}
late_cgroup() {
    late_mount procs "${D[@]}" "$dir/late/cgroup/$CGNET_LAB-lab/cgroup.procs"
}
mkdir "$dir/late"
if topic_is_selected; then
    sacrifice_session
fi
blocked UNDO-19-root "pins, where bpffs is mounted once the session runs" function late_pins
blocked UNDO-20-root "a cgroup outside, where cgroup2 is mounted once the session runs" \
    function late_cgroup

# load_killed WHERE: a loader that is killed at some point leaves the old policy or the new one.
load_killed() {
    local pid name i

    for i in 0.01 0.1 0.3; do
        launch "$build/cgnetd" load --force "${instance[@]}" "$dir/matrix.conf" >/dev/null 2>&1 &
        pid=$!
        sleep $i
        { kill -KILL $pid && wait $pid; } 2>/dev/null
        agent in probe
        ask "$name" tcp "${D[@]}"
        [ "$word" = EPERM ] || return
    done
}
blocked UNDO-21 "a loader that is killed" function load_killed

# shellcheck disable=SC2016 # the session's shell expands it
kill_runner='kill -KILL $PPID; exec "$0" "$@"'
want="exit-.*"
blocked UNDO-22-root "cgnet-run, killed by its session" run sh -c "$kill_runner" "$bin/bare" "${D[@]}"
want="(setup-)?EPERM"
instead=()
layer=
# nested_unload WHERE: in a session's own cgroup root may make others, deeper than a path can say.
nested_unload() {
    sacrifice_load
    [ "$1" = out ] || launch "$build/cgnet-run" "${sacrifice[@]}" --class restricted -- \
        "$bin/attack" nest-deep "${D[@]}" "$dir/shared/mnt" 40 >/dev/null &
    wait $!
    word=unloaded
    detail=$("$build/cgnetd" unload --force "${sacrifice[@]}" 2>&1 >/dev/null) || word=refused
    "$bin/attack" remove-tree "$cgroup/sac" >/dev/null 2>&1
}
reached_by=unloaded
allowed UNDO-23-root "unload, when a session has nested cgroups deeper than a path can say" \
    function nested_unload

# --- settings of the host ------------------------------------------------------------------------
# set_setting WHERE NAME COMMAND...: sets it to what it is, in a shell that COMMAND starts.
set_setting() {
    local where=$1 file=/proc/sys/$2 command

    # shellcheck disable=SC2016 # the session's shell expands it
    command_in "$where" "${@:3}" sh -c 'echo "$2" >"$1"' sh "$file" "$(cat "$file")"
    word='done'
    detail=$(launch "${command[@]}" 2>&1 >/dev/null) || word=refused
}
reached_by='done' want=refused layer=sysctl
blocked UNDO-30-root "core_pattern, which names a program that the kernel starts outside" \
    function set_setting kernel/core_pattern
blocked UNDO-31-root "core_pattern, as root of a user namespace" \
    function set_setting kernel/core_pattern unshare -Ur
blocked UNDO-32-root "core_pattern, through a procfs of its own" \
    function set_setting kernel/core_pattern unshare -Urmpf --mount-proc
blocked UNDO-33-root "poweroff_cmd, a program too" function set_setting kernel/poweroff_cmd
blocked UNDO-34-root "a setting of the host's network" function set_setting net/ipv4/ip_forward
layer=
allowed UNDO-35-root "a setting of a network of its own" \
    function set_setting net/ipv4/ip_forward unshare -Urn

# --- processes outside, pulled in ----------------------------------------------------------------
# pull WHERE: a process of root's is moved to a cgroup of the session's own, in a cgroup namespace.
pull() {
    local where=$1 command pid

    launch sleep 60 &
    pid=$!
    # shellcheck disable=SC2016 # the session's shell expands it
    command_in "$where" unshare -UrmC sh -c 'mount -t cgroup2 none "$0" && mkdir "$0/pulled" &&
        echo "$1" >"$0/pulled/cgroup.procs" && echo 1 >"$0/pulled/cgroup.kill"' "$dir/shared/mnt" "$pid"
    detail=$(launch "${command[@]}" 2>&1 >/dev/null)
    kill "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
    word=$([ $? = 137 ] && echo 'done' || echo refused)
    rmdir "$lab_cgroup/pulled" 2>/dev/null
}
kill_outside() {
    launch sleep 60 &
    kill -KILL $!
    wait $! 2>/dev/null
    word='done'
}
if grep -q ' - cgroup2 .*nsdelegate' /proc/self/mountinfo; then
    instead=(function kill_outside)
    blocked UNDO-36-root "a process outside, pulled into a cgroup of its own and killed there" \
        function pull
    instead=()
else
    delegated UNDO-36-root "a process outside, pulled in and killed, as cgroup2 has no nsdelegate" \
        function pull
fi

# A hierarchy of cgroup v1, whose root is what a cgroup namespace of a session's shows.
v1=$(sed -n 's/.* - cgroup .*,\(pids\|freezer\|memory\|devices\)$/\1/p' /proc/self/mountinfo | head -1)
v1_rule() { # WHERE
    local where=$1 command

    # shellcheck disable=SC2016 # the session's shell expands it
    command_in "$where" unshare -UrmC sh -c 'mount -t cgroup -o "$1" none "$0" &&
        mkdir "$0/cgnet-matrix-$$" && rmdir "$0/cgnet-matrix-$$"' "$dir/shared/mnt" "$v1"
    word='done'
    detail=$(launch "${command[@]}" 2>&1 >/dev/null) || word=refused
}
if [ -n "$v1" ]; then
    delegated UNDO-37-root "a cgroup of v1 outside, through a cgroup namespace" function v1_rule
else
    unavailable UNDO-37-root "a cgroup of v1 outside, through a cgroup namespace" "cgroup v1 is not mounted"
fi
reached_by=answer want="(setup-)?EPERM"

# More denials, each of its own, than the ring of events holds.
# shellcheck disable=SC2016 # the session's shell expands it
flood='for ((i = 1; i <= 5000; i++)); do : >"/dev/tcp/$1/$i"; done 2>/dev/null; exec "$0" "$@"'
instead=(run "$bin/bare" "${D[@]}")
want=exit-1
both blocked UNDO-38 "a flood of denials, more than the ring of events holds" \
    run bash -c "$flood" "$bin/bare" "${D[@]}"
instead=()
want="(setup-)?EPERM"
agent_stop victim
