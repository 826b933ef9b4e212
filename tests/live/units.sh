#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Part of test_units.sh. units.sh container DIR: becomes PID 1 of a container, a systemd whose root is
# DIR/install over this one's; a unit of it runs "units.sh inside", whose output goes to
# DIR/report/out, a line "ok WHAT" or "bad WHAT: DETAIL" for each thing tried.
# shellcheck disable=SC2317 # called by way of a variable

tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
classes=/sys/fs/cgroup/cgnet.slice/cgnet-classes.service

user() {
    setpriv --reuid 4001 --regid 4001 --clear-groups "$@"
}

# expect STATUS WHAT COMMAND...
expect() {
    local wanted=$1 what=$2 got output

    shift 2
    output=$("$@" 2>&1)
    got=$?
    if [ "$got" = "$wanted" ]; then
        echo "ok $what"
    else
        echo "bad $what: exit status $got: ${output//$'\n'/; }"
    fi
}

has_session() {
    cgnetd sessions | grep -q "^restricted *$1 "
}

main_pid() {
    systemctl show cgnetd -p MainPID --value
}

# until_new PID: another process is the service, and ready.
until_new() {
    for _ in {1..300}; do
        [ "$(main_pid)" != "$1" ] && systemctl is-active -q cgnetd && return
        sleep 0.1
    done
    return 1
}

inside() {
    local pid

    set -m # what runs in the background lives on, as a user's session would
    expect 0 "the service starts" systemctl start cgnetd
    expect 0 "the classes are in their own unit" [ -d "$classes/restricted" ]
    expect 0 "the service is not" grep -qx 0::/system.slice/cgnetd.service "/proc/$(main_pid)/cgroup"
    expect 0 "a user gets in" user cgnet-run -- grep -q "^0::${classes#/sys/fs/cgroup}/restricted/" \
        /proc/self/cgroup
    expect 1 "and is refused what the class denies" \
        user cgnet-run -- bash -c ': >/dev/udp/10.1.1.1/9'
    user cgnet-run --name lasting -- sleep 600 &
    for _ in {1..100}; do has_session lasting && break; sleep 0.1; done
    expect 0 "a session lives" has_session lasting

    expect 0 "names are looked up by a child" pgrep -P "$(main_pid)" -u nobody
    expect 0 "reload" systemctl reload cgnetd
    pid=$(main_pid)
    expect 0 "restart" systemctl restart cgnetd
    expect 0 "the session lives through a restart" has_session lasting
    pid=$(main_pid)
    kill -KILL "$pid"
    expect 0 "the service comes back after kill -9" until_new "$pid"
    expect 0 "the session lives through kill -9" has_session lasting
    pid=$(main_pid)
    kill -STOP "$pid"
    expect 0 "the service comes back after it hung" until_new "$pid"
    expect 0 "the session lives through the watchdog" has_session lasting
    expect 0 "daemon-reexec" systemctl daemon-reexec
    expect 0 "the session lives through daemon-reexec" has_session lasting
    expect 0 "a user gets in, still" user cgnet-run -- true
    pid=$(main_pid)
    kill -HUP "$pid"
    expect 0 "metrics" cgnetd metrics
    expect 0 "SIGHUP is not the end of it" [ "$(main_pid)" = "$pid" ]

    echo "x = y" >>/etc/cgnet.conf
    expect 1 "a reload of a bad policy fails" systemctl reload cgnetd
    expect 0 "and leaves the service running" systemctl is-active cgnetd
    expect 0 "and the policy in force" user cgnet-run -- true
    sed -i '$d' /etc/cgnet.conf

    expect 0 "stop" systemctl stop cgnetd
    expect 0 "the session lives without the service" has_session lasting
    expect 0 "its cgroup is in place" [ -d "$classes/restricted" ]
    expect 0 "start" systemctl start cgnetd
    expect 0 "the session lives with a new service" has_session lasting
    expect 0 "the end of the classes' unit" systemctl stop cgnet-classes
    expect 3 "is the service's, too" systemctl is-active cgnetd
    expect 0 "and the sessions'" [ ! -e "$classes" ]
    expect 0 "and the policy's" [ ! -e /sys/fs/bpf/cgnet ]
    echo end
}

container() {
    local new=$1/new unit

    mount --make-rprivate /
    mkdir "$1/upper" "$1/work" "$new"
    mount -t overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" overlay "$new" || exit 1
    mount -t proc proc "$new/proc"
    mount -t sysfs sysfs "$new/sys"
    mount -t cgroup2 cgroup2 "$new/sys/fs/cgroup"
    mount -t bpf bpf "$new/sys/fs/bpf"
    mount -t tmpfs tmpfs "$new/run"
    mount --rbind /dev "$new/dev"
    cp -a "$1/install/." "$new/" || exit 1
    install -m 0644 "$tree/policies/restricted.conf" "$new/etc/cgnet.conf"
    echo 'class named { default = deny allow = { "name.example:443/tcp" } }' >>"$new/etc/cgnet.conf"
    cp "${BASH_SOURCE[0]}" "$new/run/units.sh"
    # Nothing of this host's own is to be started.
    rm -rf "$new"/etc/systemd/system/* "$new"/run/systemd
    for unit in journald udevd udev-trigger tmpfiles-setup tmpfiles-setup-dev sysusers sysctl \
        modules-load random-seed machine-id-commit firstboot binfmt hwdb-update; do
        ln -s /dev/null "$new/etc/systemd/system/systemd-$unit.service"
    done
    for unit in systemd-journald systemd-journald-dev-log systemd-journald-audit; do
        ln -s /dev/null "$new/etc/systemd/system/$unit.socket"
    done
    mkdir "$new/etc/systemd/system/cgnetd.service.d"
    cat >"$new/etc/systemd/system/cgnetd.service.d/test.conf" <<END
[Service]
WatchdogSec=2s
RestartSec=100ms
StandardOutput=append:/run/report/service
StandardError=inherit
END
    cat >"$new/etc/systemd/system/test.target" <<END
[Unit]
Wants=test.service
END
    cat >"$new/etc/systemd/system/test.service" <<END
[Unit]
DefaultDependencies=no
After=sysinit.target
[Service]
Type=oneshot
TimeoutStartSec=100
StandardOutput=append:/run/report/out
StandardError=inherit
ExecStart=/bin/bash /run/units.sh inside
ExecStopPost=/bin/systemctl exit
END
    mkdir "$new/run/report" "$new/run/old"
    mount --bind "$1/report" "$new/run/report"
    cd "$new" && pivot_root . run/old && umount -l /run/old
    exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd \
        --system --unit=test.target --log-target=null --show-status=no </dev/null >/dev/null 2>&1
}

case $1 in
container) container "$2" ;;
inside) inside ;;
esac
