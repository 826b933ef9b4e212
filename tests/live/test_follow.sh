#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A class follows the host: addresses, routes, name servers, the files of sets. Each change is in
# force within a second, in the maps that were there before; a session in a network namespace of its
# own, or an interface that flaps, keeps the service from nothing.

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=follow.sh
. "$(dirname "$0")/follow.sh"
lab_enter "$@"
# shellcheck source-path=SCRIPTDIR source=service.sh
. "$(dirname "$0")/service.sh"
need_tools bpftool

# An /etc of the lab's own, in which files can be renamed.
umount /etc/resolv.conf
cp -a /etc "$dir/etc" 2>/dev/null
echo "nameserver 9.9.9.9" >"$dir/etc/resolv.conf"
mount --bind "$dir/etc" /etc || lab_broken "no /etc of its own"
resolv=/etc/resolv.conf

big=50000
awk -v n=$big 'BEGIN { for (i = 0; i < n; i++)
    printf "11.%d.%d.%d\n", i / 65536, i / 256 % 256, i % 256 }' >"$dir/big.txt"
printf '198.51.100.7\n' >"$dir/small.txt"

c=follower
cat >"$dir/policy.conf" <<END
default_class = "$c"
set big { members = { "file:big.txt" } }
set small { members = { "file:small.txt" } }
class $c {
    default = allow
    deny = { "@local", "@big", "@small" }
    allow = { "@resolver", "192.168.50.10:8080" }
    loopback = deny
}
END
chmod 644 "$dir/policy.conf" "$dir/big.txt" "$dir/small.txt"

map_ids() {
    local map

    for map in deny4 deny6; do
        bpftool map show pinned "$bpffs/$c/$map" | sed -n '1s/:.*//p'
    done
}

serve_start "$dir/policy.conf"
class=$c
agent_start in cgnet_run --class "$c" -- "$probe" --serve
sleep 1.5 # past the time in which its files were written
ids=$(map_ids)
check "the tries have ids" [ -n "$ids" ]

# --- in the meantime -----------------------------------------------------------------------------
"$build/cgnet-run" "${instance[@]}" --class "$c" -- "$build/tests/live/hammer" \
    "A:$public4:443" "A:[$public6]:443" shut:10.9.0.1:80 "shut:[fd69::1]:80" shut:192.168.50.10:3000 "open:$provider4:443" \
    "open:[$provider6]:443" open:192.168.50.10:8080 >"$dir/hammer" 2>&1 &
hammer_pid=$!

# --- addresses and routes ------------------------------------------------------------------------
verdict_is allow $c "[2606:7777::9]:80" || fail "before" "$(cat "$dir/explain.out")"
verdict_is allow $c 93.184.217.9:80 || fail "before" "$(cat "$dir/explain.out")"

ip address add 93.184.217.9/32 dev wan0
becomes deny $c 93.184.217.9:80 "an address that comes is this host's"
ask in tcp 93.184.217.9 80
check "and the session is refused" [ "$word" = EPERM ]
ip address del 93.184.217.9/32 dev wan0
becomes allow $c 93.184.217.9:80 "an address that goes is not"

ip address add 2606:7777::9/128 dev wan0 nodad
becomes deny $c "[2606:7777::9]:80" "a v6 address that comes"
ip address del 2606:7777::9/128 dev wan0
becomes allow $c "[2606:7777::9]:80" "a v6 address that goes"

ip route add 93.184.217.0/24 dev lan0
becomes deny $c 93.184.217.77:80 "a network that comes on a link"
ip route del 93.184.217.0/24 dev lan0
becomes allow $c 93.184.217.77:80 "a network that goes"

ip address add 93.184.218.1/24 dev lan0
becomes deny $c 93.184.218.77:80 "an address brings its network"
ip link set lan0 down
stays deny $c 93.184.218.77:80 "a link that is down keeps its network"
ip link set lan0 up
ip address del 93.184.218.1/24 dev lan0
becomes allow $c 93.184.218.77:80 "the address goes"
ip -batch - <<'END'
address replace 192.168.50.2/24 dev lan0
address replace 2a02:8010:50::2/64 dev lan0 nodad
address replace fd50::2/64 dev lan0 nodad
address replace fe80::2:2/64 dev lan0 nodad
END

# --- name servers --------------------------------------------------------------------------------
# resolver_becomes ADDR WHAT: that one, and what was there before not.
before=9.9.9.9
resolver_becomes() {
    becomes allow $c "$1/udp" "$2"
    verdict_is deny $c "${1%:53}:54/udp" || fail "$2" "port 54 is open: $(cat "$dir/explain.out")"
}

echo "nameserver 192.168.50.53" >$resolv
resolver_becomes 192.168.50.53:53 "resolv.conf is written"

printf 'nameserver 192.168.50.54\n' >/etc/resolv.new
mv /etc/resolv.new $resolv
resolver_becomes 192.168.50.54:53 "resolv.conf is renamed over"
verdict_is deny $c 192.168.50.53:53/udp ||
    fail "the one of before is no name server any more" "$(cat "$dir/explain.out")"

mkdir -p "$dir/stub/one"
ln -s "$dir/stub/one/stub-resolv.conf" /etc/resolv.link
mv -T /etc/resolv.link $resolv
stays allow $c 192.168.50.54:53/udp "a link to nothing keeps the last name servers"
check "and says so" logged "the name servers of before stay"
echo "nameserver 192.168.50.55" >"$dir/stub/one/stub-resolv.conf"
resolver_becomes 192.168.50.55:53 "the link's target comes"
echo "nameserver 192.168.50.56" >"$dir/stub/one/new"
mv "$dir/stub/one/new" "$dir/stub/one/stub-resolv.conf"
resolver_becomes 192.168.50.56:53 "the target is renamed over"
mkdir "$dir/stub/two"
echo "nameserver 192.168.50.57" >"$dir/stub/two/stub-resolv.conf"
mv "$dir/stub/one" "$dir/stub/old"
mv "$dir/stub/two" "$dir/stub/one"
resolver_becomes 192.168.50.57:53 "the target's directory is replaced"

rm $resolv
stays allow $c 192.168.50.57:53/udp "resolv.conf vanishes: the last name servers stay"
mkdir $resolv
stays allow $c 192.168.50.57:53/udp "resolv.conf is a directory: the last name servers stay"
rmdir $resolv
mkfifo $resolv
stays allow $c 192.168.50.57:53/udp "resolv.conf is a FIFO: the last name servers stay"
ip address add 93.184.217.9/32 dev wan0
becomes deny $c 93.184.217.9:80 "without resolv.conf the rest is followed"
verdict_is allow $c 192.168.50.57:53/udp ||
    fail "and the name servers stay" "$(cat "$dir/explain.out")"
ip address del 93.184.217.9/32 dev wan0
rm $resolv
printf 'nameserver fe80::1:1%%wan0\nnameserver 192.168.50.58\n' >$resolv
resolver_becomes 192.168.50.58:53 "resolv.conf is back"
verdict_is allow $c "[fe80::1:1]:53/udp" ||
    fail "a name server with a zone" "$(cat "$dir/explain.out")"
verdict_is deny $c "[fe80::1:1]:54/udp" ||
    fail "a name server with a zone, port 54" "$(cat "$dir/explain.out")"

ticks=$(serve_ticks)
python3 - <<'END'
import os, time
for i in range(1000):
    with open("/etc/resolv.new", "w") as f:
        f.write("nameserver 192.168.50.%d\n" % (i % 200 + 10))
    os.rename("/etc/resolv.new", "/etc/resolv.conf")
    time.sleep(0.002)
END
resolver_becomes 192.168.50.209:53 "resolv.conf is replaced 1,000 times"
check "the service lives" kill -0 "$serve_pid"
echo "1,000 replacements: $(($(serve_ticks) - ticks)) ticks"

check "all that in the same tries" [ "$(map_ids)" = "$ids" ]

# --- files of sets -------------------------------------------------------------------------------
echo 198.51.101.8 >>"$dir/small.txt"
becomes deny $c 198.51.101.8:80 "a set's file grows"
printf '198.51.101.9\n' >"$dir/small.new"
mv "$dir/small.new" "$dir/small.txt"
becomes deny $c 198.51.101.9:80 "a set's file is renamed over"
verdict_is allow $c 198.51.101.8:80 || fail "what it lacks is open" "$(cat "$dir/explain.out")"
printf '198.51.101.10\nno address\n' >"$dir/small.txt"
stays deny $c 198.51.101.9:80 "a set's file with an error: the set stays"
verdict_is allow $c 198.51.101.10:80 || fail "as it was" "$(cat "$dir/explain.out")"
check "and says so" logged "set @small keeps what it held"
printf '198.51.101.11\n' >"$dir/small.txt"
becomes deny $c 198.51.101.11:80 "the error is corrected"
printf '\n' >"$dir/theirs"
chown 65534 "$dir/theirs"
mv "$dir/theirs" "$dir/small.txt"
stays deny $c 198.51.101.11:80 "a set's file of somebody else: the set stays"
rm "$dir/small.txt"
stays deny $c 198.51.101.11:80 "a set's file vanishes: the set stays"
printf '198.51.101.12\n' >"$dir/small.txt"
becomes deny $c 198.51.101.12:80 "it is back"
echo 198.51.101.13 >>"$dir/big.txt"
becomes deny $c 198.51.101.13:80 "a file of $big prefixes gets one more" 1500
check "in the same tries" [ "$(map_ids)" = "$ids" ]

# --- the policy's own file -----------------------------------------------------------------------
sed -i 's/"@big", //' "$dir/policy.conf"
ip address add 93.184.217.9/32 dev wan0
becomes deny $c 93.184.217.9:80 "the host changes while the file is edited"
verdict_is deny $c 11.0.0.1:80 || fail "the file is not read before it is asked for" "@big is gone"
ip address del 93.184.217.9/32 dev wan0
becomes allow $c 93.184.217.9:80 "and back"
kill -HUP "$serve_pid"
becomes allow $c 11.0.0.1:80 "SIGHUP reads it" 3000

# --- floods --------------------------------------------------------------------------------------
cgnet_run --class "$c" -- unshare -Urn sh -c '
    ip link set lo up
    while :; do ip address add 10.1.2.3/32 dev lo; ip address del 10.1.2.3/32 dev lo; done
' >"$dir/flood" 2>&1 &
flood=$!
sleep 0.5
ticks=$(serve_ticks)
sleep 2
ticks=$(($(serve_ticks) - ticks))
check "a session's own namespace does not wake the service ($ticks ticks)" [ "$ticks" -le 2 ]
ip address add 93.184.217.9/32 dev wan0
becomes deny $c 93.184.217.9:80 "and this one's changes are seen"
ip address del 93.184.217.9/32 dev wan0
kill "$flood"
wait "$flood" 2>/dev/null

ticks=$(serve_ticks)
end=$(($(now_ms) + 3000))
n=0
while [ "$(now_ms)" -lt $end ]; do
    ip -batch - <<'END'
address add 93.184.219.1/24 dev lan0
link set docker0 down
link set docker0 up
address del 93.184.219.1/24 dev lan0
END
    n=$((n + 1))
done
ip address add 93.184.219.1/24 dev lan0
becomes deny $c 93.184.219.9:80 "after $n flaps of an interface"
ticks=$(($(serve_ticks) - ticks))
check "which cost the service less than half of the time ($ticks ticks)" [ "$ticks" -lt 150 ]

# --- all along -----------------------------------------------------------------------------------
kill -TERM "$hammer_pid"
wait "$hammer_pid"
read -r rounds _ _ wrong <<<"$(tail -n 1 "$dir/hammer")"
if [ "$wrong" = 0 ] && [ "$rounds" -gt 100 ]; then
    pass "no verdict was wrong in between ($rounds rounds)"
else
    fail "no verdict was wrong in between" "$(head -3 "$dir/hammer") ... $(tail -1 "$dir/hammer")"
fi
agent_stop in
serve_stop
lab_finish
