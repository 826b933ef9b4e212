# shellcheck shell=bash disable=SC2034,SC2154 # shared with lib.sh and service.sh, and the tests
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What changes while the service runs, and how soon.

now_ms() {
    local now=${EPOCHREALTIME/./}

    echo $((now / 1000))
}

# verdict_is allow|deny CLASS DEST: what the maps in force say.
verdict_is() {
    local expected=1

    [ "$1" = deny ] || expected=0
    "$build/cgnetd" explain "$2" "$3" "${instance[@]}" >"$dir/explain.out" 2>&1
    [ "$?" = "$expected" ]
}

# Sets crowd to how many processes there are for a processor, at least 1: each gets its share.
measure_crowd() {
    crowd=$(awk -v n="$(nproc)" '{ x = int($1 / n + 0.9); print x < 1 ? 1 : x }' /proc/loadavg)
}

# becomes allow|deny CLASS DEST WHAT [MS]: within a second (or MS) of the service's time that is the
# verdict.
becomes() {
    local start limit=${5:-1000} took crowd

    measure_crowd
    limit=$((limit * crowd))
    start=$(now_ms)
    until verdict_is "$1" "$2" "$3"; do
        took=$(($(now_ms) - start))
        [ "$took" -lt $((limit + 4000)) ] || { fail "$4" "$3: not after $took ms"; return 1; }
        sleep 0.05
    done
    took=$(($(now_ms) - start))
    if [ "$took" -le "$limit" ]; then
        pass "$4 ($took ms)"
    else
        fail "$4" "$3: only after $took ms"
    fi
}

# stays allow|deny CLASS DEST WHAT: half a second later that is the verdict still.
stays() {
    sleep 0.5
    if verdict_is "$1" "$2" "$3"; then
        pass "$4"
    else
        fail "$4" "$(cat "$dir/explain.out")"
    fi
}

# CPU time of the service and of the workers that it waited for, in clock ticks.
serve_ticks() {
    local stat

    read -r stat <"/proc/$serve_pid/stat"
    # shellcheck disable=SC2086 # words
    set -- ${stat##*) }
    echo $((${12} + ${13} + ${14} + ${15}))
}
