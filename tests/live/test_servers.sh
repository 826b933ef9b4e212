#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Servers on this host: loopback = session lets a session reach its own and nobody else's, inbound =
# deny lets nobody else reach them.

# Parts are called by way of a variable:
# shellcheck disable=SC2317
# shellcheck source-path=SCRIPTDIR source=talk.sh
. "$(dirname "$0")/talk.sh"

# --- own servers ---------------------------------------------------------------------------------
two_classes() {
    policy_file two <<'END'
default_class = "tried"
class tried {
    default = allow
    deny = { "@local" }
}
class shut {
    default = allow
    deny = { "@local" }
    loopback = deny
}
END
}

own_servers() {
    local addr addresses family name kind port

    addresses=(127.0.0.1 0.0.0.0 ::ffff:127.0.0.1 192.168.50.2 45.33.7.2
        ::1 :: 2a01:4f8:7::2 fd50::2)
    load "$(two_classes)"
    session a
    session b
    session c shut
    for name in a c; do
        port=5010
        [ "$name" = a ] || port=5011
        for kind in tcp udp; do
            says ok "$name" listen "${kind}4" "$kind" 0.0.0.0 "$port"
            says ok "$name" listen "${kind}6" "$kind" :: "$port"
        done
    done
    for addr in "${addresses[@]}"; do
        family=4
        [[ $addr == *:* && $addr != ::ffff:* ]] && family=6
        says ok a connect "t$addr" tcp "$addr" 5010
        says ok a accept "tcp$family" "accepted$addr"
        says ok a send "accepted$addr"
        says ok a recv "t$addr"
        says ok a connect "u$addr" udp "$addr" 5010
        says ok a send "u$addr"
        says ok a answer "udp$family"
        says ok a recv "u$addr"
        says ok a sendto "v$addr" udp "$addr" 5010
        says ok a answer "udp$family"
        says ok a recv "v$addr"
        # Not another session's, whether of the same class or not; the host reaches it.
        for name in b c; do
            says EPERM "$name" connect "t$addr" tcp "$addr" 5010
            says EPERM "$name" connect "u$addr" udp "$addr" 5010
            says EPERM "$name" sendto "v$addr" udp "$addr" 5010
        done
        says ok h connect "t$addr" tcp "$addr" 5010
        says ok a accept "tcp$family" "accepted$addr"
        says ok h sendto "v$addr" udp "$addr" 5010
        says ok a recv "udp$family"
        # loopback = deny: not even one's own.
        says EPERM c connect "t$addr" tcp "$addr" 5011
        says EPERM c connect "u$addr" udp "$addr" 5011
        says EPERM c sendto "v$addr" udp "$addr" 5011
        # The host's servers stay closed beside it, and where nobody listens that is what is said.
        says EPERM a connect "x$addr" tcp "$addr" 8080
        says EPERM a connect "y$addr" udp "$addr" 8080
        says ECONNREFUSED a connect "z$addr" tcp "$addr" 5019
    done
    says ok a listen m mptcp 127.0.0.1 5012
    says ok a connect mc tcp 127.0.0.1 5012
    says ok a accept m ma
    says EPERM b connect mc tcp 127.0.0.1 5012
}

# A server on a wildcard address is found under every address: it opens none but this host's.
own_servers_elsewhere() {
    local addr kind

    load "$(two_classes)"
    session a
    for kind in tcp udp; do
        says ok a listen "${kind}4" "$kind" 0.0.0.0 11434
        says ok a listen "${kind}6" "$kind" :: 11434
    done
    for addr in 10.1.2.3 192.168.50.10 169.254.169.254 ::ffff:10.1.2.3 fd50::10 fd62::5 \
        64:ff9b::7f00:1 2002:7f00:1::1 2001::80ff:fffe ::127.0.0.2 64:ff9b::a01:203; do
        says ok h connect "t$addr" tcp "$addr" 11434
        says EPERM a connect "t$addr" tcp "$addr" 11434
        says EPERM a connect "u$addr" udp "$addr" 11434
        says EPERM a sendto "v$addr" udp "$addr" 11434
    done
}

# The port goes to somebody else while a socket is connected to it.
own_server_gone() {
    local addr

    load "$(two_classes)"
    session a
    for addr in 127.0.0.1 ::1; do
        says ok a listen s udp "$addr" 5013
        says ok a connect c udp "$addr" 5013
        says ok a send c
        says ok a recv s
        says ok a close s
        says ok h listen s udp "$addr" 5013
        says EPERM a send c
        says ok h connect c udp "$addr" 5013
        says ok h send c
        says ok h recv s
        says silent h recv s
        says ok h close s
        says ok h close c
        says ok a close c
    done
}

own_servers_in_namespace() {
    local orders='0 listen s tcp 127.0.0.1 8080
3 connect c tcp 127.0.0.1 8080
3 accept s d
3 connect e tcp 127.0.0.1 8081'

    load "$(two_classes)"
    if ! unshare -Urn true 2>/dev/null; then
        skip "a server in a namespace of its own" "unshare of a user namespace is refused here"
        return
    fi
    # shellcheck disable=SC2016 # the inner shell expands it
    check "a server in a namespace of its own" [ "$(cgnet_run -- unshare -Urn sh -c \
        'ip link set lo up && exec python3 "$0"' "$talker" <<<"$orders" | xargs)" = \
        "ok ok ok ECONNREFUSED" ]
}

# --- inbound -------------------------------------------------------------------------------------
# let_in WORD: what becomes of connections and datagrams from outside to servers of the session a.
let_in() {
    local addr name s port=5020

    for name in h w; do
        for addr in 127.0.0.1 192.168.50.2 45.33.7.2 ::1 fd50::2 2a01:4f8:7::2; do
            [ "$name" = h ] || [[ $addr != 127* && $addr != ::1 ]] || continue
            port=$((port + 1))
            says ok a listen t tcp "$addr" "$port"
            says "$1" "$name" connect c tcp "$addr" "$port"
            says "$1" a accept t d
            says ok a listen u udp "$addr" "$port"
            says ok "$name" sendto v udp "$addr" "$port"
            says "$1" a recv u
            # One's own is let in.
            says ok a connect e tcp "$addr" "$port"
            [ "$1" = silent ] || says ok a accept t f
            [ "$1" = ok ] || says ok a accept t f
            says ok a sendto g udp "$addr" "$port"
            says ok a recv u
            for s in c v; do says ok "$name" close "$s"; done
            for s in t u e f g; do says ok a close "$s"; done
            [ "$1" = silent ] || says ok a close d
        done
    done
}

inbound() {
    local addr s

    load "$(policy in_open '' 'loopback = session')"
    session a
    let_in ok
    # The option takes effect for a session that is there already.
    load "$(policy in_shut '' 'inbound = deny')"
    let_in silent
    session b
    says ok a listen t tcp 127.0.0.1 5050
    says EPERM b connect t tcp 127.0.0.1 5050
    agent_stop b
    says ok a close t

    # Answers come back, to datagrams too; what a stranger sends to the same socket does not.
    for addr in "$public4" "$public6"; do
        says ok a connect t tcp "$addr" 443
        says ok a recv t
        says ok a connect u udp "$addr" 443
        says ok a send u
        says ok a recv u
        reaches a v udp "$addr" 443
        for s in t u v; do says ok a close "$s"; done
    done
    says ok a listen s udp 45.33.7.2 5051
    reaches a s udp "$public4" 443
    says ok w sendto s udp 45.33.7.2 5051
    says ok h sendto s udp 45.33.7.2 5051
    says silent a recv s
    says ok a listen s6 udp 2a01:4f8:7::2 5051
    reaches a s6 udp "$public6" 443
    says ok w sendto s6 udp 2a01:4f8:7::2 5051
    says silent a recv s6
}

run_parts own_servers own_servers_elsewhere own_server_gone own_servers_in_namespace inbound -- \
    "$@"
