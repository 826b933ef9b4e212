#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Ways to write an address, and ways to get a packet to it, under policies/restricted.conf. Each has
# to be refused towards a denied destination and to work towards an allowed one.

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
lab_enter "$@"

load "$(shipped restricted)"
enter_class restricted

# --- loopback by all its names -------------------------------------------------------------------
paths=(tcp mptcp udp udp-sendto)
rule=@local
all_denied 8080 127.0.0.1 127.0.0.2 127.255.255.254 0.0.0.0 ::1 :: ::ffff:127.0.0.1 ::ffff:7f00:2 \
    ::ffff:0.0.0.0

# The zero address means the socket's own address where it has one.
for path in tcp udp udp-sendto; do
    denied "$path" 0.0.0.0 8080 bind=127.0.0.1
    denied "$path" 0.0.0.0 8080 bind=192.168.50.2
    denied "$path" ::ffff:0.0.0.0 8080 bind=::ffff:192.168.50.2
    denied "$path" :: 8080 bind=::ffff:127.0.0.1
    denied "$path" :: 8080 bind=::1
done

# --- v4 addresses inside v6 ones -----------------------------------------------------------------
paths=(tcp udp udp-sendto)
all_denied 80 ::ffff:10.1.2.3 ::ffff:169.254.169.254 ::ffff:100.100.100.200 ::ffff:192.168.50.10
# NAT64, 6to4, Teredo (every bit inverted), compatible.
all_denied 80 64:ff9b::a9fe:a9fe 64:ff9b::7f00:1 64:ff9b::a01:203 64:ff9b::6464:64c8 64:ff9b::
all_denied 80 2002:a9fe:a9fe::1 2002:7f00:1::1 2002:a01:203::1 2002:c0a8:320a:: 2002::1
all_denied 80 2001:0:4136:e378:8000:63bf:5601:5601 2001:0:4136:e378:8000:63bf:f5fe:fdfc \
    2001::80ff:fffe
all_denied 80 ::10.1.2.3 ::127.0.0.1 ::169.254.169.254 ::2
rule="default = allow"
all_allowed 80 64:ff9b::101:101 2002:101:101::1 2001:0:4136:e378:8000:63bf:fefe:fefe ::1.1.1.1
# Sends on a v6 socket that is connected to a mapped address run the sendmsg hook as well.
allowed tcp ::ffff:1.1.1.1 80
allows=2 allowed udp ::ffff:1.1.1.1 80
allowed udp-sendto ::ffff:1.1.1.1 80

# --- paths ---------------------------------------------------------------------------------------
# Each towards v4, v6 and mapped, from a socket that has been to an allowed peer where it says
# "first". Columns as in denied(): path, control, extra, allows, denials; - for the default.
rule=
targets=("10.1.2.3 80 first=$public4:80" "fd50::10 80 first=[$public6]:80"
    "::ffff:10.1.2.3 80 first=[::ffff:$public4]:80")
while read -r path control extra allows denials; do
    for target in "${targets[@]}"; do
        # shellcheck disable=SC2086 # three words
        control=${control#-} extra=${extra#-} allows=${allows#-} denials=${denials#-} \
            denied "$path" $target
    done
done <<END
tcp - - - -
tcp-fastopen - - - -
tcp-fastopen-connect - - - -
tcp-reconnect - 1 1 -
mptcp - - - -
mptcp-fastopen - - - -
udp - - - -
udp-sendto - - - -
udp-connected-sendto udp-sendto - 1 -
udp-reconnect - - 1 -
udp-disconnect-reconnect - - 1 -
udp-sendmsg-tos - - - -
udp-sendmsg-pktinfo - - - -
udp-connected-tos - - - -
udp-connected-pktinfo - - - -
udp-sendmmsg - 1 1 2
udp-cork-first - - - -
END
# v4 socket addresses only.
denied udp-sendto-unspec 10.1.2.3 80
control=udp-sendto allows=1 denied udp-connected-sendto-unspec 10.1.2.3 80 first="$public4:80"
denied udp6-connect4 10.1.2.3 80
denied udp6-sendto4 10.1.2.3 80
extra=1 allows=1 denied tcp-addrform 10.1.2.3 80 first="[::ffff:$public4]:80"

# The same paths work towards the provider.
while read -r path allows4 allows6 allows_mapped; do
    allows=$allows4 allowed "$path" "$provider4" 443 first="$public4:80"
    allows=$allows6 allowed "$path" "$provider6" 443 first="[$public6]:80"
    allows=$allows_mapped allowed "$path" "::ffff:$provider4" 443 first="[::ffff:$public4]:80"
done <<END
tcp 1 1 1
tcp-fastopen 1 1 1
tcp-fastopen-connect 1 1 1
tcp-reconnect 2 2 2
mptcp 1 1 1
mptcp-fastopen 1 1 1
udp 1 1 2
udp-sendto 1 1 1
udp-reconnect 2 2 3
udp-disconnect-reconnect 2 2 3
udp-sendmsg-tos 1 1 1
udp-sendmsg-pktinfo 1 1 1
udp-connected-tos 2 2 2
udp-connected-pktinfo 2 2 2
udp-sendmmsg 2 2 2
udp-cork-first 1 1 1
END
allowed udp-sendto-unspec "$provider4" 443
allows=2 allowed udp6-connect4 "$provider4" 443
allowed udp6-sendto4 "$provider4" 443
allows=2 allowed tcp-addrform "$provider4" 443 first="[::ffff:$public4]:80"

# --- paths on which the kernel ignores the second destination ------------------------------------
# goes_to_first ALLOWS PATH ADDR PORT first=...: inside as outside, the first peer answers and the
# destination sees nothing.
goes_to_first() {
    local what="${*:2} goes to the first peer" verdicts=$1 before detail answerer

    shift
    ask out udp-sendto "$2" "$3"
    [ "$word" = ok ] || { fail "$what" "control before: $word"; return; }
    before=$count
    ask out "$@"
    [ "$word" = ok ] || { fail "$what" "outside: $word"; return; }
    answerer=$from
    [ "$answerer" != "$2" ] || { fail "$what" "the destination answered outside"; return; }
    ask in "$@"
    [ "$word $from" = "ok $answerer" ] || { fail "$what" "inside: $word from $from"; return; }
    counted "$verdicts" 0 || { fail "$what" "$detail"; return; }
    ask out udp-sendto "$2" "$3"
    [ $((count - before)) -eq 3 ] || { fail "$what" "$((count - before)) arrivals"; return; }
    pass "$what"
}

goes_to_first 1 udp-cork 10.1.2.3 80 first="$public4:80"
goes_to_first 1 udp-cork fd50::10 80 first="[$public6]:80"
goes_to_first 1 udp-cork ::ffff:10.1.2.3 80 first="[::ffff:$public4]:80"
goes_to_first 1 udp-connected-sendto-unspec fd50::10 80 first="[$public6]:80"

# goes_nowhere PATH ADDR PORT: fails for want of a destination, inside as outside.
goes_nowhere() {
    local what="$* goes nowhere" before detail

    ask out udp-sendto "$2" "$3"
    before=$count
    ask out "$@"
    [ "$word" = EDESTADDRREQ ] || { fail "$what" "outside: $word"; return; }
    ask in "$@"
    [ "$word" = EDESTADDRREQ ] || { fail "$what" "inside: $word"; return; }
    counted 0 0 || { fail "$what" "$detail"; return; }
    ask out udp-sendto "$2" "$3"
    [ "$word $((count - before))" = "ok 1" ] || { fail "$what" "the listener saw it"; return; }
    pass "$what"
}

goes_nowhere udp-connect-unspec 10.1.2.3 80
goes_nowhere udp-connect-unspec fd50::10 80
goes_nowhere udp-sendto-unspec fd50::10 80

# --- a tool that knows nothing of probes ---------------------------------------------------------
for addr in 127.0.0.1 0.0.0.0 10.1.2.3 ::ffff:10.1.2.3 fd50::10 localhost; do
    check "bash reaches $addr outside" bash -c "true >/dev/tcp/$addr/8080"
    what="bash is refused $addr inside"
    output=$(LC_ALL=C cgnet_run --class restricted -- bash -c "true >/dev/tcp/$addr/8080" 2>&1)
    if [[ $output == *"Operation not permitted"* ]]; then
        pass "$what"
    else
        fail "$what" "${output:-no error}"
    fi
done

lab_finish
