# shellcheck shell=bash disable=SC2034,SC2154 # the engine's variables
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The forms of an address.

# at ADDR PORT ROW...: one row about one target.
at() {
    target "$1" "$2"
    shift 2
    "$@"
}

layer=connect
at 10.1.2.3 80 blocked ADDR-01 "a private address" tcp 10.1.2.3 80
at 10.1.2.3 80 blocked ADDR-02 "in decimal" name 167838211 80
at 10.1.2.3 80 blocked ADDR-03 "in octal" name 012.01.02.03 80
at 10.1.2.3 80 blocked ADDR-04 "in hexadecimal" name 0x0a010203 80
at 10.1.2.3 80 blocked ADDR-05 "in mixed bases" name 0xa.01.2.3 80
at 10.1.2.3 80 blocked ADDR-06 "in two parts" name 10.66051 80
at 127.0.0.1 80 blocked ADDR-07 "127.1" name 127.1 80
at 127.0.0.1 80 blocked ADDR-08 "loopback in decimal" name 2130706433 80
at 127.0.0.1 80 blocked ADDR-09 "loopback" tcp 127.0.0.1 80
at 127.255.255.254 80 blocked ADDR-10 "the last loopback address" tcp 127.255.255.254 80
at 127.0.0.1 80 blocked ADDR-11 "localhost" name localhost 80
at 127.0.0.1 80 blocked ADDR-12 "localhost with a dot" name localhost. 80
at 127.0.0.1 80 blocked ADDR-13 "0.0.0.0" tcp 0.0.0.0 80
at 127.0.0.1 80 blocked ADDR-14 "0" name 0 80
at ::1 80 blocked ADDR-15 "::" tcp :: 80
at ::1 80 blocked ADDR-16 "::1" tcp ::1 80
at 10.1.2.3 80 blocked ADDR-17 "mapped" tcp ::ffff:10.1.2.3 80
at 127.0.0.1 80 blocked ADDR-18 "mapped loopback" tcp ::ffff:127.0.0.1 80
at 127.0.0.1 80 blocked ADDR-19 "mapped 0.0.0.0" tcp ::ffff:0.0.0.0 80
at 64:ff9b::10.1.2.3 80 blocked ADDR-20 "behind NAT64" tcp 64:ff9b::10.1.2.3 80
at 64:ff9b::127.0.0.1 80 blocked ADDR-21 "loopback behind NAT64" tcp 64:ff9b::127.0.0.1 80
at 2002:a01:203::1 80 blocked ADDR-22 "behind 6to4" tcp 2002:a01:203::1 80
at 2001::f5fe:fdfc 80 blocked ADDR-23 "behind Teredo" tcp 2001::f5fe:fdfc 80
at ::10.1.2.3 80 blocked ADDR-24 "v4-compatible" tcp ::10.1.2.3 80
at fe80::1:1 80 blocked ADDR-25 "link-local, by its interface" tcp fe80::1:1%wan0 80
at fd50::10 80 blocked ADDR-26 "a private v6 address" tcp fd50::10 80
at 100.99.98.97 80 blocked ADDR-27 "the tailnet" tcp 100.99.98.97 80
at fd7a:115c:a1e0::99 80 blocked ADDR-28 "the tailnet, v6" tcp fd7a:115c:a1e0::99 80
at 172.17.0.2 80 blocked ADDR-29 "a container" tcp 172.17.0.2 80
at 169.254.169.254 80 blocked ADDR-30 "the cloud's metadata service" tcp 169.254.169.254 80
at fd00:ec2::254 80 blocked ADDR-31 "the same, v6" tcp fd00:ec2::254 80
at 168.63.129.16 80 blocked ADDR-32 "metadata at a public address" tcp 168.63.129.16 80
at "$neighbour6" 80 blocked ADDR-33 "a neighbour's global address" tcp "$neighbour6" 80
at 192.168.50.2 3888 blocked ADDR-34 "a service of this host, by its LAN address" tcp 192.168.50.2 3888
at 45.33.7.2 3888 blocked ADDR-35 "the same, by its public address" tcp 45.33.7.2 3888
at 2a01:4f8:7::2 3888 blocked ADDR-36 "the same, by its public v6 address" tcp 2a01:4f8:7::2 3888
at 100.101.102.103 3888 blocked ADDR-37 "the same, by its tailnet address" tcp 100.101.102.103 3888
at 172.17.0.1 3888 blocked ADDR-38 "the same, by its bridge's address" tcp 172.17.0.1 3888
at 240.0.0.1 80 blocked ADDR-39 "a reserved address" tcp 240.0.0.1 80
at 192.0.2.1 80 blocked ADDR-40 "a documentation address" tcp 192.0.2.1 80
at "$resolver_addr" 54 blocked ADDR-41 "the name server, another port" tcp "$resolver_addr" 54
at 100.100.100.101 53 blocked ADDR-42 "the name server's neighbour" tcp 100.100.100.101 53

layer=sendmsg
reached_by=arrival
at 255.255.255.255 11434 blocked ADDR-43 "everybody on the link" udp-sendto 255.255.255.255 11434
at 192.168.50.255 11434 blocked ADDR-44 "everybody in the LAN" udp-sendto 192.168.50.255 11434
at 224.0.0.251 11434 blocked ADDR-45 "a multicast group" udp-sendto 224.0.0.251 11434
at 239.1.2.3 11434 blocked ADDR-46 "a group, mapped" udp-sendto ::ffff:239.1.2.3 11434
at ff02::fb 11434 blocked ADDR-47 "a v6 group, by its interface" udp-sendto ff02::fb%lan0 11434
at ff0e::101 11434 blocked ADDR-48 "a global v6 group" udp-sendto ff0e::101 11434
reached_by=answer
at 10.1.2.3 80 blocked ADDR-49 "behind NAT64, UDP" udp-sendto 64:ff9b::10.1.2.3 80
at ::1 80 blocked ADDR-50 "::, UDP" udp-sendto :: 80
at 127.0.0.1 80 blocked ADDR-51 "0.0.0.0, UDP" udp-sendto 0.0.0.0 80

layer=connect
at 10.1.2.3 80 blocked ADDR-52 "a name of a private address" name lan.example 80
at fd50::10 80 blocked ADDR-53 "a name of a private v6 address" name lan6.example 80
at 127.0.0.1 80 blocked ADDR-54 "a name of loopback" name loop.example 80
at 169.254.169.254 80 blocked ADDR-55 "a name of the metadata service" name metadata.example 80
at 127.0.0.1 80 blocked ADDR-56 "a name of 0.0.0.0" name zero.example 80

# Addresses that this host gets after the policy was loaded: only packets show where they lead.
layer=egress
ip address add 51.15.9.9/32 dev wan0
ip -6 address add 2a01:e35:9::9/128 dev wan0 nodad preferred_lft 0 # never a source
ip route add local 51.16.0.0/24 dev lo
want="ETIMEDOUT" at 51.15.9.9 3888 blocked ADDR-57 "this host's new address" tcp 51.15.9.9 3888 timeout=300
want="ETIMEDOUT" at 2a01:e35:9::9 3888 blocked ADDR-58 "this host's new v6 address" \
    tcp 2a01:e35:9::9 3888 timeout=300
at 51.15.9.9 3888 blocked ADDR-59 "this host's new address, UDP" udp-sendto 51.15.9.9 3888
want="ETIMEDOUT" at 51.16.0.77 3888 blocked ADDR-60 "a prefix that this host takes for its own" \
    tcp 51.16.0.77 3888 timeout=300
layer=

at "$provider4" 443 allowed ADDR-61 "the provider" tcp "$provider4" 443
at "$provider6" 443 allowed ADDR-62 "the provider, v6" tcp "$provider6" 443
at "$public4" 80 allowed ADDR-63 "the public internet" tcp "$public4" 80
at "$public4" 80 allowed ADDR-64 "the public internet, UDP" udp-sendto "$public4" 80
at "$public4" 80 allowed ADDR-65 "a public address, mapped" tcp "::ffff:$public4" 80
at "$public4" 80 allowed ADDR-66 "a name of a public address" name answer.example 80
answer="^$public4\$"
at "$resolver_addr" 53 allowed ADDR-67 "names, over UDP" \
    run dig +short +time=1 +tries=1 @"$resolver_addr" answer.example A
at "$resolver_addr" 53 allowed ADDR-68 "names, over TCP" \
    run dig +short +tcp +time=1 +tries=1 @"$resolver_addr" answer.example A
answer='^[0-9]+$'
ip route del local 51.16.0.0/24 dev lo
