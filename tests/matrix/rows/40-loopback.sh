# shellcheck shell=bash disable=SC2034,SC2154 # the engine's variables
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# loopback = session: one's own servers, and nobody else's.

target 127.0.0.1 3888
both allowed LOOP-01 "a server of one's own" own 127.0.0.1 8301 tcp 127.0.0.1
both allowed LOOP-02 "the same, UDP" own 127.0.0.1 8301 udp 127.0.0.1
allowed LOOP-03 "the same, UDP connected" own 127.0.0.1 8301 udp-connected 127.0.0.1
allowed LOOP-04 "the same, MPTCP" own 127.0.0.1 8301 mptcp 127.0.0.1
allowed LOOP-05 "on ::1" own ::1 8301 tcp ::1
allowed LOOP-06 "on ::1, UDP" own ::1 8301 udp ::1
allowed LOOP-07 "on ::1, MPTCP" own ::1 8301 mptcp ::1
allowed LOOP-08 "by its mapped address" own ::ffff:127.0.0.1 8301 tcp 127.0.0.1
allowed LOOP-09 "by its mapped address, UDP" own ::ffff:127.0.0.1 8301 udp 127.0.0.1
allowed LOOP-10 "on all addresses of both families" own 127.0.0.1 8301 tcp ::
allowed LOOP-11 "on this host's LAN address" own 192.168.50.2 8301 tcp 192.168.50.2
allowed LOOP-12 "on this host's public v6 address" own 2a01:4f8:7::2 8301 udp 2a01:4f8:7::2
allowed LOOP-13 "by 0.0.0.0" own 0.0.0.0 8301 tcp 0.0.0.0
allowed LOOP-14 "by ::" own :: 8301 tcp ::
ip address add 51.15.9.10/32 dev wan0
allowed LOOP-15 "on an address that this host got later" own 51.15.9.10 8301 tcp 51.15.9.10
both allowed LOOP-16 "in a network namespace of one's own" own-netns 127.0.0.1 8301 tcp 127.0.0.1
allowed LOOP-17 "the same, UDP over v6" own-netns ::1 8301 udp ::1
allowed LOOP-18 "the same, MPTCP" own-netns 127.0.0.1 8301 mptcp 127.0.0.1
reached_by=ECONNREFUSED
allowed LOOP-19 "nobody listens: refused as ever" tcp 127.0.0.1 8302
allowed LOOP-20 "nobody listens, v6" tcp ::1 8302
reached_by=answer

# --- other people's servers ----------------------------------------------------------------------
serve_in_session() {
    background "$1" "$build/cgnet-run" "${instance[@]}" --class "$2" -- \
        "$bin/outside" serve --log "$dir/extra.log" "${@:3}"
}

if topic_is_selected; then
    serve_in_session other restricted '127.0.0.1:8310' '[::1]:8310'
    serve_in_session other-class sibling '127.0.0.1:8311'
    serve_in_session other-mptcp restricted --mptcp '127.0.0.1:8312' '0.0.0.0:8313'
    background mptcp "$bin/outside" serve --mptcp --log "$dir/extra.log" 127.0.0.1:8314
fi
layer=connect
target 127.0.0.1 8310
both blocked LOOP-21 "a server of another session of the class" tcp 127.0.0.1 8310
reached_by=arrival blocked LOOP-22 "the same, UDP connected" udp 127.0.0.1 8310
layer=sendmsg
reached_by=arrival blocked LOOP-23 "the same, UDP" udp-sendto 127.0.0.1 8310
layer=connect
target ::1 8310
blocked LOOP-24 "the same, v6" tcp ::1 8310
target 127.0.0.1 8311
blocked LOOP-25 "a server of another class" tcp 127.0.0.1 8311
target 127.0.0.1 8312
blocked LOOP-26 "an MPTCP server of another session" mptcp 127.0.0.1 8312
target 127.0.0.1 8313
blocked LOOP-27 "the same, on all addresses, by TCP" tcp 127.0.0.1 8313
target 127.0.0.1 8314
blocked LOOP-28 "an MPTCP server of this host" mptcp 127.0.0.1 8314
target 127.0.0.1 3888
both blocked LOOP-29 "a service of this host, a server of one's own like it in another namespace" \
    netns-decoy 127.0.0.1 3888 tcp
blocked LOOP-51 "the same, UDP" netns-decoy 127.0.0.1 3888 udp

# --- one's own server as a door ------------------------------------------------------------------
layer=connect
target 10.1.2.3 11434
blocked LOOP-30 "a server of one's own at that port, on all addresses" own-port 10.1.2.3 11434 tcp
target fd50::10 11434
blocked LOOP-31 "the same, v6" own-port fd50::10 11434 tcp
target 10.1.2.3 11434
layer=sendmsg
blocked LOOP-32 "the same, UDP" own-port 10.1.2.3 11434 udp
layer=
target 10.1.2.3 11434
layer=connect
blocked LOOP-53 "a server of one's own at somebody else's address" decoy 10.1.2.3 11434 tcp 10.1.2.3
layer=
# This host had it when the policy was loaded; now a neighbour has.
if topic_is_selected; then
    ip address del 192.168.50.3/24 dev lan0
fi
target 192.168.50.3 11434
want="(setup-)?EPERM|ETIMEDOUT"
blocked LOOP-54 "a server of one's own at an address that this host no longer has" \
    decoy 192.168.50.3 11434 tcp 192.168.50.3
blocked LOOP-55 "the same, UDP" decoy 192.168.50.3 11434 udp 192.168.50.3
blocked LOOP-56 "the same, UDP connected" decoy 192.168.50.3 11434 udp-connected 192.168.50.3
want="(setup-)?EPERM"

# What reaches the decoy is no packet to somebody else; the other server's log tells.
ignore=packets
want="(setup-)?EPERM|silent|ETIMEDOUT|ECONNREFUSED"
foreign() {
    topic_is_selected || return 0
    background "$1" "$bin/outside" serve --log "$dir/extra.log" "${@:2}"
}
# By a hash of the address the kernel chooses between two that share a port: hence so many.
foreign shared-root --reuseport 127.0.0.{1..24}:8320
target 127.0.0.1 8320
blocked LOOP-33-root "a port shared with a service of the same user" \
    share 127.0.0.1 8320 tcp shared
blocked LOOP-34-root "the same, UDP" share 127.0.0.1 8320 udp shared
blocked LOOP-35-root "the same, UDP connected" share 127.0.0.1 8320 udp-connected shared
blocked LOOP-36-root "a shared port, steered by a filter" \
    share 127.0.0.1 8320 tcp steered
blocked LOOP-37-root "the same, UDP" share 127.0.0.1 8320 udp steered
blocked LOOP-38-root "the same, UDP connected" share 127.0.0.1 8320 udp-connected steered
who=user
topic_is_selected && background shared-user "${as_user[@]}" -- "$bin/outside" serve --reuseport \
    127.0.0.{1..24}:8321
target 127.0.0.1 8321
blocked LOOP-33-user "a port shared with a service of the same user" \
    share 127.0.0.1 8321 tcp shared
blocked LOOP-36-user "a shared port, steered by a filter" \
    share 127.0.0.1 8321 tcp steered
blocked LOOP-38-user "the same, UDP connected" share 127.0.0.1 8321 udp-connected steered
who=root
foreign steering --reuseport --steer 127.0.0.{1..24}:8322
target 127.0.0.1 8322
blocked LOOP-57 "a port shared with a service that steers by a filter of its own" \
    share 127.0.0.1 8322 tcp shared
blocked LOOP-58 "the same, UDP" share 127.0.0.1 8322 udp shared
blocked LOOP-59 "the same, UDP connected" share 127.0.0.1 8322 udp-connected shared
target 127.0.0.1 8320
migrate_on() {
    echo 1 >/proc/sys/net/ipv4/tcp_migrate_req
}
migrate_off() {
    echo 0 >/proc/sys/net/ipv4/tcp_migrate_req
}
prepare=migrate_on tidy=migrate_off
blocked LOOP-52 "a connection to one's own server, migrated to a service that shares the port" \
    migrated 127.0.0.1 8320
prepare='' tidy=''
foreign device --device lo 0.0.0.0:8330
target 127.0.0.1 8330
blocked LOOP-39 "a decoy beside a service that is bound to a device, UDP" \
    decoy 127.0.0.1 8330 udp 0.0.0.0
blocked LOOP-40 "the same, connected" decoy 127.0.0.1 8330 udp-connected 0.0.0.0
foreign exact 127.0.0.1:8331
target 127.0.0.1 8331
blocked LOOP-41 "a decoy on all addresses beside a service on one, UDP" \
    decoy 127.0.0.1 8331 udp 0.0.0.0
foreign six '[::1]:8332'
target ::1 8332
blocked LOOP-42 "a v4 decoy beside a v6 service" decoy ::1 8332 tcp 127.0.0.1
foreign four 127.0.0.1:8333
target 127.0.0.1 8333
blocked LOOP-43 "a v6 decoy beside a v4 service, by its mapped address" \
    decoy ::ffff:127.0.0.1 8333 tcp ::1

# The service starts once the attempt is under way.
late_service() {
    rm -f "$dir/late.ready" "$dir/shared/free" "$dir/shared/taken"
    background late "$bin/outside" serve --log "$dir/extra.log" --when "$dir/shared/free" \
        --then "$dir/shared/taken" 127.0.0.1:8340
    late_pid=$background_pid
}
end_late_service() {
    kill "$late_pid"
    wait "$late_pid" 2>/dev/null
}
prepare=late_service
tidy=end_late_service
target 127.0.0.1 8340
late=("$dir/shared/free" "$dir/shared/taken")
blocked LOOP-44 "UDP connected to a server of one's own, which makes way for a service" \
    udp-replaced 127.0.0.1 8340 "${late[@]}" own
blocked LOOP-45 "UDP connected to nobody, until a service starts" \
    udp-replaced 127.0.0.1 8340 "${late[@]}" nobody
blocked LOOP-46 "TCP whose SYN is sent again when a service has taken the place" \
    syn-replaced 127.0.0.1 8340 "${late[@]}"
blocked LOOP-47 "TCP fast open whose SYN is sent when a service has taken the place" \
    deferred-replaced 127.0.0.1 8340 "${late[@]}"
prepare=
tidy=
ignore=
want="(setup-)?EPERM"

# --- loopback = deny -----------------------------------------------------------------------------
class=shut
layer=connect
target 127.0.0.1 8301
blocked LOOP-48 "a server of one's own, with loopback = deny" own 127.0.0.1 8301 tcp 127.0.0.1
layer=sendmsg
blocked LOOP-49 "the same, UDP" own 127.0.0.1 8301 udp 127.0.0.1
target 51.15.9.10 8301
layer=egress
want="ETIMEDOUT" blocked LOOP-50 "the same, on an address that this host got later" own 51.15.9.10 8301 tcp 51.15.9.10
