# shellcheck shell=bash disable=SC2034,SC2154 # the engine's variables
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Flows that are older than the policy. They work under the first one, are denied by the second, and
# work again when the first comes back, those that were reset as new ones; in between nothing of
# theirs may leave.

class=flows

# hold NAME WHERE PROTO ADDR PORT
hold() {
    local name=$1 where=$2
    local command

    command_in "$where" "$bin/outside" hold "${@:3}"
    agent_start "$name" launch "${command[@]}"
}

hold_in_world() {
    agent_start "$1" launch nsenter --net="/proc/$world_pid/ns/net" -- "$bin/outside" hold "${@:2}"
}

declare -A before during after sent flow_what flow_to flow_order flow_begin
flow_names=()

# flow NAME ORDER ADDR PORT WHAT COMMAND...: COMMAND opens it, as agent NAME.
flow() {
    flow_names+=("$1")
    flow_order[$1]=$2
    flow_to[$1]="$3 $4"
    flow_what[$1]=$5
    flow_begin[$1]="${*:6}"
    "${@:6}"
}

# Opens the flows again that the second policy had the kernel reset.
renew_flows() {
    local name

    for name in "${flow_names[@]}"; do
        [[ ${during[$name]} =~ ^(ECONNABORTED|ECONNRESET|EPIPE|ETIMEDOUT)$ ]] || continue
        agent_stop "$name"
        ${flow_begin[$name]}
    done
}

# ask_flows ARRAY [ORDER]: asks each to send, or to wait for what comes late. Notes packets in sent.
ask_flows() {
    local -n words=$1
    local name packets0 order

    for name in "${flow_names[@]}"; do
        # shellcheck disable=SC2086 # two words
        target ${flow_to[$name]}
        look
        packets0=$packets
        order=send
        if [ "$1" = after ] && [ "${during[$name]}" = silent ]; then
            order=${flow_order[$name]}
        fi
        ask "$name" "$order"
        words["$name"]=$word
        look
        sent[$name]=$((packets - packets0))
    done
}

# flow_row ID CLASS NAME
flow_row() {
    local id=$1 expected=$2 name=$3 wrong='' text

    is_selected "$id" || return 0
    text="${during[$name]} under the second policy, ${sent_during[$name]} packets"
    if [ "${before[$name]}" != ok ]; then
        wrong="control before: ${before[$name]}"
    elif [ "${after[$name]}" != ok ]; then
        wrong="control after: ${after[$name]}"
    elif [ "$expected" = BLOCKED ] && [ "${during[$name]}" = ok ]; then
        wrong="OPEN: it was answered"
    elif [ "$expected" = BLOCKED ] && [ "${sent_during[$name]}" != 0 ]; then
        wrong="OPEN: packets were sent"
    elif [ "$expected" = ALLOWED ] && [ "${during[$name]}" != ok ]; then
        wrong="not answered"
    fi
    row "$id" "$expected" "${flow_what[$name]}" "flows/root: $name to ${flow_to[$name]}" \
        "the same flow under the first policy, before and after" "$text" "$wrong"
}

# change_policy SECOND: asks all flows under the first, the second and the first policy again.
change_policy() {
    declare -gA sent_during=()
    local name

    ask_flows before
    load_classes "$1"
    ask_flows during
    for name in "${flow_names[@]}"; do
        sent_during[$name]=${sent[$name]}
    done
    load_classes "$flows_open"
    renew_flows
    ask_flows after
}

end_flows() {
    local name

    for name in "${flow_names[@]}"; do
        agent_stop "$name"
    done
    flow_names=()
}

if topic_is_selected; then
    # A server in the session, to which a denied neighbour connects.
    background flows-server "$build/cgnet-run" "${instance[@]}" --class flows -- "$bin/outside" serve \
        45.33.7.2:8401 '[2a01:4f8:7::2]:8401'
    flow flow-tcp wait 10.7.7.7 7777 "TCP, established" \
        hold flow-tcp in tcp 10.7.7.7 7777
    flow flow-udp send 10.7.7.7 7777 "UDP, connected" \
        hold flow-udp in udp 10.7.7.7 7777
    flow flow-ping send 10.7.7.7 0 "ping, connected" \
        hold flow-ping in icmp 10.7.7.7 0
    flow flow-tcp6 wait fd50::10 7777 "TCP, established, v6" \
        hold flow-tcp6 in tcp fd50::10 7777
    flow flow-udp6 send fd50::10 7777 "UDP, connected, v6" \
        hold flow-udp6 in udp fd50::10 7777
    flow flow-public send "$public4" 7777 "TCP to where both policies allow" \
        hold flow-public in tcp "$public4" 7777
    flow flow-accepted send 45.33.7.2 8401 "the answers of an accepted connection" \
        hold_in_world flow-accepted tcp 45.33.7.2 8401
    flow flow-accepted6 send 2a01:4f8:7::2 8401 "the same, v6" \
        hold_in_world flow-accepted6 tcp 2a01:4f8:7::2 8401

    change_policy "$flows_shut"
    flow_row FLOW-01 BLOCKED flow-tcp
    flow_row FLOW-02 BLOCKED flow-udp
    flow_row FLOW-03 BLOCKED flow-ping
    flow_row FLOW-04 BLOCKED flow-tcp6
    flow_row FLOW-05 BLOCKED flow-udp6
    flow_row FLOW-06 ALLOWED flow-public
    flow_row FLOW-07 ALLOWED flow-accepted
    flow_row FLOW-08 ALLOWED flow-accepted6

    # The second policy brings further programs.
    change_policy "$flows_sealed"
    flow_what[flow-tcp]="TCP, established, when the reload adds layers"
    flow_what[flow-udp]="UDP, connected, when the reload adds layers"
    flow_what[flow-accepted]="the answers of an accepted connection, after inbound = deny"
    flow_what[flow-public]="TCP to where both policies allow, when the reload adds layers"
    flow_row FLOW-09 BLOCKED flow-tcp
    flow_row FLOW-10 BLOCKED flow-udp
    flow_row FLOW-11 BLOCKED flow-accepted
    flow_row FLOW-12 ALLOWED flow-public
    end_flows
fi

class=restricted
target 10.1.2.3 80
layer=connect
both blocked FLOW-13 "a socket that was accepted, used to connect" accepted 10.1.2.3 80 8405
layer=

# flow_moved ID WHAT PROTO: a flow to a public address that then becomes one of this host.
flow_moved() {
    local id=$1 what=$2 w0 w1 w2 w3 wrong=''

    is_selected "$id" || return 0
    hold moved-in in "$3" 51.17.0.1 7777
    hold moved-out out "$3" 51.17.0.1 7777
    ask moved-in send && w0=$word
    ip address add 51.17.0.1/32 dev lan0
    ask moved-in send && w1=$word
    ask moved-out send && w2=$word
    ip address del 51.17.0.1/32 dev lan0
    ask moved-in send && w3=$word
    agent_stop moved-in
    agent_stop moved-out
    if [ "$w0 $w2 $w3" != "ok ok ok" ]; then
        wrong="control: $w0 before, $w2 outside meanwhile, $w3 after"
    elif [ "$w1" = ok ]; then
        wrong="OPEN: it was answered"
    fi
    row "$id" BLOCKED "$what" "restricted/root: $3 to 51.17.0.1 7777" \
        "the same flow before and after; meanwhile one outside, which this host answers" "$w1" "$wrong"
}
topic_is_selected && flow_moved FLOW-14 "UDP, connected to what becomes an address of this host" udp
