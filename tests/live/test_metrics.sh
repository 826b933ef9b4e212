#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Metrics, in the format of Prometheus: by command, from the service, and as a file.

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
lab_enter "$@"
need_tools python3 setpriv bpftool
# shellcheck source-path=SCRIPTDIR source=events.sh
. "$live_dir/events.sh"
# shellcheck source-path=SCRIPTDIR source=service.sh
. "$live_dir/service.sh"

policy_file metrics >/dev/null <<'END'
default_class = "net"
class net { default = allow deny = { "@local" } }
class idle { default = deny allow = { "192.0.2.1:443/tcp" } }
END

# well_formed FILE: each line is a comment or a sample of a family that was described, once.
# shellcheck disable=SC2317 # check() calls it
well_formed() {
    python3 - "$1" <<'END'
import re, sys
types, seen = {}, set()
for line in open(sys.argv[1]):
    line = line.rstrip("\n")
    if m := re.fullmatch(r"# TYPE (\w+) (counter|gauge)", line):
        assert m[1] not in types, line
        types[m[1]] = m[2]
    elif not re.fullmatch(r"# HELP \w+ .+", line):
        m = re.fullmatch(r'(\w+)(\{\w+="[^"\\]*"(,\w+="[^"\\]*")*\})? (-?[0-9]+)', line)
        assert m and m[1] in types, line
        assert (m[1], m[2]) not in seen, line
        assert (types[m[1]] == "counter") == m[1].endswith("_total"), line
        seen.add((m[1], m[2]))
assert len(seen) > 50
END
}

# sample FILE NAME: prints its value.
sample() {
    awk -v name="$2" '$1 == name { print $2 }' "$1"
}

load "$dir/metrics.conf"
session net denied tcp 10.0.0.1 80
session net allowed tcp "$public4" 443
agent_start sleeper cgnet_run --class net -- "$probe" --serve
cgnetd metrics >"$dir/m"
check "without a service: well-formed" well_formed "$dir/m"
check "denied" [ "$(sample "$dir/m" 'cgnet_denied_total{class="net",layer="connect"}')" = 1 ]
check "dropped, as nobody reads" [ "$(sample "$dir/m" 'cgnet_dropped_total{class="net",layer="connect"}')" = 1 ]
check "allowed" [ "$(sample "$dir/m" 'cgnet_allowed_total{class="net",layer="connect"}')" = 1 ]
check "another class" [ "$(sample "$dir/m" 'cgnet_denied_total{class="idle",layer="connect"}')" = 0 ]
check "sessions" [ "$(sample "$dir/m" 'cgnet_sessions{class="net"}')" = 1 ]
check "prefixes" [ "$(sample "$dir/m" 'cgnet_prefixes{class="net",family="ipv4"}')" -gt 10 ]
check "layers" [ "$(sample "$dir/m" 'cgnet_layer_on{class="net",layer="egress"}')$(sample "$dir/m" 'cgnet_layer_on{class="net",layer="unix"}')" = 10 ]
check "nothing of a service" [ -z "$(sample "$dir/m" cgnet_last_reload_ok)" ]

"$build/cgnetd" serve "${instance[@]}" --metrics-file "$dir/file" "$dir/metrics.conf" \
    >/dev/null 2>"$serve_log.now" &
serve_pid=$!
wait_for serve_is_ready
wait_for test -s "$dir/file"
check "the file: well-formed" well_formed "$dir/file"
check "the file: for everybody to read" [ "$(stat -c %a "$dir/file")" = 644 ]
as 1000 "$dir/cgnet-run" --version >/dev/null
cp "$build/cgnetd" "$dir/cgnetd"
as 1000 "$dir/cgnetd" metrics "${instance[@]}" >"$dir/m"
check "from the service, for any user: well-formed" well_formed "$dir/m"
check "one load" [ "$(sample "$dir/m" 'cgnet_reloads_total{result="ok"}') $(sample "$dir/m" cgnet_last_reload_ok)" = "1 1" ]
cp "$dir/metrics.conf" "$dir/good.conf"
echo "nonsense" >>"$dir/metrics.conf"
kill -HUP "$serve_pid"
# shellcheck disable=SC2317 # check() calls it
refused() {
    as 1000 "$dir/cgnetd" metrics "${instance[@]}" >"$dir/m" &&
        [ "$(sample "$dir/m" 'cgnet_reloads_total{result="refused"}')" = 1 ]
}
wait_for refused
check "a policy that was refused is counted" refused
check "and is the last result" [ "$(sample "$dir/m" cgnet_last_reload_ok)" = 0 ]
check "with its time" [ $(($(date +%s) - $(sample "$dir/m" cgnet_last_reload_timestamp_seconds))) -lt 30 ]
user_run 1000 -- "$dir/cgnetd" metrics "${instance[@]}" >"$dir/inside" 2>&1
check "a session gets nothing" [ "$?" = 1 ]

serve_stop # which has inherited the descriptors of the agent
agent_stop sleeper
lab_finish
