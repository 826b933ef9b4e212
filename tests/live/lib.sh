# shellcheck shell=bash disable=SC2034 # what looks unused, the tests use
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The harness of the live tests: the lab (world.sh), the oracles (oracles.sh). A test starts with
#
#     . "$(dirname "$0")/lib.sh"
#     lab_enter "$@"
#
# and ends with lab_finish, which prints "N passed, N failed, N skipped". lab_enter runs the test
# again in network and mount namespaces of its own; nothing in there reaches the real network. What
# a lab leaves when it is killed, `clean` removes.

set -u

live_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root_dir=$(cd "$live_dir/../.." && pwd)
build=${CGNET_BUILD:-$root_dir/build}
probe=$build/tests/live/probe
listener=$build/tests/live/listener

# shellcheck source-path=SCRIPTDIR source=world.sh
. "$live_dir/world.sh"
# shellcheck source-path=SCRIPTDIR source=oracles.sh
. "$live_dir/oracles.sh"

passed=0
failed=0
skipped=0

pass() {
    passed=$((passed + 1))
    [ -z "${CGNET_VERBOSE:-}" ] || echo "ok: $1"
}

# fail WHAT DETAIL
fail() {
    failed=$((failed + 1))
    echo "FAIL: $1: $2"
}

# skip WHAT REASON
skip() {
    if [ "${CGNET_REQUIRE:-}" = all ]; then
        fail "$1" "skipped ($2)"
    else
        skipped=$((skipped + 1))
        echo "skip: $1: $2"
    fi
}

# check WHAT COMMAND...: passes if the command succeeds; its output is the detail otherwise.
check() {
    local what=$1 output

    shift
    if output=$("$@" 2>&1); then
        pass "$what"
    else
        fail "$what" "${output:-$* failed}"
    fi
}

finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
    exit
}

need_tools() {
    local tool missing=

    for tool in "$@"; do
        command -v "$tool" >/dev/null || missing+=" $tool"
    done
    [ -z "$missing" ] && return
    skip "$(basename "$0")" "not installed:$missing"
    finish
}

# --- entering ------------------------------------------------------------------------------------

cgroup2_mount() {
    awk '$0 ~ / - cgroup2 / {print $5; exit}' /proc/self/mountinfo
}

# Returns inside the lab only.
lab_enter() {
    PATH=$PATH:/usr/sbin:/sbin
    if [ -n "${CGNET_LAB:-}" ]; then
        lab_build
    else
        lab_outside "$@"
    fi
}

lab_outside() {
    local name outer_dir inner

    if [ "$(id -u)" != 0 ]; then
        skip "$(basename "$0")" "needs root"
        finish
    fi
    need_tools ip unshare nsenter setsid dnsmasq dig
    if [ -z "$(cgroup2_mount)" ]; then
        skip "$(basename "$0")" "no cgroup2 mount"
        finish
    fi
    name=cgnet-live-$$-$RANDOM
    outer_dir=$(mktemp -d "/tmp/$name.XXXXXX") || exit 1
    chmod 755 "$outer_dir"
    mkfifo "$outer_dir/alive"
    setsid "$live_dir/clean" "$name" "$outer_dir" &
    cleaner=$!
    exec {alive}>"$outer_dir/alive"
    mkdir "$(cgroup2_mount)/$name-lab"
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    # However this shell ends, its end of the pipe is closed and the cleaner goes to work.
    trap 'exec {alive}>&-; wait "$cleaner"' EXIT
    (
        exec {alive}>&-
        echo "$BASHPID" >"$(cgroup2_mount)/$name-lab/cgroup.procs" || exit 1
        exec env CGNET_LAB="$name" CGNET_LAB_DIR="$outer_dir" unshare -n -m -- "$BASH" "$0" "$@"
    ) &
    inner=$!
    wait "$inner"
    exit
}

lab_finish() {
    local left

    if [ -e "$bpffs" ]; then
        cgnetd unload --force >"$dir/unload" 2>&1 ||
            fail "unload at the end" "$(cat "$dir/unload")"
        left=$(find "$bpffs" "$cgroup" -mindepth 1 \( -type d -o -path "$bpffs/*" \) 2>/dev/null)
        if [ -n "$left" ]; then
            fail "unload removes everything" "left: ${left//$'\n'/ }"
        else
            pass "unload removes everything"
        fi
    fi
    finish
}

# Stops the test where going on would only produce noise.
lab_broken() {
    fail "lab" "$1"
    finish
}

# --- cgnet ---------------------------------------------------------------------------------------

cgnetd() {
    local command=$1

    shift
    "$build/cgnetd" "$command" "${instance[@]}" "$@"
}

cgnet_run() {
    "$build/cgnet-run" "${instance[@]}" "$@"
}

# shipped NAME: a copy of a shipped policy that load accepts whoever owns the tree; prints its path.
shipped() {
    install -m 0644 "$root_dir/policies/$1.conf" "$dir/$1.conf" && echo "$dir/$1.conf"
}

# load FILE: stops the test if the policy is refused. Sets the policy that explanations name.
load() {
    policy=$1
    cgnetd load "$policy" >"$dir/load.out" 2>"$dir/load.err" ||
        lab_broken "load $policy: $(cat "$dir/load.err")"
    rule_lines=()
}

# policy_file NAME: standard input becomes a policy that load accepts; prints its path.
policy_file() {
    cat >"$dir/$1.conf"
    chmod 644 "$dir/$1.conf"
    echo "$dir/$1.conf"
}

# Sets class and (re)starts the agent "in" inside it.
enter_class() {
    class=$1
    agent_stop in
    agent_start in cgnet_run --class "$class" -- "$probe" --serve
    read_counters
}

# switch FILE CLASS: loads another policy, which may drop the class that the agent was in.
switch() {
    agent_stop in
    load "$1"
    enter_class "$2"
}

# json_field KEY JSON: sets field to the first value of that key, a number or a string without
# escapes.
json_field() {
    field=
    [[ $2 =~ \"$1\":\ *(\"([^\"]*)\"|[0-9]+) ]] && field=${BASH_REMATCH[2]:-${BASH_REMATCH[1]}}
}

# Sets counted_allowed and counted_denied of $class.
read_counters() {
    local json field

    json=$("$build/cgnetd" status --json "${instance[@]}")
    json=${json#*\"name\":\""$class"\"}
    json_field allowed "$json"
    counted_allowed=$field
    json_field denied "$json"
    counted_denied=$field
}

# --- agents --------------------------------------------------------------------------------------

declare -A agent_in agent_out agent_pid

# agent_start NAME COMMAND...: a probe that takes orders, here or inside a class.
agent_start() {
    local name=$1 in out

    shift
    mkfifo "$dir/$name.in" "$dir/$name.out"
    "$@" <"$dir/$name.in" >"$dir/$name.out" 2>>"$dir/$name.err" &
    agent_pid[$name]=$!
    exec {in}>"$dir/$name.in" {out}<"$dir/$name.out"
    rm "$dir/$name.in" "$dir/$name.out"
    agent_in[$name]=$in
    agent_out[$name]=$out
}

agent_stop() {
    local name=$1 in out

    [ -n "${agent_pid[$name]:-}" ] || return 0
    in=${agent_in[$name]}
    out=${agent_out[$name]}
    exec {in}>&- {out}<&-
    wait "${agent_pid[$name]}"
    unset "agent_pid[$name]"
}

# ask NAME ORDER...: sets word, count, from and usec to what the attempt came to.
ask() {
    local name=$1

    shift
    word=dead count=- from=- usec=0
    { echo "$*" >&"${agent_in[$name]}"; } 2>/dev/null
    read -r -t 20 word count from usec <&"${agent_out[$name]}" && return
    word="no answer from agent $name: $(tail -1 "$dir/$name.err")"
}
