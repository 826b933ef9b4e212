# shellcheck shell=bash disable=SC2034,SC2154 # the engine's variables
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Programs as people use them. The listener says a number to whoever arrives.

# tool ROW ID TOOL ATTACK COMMAND...: skipped where there is no such tool.
tool() {
    local row=$1 id=$2 name=$3

    if command -v "$name" >/dev/null; then
        "$row" "$id" "$4" run "${@:5}"
    else
        unavailable "$id" "$4" "$name is not installed"
    fi
}

python=/usr/bin/python3
fetch='import socket,sys
s=socket.create_connection((sys.argv[1],int(sys.argv[2])),3);print(s.recv(64).decode().strip())'
fetch_js='const s=require("net").connect(+process.argv[2],process.argv[1]);
s.on("data",d=>{console.log(String(d).trim());s.destroy()});
s.on("error",e=>{console.error(e.code);process.exit(1)})'
# shellcheck disable=SC2016 # Perl expands it
fetch_pl='use IO::Socket::INET; my $s=IO::Socket::INET->new(PeerAddr=>"$ARGV[0]:$ARGV[1]",Timeout=>3)
or die "$!\n"; print scalar <$s>;'
curl=(curl -s -S -m 3 --noproxy '')
curl_open=(env -u http_proxy -u https_proxy -u HTTP_PROXY -u HTTPS_PROXY -u ALL_PROXY -u all_proxy
    -u no_proxy -u NO_PROXY "${curl[@]}")
# shellcheck disable=SC2016 # bash inside expands it
dev_tcp='exec 3<>"/dev/tcp/$0/$1" && read -r n <&3 && echo "$n"'

want="exit-.*"
layer=connect
target 10.1.2.3 80
if topic_is_selected; then
    background web nsenter --net="/proc/$world_pid/ns/net" -- "$bin/outside" serve --http \
        --log "$dir/extra.log" 0.0.0.0:7780
    background web-host "$bin/outside" serve --http --log "$dir/extra.log" 127.0.0.1:7780
fi
target 10.1.2.3 7780
tool blocked TOOL-01 curl "curl" "${curl_open[@]}" http://10.1.2.3:7780/
tool blocked TOOL-02 wget "wget" wget -q -T 3 -t 1 -O - --no-proxy http://10.1.2.3:7780/
target 10.1.2.3 80
tool blocked TOOL-03 nc "nc" nc -w 1 10.1.2.3 80
tool blocked TOOL-04 socat "socat" socat -T 0.5 - TCP:10.1.2.3:80,connect-timeout=3
tool blocked TOOL-05 "$python" "Python" "$python" -c "$fetch" 10.1.2.3 80
tool blocked TOOL-06 node "Node.js" node -e "$fetch_js" 10.1.2.3 80
tool blocked TOOL-07 perl "Perl" perl -e "$fetch_pl" 10.1.2.3 80
tool blocked TOOL-08 bash "bash, /dev/tcp" bash -c "$dev_tcp" 10.1.2.3 80
tool blocked TOOL-09 "$bin/bare" "a static program without a C library" "$bin/bare" 10.1.2.3 80
target 127.0.0.1 7780
tool blocked TOOL-10 curl "a proxy variable that names a service of this host" \
    env http_proxy=http://127.0.0.1:7780 "${curl[@]}" "http://$public4/"
target 10.1.2.3 7780
tool blocked TOOL-11 curl "a proxy variable that names a host of the LAN" \
    env http_proxy=http://10.1.2.3:7780 "${curl[@]}" "http://$public4/"
reached_by=arrival
tool blocked TOOL-12 curl "a SOCKS proxy in the LAN" "${curl_open[@]}" --socks5 10.1.2.3:7780 \
    "http://$public4/"
reached_by=answer
tool blocked TOOL-13 curl "a name that is said to be elsewhere" "${curl_open[@]}" \
    --resolve answer.example:7780:10.1.2.3 http://answer.example:7780/
tool blocked TOOL-14 curl "a name of a denied address" "${curl_open[@]}" http://lan.example:7780/
who=user tool blocked TOOL-15 curl "curl, as an ordinary user" "${curl_open[@]}" http://10.1.2.3:7780/
target 10.1.2.3 80
who=user tool blocked TOOL-16 "$bin/bare" "a static program, as an ordinary user" "$bin/bare" 10.1.2.3 80
layer=
answer='bytes from'
tool blocked TOOL-17 ping "ping" ping -n -c 1 -W 1 10.1.2.3
answer='^[0-9]+$'

# --- sandboxes inside of the session -------------------------------------------------------------
bwrap=(bwrap --unshare-user --bind / / --dev /dev --proc /proc)
layer=connect
who=user
tool blocked TOOL-18 bwrap "inside bwrap" "${bwrap[@]}" "$bin/bare" 10.1.2.3 80
tool blocked TOOL-19 bwrap "inside bwrap with all namespaces but net" \
    "${bwrap[@]}" --unshare-all --share-net "$bin/bare" 10.1.2.3 80
who=root
tool blocked TOOL-20 bwrap "inside bwrap, as root" "${bwrap[@]}" "$bin/bare" 10.1.2.3 80
layer=
want="(setup-)?EPERM"
target "$public4" 80
tool_user() {
    who=user tool "$@"
}
tool allowed TOOL-21-root bwrap "the public internet from bwrap" \
    "${bwrap[@]}" "$bin/bare" "$public4" 80
tool_user allowed TOOL-21-user bwrap "the public internet from bwrap" \
    "${bwrap[@]}" "$bin/bare" "$public4" 80
target 127.0.0.1 3888
tool_user allowed TOOL-22-user bwrap "a server of one's own in bwrap --unshare-net" \
    "${bwrap[@]}" --unshare-net "$bin/attack" own 127.0.0.1 8301 tcp 127.0.0.1
tool allowed TOOL-22-root bwrap "a server of one's own in bwrap --unshare-net" \
    "${bwrap[@]}" --unshare-net "$bin/attack" own 127.0.0.1 8301 tcp 127.0.0.1
target "$public4" 7780
tool allowed TOOL-23 curl "curl to the public internet" "${curl_open[@]}" "http://$public4:7780/"
tool allowed TOOL-24 curl "curl, by name" "${curl_open[@]}" http://answer.example:7780/
target "$public4" 80
tool_user allowed TOOL-25 "$python" "Python to the public internet" "$python" -c "$fetch" "$public4" 80
tool allowed TOOL-26 node "Node.js to the public internet" node -e "$fetch_js" "$public4" 80
tool allowed TOOL-27 "$bin/bare" "a static program to the public internet" "$bin/bare" "$public4" 80
answer='bytes from'
tool allowed TOOL-28-root ping "ping of a public address" ping -n -c 1 -W 1 "$public4"
tool_user allowed TOOL-28-user ping "ping of a public address" ping -n -c 1 -W 1 "$public4"
answer='^[0-9]+$'
tool allowed TOOL-29 strace "strace of one's own child" \
    strace -f -o /dev/null "$bin/bare" "$public4" 80
who=user
allowed TOOL-30 "a debugger and its child" trace-child "$public4" 80
who=root
allowed TOOL-31 "the same, as root" trace-child "$public4" 80
