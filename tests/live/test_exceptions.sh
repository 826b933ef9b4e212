#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Exceptions are exact: this address, this port, this protocol. What "loopback" adds. The policies
# that are shipped beside restricted.conf.

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
lab_enter "$@"

# --- exceptions and their neighbours -------------------------------------------------------------
switch "$(
    policy_file exact <<'END'
default_class = "exact"
class exact {
    default = allow
    deny = {
        "@local",
        "10.62.3.0/24", "fd62:0:0:3::/64",
        "93.184.216.0/24:3128", "[2606:2800:220:1::/64]:3128",
        "160.79.104.0/24/udp", "2607:6bc0::/32/udp"
    }
    allow = {
        "10.62.0.5:3128/tcp", "[fd62::5]:3128/tcp",
        "10.62.0.6:3128/udp", "[fd62::6]:3128/udp",
        "10.62.0.7:80,443", "[fd62::7]:80,443",
        "10.62.0.8:3127-3128", "[fd62::8]:3127-3128",
        "10.62.0.9/udp", "fd62::9/udp",
        "10.62.0.10", "fd62::10",
        "10.62.2.0/23:8080/tcp", "[fd62:0:0:2::/63]:8080/tcp",
        "10.62.3.7:3128/tcp", "[fd62:0:0:3::7]:3128/tcp",
        "93.184.216.34:3128/tcp", "[2606:2800:220:1::34]:3128/tcp",
        "127.0.0.1:8000-8100", "[::1]:8000-8100",
        "127.0.0.1:3128/tcp", "[::1]:8200",
        "192.168.50.2:22/tcp", "[2a02:8010:50::2]:22/tcp"
    }
    loopback = deny
}
END
)" exact

# Columns: verdict, path, v4 address, v6 address, port, rule for v4 and for v6.
while read -r oracle path addr4 addr6 port rule4 rule6; do
    rule=${rule4//_/ } "$oracle" "$path" "$addr4" "$port"
    rule=${rule6//_/ } "$oracle" "$path" "$addr6" "$port"
done <<'END'
allowed tcp 10.62.0.5 fd62::5 3128 10.62.0.5:3128/tcp [fd62::5]:3128/tcp
denied tcp 10.62.0.5 fd62::5 3127 @local @local
denied tcp 10.62.0.5 fd62::5 3129 @local @local
denied tcp 10.62.0.4 fd62::4 3128 @local @local
denied udp 10.62.0.5 fd62::5 3128 @local @local
denied udp-sendto 10.62.0.5 fd62::5 3128 @local @local
allowed udp 10.62.0.6 fd62::6 3128 10.62.0.6:3128/udp [fd62::6]:3128/udp
allowed udp-sendto 10.62.0.6 fd62::6 3128 10.62.0.6:3128/udp [fd62::6]:3128/udp
denied tcp 10.62.0.6 fd62::6 3128 @local @local
denied udp 10.62.0.6 fd62::6 3127 @local @local
allowed tcp 10.62.0.7 fd62::7 80 10.62.0.7:80,443 [fd62::7]:80,443
allowed udp 10.62.0.7 fd62::7 443 10.62.0.7:80,443 [fd62::7]:80,443
denied tcp 10.62.0.7 fd62::7 22 @local @local
denied tcp 10.62.0.7 fd62::7 3128 @local @local
denied tcp 10.62.0.8 fd62::8 80 @local @local
allowed tcp 10.62.0.8 fd62::8 3127 10.62.0.8:3127-3128 [fd62::8]:3127-3128
allowed tcp 10.62.0.8 fd62::8 3128 10.62.0.8:3127-3128 [fd62::8]:3127-3128
denied tcp 10.62.0.8 fd62::8 3129 @local @local
allowed udp 10.62.0.9 fd62::9 11434 10.62.0.9/udp fd62::9/udp
denied tcp 10.62.0.9 fd62::9 11434 @local @local
allowed tcp 10.62.0.10 fd62::10 22 10.62.0.10 fd62::10
allowed udp-sendto 10.62.0.10 fd62::10 80 10.62.0.10 fd62::10
denied tcp 10.62.0.11 fd62::11 22 @local @local
allowed tcp 10.62.2.9 fd62:0:0:2::9 8080 10.62.2.0/23:8080/tcp [fd62:0:0:2::/63]:8080/tcp
denied tcp 10.62.2.9 fd62:0:0:2::9 80 @local @local
denied tcp 10.62.3.9 fd62:0:0:3::9 8080 10.62.3.0/24 fd62:0:0:3::/64
allowed tcp 10.62.3.7 fd62:0:0:3::7 3128 10.62.3.7:3128/tcp [fd62:0:0:3::7]:3128/tcp
denied tcp 10.62.3.7 fd62:0:0:3::7 8080 10.62.3.0/24 fd62:0:0:3::/64
denied tcp 10.62.4.9 fd62:0:0:4::9 8080 @local @local
allowed tcp 93.184.216.34 2606:2800:220:1::34 3128 93.184.216.34:3128/tcp [2606:2800:220:1::34]:3128/tcp
denied udp 93.184.216.34 2606:2800:220:1::34 3128 93.184.216.0/24:3128 [2606:2800:220:1::/64]:3128
denied tcp 93.184.216.35 2606:2800:220:1::35 3128 93.184.216.0/24:3128 [2606:2800:220:1::/64]:3128
allowed tcp 93.184.216.35 2606:2800:220:1::35 443 default_=_allow default_=_allow
allowed tcp 160.79.104.10 2607:6bc0::10 443 default_=_allow default_=_allow
denied udp 160.79.104.10 2607:6bc0::10 443 160.79.104.0/24/udp 2607:6bc0::/32/udp
denied tcp 127.0.0.1 ::1 7999 @local @local
allowed tcp 127.0.0.1 ::1 8000 127.0.0.1:8000-8100 [::1]:8000-8100
allowed udp 127.0.0.1 ::1 8050 127.0.0.1:8000-8100 [::1]:8000-8100
allowed tcp 127.0.0.1 ::1 8100 127.0.0.1:8000-8100 [::1]:8000-8100
denied tcp 127.0.0.1 ::1 8101 @local @local
denied tcp 127.0.0.2 ::ffff:127.0.0.2 8050 @local @local
allowed tcp 192.168.50.2 2a02:8010:50::2 22 192.168.50.2:22/tcp [2a02:8010:50::2]:22/tcp
denied udp 192.168.50.2 2a02:8010:50::2 22 @local @local
denied tcp 192.168.50.2 2a02:8010:50::2 80 @local @local
denied tcp 172.17.0.1 fd17::1 22 @local @local
END

# A v4 exception holds for the mapped form, and for addresses that carry the v4 one.
rule=10.62.0.5:3128/tcp
allowed tcp ::ffff:10.62.0.5 3128
rule=@local
denied tcp ::ffff:10.62.0.5 3129
denied udp ::ffff:10.62.0.5 3128
denied tcp 64:ff9b::a3e:5 3129
rule= # either form's
allowed tcp 64:ff9b::a3e:5 3128

# The zero address is the exception's address only where the kernel will go there.
rule=127.0.0.1:3128/tcp
allowed tcp 127.0.0.1 3128
allowed tcp ::ffff:127.0.0.1 3128
allowed tcp 0.0.0.0 3128
rule=
denied tcp 0.0.0.0 3128 bind=192.168.50.2
denied tcp 0.0.0.0 3128 bind=127.0.0.2
denied tcp 0.0.0.0 3128 device=lan0
denied udp 0.0.0.0 3128 device=lan0
denied tcp 0.0.0.0 3129
denied udp 0.0.0.0 3128
denied tcp ::1 3128
denied tcp :: 3128
rule='[::1]:8000-8100'
allowed tcp :: 8050
# From a source that is mapped, :: is 127.0.0.1.
rule='[::1]:8200'
allowed tcp :: 8200
allowed udp :: 8200 bind=::1
rule=
denied tcp :: 8200 bind=::ffff:127.0.0.1
denied udp :: 8200 bind=::ffff:127.0.0.1
denied udp-sendto :: 8200 bind=::ffff:127.0.0.1
allowed tcp :: 3128 bind=::ffff:127.0.0.1


# --- loopback ------------------------------------------------------------------------------------
switch "$(
    policy_file loopback <<'END'
default_class = "shut"
class shut {
    default = allow
    deny = { "10.0.0.0/8", "127.0.0.7" }
    allow = { "127.0.0.1:3128/tcp" }
    loopback = deny
}
class open {
    default = allow
    deny = { "10.0.0.0/8", "127.0.0.7", "172.17.0.1:80/tcp", "[::1]:80/tcp" }
    loopback = allow
}
class closed {
    default = deny
    allow = { "127.0.0.1:3128/tcp", "[::1]:3128/tcp" }
    loopback = allow
}
END
)" shut
paths=(tcp udp udp-sendto)
rule="loopback = deny"
all_denied 80 127.0.0.1 ::1 0.0.0.0 :: "${host_addresses4[@]}" "${host_addresses6[@]}"
rule=127.0.0.7
all_denied 80 127.0.0.7
rule=10.0.0.0/8
all_denied 80 10.1.2.3
rule=127.0.0.1:3128/tcp
allowed tcp 127.0.0.1 3128
rule="default = allow"
all_allowed 80 "$neighbour4" "$neighbour6" "$public4" "$public6"

enter_class open
all_allowed 80 127.0.0.1 0.0.0.0 45.33.7.2 192.168.50.2 2a01:4f8:7::2
all_allowed 443 172.17.0.1 ::1 ::
rule=172.17.0.1:80/tcp
denied tcp 172.17.0.1 80
rule='[::1]:80/tcp'
denied tcp ::1 80
denied tcp :: 80
rule=127.0.0.7
all_denied 80 127.0.0.7

enter_class closed
rule=127.0.0.1:3128/tcp
allowed tcp 127.0.0.1 3128
rule='[::1]:3128/tcp'
allowed tcp ::1 3128
rule="default = deny"
all_denied 3129 127.0.0.1 ::1 "$public4" "$public6"
denied udp 127.0.0.1 3128

# --- proxy-only ----------------------------------------------------------------------------------
switch "$(shipped proxy-only)" proxy-only
rule=127.0.0.1:3128/tcp
allowed tcp 127.0.0.1 3128
allowed tcp ::ffff:127.0.0.1 3128
rule=
denied udp 127.0.0.1 3128
all_denied 3128 127.0.0.2 ::1 "${host_addresses4[@]}" "${host_addresses6[@]}"
all_denied 3129 127.0.0.1
rule="default = deny"
all_denied 3128 "$neighbour4" "$neighbour6" 10.1.2.3 "$public4" "$public6"
all_denied 443 "$provider4" "$provider6"
all_denied 53 8.8.4.4

# --- offline -------------------------------------------------------------------------------------
switch "$(shipped offline)" offline
rule=
all_denied 80 127.0.0.1 ::1 0.0.0.0 :: "${host_addresses4[@]}" "${host_addresses6[@]}"
rule="default = deny"
all_denied 443 "$provider4" "$provider6" "$public4" "$public6" "$neighbour4" "$neighbour6" 10.1.2.3
all_denied 53 8.8.4.4

# --- lan -----------------------------------------------------------------------------------------
resolver 127.0.0.53 host
switch "$(shipped lan)" lan
rule="default = allow"
all_allowed 22 "$neighbour4" "$neighbour6" 192.168.50.1 10.1.2.3 172.17.0.9 fd50::10 "$public4" \
    "$public6"
rule=@tailnet
all_denied 22 100.64.1.1 fd7a:115c:a1e0::54
rule=
all_denied 80 127.0.0.1 ::1 169.254.169.254 100.100.100.200 168.63.129.16 fd00:ec2::254 \
    fe80::2:1%lan0 240.1.1.1 192.0.2.1 198.18.0.1 2001:db8::1 "${host_addresses4[@]}" \
    "${host_addresses6[@]}"
check "a name resolves" cgnet_run --class lan -- getent ahosts answer.example

lab_finish
