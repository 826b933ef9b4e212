#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Rules given to the running service: in force when the command returns, for as long as asked, in
# sessions that run already; by root and operators and nobody else.

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=follow.sh
. "$(dirname "$0")/follow.sh"
lab_enter "$@"
# shellcheck source-path=SCRIPTDIR source=service.sh
. "$(dirname "$0")/service.sh"
need_tools jq setpriv

operators=4242
someone=4343
policy=$(
    policy_file runtime <<END
default_class = "c"
class c {
    default = allow
    deny = { "@local", "10.9.0.0/16" }
    loopback = session
}
class other {
    default = deny
}
group $operators { class = c operator = yes }
user $someone { class = c }
END
)
install -m 0755 "$build/cgnetd" "$dir/cgnetd"

# as_user WHO COMMAND ARG...: cgnetd as that user.
# shellcheck disable=SC2317 # called by refused and check
as_user() {
    as "$1" "$dir/cgnetd" "$2" "${instance[@]}" "${@:3}"
}

# refused WHAT PART COMMAND...: exit status 1, and the message has that part.
refused() {
    local what=$1 part=$2 output status

    shift 2
    output=$("$@" 2>&1)
    status=$?
    if [ "$status" = 1 ] && [[ $output == *"$part"* ]]; then
        pass "$what"
    else
        fail "$what" "exit status $status: $output"
    fi
}

# gives VERDICT ADDR PORT WHAT: what the session meets.
gives() {
    ask in tcp "$2" "$3"
    if [ "$word" = "$1" ]; then pass "$4"; else fail "$4" "$2 $3: $word"; fi
}

refused "without a service there are no run-time rules" "no service runs" \
    cgnetd allow --class c "$neighbour4:8080"

serve_start "$policy"
class=c
agent_start in cgnet_run --class c -- "$probe" --serve
ids=$(bpftool map show pinned "$bpffs/c/deny4" | sed -n '1s/:.*//p')

# --- an exception --------------------------------------------------------------------------------
gives EPERM $neighbour4 8080 "before it is denied"
output=$(cgnetd allow --class c "$neighbour4:8080/tcp" 2>&1) || fail "allow" "$output"
check "allow says what it did" [ "$output" = "1: class c: allow $neighbour4:8080/tcp, set by uid 0" ]
gives ok $neighbour4 8080 "when the command returns it is allowed, in a session that runs"
gives EPERM $neighbour4 11434 "and the next port is not"
output=$(cgnetd explain c "$neighbour4:8080" 2>&1)
check "explain tells it from those of the file" grep -q "(run-time:1)" <<<"$output"
rules=$(cgnetd rules --class c --json)
check "rules lists it" [ "$(jq -r '.rules[] | "\(.number) \(.verdict) \(.rule) \(.keep) \(.seconds_left)"' \
    <<<"$rules")" = "1 allow $neighbour4:8080/tcp false null" ]
check "and not for another class" [ "$(cgnetd rules --class other --json)" = '{"rules":[]}' ]
check "forget takes it back" cgnetd forget 1
gives EPERM $neighbour4 8080 "and it is denied again"
refused "once" "no such" cgnetd forget 1

check "a v6 exception" cgnetd allow --class c "[$neighbour6]:8080"
gives ok $neighbour6 8080 "a v6 exception holds"
check "a rule to deny" cgnetd deny --class c "$public4"
gives EPERM $public4 443 "what the file allows is denied"
check "and to allow a part of it" cgnetd allow --class c "$public4:443/tcp"
gives ok $public4 443 "ports go before none"
gives EPERM $public4 80 "and leave the rest"
check "an address that the file denies by name of its network" cgnetd allow --class c 10.9.0.0/16
gives ok 10.9.1.1 80 "the run-time rule is heard first"
check "a port of this host" cgnetd allow --class c 127.0.0.1:8080
gives ok 127.0.0.1 8080 "next connect works"
check "a set" cgnetd allow --class c @onlink:22
gives ok $neighbour4 22 "a set's member"
check "all in the same trie" [ "$(bpftool map show pinned "$bpffs/c/deny4" | sed -n '1s/:.*//p')" = "$ids" ]

# --- flows ---------------------------------------------------------------------------------------
# One that stays: the session's own client, which ends when it is reset.
cgnet_run --class c -- python3 - "$provider4" >"$dir/flow" 2>&1 <<'END' &
import socket, sys
s = socket.create_connection((sys.argv[1], 3888))
print("connected", flush=True)
s.settimeout(10)
try:
    while s.recv(100):
        pass
    print("closed")
except ConnectionAbortedError:
    print("reset")
except socket.timeout:
    print("open")
END
flow=$!
wait_for grep -q connected "$dir/flow"
check "a rule to deny a flow" cgnetd deny --class c "$provider4:3888" --for 1h
wait "$flow"
check "the flow is reset" grep -q reset "$dir/flow"
cgnetd forget "$(cgnetd rules --json | jq '.rules[-1].number')"

# --- events --------------------------------------------------------------------------------------
cgnetd events --json --class c --count 1 >"$dir/event" 2>&1 &
reader=$!
sleep 0.5
gives EPERM $public4 80 "a run-time rule denies"
wait "$reader"
check "and the event names it" [ "$(jq -r '"\(.rule) \(.file)"' "$dir/event")" = "$public4 run-time" ]

# --- what is refused -----------------------------------------------------------------------------
refused "a class that is not there" "no class nowhere" cgnetd allow --class nowhere 10.0.0.1
refused "a set that is not there" "no set @nothing" cgnetd allow --class c @nothing
refused "no rule" "not an IP" cgnetd allow --class c 10.0.0
refused "a host name" "names an address" cgnetd allow --class c api.example.com:443
refused "the self-test's address" "self-test" cgnetd allow --class c 240.67.71.78
check "what is refused is not there" [ "$(cgnetd rules --json | jq '.rules | length')" = 6 ]
cgnetd allow --class c 10.0.0.1 --for soon >/dev/null 2>&1
check "a time that is none is wrong usage" [ $? = 2 ]
cgnetd allow 10.0.0.1 >/dev/null 2>&1
check "no class is wrong usage" [ $? = 2 ]

# --- who may -------------------------------------------------------------------------------------
refused "a user may not" "no right to it" as_user $someone allow --class c "$neighbour4:3128"
refused "nor list them" "no right to it" as_user $someone rules
check "an operator may" as_user "$someone:$operators" allow --class c "$neighbour4:3128"
gives ok $neighbour4 3128 "the operator's rule holds"
check "who set it is told" [ "$(cgnetd rules --json | jq '.rules[-1].uid')" = $someone ]
check "an operator may take it back" as_user "$someone:$operators" forget \
    "$(cgnetd rules --json | jq '.rules[-1].number')"
# A session of an operator is a session: it may not open its own class.
output=$(user_run "$someone:$operators" --class c -- "$dir/cgnetd" allow "${instance[@]}" --class c \
    "$neighbour4:3128" 2>&1)
check "from inside a class nobody may" [ $? = 1 ]
output=$(cgnet_run --class c -- "$dir/cgnetd" allow "${instance[@]}" --class c \
    "$neighbour4:3128" 2>&1)
check "nor root" [ $? = 1 ]
gives EPERM $neighbour4 3128 "it is denied still"

# --- for a time ----------------------------------------------------------------------------------
check "for two seconds" cgnetd allow --class c "$neighbour4:3129" --for 2s
gives ok $neighbour4 3129 "it is allowed"
becomes deny c "$neighbour4:3129" "and ends" 3500
check "it is gone from the list" \
    [ "$(cgnetd rules --json | jq --arg r "$neighbour4:3129" '[.rules[] | select(.rule == $r)] | length')" = 0 ]

# --- reloads and restarts ------------------------------------------------------------------------
check "one that is kept" cgnetd allow --class c "$neighbour4:80" --keep
check "one that is kept for a time" cgnetd allow --class c "$neighbour4:54" --keep --for 1h
check "a reload" cgnetd load "$policy"
gives ok $neighbour4 80 "the kept one survives a reload"
gives ok $public4 80 "the others do not"
gives EPERM 10.9.1.1 80 "none of them"
check "the list knows" [ "$(cgnetd rules --json | jq -c '[.rules[].rule]')" = \
    "[\"$neighbour4:80\",\"$neighbour4:54\"]" ]
echo "class c {" >"$dir/broken.conf"
chmod 644 "$dir/broken.conf"
check "one more" cgnetd allow --class c "$neighbour4:22"
refused "a reload that fails" "broken.conf" cgnetd load "$dir/broken.conf"
gives ok $neighbour4 22 "drops none"
serve_end KILL
gives ok $neighbour4 22 "what is in force stays when the service is killed"
serve_start "$policy"
gives ok $neighbour4 80 "the kept one survives a restart"
gives ok $neighbour4 54 "and the one with time left"
gives EPERM $neighbour4 22 "the others do not"
ip address add 93.184.217.9/32 dev wan0
becomes deny c 93.184.217.9:80 "the host is followed"
ip address del 93.184.217.9/32 dev wan0
gives ok $neighbour4 80 "with the rule in place"
number=$(cgnetd rules --json | jq '.rules[0].number')
check "a kept one is dropped" cgnetd forget "$number"
serve_end TERM
serve_start "$policy"
gives EPERM $neighbour4 80 "for good"

# --- no room for the file ------------------------------------------------------------------------
mkdir "$dir/run/cgnet/rules.new"
refused "one that cannot be kept is refused" "cannot write" \
    cgnetd allow --class c "$neighbour4:3888" --keep
gives EPERM $neighbour4 3888 "and not in force"
check "one that need not be kept is taken" cgnetd allow --class c "$neighbour4:3888"
rmdir "$dir/run/cgnet/rules.new"

serve_stop # it has the agent's pipes from when it was started
agent_stop in
lab_finish
