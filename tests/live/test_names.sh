#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Host names in allow: looked up by a child that has nothing, followed as answers change, and never
# opening what is not public, whatever the name server says.

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=follow.sh
. "$(dirname "$0")/follow.sh"
lab_enter "$@"
# shellcheck source-path=SCRIPTDIR source=service.sh
. "$(dirname "$0")/service.sh"
need_tools jq dnsmasq

c=named
policy=$(
    policy_file names <<END
default_class = "$c"
class $c {
    default = deny
    deny = { "@local", "93.184.220.0/24" }
    allow = { "@resolver",
              "api.provider.example:443/tcp", "Alias.Provider.Example.:443/tcp",
              "rebound.example:443/tcp", "nas.example:8080/tcp private",
              "evil.example:80 private", "denied.example:443/tcp", "gone.example:443/tcp",
              "later.example:443/tcp" }
}
END
)

# What the lab's name server says: hosts, and aliases, which need it anew.
names_server() {
    local addr=192.168.50.53

    [ -z "$dnsmasq_pid" ] || { kill "$dnsmasq_pid"; wait "$dnsmasq_pid" 2>/dev/null; }
    in_world ip address replace $addr dev lo 2>/dev/null
    nsenter --net="/proc/$world_pid/ns/net" -- dnsmasq --keep-in-foreground --conf-file=/dev/null \
        --no-resolv --no-hosts --addn-hosts="$dir/hosts" --pid-file= --user=root \
        --listen-address=$addr --bind-interfaces --no-dhcp-interface=* --local-ttl=1 \
        --cname=alias.provider.example,real.provider.example --local=/example/ \
        --log-facility="$dir/dnsmasq.log" &
    dnsmasq_pid=$!
    wait_for dig +time=1 +tries=1 +short @$addr api.provider.example A
}

cat >"$dir/hosts" <<END
$provider4 api.provider.example
$provider6 api.provider.example
93.184.221.1 api.provider.example
93.184.221.2 real.provider.example
127.0.0.1 rebound.example
0.0.0.0 rebound.example
169.254.169.254 rebound.example
$neighbour4 rebound.example
172.17.0.2 rebound.example
45.33.7.2 rebound.example
::1 rebound.example
$neighbour6 rebound.example
64:ff9b::a9fe:a9fe rebound.example
93.184.221.9 rebound.example
$neighbour4 nas.example
127.0.0.1 evil.example
169.254.169.254 evil.example
45.33.7.2 evil.example
93.184.220.5 denied.example
93.184.221.7 gone.example
END

# --- without a service ---------------------------------------------------------------------------
check "check takes host names" "$build/cgnetd" check "$policy"
output=$(cgnetd load "$policy" 2>&1)
status=$?
if [ $status = 1 ] && [[ $output == *'"api.provider.example" is a host name'* ]]; then
    pass "load without a service refuses them by name"
else
    fail "load without a service refuses them by name" "$status: $output"
fi

# --- looked up -----------------------------------------------------------------------------------
echo "nameserver 192.168.50.53" >"$dir/resolv.conf"
names_server || lab_broken "no name server"
serve_start "$policy"
becomes allow $c $provider4:443 "a name is looked up" 2000
becomes allow $c "[$provider6]:443" "its v6 address"
becomes allow $c 93.184.221.1:443 "its other address"
becomes allow $c 93.184.221.2:443 "an alias"
class=$c
agent_start in cgnet_run --class $c -- "$probe" --serve
ask in tcp $provider4 443
check "the session reaches it" [ "$word" = ok ]
verdict_is deny $c $provider4:80 || fail "another port" "$(cat "$dir/explain.out")"
verdict_is deny $c $provider4:443/udp || fail "another protocol" "$(cat "$dir/explain.out")"
verdict_is deny $c $public4:443 || fail "another address" "$(cat "$dir/explain.out")"

# --- answers that would open what is closed ------------------------------------------------------
becomes allow $c 93.184.221.9:443 "the public one of a name with many addresses"
for dest in 127.0.0.1:443 0.0.0.0:443 169.254.169.254:443 $neighbour4:443 172.17.0.2:443 \
    45.33.7.2:443 "[::1]:443" "[$neighbour6]:443" "[64:ff9b::a9fe:a9fe]:443"; do
    if verdict_is deny $c "$dest"; then
        pass "an answer does not open $dest"
    else
        fail "an answer does not open $dest" "$(cat "$dir/explain.out")"
    fi
done
ask in tcp $neighbour4 443
check "nor in the kernel" [ "$word" = EPERM ]
verdict_is deny $c 93.184.220.5:443 || fail "nor what a rule denies" "$(cat "$dir/explain.out")"
becomes allow $c $neighbour4:8080 "a private name may lead to a neighbour"
for dest in 127.0.0.1:80 169.254.169.254:80 45.33.7.2:80; do
    verdict_is deny $c $dest || fail "a private name does not open $dest" "$(cat "$dir/explain.out")"
done

# --- what is shown -------------------------------------------------------------------------------
json=$(cgnetd status --json)
check "status shows a name's addresses" [ "$(jq -c '.names[] | select(.name == "api.provider.example") |
    .addresses' <<<"$json")" = "[\"93.184.221.1\",\"$provider4\",\"$provider6\"]" ]
check "and its age" [ "$(jq '.names[] | select(.name == "api.provider.example") | .age < 30' \
    <<<"$json")" = true ]
check "status in words" grep -q "api.provider.example: 93.184.221.1 $provider4 $provider6 (" \
    <<<"$(cgnetd status)"
check "explain names the rule" grep -q 'api.provider.example:443/tcp' \
    <<<"$(cgnetd explain $c $provider4:443)"

# --- the child -----------------------------------------------------------------------------------
child=$(pgrep -P "$serve_pid" -u 65534)
check "one child looks them up, as nobody" [ "$(wc -w <<<"$child")" = 1 ]
check "it has no capability" grep -q '^CapEff:[[:space:]]0*$' "/proc/$child/status"
check "nor gets one" grep -q '^NoNewPrivs:[[:space:]]1$' "/proc/$child/status"
check "and a filter" grep -q '^Seccomp:[[:space:]]2$' "/proc/$child/status"
kill -KILL "$child"
sed -i "s/93.184.221.2 real/93.184.221.3 real/" "$dir/hosts"
echo "93.184.221.4 later.example" >>"$dir/hosts"
sed -i '/gone.example/d' "$dir/hosts"
kill -HUP "$dnsmasq_pid"
becomes allow $c 93.184.221.3:443 "a change is followed, by another child where one was killed" 15000
verdict_is allow $c 93.184.221.2:443 || fail "the address of before stays for its time" \
    "$(cat "$dir/explain.out")"
becomes allow $c 93.184.221.4:443 "a name that comes later" 15000
verdict_is allow $c 93.184.221.7:443 || fail "a name that is gone keeps its address" \
    "$(cat "$dir/explain.out")"

# --- no name server ------------------------------------------------------------------------------
kill -KILL "$dnsmasq_pid"
wait "$dnsmasq_pid" 2>/dev/null
dnsmasq_pid=
sleep 6
verdict_is allow $c $provider4:443 || fail "without a name server the addresses stay" \
    "$(cat "$dir/explain.out")"
check "a reload keeps them" cgnetd load "$policy"
verdict_is allow $c $provider4:443 || fail "after the reload" "$(cat "$dir/explain.out")"
check "the service lives" kill -0 "$serve_pid"
serve_end KILL
ask in tcp $provider4 443
check "and so they do without a service" [ "$word" = ok ]
check "the child ends with it" [ -z "$(pgrep -u 65534 -f "$dir/run/cgnet")" ]
agent_stop in
lab_finish
