# shellcheck shell=bash disable=SC2034,SC2154 # shared with lib.sh, which it builds on, and the tests
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# For tests of the service: starts it in the lab, and runs commands as users that need not exist.

serve_pid=
serve_log=$dir/serve.log
control=$dir/run/cgnet/control

# Users have to get at the programs, wherever the tree is.
install -m 0755 "$build/cgnet-run" "$dir/cgnet-run"

# wait_for COMMAND...: until it succeeds, at most ten seconds.
wait_for() {
    for _ in {1..500}; do
        "$@" >/dev/null 2>&1 && return
        sleep 0.02
    done
    return 1
}

# serve_start FILE [VARIABLE=VALUE...]: until it is ready.
serve_start() {
    local file=$1

    shift
    : >"$serve_log.now"
    env "$@" "$build/cgnetd" serve "${instance[@]}" "$file" >"$serve_log.out" 2>"$serve_log.now" &
    serve_pid=$!
    if ! wait_for serve_is_ready; then
        lab_broken "cgnetd serve $file: $(cat "$serve_log.now")"
    fi
}

serve_is_ready() {
    grep -q "serve: ready" "$serve_log.now" || ! kill -0 "$serve_pid"
}

# serve_end SIGNAL: sets status to the service's.
serve_end() {
    kill -"$1" "$serve_pid"
    wait "$serve_pid" 2>/dev/null
    status=$?
    serve_pid=
    cat "$serve_log.now" >>"$serve_log"
}

serve_stop() {
    [ -z "$serve_pid" ] || serve_end TERM
}

# logged TEXT: how many lines of the service that runs have it.
logged() {
    grep -cF -- "$1" "$serve_log.now"
}

# as UID[:GROUP,...] COMMAND...: with that gid as well, and these supplementary groups.
as() {
    local uid=${1%%:*} groups=()

    if [[ $1 == *:* ]]; then groups=(--groups "${1#*:}"); else groups=(--clear-groups); fi
    shift
    setpriv --reuid "$uid" --regid "$uid" "${groups[@]}" -- "$@"
}

# user_run UID[:GROUP,...] ARG...: cgnet-run as that user.
user_run() {
    local who=$1

    shift
    as "$who" "$dir/cgnet-run" "${instance[@]}" "$@"
}

# Names of the sessions that there are, dead or alive.
sessions() {
    find "$cgroup" -mindepth 2 -maxdepth 2 -type d -printf '%P\n' | sort
}

no_sessions() {
    [ -z "$(sessions)" ]
}
