# shellcheck shell=bash disable=SC2034,SC2154 # the engine's variables
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The calls by which a destination is reached. What makes the packet has to make no difference.

# --- TCP -----------------------------------------------------------------------------------------
layer=connect
target 10.1.2.3 80
blocked PATH-01 "TCP" tcp 10.1.2.3 80
blocked PATH-02 "TCP fast open, data in the SYN" tcp-fastopen 10.1.2.3 80
blocked PATH-03 "TCP fast open at connect" tcp-fastopen-connect 10.1.2.3 80
blocked PATH-04 "MPTCP" mptcp 10.1.2.3 80
blocked PATH-05 "MPTCP fast open" mptcp-fastopen 10.1.2.3 80
extra=1 blocked PATH-06 "TCP, from an allowed peer to another" tcp-reconnect 10.1.2.3 80 first="$public4:80"
extra=1 blocked PATH-07 "a v6 socket turned into a v4 one" tcp-addrform 10.1.2.3 80 \
    first="[::ffff:$public4]:80"
target fd50::10 80
blocked PATH-08 "TCP, v6" tcp fd50::10 80
blocked PATH-09 "MPTCP, v6" mptcp fd50::10 80
blocked PATH-10 "TCP fast open, v6" tcp-fastopen fd50::10 80

# --- UDP -----------------------------------------------------------------------------------------
target 10.1.2.3 80
blocked PATH-11 "UDP, connected" udp 10.1.2.3 80
blocked PATH-12 "UDP, from an allowed peer to another" udp-reconnect 10.1.2.3 80 first="$public4:80"
blocked PATH-13 "the same, disconnected in between" udp-disconnect-reconnect 10.1.2.3 80 \
    first="$public4:80"
blocked PATH-14 "a v6 socket connected to a v4 address" udp6-connect4 10.1.2.3 80
blocked PATH-15 "spliced into a connected socket" udp-splice 10.1.2.3 80
layer=sendmsg
blocked PATH-16 "UDP, the destination in the send" udp-sendto 10.1.2.3 80
reached_by=arrival blocked PATH-17 "the same on a connected socket" udp-connected-sendto 10.1.2.3 80 first="$public4:80"
blocked PATH-18 "a destination of family AF_UNSPEC" udp-sendto-unspec 10.1.2.3 80
reached_by=arrival blocked PATH-19 "the same on a connected socket" udp-connected-sendto-unspec 10.1.2.3 80 \
    first="$public4:80"
blocked PATH-20 "a v6 socket and a v4 destination" udp6-sendto4 10.1.2.3 80
blocked PATH-21 "with a control message" udp-sendmsg-tos 10.1.2.3 80
blocked PATH-22 "with a source in a control message" udp-sendmsg-pktinfo 10.1.2.3 80
extra=1 blocked PATH-23 "in a batch behind an allowed one" udp-sendmmsg 10.1.2.3 80 first="$public4:80"
blocked PATH-24 "corked" udp-cork-first 10.1.2.3 80
blocked PATH-25 "many in one call (GSO)" udp-gso 10.1.2.3 80
reached_by=arrival blocked PATH-26 "a connected v6 socket turned into a v4 one" udp-addrform 10.1.2.3 80 "::ffff:$public4"
layer=connect
blocked PATH-27 "connected, no address in the send but a control message" udp-connected-tos 10.1.2.3 80
target fd50::10 80
blocked PATH-28 "UDP, v6, connected" udp fd50::10 80
layer=sendmsg
blocked PATH-29 "UDP, v6" udp-sendto fd50::10 80
blocked PATH-30 "UDP, v6, with a source in a control message" udp-sendmsg-pktinfo fd50::10 80

# Data that waits keeps the destination it began with: this one is meant to arrive there.
target "$public4" 80
layer=
allowed PATH-31 "corked for an allowed peer, a denied one named later" udp-cork 10.1.2.3 80 \
    first="$public4:80"

# --- what has no hook of its own -----------------------------------------------------------------
layer=create
target 10.1.2.3 7777
blocked PATH-32 "UDP-Lite, connected" udplite-connect 10.1.2.3 7777
blocked PATH-33 "UDP-Lite" udplite-sendto 10.1.2.3 7777
target fd50::10 7777
blocked PATH-34 "UDP-Lite, v6, connected" udplite-connect fd50::10 7777
target 10.1.2.3 80
blocked PATH-35 "SCTP" proto 10.1.2.3 80 1 132 connect
blocked PATH-36 "SCTP, the destination in the send" proto 10.1.2.3 80 5 132 sendto
blocked PATH-37 "DCCP" proto 10.1.2.3 80 6 33 connect
blocked PATH-38 "L2TP" proto 10.1.2.3 80 2 115 sendto
lacks="$lacks|setup-EPERM"
blocked PATH-39 "SMC over TCP, as a protocol" proto 10.1.2.3 80 1 256 connect
layer=connect
both blocked PATH-40 "ping, connected" ping-connect 10.1.2.3
layer=egress
both blocked PATH-41 "ping" ping-sendto 10.1.2.3
target fd50::10 0
want="silent" blocked PATH-42 "ping, v6: the kernel reports success" ping-sendto fd50::10
layer=connect
blocked PATH-43 "ping, v6, connected" ping-connect fd50::10
target 127.0.0.1 0
layer=egress
blocked PATH-44 "ping of this host" ping-sendto 127.0.0.1

target 10.1.2.3 80
layer=
want="(setup-)?(EPERM|EACCES)"
blocked PATH-45 "a raw ICMP socket" raw-icmp 10.1.2.3
reached_by=arrival
blocked PATH-46 "a raw UDP socket" raw-udp 10.1.2.3 80
blocked PATH-47 "a raw socket with an IP header of its own" raw-header 10.1.2.3 80
want="EPERM|EAFNOSUPPORT"
target 172.17.0.2 11434
blocked PATH-48 "a packet socket" packet 172.17.0.2 11434 docker0 172.17.0.1
reached_by=answer

# --- other families ------------------------------------------------------------------------------
target 10.1.2.3 80
want="(setup-)?(EPERM|EAFNOSUPPORT)"
blocked PATH-49 "SMC" smc 10.1.2.3 80
blocked PATH-50 "RDS" rds 10.1.2.3 80 192.168.50.2
reached_by=made
lacks="$lacks|EAFNOSUPPORT|EPROTONOSUPPORT|ESOCKTNOSUPPORT|EINVAL"
both blocked PATH-51 "a vsock socket" socket 40 1 0
both blocked PATH-52 "a TIPC socket" socket 30 5 0
blocked PATH-53 "a KCM socket" socket 41 5 0
blocked PATH-54 "an AF_XDP socket" socket 44 3 0
blocked PATH-55 "a Bluetooth socket" socket 31 3 0
blocked PATH-56 "a CAN socket" socket 29 3 1
both blocked PATH-57 "an RxRPC socket" socket 33 2 2
blocked PATH-58 "a QRTR socket" socket 42 2 0
blocked PATH-59 "an AF_ALG socket" socket 38 5 0
blocked PATH-60 "a packet socket under its old name" socket 2 10 768
blocked PATH-61 "a vsock socket, the family with upper bits set" socket-high 40 1 0
blocked PATH-62 "a pair of TIPC sockets" socketpair 30 5 0
both blocked PATH-63 "any family but unix, inet, inet6, netlink" all-families
both blocked PATH-64 "any type and protocol but TCP, UDP, ping" all-protocols
reached_by=answer
lacks="setup-EPROTONOSUPPORT|setup-EAFNOSUPPORT|setup-ESOCKTNOSUPPORT|setup-ENOPROTOOPT|ENOSYS"

# --- io_uring, which makes no system calls for what it does --------------------------------------
want="EPERM|ENOSYS"
both blocked PATH-65 "io_uring: connect" uring-connect 10.1.2.3 80
blocked PATH-66 "io_uring: a socket of its making" uring-socket 10.1.2.3 80
blocked PATH-67 "io_uring: send" uring-send 10.1.2.3 80
want="(setup-)?EPERM"

# --- headers by which a packet goes elsewhere first ----------------------------------------------
# The neighbour does not forward; that the packet gets there is what counts.
reached_by=packets
target fd50::10 80
want="(setup-)?EPERM"
both blocked PATH-68 "a routing header by way of a denied host, UDP" route-udp "$public6" 80 fd50::10
want="ETIMEDOUT"
both blocked PATH-69 "the same, TCP" route-tcp "$public6" 80 fd50::10
want="EPERM|setup-EINVAL|setup-EPERM"
lacks="$lacks|setup-EINVAL|EINVAL|setup-EPERM"
blocked PATH-70 "the same, as RFC 2292 sets it" route-2292 "$public6" 80 fd50::10
blocked PATH-71 "the same, with a flow label" route-flowlabel "$public6" 80 fd50::10
blocked PATH-72 "the same, in a control message" route-cmsg "$public6" 80 fd50::10
blocked PATH-73 "a home address, in a control message" route-home-cmsg "$public6" 80 fd50::10
lacks="setup-EPROTONOSUPPORT|setup-EAFNOSUPPORT|setup-ESOCKTNOSUPPORT|setup-ENOPROTOOPT|ENOSYS"
want="(setup-)?EPERM"
target "$public6" 80
blocked PATH-74 "a routing header by way of an allowed host" route-udp fd50::10 80 "$public6"
target 10.1.2.3 80
blocked PATH-75 "a loose source route, TCP" loose-tcp "$public4" 80 10.1.2.3
blocked PATH-76 "a loose source route, UDP" loose-udp "$public4" 80 10.1.2.3
blocked PATH-78 "a source route in a control message" loose-cmsg "$public4" 80 10.1.2.3
target "$neighbour4" 80
blocked PATH-77 "a strict source route, UDP" strict-udp "$public4" 80 "$neighbour4"
reached_by=answer
target fd50::10 80
blocked PATH-79 "behind hop-by-hop options" hop-options fd50::10 80
blocked PATH-80 "behind destination options" dst-options fd50::10 80

# --- options of a socket -------------------------------------------------------------------------
target 10.1.2.3 80
blocked PATH-81 "bound to a device" device 10.1.2.3 80 wan0 tcp
blocked PATH-82 "bound to a device, UDP" device 10.1.2.3 80 wan0 udp
target 192.168.50.2 3888
blocked PATH-83 "0.0.0.0 through a device" device 0.0.0.0 3888 lo tcp
target 192.168.50.2 3888
blocked PATH-84 "0.0.0.0 from an address of this host" any-bound-tcp 192.168.50.2 3888
blocked PATH-85 "the same, UDP" any-bound-udp 192.168.50.2 3888
blocked PATH-86 "0.0.0.0 with a source in a control message" any-pktinfo 192.168.50.2 3888
target 127.0.0.1 3888
blocked PATH-87 "0.0.0.0 through an interface chosen by option" any-unicast-if lo 3888
target ::1 3888
blocked PATH-88 ":: from an address of this host" any-bound-tcp 2a02:8010:50::2 3888
target 10.1.2.3 80
both blocked PATH-89 "with a mark" mark 10.1.2.3 80
target "$neighbour4" 80
blocked PATH-90 "without a route" dontroute "$neighbour4" 80
target 10.1.2.3 80
reached_by=packets
blocked PATH-91 "from an address of somebody else" transparent 10.1.2.3 80 100.101.102.104
reached_by=answer
blocked PATH-92 "with the option memory used up, TCP" omem-tcp 10.1.2.3 80
blocked PATH-93 "with the option memory used up, UDP" omem-udp ::ffff:10.1.2.3 80

# --- system calls of other kinds -----------------------------------------------------------------
want="EPERM|ENOSYS|exit-.*"
both blocked PATH-94 "a 32-bit connect" run "$bin/int80" connect 10.1.2.3 80
blocked PATH-95 "a 32-bit socketcall" run "$bin/int80" socketcall 10.1.2.3 80
blocked PATH-96 "a 32-bit sendto" run "$bin/int80" sendto 10.1.2.3 80
want="EPERM|ENOSYS|EAFNOSUPPORT"
reached_by=made
both blocked PATH-97 "a 32-bit call for a vsock socket" run "$bin/int80" socket 40 1 0
reached_by='done'
both blocked PATH-98 "a 32-bit io_uring_setup" run "$bin/int80" io_uring
blocked PATH-99 "a 32-bit bpf" run "$bin/int80" bpf
reached_by=answer
want="(setup-)?EPERM"

# --- what is meant to work -----------------------------------------------------------------------
target "$public4" 80
both allowed PATH-100 "ping of a public address" ping-sendto "$public4"
allowed PATH-101 "MPTCP to a public address" mptcp "$public4" 80
allowed PATH-102 "UDP with a control message to a public address" udp-connected-tos "$public4" 80
target "$public6" 0
allowed PATH-103 "ping of a public v6 address" ping-sendto "$public6"
target "$public4" 80
allowed PATH-104 "a datagram in fragments to a public address" udp-big "$public4" 80

# The peer of an MPTCP connection tells of a denied address, to which the kernel then connects.
if topic_is_selected; then
    in_world ip mptcp limits set subflow 2 add_addr_accepted 2
    in_world ip mptcp endpoint add 10.1.2.3 dev lan0 signal
    ip mptcp limits set subflow 2 add_addr_accepted 2
    background mptcp-world nsenter --net="/proc/$world_pid/ns/net" -- "$bin/outside" serve --mptcp \
        0.0.0.0:7779
fi
target 10.1.2.3 7779
reached_by=packets
want=silent
blocked PATH-105 "a further path of an MPTCP connection" mptcp-stay "$public4" 7779
want="(setup-)?EPERM"
reached_by=answer

# The kernel tells the link of it, at the group's address in version 1: no call sends it.
for file in ipv4/conf/lan0/force_igmp_version ipv6/conf/lan0/force_mld_version; do
    [ ! -e "/proc/sys/net/$file" ] || echo 1 >"/proc/sys/net/$file"
done
reached_by=packets
plain=(10.1.2.3 80)
ip route add 239.9.8.7 dev lan0
target 239.9.8.7 0
both blocked PATH-106 "the report of a membership in a multicast group" join 239.9.8.7 0 mreqn lan0
blocked PATH-107 "the same, by its socket address" join 239.9.8.7 0 request lan0
blocked PATH-108 "the same, in a longer option than programs are shown" join 239.9.8.7 0 long lan0
blocked PATH-109 "the same, from one source" join 239.9.8.7 0 mreq-source lan0
blocked PATH-110 "the same, from one source, by socket addresses" \
    join 239.9.8.7 0 request-source lan0
blocked PATH-111 "the same, by a 32-bit program" run "$bin/int80" join 239.9.8.7 lan0
target ff05::9:8 0
blocked PATH-112 "the same over IPv6" join ff05::9:8 0 mreq6 lan0
blocked PATH-113 "the same over IPv6, by its socket address" join ff05::9:8 0 request lan0
blocked PATH-114 "the same over IPv6, by a 32-bit program that adds a decoy" \
    run "$bin/int80" join ff05::9:8 lan0
ip route del 239.9.8.7 dev lan0
row_defaults
