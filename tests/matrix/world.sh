# shellcheck shell=bash disable=SC2034,SC2154 # shared with the other files of the matrix
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What the matrix needs beside the lab of the live tests: policies, names, servers, helpers, and a
# second instance of cgnet that may be broken.

resolver_addr=100.100.100.100 # inside a denied prefix

matrix_classes() {
    cat <<'END'
default_class = "restricted"
class restricted { default = allow deny = { "@local" } allow = { "@resolver" } }
class sibling    { default = allow deny = { "@local" } allow = { "@resolver" } }
class shut       { default = allow deny = { "@local" } loopback = deny }
class inbound    { default = allow deny = { "@local" } allow = { "@resolver" } inbound = deny }
class sealed     { default = allow deny = { "@local" } unix = none unix_allow = { "@matrix-open" } }
class wide       { default = allow deny = { "@local" }
                   protocols = { tcp, udp, icmp, udplite, sctp, dccp, raw } }
class keep       { default = allow deny = { "@local" } privileges = keep
                   protocols = { tcp, udp, icmp, udplite, raw } }
END
}

# The class whose policy changes while its flows last.
flows_open='class flows { default = allow deny = { "@local" } allow = { "10.7.7.7", "[fd50::10]:7777" } }'
flows_shut='class flows { default = allow deny = { "@local" } }'
flows_sealed='class flows { default = allow deny = { "@local" } inbound = deny unix = none }'

# load_classes [LINE]...
load_classes() {
    load "$({ matrix_classes; printf '%s\n' "$@"; } | policy_file matrix)"
}

# --- names ---------------------------------------------------------------------------------------

matrix_resolver() {
    in_world ip address replace "$resolver_addr" dev lo
    echo "nameserver $resolver_addr" >"$dir/resolv.conf"
    echo "options timeout:1 attempts:1" >>"$dir/resolv.conf"
    # What the machine's own file says of localhost is not to matter.
    printf '127.0.0.1 localhost\n::1 localhost\n' >"$dir/hosts"
    mount --bind "$dir/hosts" /etc/hosts
    in_world dnsmasq --keep-in-foreground --conf-file=/dev/null --no-resolv --no-hosts --pid-file= \
        --user=root --listen-address="$resolver_addr" --bind-interfaces --no-dhcp-interface=* \
        --address=/answer.example/"$public4" \
        --address=/lan.example/10.1.2.3 --address=/lan6.example/fd50::10 \
        --address=/loop.example/127.0.0.1 --address=/localhost/127.0.0.1 \
        --address=/metadata.example/169.254.169.254 --address=/zero.example/0.0.0.0 \
        --log-facility="$dir/dnsmasq.log" &
    for _ in {1..100}; do
        dig +time=1 +tries=1 +short @"$resolver_addr" lan.example A 2>/dev/null | grep -q . && return
        sleep 0.05
    done
    lab_broken "no name server at $resolver_addr: $(tail -1 "$dir/dnsmasq.log")"
}

# --- servers and helpers -------------------------------------------------------------------------

# background NAME COMMAND...: what lasts until the end; returns when it is ready. Sets background_pid.
background() {
    start_listener "$1" launch "${@:2}"
    background_pid=$!
}

matrix_servers() {
    : >"$dir/extra.log"
    # Answers every message, not only the first; UDP-Lite too.
    background echo nsenter --net="/proc/$world_pid/ns/net" -- "$bin/outside" serve --udplite \
        --log "$dir/extra.log" 0.0.0.0:7777 '[::]:7777'
    background echo-host "$bin/outside" serve --udplite --log "$dir/extra.log" 0.0.0.0:7777 '[::]:7777'
    agent_start watch launch "$bin/outside" watch "$dir/world.log" "$dir/host.log" "$dir/extra.log"
}

# A cgroup that the ordinary user owns, as systemd delegates one.
matrix_delegated() {
    delegated_cgroup=$cgroup_mount/$CGNET_LAB-lab/delegated
    mkdir "$delegated_cgroup" && chown -R 1000:1000 "$delegated_cgroup"
}

# Outside, one of root's and one of the user's: see `outside deputy`.
matrix_deputies() {
    install -d -m 1777 "$dir/shared"
    background deputy-root "$bin/outside" deputy "$dir/deputy-root" 10.1.2.3 80 \
        "$cgroup_mount/$CGNET_LAB-lab/cgroup.procs"
    background deputy-user "${as_user[@]}" "$bin/outside" deputy "$dir/shared/deputy-user" 10.1.2.3 80 \
        "$delegated_cgroup/cgroup.procs"
    read -r deputy_pid_root deputy_buffer_root deputy_socket_root deputy_file_root <"$dir/deputy-root"
    read -r deputy_pid_user deputy_buffer_user deputy_socket_user deputy_file_user \
        <"$dir/shared/deputy-user"
}

matrix_unix() {
    background unix "$bin/outside" unix stream "$dir/shared/helper" dgram "$dir/shared/dgram" \
        seqpacket "$dir/shared/seqpacket" stream @matrix-helper stream @matrix-open \
        stream @matrix-ope stream @matrix-openly stream @matrix-open+1 dgram @matrix-dgram \
        stream "$dir/shared/matrix-open"
}

# --- the instance that may be broken -------------------------------------------------------------

sacrifice_args() {
    sacrifice=(--bpffs "$dir/bpf/sac" --cgroup "$CGNET_LAB/sac" --run-dir "$dir/run/sac")
    sacrifice_class=$cgroup/sac/restricted
}

sacrifice_policy='default_class = "restricted"
class restricted { default = allow deny = { "@local" } }'

# Makes it whole, whatever was done to it.
sacrifice_load() {
    "$build/cgnetd" unload --force "${sacrifice[@]}" >/dev/null 2>&1
    rm -rf "$dir/bpf/sac"
    rmdir "$sacrifice_class" "$cgroup/sac" 2>/dev/null
    "$build/cgnetd" load "${sacrifice[@]}" "$(policy_file sacrifice <<<"$sacrifice_policy")" \
        >"$dir/sac.out" 2>&1 || lab_broken "the second instance: $(cat "$dir/sac.out")"
}

# --- all of it -----------------------------------------------------------------------------------

matrix_bin() {
    local file

    bin=$dir/bin
    install -d -m 755 "$bin"
    for file in attack outside bare int80; do
        install -m 755 "$build/tests/matrix/$file" "$bin/" || lab_broken "no $file: make matrix"
    done
    install -m 755 "$probe" "$build/cgnetd" "$build/cgnet-run" "$bin/"
    install -m 4755 -o root "$bin/attack" "$bin/setuid-attack"
    install -m 755 "$bin/attack" "$bin/capable-attack"
}

matrix_world() {
    cgroup_mount=$(cgroup2_mount)
    instance=(--bpffs "$bpffs" --cgroup "$CGNET_LAB/main" --run-dir "$dir/run/cgnet")
    sacrifice_args
    matrix_bin
    probe_paths
    matrix_resolver
    matrix_delegated || lab_broken "no delegated cgroup"
    matrix_servers
    matrix_deputies
    matrix_unix
    ip address add 192.168.50.3/24 dev lan0 # for a while
    load_classes "$flows_open"
    target 10.1.2.3 80
}

stop_sessions() {
    local name

    for name in "${!agent_pid[@]}"; do
        case $name in
        *-in-*) agent_stop "$name" ;;
        esac
    done
}

# Prints what is left when both instances are taken down.
clean_up() {
    { cgnetd unload --force >/dev/null; } 2>&1
    "$build/cgnetd" unload --force "${sacrifice[@]}" >/dev/null 2>&1
    find "$bpffs" "$dir/bpf/sac" -mindepth 1 2>/dev/null
    find "$cgroup" -mindepth 2 -type d 2>/dev/null
}
