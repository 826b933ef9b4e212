# shellcheck shell=bash disable=SC2034,SC2154 # the engine's variables
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Classes whose options let more kinds of sockets be made, or fewer.

class=wide
target 10.1.2.3 7777
layer=egress
blocked PROTO-01 "UDP-Lite, connected, where the class allows UDP-Lite" udplite-connect 10.1.2.3 7777
layer=sendmsg
blocked PROTO-02 "the same, not connected" udplite-sendto 10.1.2.3 7777
target fd50::10 7777
layer=egress
blocked PROTO-03 "the same, v6" udplite-connect fd50::10 7777
layer=
target "$public4" 7777
allowed PROTO-04 "UDP-Lite to a public address" udplite-connect "$public4" 7777
target 10.1.2.3 80
blocked PROTO-05 "SCTP, where the class allows SCTP" proto 10.1.2.3 80 1 132 connect
blocked PROTO-06 "DCCP, where the class allows DCCP" proto 10.1.2.3 80 6 33 connect

# Raw sockets take a capability that only privileges = keep leaves.
class=keep
layer=egress
blocked PROTO-07 "raw ICMP, where the class allows raw sockets" raw-icmp 10.1.2.3
target fd50::10 0
blocked PROTO-08 "the same, v6" raw-icmp fd50::10
target 10.1.2.3 80
reached_by=arrival
blocked PROTO-09 "raw UDP" raw-udp 10.1.2.3 80
blocked PROTO-10 "an IP header of one's own" raw-header 10.1.2.3 80
reached_by=packets
blocked PROTO-11 "a loose source route, with the capability for it" loose-udp "$public4" 80 10.1.2.3
blocked PROTO-12 "the same, in a control message" loose-cmsg "$public4" 80 10.1.2.3
want="ETIMEDOUT"
blocked PROTO-13 "the same, TCP" loose-tcp "$public4" 80 10.1.2.3
want="(setup-)?EPERM"
layer=sendmsg
blocked PROTO-14 "from an address of somebody else, with the capability for it" \
    transparent 10.1.2.3 80 100.101.102.104
reached_by=answer
target fd50::10 80
blocked PROTO-15 "behind hop-by-hop options, with the capability for them" hop-options fd50::10 80
layer=connect
target 10.1.2.3 80
blocked PROTO-16 "with a mark, with the capability for it" mark 10.1.2.3 80
layer=
target "$public4" 80
allowed PROTO-17 "raw ICMP to a public address" raw-icmp "$public4"
target "$public6" 80
allowed PROTO-18 "destination options to a public address" dst-options "$public6" 80

# A class may do without UDP: nothing of it is to depend on what it cannot have.
narrow_load() {
    "$build/cgnetd" load "${sacrifice[@]}" "$(policy_file narrow <<'END'
class restricted { default = allow deny = { "@local" } protocols = { tcp } }
END
    )" >"$dir/narrow.out" 2>&1
}

narrow_try() {
    if [ "$1" = out ]; then
        word=made
    elif ! narrow_load; then
        word=refused
        detail=$(cat "$dir/narrow.out")
    else
        class=restricted command_in out "$bin/attack" socket 2 2 0
        read -r word _ < <("$build/cgnet-run" "${sacrifice[@]}" --class restricted -- "${command[@]}")
    fi
}

class=restricted
target 10.1.2.3 80
reached_by=made
want=EPERM
blocked PROTO-19 "a UDP socket in a class of TCP only" function narrow_try
reached_by=answer
