#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What cgnet-run takes from a session: the ways out of its class and to the policy are closed, for root
# and for others, with Landlock and without; what sandboxes, debuggers and shells need still works.
# Scripts of sessions have variables of their own, and cases are called by way of one:
# shellcheck disable=SC2016,SC2317
PATH=/usr/sbin:/usr/bin:/sbin:/bin
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
lab_enter "$@"
need_tools setpriv unshare nsenter bwrap strace gdb python3

# shellcheck disable=SC2154 # lab_enter sets dir, bpffs, cgroup and instance
run=("$build/cgnet-run" "${instance[@]}")
restricted=$cgroup/restricted
mount=$(cgroup2_mount)
user=(setpriv --reuid 1000 --regid 1000 --clear-groups)

# Others than root may not be able to reach the build directory.
try=$dir/confine
install -m 755 "$build/tests/live/confine" "$try"

load "$(
    policy_file confine <<'END'
default_class = "restricted"
class restricted {
    default = allow
    deny = { "198.51.100.0/24" }
}
class keep {
    default = allow
    deny = { "198.51.100.0/24" }
    privileges = keep
}
END
)"

# --- helpers -------------------------------------------------------------------------------------

# A kernel without Landlock is played by refusing its system call to cgnet-run.
kernel=()
with=Landlock
without_landlock() {
    kernel=("$try" no-landlock)
    with="no Landlock"
    "$@"
    kernel=()
    with=Landlock
}

has_landlock() {
    python3 -c 'import ctypes; exit(ctypes.CDLL(None).syscall(444, 0, 0, 1) < 6)'
}

is() { # NAME GOT WANTED
    if [ "$2" = "$3" ]; then pass "$1"; else fail "$1" "got '$2', wanted '$3'"; fi
}

as() { # root or user, COMMAND...
    if [ "$1" = user ]; then "${user[@]}" "${@:2}"; else "${@:2}"; fi
}

session() { # root or user, COMMAND...
    if [ "$1" = user ]; then set -- root "${user[@]}" "${@:2}"; fi
    "${kernel[@]}" "${run[@]}" -- "${@:2}"
}

# Attempts are collected: settle makes them all in one session of each user, for starting one for
# each would take minutes. A line is what it comes to outside ("-": not tried), and inside
# ("THIS|THAT"), who, and the attempt.
attempts=()

# Inside only.
inside() { # WORD WHO ATTEMPT...
    attempts+=("- $*")
}

# Outside too, before and after.
refused() { # OUTSIDE INSIDE WHO ATTEMPT...
    attempts+=("$*")
}

# One line of result for each line of the file, "-" for "-"; by CMD..., as somebody or in a session.
make_attempts() { # FILE CMD...
    "${@:2}" sh -c '
        while read -r attempt; do
            if [ "$attempt" = - ]; then echo -; else "$0" $attempt </dev/null 2>&1; fi
        done' "$try" <"$1"
}

# Results are read by line, and one too few or too many shifts none into another's place.
settle() {
    local who outside inside attempt i lines controls wanted before in after

    for who in root user; do
        lines=()
        controls=()
        wanted=()
        for i in "${attempts[@]}"; do
            read -r outside inside attempt <<<"$i"
            [ "${attempt%% *}" = "$who" ] || continue
            wanted+=("$outside $inside")
            lines+=("${attempt#* }")
            if [ "$outside" = - ]; then controls+=(-); else controls+=("${attempt#* }"); fi
        done
        [ ${#lines[@]} -gt 0 ] || continue
        printf '%s\n' "${lines[@]}" >"$dir/attempts"
        printf '%s\n' "${controls[@]}" >"$dir/controls"
        mapfile -t before < <(make_attempts "$dir/controls" as "$who")
        mapfile -t in < <(make_attempts "$dir/attempts" session "$who")
        mapfile -t after < <(make_attempts "$dir/controls" as "$who")
        is "$who, $with: attempts made" "${#before[@]} ${#in[@]} ${#after[@]}" \
            "${#lines[@]} ${#lines[@]} ${#lines[@]}"
        for i in "${!lines[@]}"; do
            read -r outside inside <<<"${wanted[i]}"
            if [ "${before[i]}/${after[i]}" != "$outside/$outside" ]; then
                fail "$who, $with: ${lines[i]}" "control: ${before[i]}, ${after[i]}, not $outside"
            elif [[ ${in[i]:-nothing} =~ ^($inside)$ ]]; then
                pass "$who, $with: ${lines[i]}"
            else
                fail "$who, $with: ${lines[i]}" "${in[i]:-nothing}, not $inside"
            fi
        done
    done
    attempts=()
}

works() { # WHO COMMAND...
    local output

    if output=$(session "$@" 2>&1 </dev/null); then
        pass "$1, $with: ${*:2}"
    else
        fail "$1, $with: ${*:2}" "status $?: $output"
    fi
}

# Root can do it with its privileges (here in a mount namespace that is thrown away), and not without.
closed() { # COMMAND...
    local output

    if ! output=$("${run[@]}" --class keep -- unshare -m "$@" 2>&1); then
        fail "root, $with: $*" "control: $output"
    elif session root "$@" >/dev/null 2>&1; then
        fail "root, $with: $*" "works"
    else
        pass "root, $with: $*"
    fi
}

wait_for() { # CONDITION...; twenty seconds at most
    local i

    for ((i = 0; i < 1000; i++)); do
        "$@" 2>/dev/null && return
        sleep 0.02
    done
    return 1
}

# Sets pid, address and fd of a process outside.
target_start() { # WHO
    local who=()

    [ "$1" = root ] || who=("${user[@]}")
    rm -f "$dir/target"
    "${who[@]}" "$try" target >"$dir/target" &
    wait_for grep -q . "$dir/target" || lab_broken "no process to be reached into"
    read -r pid address fd <"$dir/target"
}

target_stop() {
    kill "$pid"
    wait "$pid" 2>/dev/null
}

# --- system calls --------------------------------------------------------------------------------

families() { # WHO
    local n

    # vsock, which is nearly everywhere, is the one that is known to be there.
    refused ok EAFNOSUPPORT "$1" socket 40 1
    refused ok EAFNOSUPPORT "$1" socket-wide 40 1
    for n in 0 3 4 5 8 9 11 15 17 21 29 30 33 38 41 43 44 45 46 64 1000 2147483647 -1; do
        inside EAFNOSUPPORT "$1" socket "$n" 2
    done
    for n in 1 2 10; do
        refused ok ok "$1" socket "$n" 1
        refused ok ok "$1" socket "$n" 2
        refused ok ok "$1" socket-wide "$n" 1
    done
    refused ok ok "$1" socket 16 3
    refused ok ok "$1" socketpair 1 1
    inside EAFNOSUPPORT "$1" socketpair 30 2
}

calls() { # WHO
    if [ "$(as "$1" "$try" io_uring_setup)" = ok ]; then
        refused ok ENOSYS "$1" io_uring_setup
        refused EBADF ENOSYS "$1" io_uring_enter
        refused EBADF ENOSYS "$1" io_uring_register
    else
        skip "$1: io_uring" "not for $1 outside"
    fi
    # With and without a description, that is with and without an upcall.
    refused EFAULT ENOKEY "$1" request_key 1
    refused EFAULT EFAULT "$1" request_key 0
    if [ "$(as "$1" "$try" tiocsti)" = ok ]; then
        refused ok EPERM "$1" tiocsti
        refused ok EPERM "$1" tiocsti-wide
    else
        skip "$1: TIOCSTI" "the kernel refuses it outside"
    fi
    refused ENOTTY EPERM "$1" tioclinux
    inside EPERM "$1" bpf
}

calls32() { # WHO
    if [ "$(as "$1" "$try" socket32 1 1 2>/dev/null)" != ok ]; then
        skip "$1: 32-bit system calls" "none here"
        return
    fi
    refused ok ok "$1" socket32 1 1
    refused ok ok "$1" socket32 2 1
    refused ok EAFNOSUPPORT "$1" socket32 40 1
    refused ok EAFNOSUPPORT "$1" socketcall32 2 1
    refused ok EAFNOSUPPORT "$1" socketcall32 40 1
    refused EBADF EPERM "$1" tiocsti32
    inside EPERM "$1" bpf32
}

opens_tun() { # WHO
    [ -c /dev/net/tun ] && { [ "$1" = root ] || [ "$(stat -c %a /dev/net/tun)" = 666 ]; }
}

system_calls() {
    local who

    for who in root user; do
        families "$who"
        calls "$who"
        calls32 "$who"
    done
    refused ok EPERM root bpf
    refused ok EAFNOSUPPORT root socket 2 10 # SOCK_PACKET
    if ip tuntap add cgnet-tap mode tap 2>"$dir/err" && ip link set cgnet-tap up; then
        refused ok EPERM root tap cgnet-tap
        ! opens_tun user || refused ok EPERM user tap cgnet-tap
    else
        skip "a tap device of the host's" "$(cat "$dir/err")"
    fi
    settle
    ip tuntap del cgnet-tap mode tap 2>/dev/null
}

# --- processes outside ---------------------------------------------------------------------------

# In a pid namespace of its own a session does not see them at all.
reaching() { # WHO
    local who=$1 file proc=EACCES signal=EPERM limit=EPERM

    [ "$with" = Landlock ] || proc=ENOENT signal=ESRCH limit=ESRCH
    target_start "$who"
    refused ok EPERM "$who" attach "$pid"
    refused ok EPERM "$who" seize "$pid"
    refused ok EPERM "$who" vm-read "$pid" "$address"
    refused ok EPERM "$who" vm-write "$pid" "$address"
    refused ok "$signal" "$who" getfd "$pid" "$fd"
    refused ok "$signal" "$who" kill "$pid" 0
    refused ok "$signal" "$who" kill "$pid" 18 # SIGCONT
    refused ok "$signal" "$who" pidfd-signal "$pid"
    refused ok "$limit" "$who" prlimit "$pid"
    for file in root/. "root$mount/cgroup.procs" cwd/. fd/0 mem environ maps; do
        refused ok "$proc" "$who" open "/proc/$pid/$file" 0
    done
    refused ok "$proc" "$who" open "/proc/$pid/mem" 2
    if [ "$who" = root ]; then
        # In place of the namespace some kernels open the directory.
        refused ok "$proc|EINVAL" root setns "/proc/$pid/ns/net"
        refused ok "$proc|EINVAL" root setns "/proc/$pid/ns/mnt"
        refused ok "$signal" root setns-pidfd "$pid"
        refused ok "$proc" root open "/proc/$pid/root$mount/cgroup.procs" 1
        refused ok "$proc" root open "/proc/$pid/root$bpffs" 0
    fi
    settle
    target_stop
}

# Root has the user's rights for a moment, and root's again.
becoming_user() {
    local prog='import os, sys
os.setegid(1000)
os.seteuid(1000)
try: there = os.open(sys.argv[1], os.O_PATH)
except OSError as e: sys.exit(e.strerror)
os.seteuid(0)
os.open(sys.argv[2], os.O_WRONLY, dir_fd=there)'

    target_start user
    check "the control: root as user" \
        python3 -c "$prog" "/proc/$pid/root" "${mount#/}/cgroup.procs"
    is "root as user, $with" \
        "$(session root python3 -c "$prog" "/proc/$pid/root" "${mount#/}/cgroup.procs" 2>&1)" \
        "$([ "$with" = Landlock ] && echo "Permission denied" || echo "No such file or directory")"
    target_stop
}

# cgnet-run itself, and the sessions of others.
neighbours() {
    local other parent proc=EACCES signal=EPERM

    "${kernel[@]}" "${run[@]}" --name other -- sleep 30 &
    parent=$!
    wait_for grep -q . "$restricted/other/cgroup.procs"
    other=$(grep -vx "$parent" "$restricted/other/cgroup.procs")
    [ "$with" = Landlock ] || proc=ENOENT signal=ESRCH
    for pid in "$parent" "$other"; do
        inside EPERM root attach "$pid"
        inside "$signal" root kill "$pid" 0
        inside "$proc" root open "/proc/$pid/root/." 0
    done
    settle
    if [ "$with" != Landlock ]; then
        is "root, $with: init of its namespace" \
            "$(session root "$try" open /proc/1/root/. 0; session root "$try" open /proc/1/mem 2)" \
            $'EACCES\nEACCES'
    fi
    kill "$parent"
    wait "$parent" 2>/dev/null
}

processes() {
    reaching root
    reaching user
    becoming_user
    neighbours
}

# --- mounts --------------------------------------------------------------------------------------

cgroups() {
    local file v1

    for file in "$restricted" "$cgroup" "$mount"; do
        refused ok EROFS root open "$file/cgroup.procs" 1
        refused ok ENOSYS root clone-into "$file"
        refused EACCES ENOSYS user clone-into "$file"
    done
    refused ok EROFS root open "$restricted/cgroup.kill" 1
    refused ok EPERM root handle "$cgroup"
    is "root, $with: its own cgroup.procs" "$(session root sh -c '
        "$1" open "$0$(sed -n s/^0:://p /proc/self/cgroup)/cgroup.procs" 1' "$mount" "$try")" EROFS
    closed sh -c 'mkdir "$0" && rmdir "$0"' "$cgroup/new"
    v1=$(awk '$0 ~ / - cgroup / {print $5; exit}' /proc/self/mountinfo)
    if [ -n "$v1" ]; then
        refused ok EROFS root open "$v1/tasks" 1
    else
        skip "cgroup v1" "not mounted"
    fi
    settle
    is "root, $with: sysfs" "$(session root sh -c 'test -w /sys/kernel/mm || echo no')" no
}

# A bpffs wherever it is mounted, and nothing else.
hidden() {
    local at

    refused ok ENOENT root open "$bpffs" 0
    mkdir -p "$dir/a bpf" "$dir/twice" "$dir/part" "$dir/covered" "$dir/cgroup"
    mount -t bpf none "$dir/a bpf"
    mount -t bpf none "$dir/twice"
    mount -t bpf none "$dir/twice"
    mount --bind "$bpffs" "$dir/part"
    mount -t bpf none "$dir/covered"
    mount -t tmpfs none "$dir/covered"
    mount --bind "$cgroup" "$dir/cgroup"
    touch "$dir/covered/seen"
    mkdir "$dir/a bpf/seen" "$dir/twice/seen"
    for at in 'a bpf' twice part; do
        is "root, $with: $at" "$(session root ls -A "$dir/$at" 2>&1)" ""
        is "root, $with: $at is not writable" \
            "$(session root mkdir "$dir/$at/x" 2>&1 | sed 's/.*: //')" "Read-only file system"
        is "the control: $at" "$([ "$(ls -A "$dir/$at")" ] && echo yes)" yes
    done
    works root touch "$dir/covered/seen"
    refused ok EROFS root open "$dir/cgroup/cgroup.procs" 1
    settle
    umount "$dir/a bpf" "$dir/twice" "$dir/twice" "$dir/part" "$dir/covered" "$dir/covered" \
        "$dir/cgroup"
}

# The caller's current directory is the session's.
current_directory() {
    local other

    is "root, $with: in bpffs" "$(cd "$bpffs" && session root rm _info 2>&1 | sed 's/.*: //')" \
        "Read-only file system"
    is "root, $with: in cgroupfs" "$(cd "$cgroup" && session root "$try" open cgroup.procs 1)" EROFS
    (cd "$cgroup" && session root pwd >"$dir/out")
    is "root, $with: it stays the same" "$(cat "$dir/out")" "$cgroup"
    mkdir "$dir/gone"
    is "root, $with: removed" "$(cd "$dir/gone" && rmdir "$dir/gone" && session root echo yes)" yes
    unshare -m sleep 30 &
    other=$!
    while [ "$(readlink "/proc/$other/ns/mnt")" = "$(readlink /proc/self/ns/mnt)" ]; do sleep 0.01; done
    rm -f "$dir/ran"
    (cd "/proc/$other/root/tmp" && session root touch "$dir/ran") 2>"$dir/err"
    is "root, $with: in another mount namespace" "$? $(cat "$dir/err")" \
        "125 cgnet-run: the current directory is on no mount of this namespace"
    is "root, $with: CMD did not run" "$(ls "$dir/ran" 2>/dev/null)" ""
    kill "$other"
    wait "$other" 2>/dev/null
}

# With and without a user namespace, in which the session may mount.
undoing() {
    closed umount "$mount"
    closed mount -o remount,bind,rw "$mount"
    closed mount -t tmpfs none /mnt
    closed mount -t cgroup2 none /mnt
    closed unshare -m true
    works root unshare -Urm mount -t tmpfs none /mnt
    is "root, $with: in a user namespace" "$(session root unshare -Urm sh -c '
        umount "$1/bpf" 2>/dev/null && echo bpffs is not hidden
        umount "$2" 2>/dev/null && echo cgroupfs is gone
        mount -o remount,bind,rw "$2" 2>/dev/null && echo cgroupfs is writable
        mount -o remount,rw "$2" 2>/dev/null && echo cgroupfs is writable too
        mount -t cgroup2 none /mnt 2>/dev/null && echo a new cgroupfs
        mount -t bpf none /mnt 2>/dev/null && ls -A /mnt
        "$3" open "$2/cgroup.procs" 1' - "$dir" "$mount" "$try")" EROFS
    # A cgroup namespace has a cgroupfs of its own, which does not show what is above.
    is "root, $with: in a cgroup namespace" "$(session root unshare -UrmC sh -c '
        mount -t cgroup2 none /mnt || exit
        mkdir -p /mnt/a/b
        find /mnt -name cgroup.procs | while read -r file; do echo $$ >"$file"; done
        echo $$ >/mnt/../cgroup.procs
        sed -n "s/^0:://p" /proc/self/cgroup' 2>/dev/null | cut -c1-3)" "/a/"
}

# What the host mounts later. /sys is where a bpffs or a cgroupfs would be.
later() {
    local job

    mkdir "$dir/later"
    mkfifo "$dir/go"
    mount --make-rshared /
    session root sh -c 'echo ready; read -r x <"$0/go"; ls "$0/later" /sys/kernel' "$dir" >"$dir/out" &
    job=$!
    wait_for grep -q ready "$dir/out"
    mount -t tmpfs none "$dir/later"
    touch "$dir/later/seen"
    mount -t tmpfs none /sys/kernel
    touch /sys/kernel/hidden
    echo >"$dir/go"
    wait "$job"
    umount /sys/kernel
    umount "$dir/later"
    mount --make-rprivate /
    is "root, $with: mounted later" "$(grep -xE 'seen|hidden' "$dir/out" | paste -sd' ')" ""
    rm "$dir/go"
    rmdir "$dir/later"
}

# Settings of the host, whoever asks and through whichever procfs; a sandbox's own can be changed.
settings() {
    local file own=net/ipv4/ip_forward core=/proc/sys/kernel/core_pattern

    for file in kernel/core_pattern kernel/poweroff_cmd vm/overcommit_memory net/ipv4/ip_forward; do
        refused ok EPERM root rewrite "/proc/sys/$file"
    done
    settle
    is "root, $with: in a user namespace" "$(session root unshare -Ur "$try" rewrite "$core")" EPERM
    is "root, $with: in a procfs of its own" \
        "$(session root unshare -Urmpf --mount-proc "$try" rewrite "$core")" EPERM
    is "root, $with: opened by another" \
        "$("${kernel[@]}" "${run[@]}" --keep-fd 3 -- sh -c 'echo core >&3' 3>>"$core" 2>&1 |
            grep -c 'I/O error')" 1
    is "root, $with: opened, and then written to in a namespace of its own" \
        "$(session root sh -c 'exec 3>>"/proc/sys/$0"; unshare -Urn sh -c "echo 1 >&3"' "$own" 2>&1 |
            grep -c 'I/O error')" 1
    is "the host's stays" "$(cat "/proc/sys/$own")" 0
    works root cat "$core"
    for who in root user; do
        works "$who" unshare -Urn sh -c 'echo 1 >"/proc/sys/$0" && grep -qx 1 "/proc/sys/$0"' "$own"
        works "$who" bwrap --unshare-all --unshare-user --disable-userns --ro-bind / / --proc /proc true
    done
    is "keep: $core" "$("${run[@]}" --class keep -- "$try" rewrite "$core")" ok
}

mounts() {
    cgroups
    settings
    hidden
    current_directory
    undoing
    later
}

# --- privileges ----------------------------------------------------------------------------------

dropped_caps=(2 12 16 17 19 20 21 22 25 26 27 30 32 33 34 37 38 39 40)
kept_caps=(0 1 3 4 5 6 7 8 9 10 14 15 18 23 24 28 29 31 35 36)

# has SETS CAP...: how many of the capabilities are in each set of the status file in $dir/out.
has() {
    local set value n

    for set in $1; do
        value=$((16#$(sed -n "s/^Cap$set:\t//p" "$dir/out")))
        n=0
        for cap in "${@:2}"; do n=$((n + (value >> cap & 1))); done
        echo "$set $n"
    done | paste -sd' '
}

capabilities() {
    local all
    cat /proc/self/status >"$dir/out"
    all=$(has Eff "${kept_caps[@]}")
    all=${all#Eff }
    session root cat /proc/self/status >"$dir/out"
    is "root, $with: raw sockets" "$(has "Prm Eff" 13)" "Prm 0 Eff 0"
    is "root, $with: dropped" "$(has "Prm Eff Bnd" "${dropped_caps[@]}")" "Prm 0 Eff 0 Bnd 0"
    is "root, $with: kept" "$(has "Prm Eff Bnd" "${kept_caps[@]}")" "Prm $all Eff $all Bnd $all"
    is "root, $with: no_new_privs" "$(grep -c $'^NoNewPrivs:\t1' "$dir/out")" 1
    setpriv --inh-caps +net_admin,+chown --ambient-caps +net_admin,+chown \
        "${kernel[@]}" "${run[@]}" -- cat /proc/self/status >"$dir/out"
    is "root, $with: inheritable and ambient" "$(has "Inh Amb" 0 12)" "Inh 1 Amb 1"
    session user cat /proc/self/status >"$dir/out"
    is "user, $with: none" "$(has "Prm Eff" "${dropped_caps[@]}" "${kept_caps[@]}")" "Prm 0 Eff 0"
    "${run[@]}" --class keep -- cat /proc/self/status >"$dir/out"
    is "keep: capabilities" "$(sed -n 's/^CapEff/CapEff/p' "$dir/out")" "$(grep ^CapEff /proc/self/status)"
    is "keep: no_new_privs" "$(grep -c $'^NoNewPrivs:\t1' "$dir/out")" 1
    is "keep: the filter" "$("${run[@]}" --class keep -- "$try" bpf) $("${run[@]}" --class keep -- "$try" socket 40 1)" \
        "EPERM EAFNOSUPPORT"
    is "keep: its cgroup" "$("${run[@]}" --class keep -- "$try" open "$cgroup/keep/cgroup.procs" 1)" ok
    refused ok EPERM root mknod "$dir/node"
    settle
    install -m 4755 "$(command -v id)" "$dir/id"
    is "the control: a setuid program" "$("${user[@]}" "$dir/id" -u)" 0
    is "user, $with: a setuid program" "$(session user "$dir/id" -u)" 1000
    rm "$dir/id"
}

ordinary() { # what root does
    works root chown 1000 "$dir/out"
    works root chroot / true
    works root "${user[@]}" true
    works root python3 -c 'import socket; socket.socket().bind(("127.0.0.1", 82))'
    works root setpriv --bounding-set -chown true
    works root sh -c 'ulimit -n 100 && "$0" read-limit $$ && ! "$0" prlimit $$' "$try"
    works root python3 -c 'import threading
t = threading.Thread(target=print); t.start(); t.join()'
}

sandboxes() { # WHO
    works "$1" bwrap --unshare-user --unshare-net --ro-bind / / --proc /proc --dev /dev true
    works "$1" bwrap --unshare-all --ro-bind / / --proc /proc --dev /dev true
    works "$1" bwrap --unshare-user --unshare-pid --die-with-parent --dev-bind / / --proc /proc true
    works "$1" unshare -Urn true
    if opens_tun "$1"; then
        works "$1" unshare -Urn ip tuntap add own mode tap
    else
        skip "$1: a tap device in a network of its own" "/dev/net/tun is not open to $1 here"
    fi
    works "$1" unshare -UrmpfniuC --mount-proc true
    works "$1" unshare -Urmn sh -c 'mount -t sysfs -o ro none /sys && ls /sys/class/net/lo'
}

debuggers() { # WHO
    is "$1, $with: gdb" \
        "$(session "$1" gdb -nx -q -batch -ex 'break puts' -ex run -ex detach --args "$try" open /dev/null 0 2>&1 |
            grep -c '^Breakpoint 1, ')" 1
    is "$1, $with: strace" \
        "$(session "$1" strace -f -e trace=execve sh -c 'true; /bin/true' 2>&1 | grep -c 'execve("/bin/true"')" 1
    [ "$with" = Landlock ] || return
    works "$1" sh -c '
        "$0" target >/dev/null & pid=$!
        while [ "$(readlink /proc/$pid/exe)" != "$0" ]; do sleep 0.02; done
        "$0" attach $pid && "$0" vm-write $pid $(stat -c 0 /) 2>/dev/null
        "$0" open /proc/$pid/mem 2 && "$0" kill $pid 15' "$try"
}

# Signals among its own, and what comes from outside.
signals() {
    local job

    works root sh -c 'sleep 30 & kill $! && ! wait $!'
    works root setsid -w sh -c 'trap "exit 0" TERM; kill 0; exit 1'
    "${kernel[@]}" "${run[@]}" --name sig -- sh -c 'trap "exit 7" TERM; echo ready; while :; do sleep 0.1; done' >"$dir/out" &
    job=$!
    wait_for grep -q ready "$dir/out"
    kill "$job"
    wait "$job"
    is "root, $with: TERM from outside" $? 7
}

works_still() {
    local who

    capabilities
    ordinary
    for who in root user; do
        sandboxes "$who"
        debuggers "$who"
    done
    signals
}

# --- the rest ------------------------------------------------------------------------------------

again() {
    session root "${run[@]}" -- touch "$dir/ran" 2>"$dir/err"
    is "root, $with: cgnet-run inside" "$? $(cat "$dir/err")" \
        "125 cgnet-run: already in a class of ${cgroup##*/}: may enter no other"
    is "CMD did not run" "$(ls "$dir/ran" 2>/dev/null)" ""
    is "root, $with: descriptors" "$(session root sh -c 'ls /proc/$$/fd; :' | paste -sd' ')" "0 1 2"
}

# When cgnet-run is killed, CMD is; what CMD left behind stays, and after it nothing.
init_ends() {
    local job init left

    "${kernel[@]}" "${run[@]}" --name init -- sh -c 'sleep 60 & echo ready; wait' >"$dir/out" &
    job=$!
    wait_for grep -q ready "$dir/out"
    init=$(grep -l $'^NSpid:.*\t1$' /proc/[0-9]*/status 2>/dev/null | while read -r f; do
        grep -q $'^PPid:\t'"$job\$" "$f" && echo "$f"
    done)
    is "a session without Landlock has an init" "$([ -f "$init" ] && echo yes)" yes
    kill -9 "$job"
    wait "$job" 2>/dev/null
    wait_for sh -c '[ "$(wc -l <"$0")" = 1 ]' "$restricted/init/cgroup.procs"
    left=$(cat "$restricted/init/cgroup.procs")
    sleep 0.1
    is "what CMD left behind lives" "$(cat "/proc/$left/comm")" sleep
    is "and so does init" "$([ -f "$init" ] && echo yes)" yes
    kill "$left"
    wait_for sh -c '! [ -f "$0" ]' "$init"
    is "then init is gone" "$([ -f "$init" ] || echo yes)" yes
    rmdir "$restricted/init"
}

# Each call fails in turn, on the way of CMD only. CMD runs confined, or not at all.
fail_call() { # CALL ERROR N
    local what="$with: $1 number $3 fails with $2" status state

    rm -f "$dir/ran"
    "${kernel[@]}" timeout 20 strace -f -o "$dir/strace" -e "trace=$1" -e "inject=$1:error=$2:when=$3" \
        "${run[@]}" -- sh -c '
            { "$1" open "$2" 1; "$1" bpf; "$1" open "$3" 0
            grep -E "^(CapEff|CapBnd|NoNewPrivs)" /proc/self/status; } >"$0"' \
        "$dir/ran" "$try" "$restricted/cgroup.procs" "/proc/$pid/root/." >/dev/null 2>"$dir/err"
    status=$?
    grep -q INJECTED "$dir/strace" || return 1
    if [ ! -e "$dir/ran" ]; then
        is "$what: refused" "$status" 125
        is "$what: says why" "$(grep -c '^cgnet-run: ' "$dir/err")" 1
    else
        state=$(cat "$dir/ran")
        is "$what: CMD runs confined" "$state" "$confined"
    fi
    find "$restricted" -mindepth 1 -depth -type d -exec rmdir {} + 2>/dev/null
}

# How often cgnet-run and CMD make the call on their way.
count_calls() { # CALL
    "${kernel[@]}" strace -f -o "$dir/strace" -e "trace=$1" "${run[@]}" -- true
    grep -c "$1(" "$dir/strace"
}

# Of the many alike, which drop one capability each, a few.
failing_calls() {
    local call n i=0 errors=(EPERM ENOMEM EINVAL)
    local calls=(unshare /^mount statx statfs capget capset landlock_restrict_self seccomp)

    [ "$with" = Landlock ] || calls=(clone3 pidfd_open setns "${calls[@]}")
    confined=$(session root sh -c '
        "$0" open "$1" 1; "$0" bpf; "$0" open "$2" 0
        grep -E "^(CapEff|CapBnd|NoNewPrivs)" /proc/self/status' \
        "$try" "$restricted/cgroup.procs" "/proc/$pid/root/.")
    for call in "${calls[@]}"; do
        for ((n = 1; n < 12; n++)); do
            fail_call "$call" "${errors[i++ % 3]}" "$n" || break
        done
    done
    n=$(count_calls prctl)
    for call in 1 2 3 $((n / 2)) $((n - 1)) "$n"; do fail_call prctl EPERM "$call"; done
    fail_call mount_setattr ENOSYS 1
    fail_call openat EMFILE 1+
    [ "$with" != Landlock ] || fail_call landlock_create_ruleset ENOMEM 2
}

everything() {
    processes
    mounts
    works_still
    again
    target_start root
    failing_calls
    target_stop
}

if [ $# = 0 ]; then
    set -- system_calls
    if has_landlock; then set -- "$@" everything; else skip "Landlock" "no scopes (Linux 6.12)"; fi
    set -- "$@" 'without_landlock everything' 'without_landlock init_ends'
fi
for part; do $part; done
lab_finish
