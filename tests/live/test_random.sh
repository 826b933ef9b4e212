#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Compiler against kernel: random policies are loaded, and sockets connected to random destinations
# inside their class, at least 100,000 of them UDP. CGNET_SEED repeats a run.

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
lab_enter "$@"

wanted=100000
per_policy=5000
random=$build/tests/live/random
first=${CGNET_SEED:-$(date +%s)}

udp=0 tcp=0 icmp=0 denied=0 policies=0 refused=0
file=$dir/random.conf
for ((seed = first; udp < wanted && seed < first + 1000; seed++)); do
    "$random" policy "$seed" >"$file"
    chmod 644 "$file"
    if ! cgnetd load "$file" >"$dir/load.out" 2>&1; then
        # Rules may contradict each other; `check` has to say so, too.
        if "$build/cgnetd" check "$file" >"$dir/check.out" 2>&1; then
            fail "seed $seed: check and load agree" "load: $(cat "$dir/load.out")"
        fi
        refused=$((refused + 1))
        continue
    fi
    output=$(cgnet_run --class random -- "$random" connect "$seed" "$per_policy" "$file" 2>&1)
    read -r u t i d wrong <<<"$(tail -n 1 <<<"$output")"
    if [[ ! ${wrong:-} =~ ^[0-9]+$ ]]; then
        fail "seed $seed" "$output"
        break
    elif [ "$wrong" != 0 ]; then
        fail "seed $seed: kernel and compiler agree" "$wrong differ: $(head -n 3 <<<"$output")"
        [ "$failed" -lt 5 ] || break
    else
        pass "seed $seed: kernel and compiler agree"
    fi
    policies=$((policies + 1))
    udp=$((udp + u)) tcp=$((tcp + t)) icmp=$((icmp + i)) denied=$((denied + d))
done
echo "seeds from $first: $policies policies ($refused refused); $udp UDP, $tcp TCP and $icmp ping" \
    "sockets connected, $denied denied"
check "at least $wanted UDP sockets were connected" [ "$udp" -ge "$wanted" ]
check "some were denied and some were not" [ "$denied" -gt 1000 -a "$denied" -lt $((udp - 1000)) ]

lab_finish
