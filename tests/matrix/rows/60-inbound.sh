# shellcheck shell=bash disable=SC2034,SC2154 # the engine's variables
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# inbound = deny: nobody outside of the session connects in. The attempt is made from outside; its
# control goes to the same server outside of the class, one port above.

if topic_is_selected; then
    background inbound-server "$build/cgnet-run" "${instance[@]}" --class inbound -- \
        "$bin/outside" serve --log "$dir/extra.log" 0.0.0.0:8501 '[::]:8501'
    background inbound-control "$bin/outside" serve --log "$dir/extra.log" 0.0.0.0:8502 '[::]:8502'
    background open-server "$build/cgnet-run" "${instance[@]}" --class restricted -- \
        "$bin/outside" serve --log "$dir/extra.log" 0.0.0.0:8503 '[::]:8503'
    agent_start world launch nsenter --net="/proc/$world_pid/ns/net" -- "$bin/probe" --serve
fi

# from_agent WHERE AGENT PATH ADDR PORT [OPTION]...: to the session's server, or the control's.
from_agent() {
    local port=$5

    [ "$1" = in ] || port=8502
    ask "$2" "$3" "$4" "$port" timeout=400 "${@:6}"
}

# from_session WHERE CLASS PATH ADDR PORT: by a session of that class; the control by nobody's.
from_session() {
    if [ "$1" = in ]; then
        class=$2 agent in probe
        ask "$name" "$3" "$4" "$5" timeout=400
    else
        from_agent out probe-out-root "${@:3}"
    fi
}

class=inbound
want="ETIMEDOUT"
layer=ingress
target 45.33.7.2 8502
blocked IN-01 "TCP from a public host" function from_agent world tcp 45.33.7.2 8501
want="silent"
blocked IN-02 "UDP from a public host" function from_agent world udp 45.33.7.2 8501
want="ETIMEDOUT"
target 2a01:4f8:7::2 8502
blocked IN-03 "TCP from a public host, v6" function from_agent world tcp 2a01:4f8:7::2 8501
want="silent"
blocked IN-04 "UDP from a public host, v6" function from_agent world udp-sendto 2a01:4f8:7::2 8501
want="ETIMEDOUT"
target 192.168.50.2 8502
blocked IN-05 "TCP from a neighbour" function from_agent world tcp 192.168.50.2 8501 bind=192.168.50.1
# Sent to the session, on this host: these packets are the attempt, not a reply.
ignore=packets
target 127.0.0.1 8502
blocked IN-06 "TCP from this host" function from_agent probe-out-root tcp 127.0.0.1 8501
want="silent"
blocked IN-07 "UDP from this host" function from_agent probe-out-root udp-sendto 127.0.0.1 8501
want="ETIMEDOUT"
target ::1 8502
blocked IN-08 "TCP from this host, v6" function from_agent probe-out-root tcp ::1 8501
blocked IN-09 "TCP fast open from this host" function from_agent probe-out-root tcp-fastopen ::1 8501
target 127.0.0.1 8502
blocked IN-10 "MPTCP from this host" function from_agent probe-out-root mptcp 127.0.0.1 8501
ignore=
layer=
target "$public4" 80
allowed IN-11 "a connection of its own" tcp "$public4" 80
allowed IN-12 "answers to what it asks, UDP" udp-sendto "$public4" 80
allowed IN-13 "answers to what it asks, UDP connected" udp "$public4" 80
target "$public6" 80
allowed IN-14 "answers to what it asks, UDP, v6" udp-sendto "$public6" 80
allowed IN-15 "answers to a ping" ping-sendto "$public6"
target "$resolver_addr" 53
answer="^$public4\$"
allowed IN-16 "names" run dig +short +time=1 +tries=1 @"$resolver_addr" answer.example A
answer='^[0-9]+$'
target 127.0.0.1 3888
allowed IN-17 "a server of its own" own 127.0.0.1 8301 tcp 127.0.0.1
allowed IN-18 "a server of its own, UDP" own ::1 8301 udp ::1
allowed IN-19 "a server of its own, MPTCP" own 127.0.0.1 8301 mptcp 127.0.0.1

# --- without it ----------------------------------------------------------------------------------
class=restricted
target 45.33.7.2 8502
allowed IN-20 "TCP from a public host, without inbound = deny" \
    function from_agent world tcp 45.33.7.2 8503
target 192.168.50.2 8502
allowed IN-21 "TCP from a denied neighbour, without inbound = deny" \
    function from_agent world tcp 192.168.50.2 8503 bind=192.168.50.1
target 127.0.0.1 8502
allowed IN-22 "TCP from this host, without inbound = deny" \
    function from_agent probe-out-root tcp 127.0.0.1 8503
target 192.168.50.2 8502
want=silent
layer=sendmsg
ignore=arrivals
blocked IN-23 "what a UDP server answers a denied neighbour" \
    function from_agent world udp-sendto 192.168.50.2 8503 bind=192.168.50.1
ignore=
layer=
want="(setup-)?EPERM"
