# shellcheck shell=bash disable=SC2034,SC2154 # shared with lib.sh, which reads this, and the tests
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The network that a lab is: a host with its links, and the world behind them.

# One veth link a network; the far end of each is in the world's namespace.
#
#   wan0        45.33.7.2/30, 2a01:4f8:7::2/64     the host's public addresses and its default route
#   lan0        192.168.50.2/24, 2a02:8010:50::2/64, fd50::2/64     neighbours with global addresses
#   docker0     172.17.0.1/16, fd17::1/64          containers
#   tailscale0  100.101.102.103, fd7a:115c:a1e0::103    routes to 100.64/10 and fd7a:115c:a1e0::/48
#
# In the world every other address is local, so that whatever the host routes there finds a
# listener: the public internet, metadata services, foreign name servers, NAT64, 6to4.
lab_links=(wan0 lan0 docker0 tailscale0)
host_addresses4=(45.33.7.2 192.168.50.2 172.17.0.1 100.101.102.103)
host_addresses6=(2a01:4f8:7::2 2a02:8010:50::2 fd50::2 fd17::1 fd7a:115c:a1e0::103)

provider4=160.79.104.10
provider6=2607:6bc0::10
public4=93.184.216.34
public6=2606:2800:220:1::34
neighbour4=192.168.50.10
neighbour6=2a02:8010:50::10 # global, but on the link

# What listens where. 54 stands for "the port next to DNS".
world_ports=(22 54 80 443 3127 3128 3129 3888 8080 11434)
host_ports=(22 54 80 443 3127 3128 3129 3888 7999 8000 8050 8100 8101 8200 8080)

# in_world COMMAND...
in_world() {
    nsenter --net="/proc/$world_pid/ns/net" -- "$@"
}

# address LINK HOST WORLD...: addresses of the two ends, each as `ip address add` takes it.
address() {
    local link=$1 a

    echo "address add $2 dev $link" >>"$dir/host.ip"
    for a in "${@:3}"; do
        echo "address add $a dev $link" >>"$dir/world.ip"
    done
}

lab_topology() {
    local link a n=1

    : >"$dir/host.ip"
    : >"$dir/world.ip"
    for link in "${lab_links[@]}"; do
        ip link add "$link" type veth peer name "$link" netns "$world_pid" || return
        # Each end knows the other by a link-local address of its own: fe80::N:1 is the world's.
        address "$link" "fe80::$n:2/64 nodad" "fe80::$n:1/64 nodad"
        echo "link set $link up" | tee -a "$dir/host.ip" >>"$dir/world.ip"
        echo "route add fe80::$n:2/128 dev $link table local" >>"$dir/world.ip"
        n=$((n + 1))
    done
    echo "link set lo up" | tee -a "$dir/host.ip" >>"$dir/world.ip"
    # The world has no connected v4 network, so that all of it is local there (below).
    address wan0 "45.33.7.2/30 broadcast +" "45.33.7.1/32"
    address wan0 "2a01:4f8:7::2/64 nodad" "2a01:4f8:7::1/64 nodad"
    address lan0 "192.168.50.2/24 broadcast +" "192.168.50.1/32 broadcast 192.168.50.255"
    address lan0 "2a02:8010:50::2/64 nodad" "2a02:8010:50::1/64 nodad" \
        "2a02:8010:50::10/64 nodad" "2a02:8010:50::53/64 nodad"
    address lan0 "fd50::2/64 nodad" "fd50::1/64 nodad" "fd50::10/64 nodad"
    address docker0 "172.17.0.1/16 broadcast +" "172.17.0.2/32 broadcast 172.17.255.255"
    address docker0 "fd17::1/64 nodad" "fd17::2/64 nodad"
    address tailscale0 "100.101.102.103/32" "100.101.102.104/32"
    address tailscale0 "fd7a:115c:a1e0::103/128 nodad" "fd7a:115c:a1e0::104/128 nodad"
    cat >>"$dir/host.ip" <<END
route add default via 45.33.7.1
route add default via 2a01:4f8:7::1
route add 100.64.0.0/10 dev tailscale0
route add fd7a:115c:a1e0::/48 via fe80::4:1 dev tailscale0
END
    # Everything is local in the world, but for the host's addresses.
    echo "route add local 0.0.0.0/0 dev lo" >>"$dir/world.ip"
    echo "route add local ::/0 dev lo" >>"$dir/world.ip"
    while read -r link a; do
        echo "route add $a dev $link table local" >>"$dir/world.ip"
    done <<END
wan0 45.33.7.2/32
lan0 192.168.50.2/32
docker0 172.17.0.1/32
tailscale0 100.101.102.103/32
wan0 2a01:4f8:7::2/128
lan0 2a02:8010:50::2/128
lan0 fd50::2/128
docker0 fd17::1/128
tailscale0 fd7a:115c:a1e0::103/128
END
    ip -batch "$dir/host.ip" && in_world ip -batch "$dir/world.ip"
}

# start_listener NAME COMMAND...: waits until it listens; its log is $dir/NAME.log.
start_listener() {
    local name=$1 line fd

    shift
    mkfifo "$dir/$name.ready"
    "$@" >"$dir/$name.ready" 2>"$dir/$name.err" &
    exec {fd}<"$dir/$name.ready"
    read -r -t 10 line <&"$fd"
    exec {fd}<&-
    [ "${line:-}" = ready ] || lab_broken "listener $name: $(cat "$dir/$name.err")"
}

# Names are looked up by the lab's resolv.conf and nothing else; pins go to a bpffs of its own.
lab_files() {
    echo "hosts: files dns" >"$dir/nsswitch.conf"
    echo "nameserver 9.9.9.9" >"$dir/resolv.conf"
    mount --bind "$dir/nsswitch.conf" /etc/nsswitch.conf || return
    mount --bind "$dir/resolv.conf" /etc/resolv.conf || return
    [ ! -d /run/nscd ] || mount -t tmpfs none /run/nscd || return
    mkdir "$dir/bpf" "$dir/run" && mount -t bpf bpf "$dir/bpf"
}

lab_build() {
    local join=() link

    dir=$CGNET_LAB_DIR
    cgroup=$(cgroup2_mount)/$CGNET_LAB
    bpffs=$dir/bpf/cgnet
    instance=(--bpffs "$bpffs" --cgroup "$CGNET_LAB" --run-dir "$dir/run/cgnet")
    trap '' PIPE
    unshare -n -- sleep infinity &
    world_pid=$!
    while [ "$(readlink "/proc/$world_pid/ns/net")" = "$(readlink /proc/self/ns/net)" ]; do
        kill -0 "$world_pid" || lab_broken "no second network namespace"
        sleep 0.01
    done
    if [ -n "${CGNET_LAB_RECORD:-}" ]; then
        {
            echo "lab $CGNET_LAB"
            readlink /proc/self/ns/mnt /proc/self/ns/net "/proc/$world_pid/ns/net"
        } >>"$CGNET_LAB_RECORD"
    fi
    lab_topology || lab_broken "links and addresses"
    lab_files || lab_broken "private files"
    echo "0 2147483647" >/proc/sys/net/ipv4/ping_group_range
    for link in "${lab_links[@]}"; do
        join+=(-j "224.0.0.251%$link" -j "239.1.2.3%$link" -j "ff02::fb%$link" -j "ff0e::101%$link")
    done
    start_listener world in_world "$listener" -l "$dir/world.log" "${join[@]}" "${world_ports[@]}" \
        "$neighbour4:53" 192.168.50.54:53 "[$neighbour6]:53" 100.100.100.101:53 \
        "[fd7a:115c:a1e0::54]:53" "[fe80::1:1%wan0]:53" 8.8.4.4:53
    start_listener host "$listener" -l "$dir/host.log" "${host_ports[@]}" 127.0.0.1:53 \
        127.0.0.54:53 "[::1]:53"
    agent_start out "$probe" --serve
}

# --- resolver ------------------------------------------------------------------------------------

dnsmasq_pid=

# resolver ADDR [host]: starts a name server there, in the world or on the host, and names it in
# resolv.conf. The name answer.example. is $public4 and $public6.
resolver() {
    local addr=$1 where=()

    resolver_stop
    if [ "${2:-}" != host ]; then
        where=(nsenter --net="/proc/$world_pid/ns/net" --)
        in_world ip address replace "${addr%%%*}" dev lo 2>/dev/null
    fi
    echo "nameserver $addr" >"$dir/resolv.conf"
    echo "options timeout:2 attempts:1" >>"$dir/resolv.conf"
    "${where[@]}" dnsmasq --keep-in-foreground --conf-file=/dev/null --no-resolv --no-hosts \
        --pid-file= --user=root --listen-address="${addr%%%*}" --bind-interfaces \
        --no-dhcp-interface=* --address="/answer.example/$public4" \
        --address="/answer.example/$public6" \
        --log-facility="$dir/dnsmasq.log" &
    dnsmasq_pid=$!
    for _ in {1..100}; do
        dig +time=1 +tries=1 +short @"$addr" answer.example A 2>/dev/null | grep -q . && return
        kill -0 "$dnsmasq_pid" 2>/dev/null || break
        sleep 0.05
    done
    lab_broken "no name server at $addr: $(tail -1 "$dir/dnsmasq.log")"
}

resolver_stop() {
    [ -n "$dnsmasq_pid" ] || return 0
    kill "$dnsmasq_pid" 2>/dev/null
    wait "$dnsmasq_pid" 2>/dev/null
    dnsmasq_pid=
}
