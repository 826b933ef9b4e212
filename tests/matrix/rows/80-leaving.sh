# shellcheck shell=bash disable=SC2034,SC2154 # the engine's variables
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Ways out of the class, or into processes outside of it. Each attempt goes on to connect, from
# wherever it has got to.

target 10.1.2.3 80
D=(10.1.2.3 80)
lab_cgroup=$cgroup_mount/$CGNET_LAB-lab

# --- cgroups -------------------------------------------------------------------------------------
both blocked LEAVE-01 "into the root cgroup" procs "${D[@]}" "$cgroup_mount/cgroup.procs"
both blocked LEAVE-02 "into the class's parent" procs "${D[@]}" "$cgroup/main/cgroup.procs"
instead=(tcp "${D[@]}")
both blocked LEAVE-03 "into the class itself, out of the session" \
    procs "${D[@]}" "$cgroup/main/restricted/cgroup.procs"
instead=()
# There the target is allowed.
target 10.7.7.7 80
both blocked LEAVE-04 "into another class" procs 10.7.7.7 80 "$cgroup/main/flows/cgroup.procs"
target "${D[@]}"
both blocked LEAVE-05 "into a cgroup outside" procs "${D[@]}" "$lab_cgroup/cgroup.procs"
both blocked LEAVE-06 "into one that is delegated to the user" \
    procs "${D[@]}" "$delegated_cgroup/cgroup.procs"
both blocked LEAVE-07 "a thread into a cgroup outside" procs "${D[@]}" "$lab_cgroup/cgroup.threads"
both blocked LEAVE-08 "a child that starts in a cgroup outside" clone-into "${D[@]}" "$lab_cgroup"
both blocked LEAVE-09 "a child that starts in a delegated cgroup" \
    clone-into "${D[@]}" "$delegated_cgroup"
both blocked LEAVE-10 "a cgroup of its own, outside" nest "${D[@]}" "$lab_cgroup"
both blocked LEAVE-11 "a cgroup of its own, in the delegated one" nest "${D[@]}" "$delegated_cgroup"

# --- other views of cgroupfs ---------------------------------------------------------------------
install -d -m 1777 "$dir/shared/mnt"
mnt=$dir/shared/mnt
into=$CGNET_LAB-lab/cgroup.procs
blocked LEAVE-12-root "a fresh cgroup2 mount" fresh "${D[@]}" "$mnt" cgroup2 "$into"
both blocked LEAVE-13 "the same, in a user and a cgroup namespace" \
    fresh "${D[@]}" "$mnt" cgroup2 cgroup.procs user
both blocked LEAVE-14 "the same, by a path that leads out of it" \
    fresh "${D[@]}" "$mnt" cgroup2 "../../../$into" user
both blocked LEAVE-15 "its mount made writable again" \
    remount "${D[@]}" "$cgroup_mount" "$lab_cgroup/cgroup.procs"
both blocked LEAVE-16 "the same, in a user namespace" \
    remount "${D[@]}" "$cgroup_mount" "$lab_cgroup/cgroup.procs" user
both blocked LEAVE-17 "cgroup.procs by its handle" \
    handle "${D[@]}" "$lab_cgroup/cgroup.procs" "$cgroup_mount"
both blocked LEAVE-18 "the same, through a fresh mount" \
    handle "${D[@]}" "$lab_cgroup/cgroup.procs" "$mnt" cgroup2
both blocked LEAVE-19 "chroot" chroot "${D[@]}" /
both blocked LEAVE-20 "by the root of a process outside" \
    procs "${D[@]}" "/proc/$deputy_pid_root/root$lab_cgroup/cgroup.procs"
blocked LEAVE-21-user "the same, of one's own process outside" \
    procs "${D[@]}" "/proc/$deputy_pid_user/root$delegated_cgroup/cgroup.procs"
blocked LEAVE-22-root "by a file that a process outside has open" \
    procs "${D[@]}" "/proc/$deputy_pid_root/fd/$deputy_file_root"
who=user blocked LEAVE-22-user "by a file that a process outside has open" \
    procs "${D[@]}" "/proc/$deputy_pid_user/fd/$deputy_file_user"
both blocked LEAVE-23 "by the directory of a process outside" \
    procs "${D[@]}" "/proc/$$/cwd/../../../../../../..$lab_cgroup/cgroup.procs"

# --- namespaces ----------------------------------------------------------------------------------
for space in user mnt pid net ipc uts time cgroup; do
    [ $space != net ] || continue
    prefix=
    [ $space = user ] || prefix=user,
    who=user blocked "LEAVE-24-$space" "a $space namespace of its own" unshare "${D[@]}" "$prefix$space"
done
blocked LEAVE-25 "all of them, as root" unshare "${D[@]}" user,mnt,pid,ipc,uts,time,cgroup
both blocked LEAVE-26 "the namespaces of a process outside" \
    setns "${D[@]}" "$lab_cgroup/cgroup.procs" "$deputy_pid_root" user mnt pid cgroup
who=user blocked LEAVE-27 "the same, of one's own process outside" \
    setns "${D[@]}" "$delegated_cgroup/cgroup.procs" "$deputy_pid_user" user mnt pid cgroup
# shellcheck disable=SC2016 # the session's shell expands it
entered='nsenter -t "$0" -m -C -p -i -u "$@" || "$@"'
want="exit-.*" layer=connect blocked LEAVE-28 "nsenter, all namespaces of a process outside" \
    run sh -c "$entered" "$deputy_pid_root" "$bin/bare" "${D[@]}"
# link_into WHERE: word is "linked" if the host has the other end then. The control is root's.
# shellcheck disable=SC2016
linked='unshare $1 sh -c "ip link add vm0 type veth peer name vm1 netns $0; sleep 0.3" >/dev/null 2>&1 &
    sleep 0.2; ip link show vm1 >/dev/null 2>&1 && echo "linked 0 - 0 -"; wait'
link_into() {
    if [ "$1" = out ]; then
        who=root run_tool out sh -c "$linked" $$ -n
    else
        run_tool in sh -c "$linked" $$ -Urn
    fi
    ip link del vm1 2>/dev/null
}
reached_by=linked
want="exit-.*"
both blocked LEAVE-29 "a link from a network namespace of its own into the host's" function link_into
reached_by=answer

# --- network administration ----------------------------------------------------------------------
# Each with what it is good for: a way to the target that the hooks do not see.
want="exit-.*"
# shellcheck disable=SC2016
nat='nft add table ip m 2>&1; nft add chain ip m o "{ type nat hook output priority -100; }" 2>&1
    nft add rule ip m o ip daddr 94.1.1.1 tcp dport 9 dnat to 10.1.2.3:80 2>&1
    "$0" 94.1.1.1 9; e=$?; nft delete table ip m 2>/dev/null; exit $e'
if command -v nft >/dev/null; then
    blocked LEAVE-30 "a translation of a public address into a private one" \
        run sh -c "$nat" "$bin/bare"
    # The host may have one, for its containers. What leaves is what counts.
    nat_on() {
        nft add table ip m
        nft add chain ip m o '{ type nat hook output priority -100; }'
        nft add rule ip m o ip daddr 94.1.1.1 dnat to 10.1.2.3
    }
    nat_off() {
        nft delete table ip m
    }
    prepare=nat_on tidy=nat_off
    want="ETIMEDOUT" layer=egress blocked LEAVE-31 "an address that the host translates into a private one" \
        tcp 94.1.1.1 80 timeout=400
    layer=egress want="EPERM" blocked LEAVE-32 "the same, UDP" udp-sendto 94.1.1.1 80
    prepare='' tidy=''
else
    unavailable LEAVE-30 "a translation of a public address into a private one" "no nft here"
fi
want="(setup-)?(EPERM|EACCES)"
target 192.168.50.2 80
blocked LEAVE-33-root "a packet from a tun device of its own" \
    tun 192.168.50.2 80 198.18.9.1 198.18.9.2
target "${D[@]}"

# --- processes outside ---------------------------------------------------------------------------
reached_by=arrival
want="EPERM|EACCES"
of_root=("$deputy_pid_root" "$deputy_buffer_root")
of_user=("$deputy_pid_user" "$deputy_buffer_user")
for way in vm-writev proc-mem ptrace-attach ptrace-seize; do
    blocked "LEAVE-34-$way-root" "$way: a process of root's outside" "$way" "${D[@]}" "${of_root[@]}"
    who=user blocked "LEAVE-34-$way-user" "$way: a process of the same user outside" \
        "$way" "${D[@]}" "${of_user[@]}"
done
for way in kill tgkill sigqueue pidfd-signal sigio; do
    # This one says nothing of a signal that was not sent.
    [ $way != sigio ] || want='done'
    blocked "LEAVE-35-$way-root" "$way: a signal to a process of root's" "$way" "${D[@]}" "${of_root[@]}"
    who=user blocked "LEAVE-35-$way-user" "$way: a signal to a process of the same user" \
        "$way" "${D[@]}" "${of_user[@]}"
done
want="EPERM|EACCES"
reached_by=answer
blocked LEAVE-36-root "the socket of a process of root's" \
    getfd "${D[@]}" "$deputy_pid_root" "$deputy_socket_root"
who=user blocked LEAVE-36-user "the socket of a process of the same user" \
    getfd "${D[@]}" "$deputy_pid_user" "$deputy_socket_user"

reached_by='done'
blocked LEAVE-58-root "a limit on the processor time of a process of root's, which would end it" \
    prlimit "${D[@]}" "$deputy_pid_root"
who=user blocked LEAVE-58-user "the same, of a process of the same user" \
    prlimit "${D[@]}" "$deputy_pid_user"
reached_by=answer

# --- descriptors that cgnet-run was started with -------------------------------------------------
# with_fds WHERE [--keep] ATTACK WORD...: descriptors 7 to 9 are a socket, a connected one and a file.
with_fds() {
    local where=$1 keep=() command line

    shift
    [ "$1" != --keep ] || {
        keep=(--keep-fd 7 --keep-fd 8 --keep-fd 9)
        shift
    }
    command=("$bin/attack" "$@")
    [ "$who" = root ] || command=("${as_user[@]}" -- "${command[@]}")
    [ "$where" = out ] ||
        command=("$build/cgnet-run" "${instance[@]}" --class "$class" "${keep[@]}" -- "${command[@]}")
    line=$(launch "$bin/outside" fds "$to_addr" "$to_port" "$lab_cgroup/cgroup.procs" "${command[@]}")
    read -r word _ _ _ detail <<<"$line"
}
want="EBADF"
both blocked LEAVE-37 "a socket that cgnet-run was started with" function with_fds fd "${D[@]}" 7
both blocked LEAVE-38 "a connected socket that cgnet-run was started with" \
    function with_fds fd-send 10.1.2.3 80 8
want="EPERM"
both blocked LEAVE-39 "cgroup.procs, open when cgnet-run was started" \
    function with_fds procs-fd "${D[@]}" 9
reached_by=open-descriptor both blocked LEAVE-40 "descriptors of cgnet-run's own" function with_fds descriptors "${D[@]}"
both delegated LEAVE-41 "a socket kept by --keep-fd" function with_fds --keep fd "${D[@]}" 7
both delegated LEAVE-42 "a connected socket kept by --keep-fd" \
    function with_fds --keep fd-send 10.1.2.3 80 8
delegated LEAVE-43 "cgroup.procs kept by --keep-fd" function with_fds --keep procs-fd "${D[@]}" 9

# stdin_socket WHERE ATTACK WORD...: standard input is a socket made outside, as inetd has it.
stdin_socket() {
    local where=$1 command line

    command_in "$where" "$bin/attack" "${@:2}"
    line=$(launch "$bin/outside" stdin "${command[@]}")
    read -r word _ _ _ detail <<<"$line"
}
both delegated LEAVE-44 "a socket as standard input" function stdin_socket fd "${D[@]}" 0

# cgnet-run may be started anywhere.
in_cgroupfs() {
    local command line

    command_in "$1" "$bin/attack" procs "${D[@]}" cgroup.procs
    line=$(cd "$lab_cgroup" && launch "${command[@]}")
    read -r word _ _ _ detail <<<"$line"
}
both blocked LEAVE-45 "a cgroup outside as the current directory" function in_cgroupfs

# --- terminals -----------------------------------------------------------------------------------
# at_terminal WHERE COMMAND...
at_terminal() {
    local where=$1 line
    local command

    command_in "$where" "${@:2}"
    line=$(launch "$bin/outside" terminal "${command[@]}")
    read -r word _ _ _ detail <<<"$line"
    [[ $detail != *ENOSYS* ]] || word=ENOSYS
}
want="nothing"
both blocked LEAVE-46 "typing at the terminal that it was started from" \
    function at_terminal "$bin/attack" type "${D[@]}"
blocked LEAVE-47 "the same, the request with upper bits set" \
    function at_terminal "$bin/attack" type "${D[@]}" high
both blocked LEAVE-48 "the same, by /dev/tty" function at_terminal "$bin/attack" type "${D[@]}" tty
blocked LEAVE-49 "the same, by a 32-bit call" function at_terminal "$bin/int80" type "10.1.2.3 80"
want=EPERM
reached_by=ENOTTY blocked LEAVE-55 "pasting at a console" paste
unavailable LEAVE-56 "an upcall to request-key, which runs outside" "the control would act outside of the lab"

# --- privileges ----------------------------------------------------------------------------------
want="EPERM"
both blocked LEAVE-57 "capabilities taken back" capabilities "${D[@]}" "$lab_cgroup/cgroup.procs"
who=user
blocked LEAVE-50-user "a setuid program" \
    run "$bin/setuid-attack" procs "${D[@]}" "$lab_cgroup/cgroup.procs"
if setcap cap_dac_override,cap_sys_admin+ep "$bin/capable-attack" 2>/dev/null; then
    want="EPERM|exit-.*"
    blocked LEAVE-51-user "a program with file capabilities" \
        run "$bin/capable-attack" procs "${D[@]}" "$lab_cgroup/cgroup.procs"
else
    unavailable LEAVE-51-user "a program with file capabilities" "cannot set them here"
fi
who=root
want="(setup-)?(EPERM|EACCES|EROFS)"
reached_by=opened
for v1 in /sys/fs/cgroup/*/release_agent; do
    [ ! -e "$v1" ] || {
        blocked LEAVE-52-root "the release agent of a cgroup v1" open "${D[@]}" "$v1"
        break
    }
done
[ -e "$v1" ] || unavailable LEAVE-52-root "the release agent of a cgroup v1" "no cgroup v1 here"
reached_by=answer
want="(setup-)?EPERM"

# --- privileges = keep ---------------------------------------------------------------------------
class=keep
delegated LEAVE-54-root "into a cgroup outside, with privileges = keep" \
    procs "${D[@]}" "$lab_cgroup/cgroup.procs"
who=user blocked LEAVE-54-user "the same, as an ordinary user" \
    procs "${D[@]}" "$lab_cgroup/cgroup.procs"
class=restricted
