#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# policies/restricted.conf: a real connect for every prefix of every set in @local, v4 and v6, and
# for what lies just outside of them; this host's services through each of its addresses; names.

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
lab_enter "$@"

# The name server has to lie outside of the tables below.
resolver 9.9.9.9
load "$(shipped restricted)"
enter_class restricted

# --- every prefix: its first and last address, or the nearest ones that can be connected to ------
rule=@local
all_denied 80 \
    0.0.0.1 0.255.255.255 127.0.0.1 127.255.255.254 `# @loopback` \
    10.0.0.0 10.255.255.255 172.16.0.0 172.31.255.255 192.168.0.0 192.168.255.255 `# @private` \
    100.64.0.0 100.127.255.255 `# @tailnet` \
    169.254.0.0 169.254.255.255 `# @linklocal` \
    169.254.169.254 169.254.170.2 169.254.170.23 169.254.169.250 169.254.42.42 `# @metadata` \
    100.100.100.200 168.63.129.16 192.0.0.192 \
    192.0.0.0 192.0.0.8 192.0.0.11 192.0.0.170 192.0.0.255 192.0.2.0 192.0.2.255 `# @special` \
    192.88.99.2 198.18.0.0 198.19.255.255 198.51.100.0 198.51.100.255 203.0.113.0 203.0.113.255 \
    240.0.0.0 255.255.255.254
all_denied 80 \
    ::1 :: `# @loopback` \
    fc00:: fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff `# @private` \
    fd7a:115c:a1e0:: fd7a:115c:a1e0:ffff:ffff:ffff:ffff:ffff `# @tailnet` \
    fe80::1:1%wan0 fe80::2:1%lan0 `# @linklocal` \
    fd00:ec2::254 fd00:ec2::23 fd20:ce::254 fd00:c1::a9fe:a9fe fd00:42::42 `# @metadata` \
    64:ff9b:1:: 64:ff9b:1:ffff:ffff:ffff:ffff:ffff 100:: 100::ffff:ffff:ffff:ffff `# @special` \
    100:0:0:1:: 100:0:0:1:ffff:ffff:ffff:ffff \
    2001:1:: 2001:1::4 2001:2:: 2001:4:111:ffff:ffff:ffff:ffff:ffff 2001:4:113:: 2001:10:: \
    2001:40:: 2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff 2001:db8:: \
    2001:db8:ffff:ffff:ffff:ffff:ffff:ffff 3fff:: 3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff \
    5f00:: 5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff

# Groups and broadcast: datagrams only, answered from another address.
paths=(udp-sendto)
all_denied 11434 224.0.0.251 239.1.2.3 255.255.255.255 192.168.50.255 ff02::fb%lan0 ff0e::101
control=udp-sendto
paths=(udp)
all_denied 11434 224.0.0.251 239.1.2.3 255.255.255.255 192.168.50.255 ff02::fb%lan0 ff0e::101
control=

# --- the neighbours of those prefixes, and what the registries carve out -------------------------
paths=(tcp udp-sendto)
rule="default = allow"
all_allowed 80 \
    1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 \
    168.63.129.15 168.63.129.17 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 \
    191.255.255.255 192.0.0.9 192.0.0.10 192.0.1.0 192.0.1.255 192.0.3.0 192.31.196.1 192.52.193.1 \
    192.88.99.1 192.167.255.255 192.169.0.0 192.175.48.1 198.17.255.255 198.20.0.0 \
    198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255
all_allowed 80 \
    64:ff9b:2:: 100:0:0:2:: 2001:1::1 2001:1::2 2001:1::3 2001:3:: 2001:4:112:: 2001:20:: 2001:30:: \
    2001:200:: 2001:db7:ffff:ffff:ffff:ffff:ffff:ffff 2001:db9:: 2620:4f:8000::1 \
    3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff 3fff:1000:: \
    5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 5f01:: fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff

# --- the point of it all: the provider and the public internet -----------------------------------
paths=(tcp udp udp-sendto)
all_allowed 443 "$provider4" "$provider6" "$public4" "$public6"

# --- this host and its links ---------------------------------------------------------------------
rule=@local
all_denied 3888 127.0.0.1 127.1.2.3 0.0.0.0 "${host_addresses4[@]}" \
    ::1 :: ::ffff:127.0.0.1 ::ffff:0.0.0.0 "${host_addresses6[@]}" \
    fe80::1:2%wan0 fe80::2:2%lan0 fe80::3:2%docker0
# Neighbours, with global addresses too, and the router.
all_denied 3888 "$neighbour4" 45.33.7.1 172.17.0.9 "$neighbour6" 2a01:4f8:7::1 fd50::10 fd17::2

# --- names ---------------------------------------------------------------------------------------
# shellcheck disable=SC2317 # check() calls it
session() {
    cgnet_run --class restricted -- "$@"
}

# answers COMMAND...: its output names the public address.
# shellcheck disable=SC2317 # check() calls it
answers() {
    local output

    output=$("$@" 2>&1)
    grep -qF -e "$public4" -e "$public6" <<<"$output" && return
    echo "$output"
    return 1
}

# names_resolve ADDR
names_resolve() {
    local addr=$1

    check "getent with name server $addr" answers session getent ahosts answer.example
    check "udp query to $addr" answers session dig +short +notcp +tries=1 +time=2 @"$addr" \
        answer.example A
    check "tcp query to $addr" answers session dig +short +tcp +tries=1 +time=2 @"$addr" \
        answer.example AAAA
    rule=@resolver
    explains allow udp "$addr" 53
    explains allow tcp "$addr" 53
    read_counters
}

# A name server inside a denied range opens port 53 there and nothing else.
closed_resolver() {
    local addr=$1 next=$2

    resolver "$addr" "${3:-}"
    load "$policy"
    names_resolve "$addr"
    rule=@local
    all_denied 54 "$addr"
    all_denied 80 "$addr"
    all_denied 53 "$next"
}

resolver 9.9.9.9
load "$policy"
names_resolve 9.9.9.9
resolver 2620:fe::fe
load "$policy"
names_resolve 2620:fe::fe
closed_resolver 192.168.50.53 192.168.50.54
closed_resolver 2a02:8010:50::53 "$neighbour6"
closed_resolver 100.100.100.100 100.100.100.101
closed_resolver fd7a:115c:a1e0::53 fd7a:115c:a1e0::54
closed_resolver 127.0.0.53 127.0.0.54 host
closed_resolver fe80::2:1%lan0 fe80::1:1%wan0

# One that went away is closed again with the next load.
resolver 9.9.9.9
load "$policy"
rule=@local
all_denied 53 192.168.50.54 127.0.0.54

lab_finish
