#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What the layers behind connect and sendmsg are for: sockets of other kinds, packets that no call
# named, flows that are older than the policy, Unix names.

# Parts are called by way of a variable:
# shellcheck disable=SC2317
# shellcheck source-path=SCRIPTDIR source=talk.sh
. "$(dirname "$0")/talk.sh"

# --- create --------------------------------------------------------------------------------------
create() {
    local family

    load "$(policy create '' '')"
    session a
    for family in 4 6; do
        says ok h socket s udplite "$family"
        says EPERM a socket s udplite "$family"
        says "ok|EACCES" a socket s ping "$family"
        says ok a socket s mptcp "$family"
        says ok h socket s raw "$family"
        says EPERM a socket s raw "$family"
    done
    # In a network namespace of its own the kernel lets anybody make raw sockets.
    if ! unshare -Urn true 2>/dev/null; then
        skip "raw socket in a namespace of its own" "unshare of a user namespace is refused here"
    else
        check "raw socket in a namespace of its own: control" \
            grep -qx ok <(unshare -Urn python3 "$talker" <<<"0 socket s raw 4")
        check "raw socket in a namespace of its own" grep -qx EPERM \
            <(cgnet_run -- unshare -Urn python3 "$talker" <<<"0 socket s raw 4")
    fi

    # What a class asks for is open, and judged at egress, the only layer to see it.
    load "$(policy udplite '' 'protocols = { "tcp", "udp", "icmp", "udplite" }')"
    session a
    says ok w listen l4 udplite 0.0.0.0 5002
    says ok w listen l6 udplite :: 5002
    says ok a connect u4 udplite "$public4" 5002
    says ok a send u4
    says ok w recv l4
    says ok a connect u6 udplite "$public6" 5002
    says ok a send u6
    says ok w recv l6
    says ok h connect u4 udplite 10.1.2.3 5002
    says ok h send u4
    says ok w recv l4
    says ok a connect v4 udplite 10.1.2.3 5002
    says EPERM a send v4
    says ok a connect v6 udplite fd50::10 5002
    says EPERM a send v6
    says silent w recv l4
    says silent w recv l6
}

few_protocols() {
    local family

    load "$(policy few '' 'protocols = { "tcp" }')"
    session a
    for family in 4 6; do
        says ok a socket s tcp "$family"
        says EPERM a socket s udp "$family"
        says EPERM a socket s ping "$family"
        says ok h socket s ping "$family"
    done
}

# --- packets -------------------------------------------------------------------------------------
pings() {
    load "$(policy pings '' '')"
    session a
    reaches h p ping 10.1.2.3 0
    reaches h p6 ping fd50::10 0
    reaches a p ping "$public4" 0
    reaches a p6 ping "$public6" 0
    loses a p ping 10.1.2.3 0
    loses a p6 ping fd50::10 0
    # What was allowed to one destination says nothing of another.
    says ok a connect q ping "$public4" 0
    says ok a send q
    says ok a recv q
    loses a q ping 10.1.2.3 0
    says ok a connect q6 ping "$public6" 0
    says ok a send q6
    says ok a recv q6
    loses a q6 ping fd50::10 0
    reaches h p ping 10.1.2.3 0
    reaches h p6 ping fd50::10 0
}

# Headers that could lead elsewhere than the address says.
headers() {
    local hops

    load "$(policy headers '' '')"
    session a
    # shellcheck disable=SC2016 # the inner shell expands it
    in_world sh -c 'cd /proc/sys/net/ipv6/conf &&
        for i in all wan0 lan0; do echo 1 >$i/seg6_enabled; done'
    says ok h socket n udp 4
    says ok h nops n
    reaches h n udp "$public4" 443
    says ok a socket n udp 4
    says ok a nops n
    says EPERM a sendto n udp "$public4" 443
    says ok h socket r udp 6
    says ok h route r 2606:2800:220:1::77
    reaches h r udp "$public6" 443
    # By way of an open address, of a closed one, of an open and a closed one.
    for hops in 2606:2800:220:1::77 fd50::10 "2606:2800:220:1::77 fd50::10"; do
        says ok a socket r udp 6
        # shellcheck disable=SC2086 # words of an order
        says ok a route r $hops
        says EPERM a sendto r udp "$public6" 443
        says silent a recv r
    done
    reaches h r udp "$public6" 443
}

# is_local ADDR: waits until the kernel delivers it here; for IPv6 that comes later than the address.
is_local() {
    local try

    for ((try = 0; try < 100; try++)); do
        [[ $(ip -o route get "$1") != local* ]] || return 0
        sleep 0.05
    done
    return 1
}

# What is delivered here is this host's, although the policy was loaded before it was.
late_address() {
    local addr len flags name

    load "$(policy late '' '')"
    session a
    for addr in 93.184.216.99 2606:2800:220:1::99; do
        len=32 flags=()
        [[ $addr != *:* ]] || len=128 flags=(nodad)
        reaches a u udp "$addr" 8080
        ip address add "$addr/$len" dev wan0 "${flags[@]}"
        check "$addr is this host's" is_local "$addr"
        says EPERM a sendto u udp "$addr" 8080
        says ok a connect k udp "$addr" 8080
        says EPERM a send k
        says silent a connect t tcp "$addr" 8080
        reaches h u udp "$addr" 8080
        says ok h connect t tcp "$addr" 8080
        ip address del "$addr/$len" dev wan0
        for name in u k t; do says ok a close "$name"; done
        for name in u t; do says ok h close "$name"; done
    done
}

# Of a group that a rule opens in part, whoever may send to it may be a member.
memberships() {
    local name

    load "$(policy groups ', "@multicast"' 'allow = { "239.9.8.7:5000/udp", "[ff05::9:8]:5000/udp" }')"
    session a
    for name in h a; do
        says ok "$name" socket s udp 4
        says ok "$name" socket s6 udp 6
        says ok "$name" join s 239.9.8.7
        says ok "$name" join s6 ff05::9:8
        says ok "$name" pad s
        says ok "$name" pad s6
    done
    says EPERM a join s 239.9.8.6
    says EPERM a join s6 ff05::9:7
    says ok h join s 239.9.8.6
    says ok h join s6 ff05::9:7
}

# --- flows ---------------------------------------------------------------------------------------
both='"93.184.216.34", "2606:2800:220:1::34"'

# flows_begin: one of each kind from the session and, as controls, from the host.
flows_begin() {
    local name v6 addr

    agent_stop a
    agent_stop h
    agent_start h python3 "$talker"
    session a
    for name in a h; do
        for v6 in 4 6; do
            addr=$public4
            [ "$v6" = 4 ] || addr=$public6
            says ok "$name" connect "t$v6" tcp "$addr" 5000
            says ok w accept "l$v6" "$name$v6"
            says ok "$name" connect "u$v6" udp "$addr" 443
        done
    done
    flows_go a ok
    flows_go h ok
}

# flows_go NAME ok|silent. A connection that a new policy denies is reset where the kernel can, else
# its packets get lost; either way nothing arrives. What the other end sends meanwhile is answered by
# the host, which knows of no connection any more.
flows_go() {
    local v6 sent=ok came=ok

    [ "$2" = ok ] || sent="ok|ECONNABORTED" came="silent|ECONNRESET"
    for v6 in 4 6; do
        says "$sent" "$1" send "t$v6"
        says "$came" w recv "$1$v6"
        if [ "$2" = ok ]; then
            says ok "$1" send "u$v6"
            says ok "$1" recv "u$v6"
        else
            says EPERM "$1" send "u$v6"
        fi
    done
}

flows() {
    says ok w listen l4 tcp 0.0.0.0 5000
    says ok w listen l6 tcp :: 5000
    load "$(policy open '' '')"
    flows_begin
    load "$(policy shut ", $both" '')"
    flows_go h ok
    flows_go a silent

    # Programs are replaced, what they know of sockets is not.
    load "$(policy open '' 'inbound = deny')"
    flows_begin
    load "$(policy shut ", $both" '')"
    flows_go h ok
    flows_go a silent

    # Who was let in gets an answer, wherever it came from.
    says ok a listen s tcp 0.0.0.0 5001
    says ok w connect c tcp 192.168.50.2 5001
    says ok a accept s c
    says ok a send c
    says ok w recv c
    says ok a listen s6 tcp :: 5001
    says ok w connect c6 tcp fd50::2 5001
    says ok a accept s6 c6
    says ok a send c6
    says ok w recv c6
    # It is no way out: the accepted socket names a destination of its own.
    says "EPERM|EISCONN" a connect c tcp 10.1.2.3 80
}

# --- Unix names ----------------------------------------------------------------------------------
unix_names() {
    local kind name path=$dir/agent word

    if ! cgnetd load "$(policy unix '' "unix = none
    unix_allow = { \"@agent\", \"@${path#/}\" }")" >"$dir/load.out" 2>&1; then
        if grep -q 'unix = none cannot be enforced' "$dir/load.out"; then
            skip "Unix names" "$(cat "$dir/load.out")"
        else
            fail "unix = none" "$(cat "$dir/load.out")"
        fi
        return
    fi
    session a
    for kind in stream dgram; do
        # A path is none of them, although the second name is all of it but its first byte.
        for name in @agent "@${path#/}" @other @agent2 @agen "$path"; do
            says ok h unix-listen l "$kind" "$name"
            says ok h unix-connect c "$kind" "$name"
            word=EPERM
            [[ $name != @agent && $name != "@${path#/}" ]] || word=ok
            says "$word" a unix-connect c "$kind" "$name"
            [ "$kind" = stream ] || says "$word" a unix-sendto d "$name"
            says ok h close l
        done
        rm "$path"
    done
    # A name goes with the policy that had it.
    says ok h unix-listen l stream @agent
    load "$(policy unix2 '' 'unix = none')"
    says EPERM a unix-connect c stream @agent
    load "$(policy unix3 '' 'unix = any')"
    says ok a unix-connect c stream @agent
    says ok h close l
}

run_parts create few_protocols pings headers memberships late_address flows unix_names -- "$@"
