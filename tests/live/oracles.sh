# shellcheck shell=bash disable=SC2034,SC2154 # shared with lib.sh, which reads this, and the tests
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What makes a verdict believable: a control before and after, the listener's count, the class's
# counters, and the explanation.

# What the next checks expect of `explain`; set per group of cases, empty for "do not ask".
rule=
policy=
class=

# Sets line to where the rule first stands in the class: in quotes, or an option as it is written.
declare -A rule_lines
rule_line() {
    local text=$rule

    line=${rule_lines[$class $rule]:-}
    [ -z "$line" ] || return 0
    [[ $rule == *=* ]] || text="\"$rule\""
    line=$(awk -v class="class $class {" -v text="$text" '
        $0 == class { inside = 1 }
        inside && !/^ *#/ {
            gsub(/ +/, " ")
            if (index($0, text)) {
                print NR
                exit
            }
        }' "$policy")
    rule_lines[$class $rule]=$line
}

# explained VERDICT PATH ADDR PORT...: the live maps and the file name the same verdict, rule and
# line. Sets detail to what is wrong.
explained() {
    local verdict=$1 proto=${2%%[-6]*} addr=${3%%%*} port=$4 dest live file got line field status

    proto=${proto#mp}
    [[ $addr == *:* ]] && addr="[$addr]"
    dest="$addr:$port/$proto"
    rule_line
    live=$("$build/cgnetd" explain "$class" "$dest" --json "${instance[@]}" 2>&1)
    status=$?
    file=$("$build/cgnetd" explain --policy "$policy" "$class" "$dest" --json 2>&1)
    got=
    for field in verdict rule file line; do
        json_field "$field" "$live"
        got+=" $field"
    done
    if [ "$status" != "$([ "$verdict" = allow ] && echo 0 || echo 1)" ]; then
        detail="explain $dest: exit status $status"
    elif [ "$live" != "$file" ]; then
        detail="explain $dest: live says $live, the file $file"
    elif [ "$got" != " $verdict $rule $policy $line" ]; then
        detail="explain $dest: $got instead of $verdict $rule $policy $line"
    else
        return 0
    fi
    return 1
}

# explains VERDICT PATH ADDR PORT: a check of explain alone.
explains() {
    local detail

    if explained "$@"; then
        pass "explain says $*"
    else
        fail "explain says $*" "$detail"
    fi
}

# reach PATH ADDR PORT [OPTION]...: outside the class, the listener is reached. Sets count, or word
# to what went wrong. Where the answer cannot come back on the path itself ($control names another
# one to the same place), the path has to work and the other one gets the answer.
reach() {
    if [ -n "${control:-}" ]; then
        ask out "$@"
        [ "$word" = ok ] || [ "$word" = silent ] || return 1
        ask out "$control" "${@:2}"
    else
        ask out "$@"
    fi
    [ "$word" = ok ]
}

# counted ALLOWED DENIED: the class's counters moved by that much since the last reading. Sets
# detail to what is wrong.
counted() {
    local allowed0=$counted_allowed denied0=$counted_denied

    read_counters
    [ "$((counted_allowed - allowed0)) $((counted_denied - denied0))" = "$1 $2" ] && return
    detail="counted $((counted_allowed - allowed0)) allowed, $((counted_denied - denied0)) denied"
    return 1
}

# denied PATH ADDR PORT [OPTION]...: a session's attempt fails with EPERM at once, between two
# attempts outside that reach the listener, which sees nobody in between; the class counts it.
#
# Variables that a case may set: control (see reach), extra (arrivals at the same listener that one
# attempt causes by its first= peer), denials and allows (verdicts that the session's attempt
# causes, 1 and 0).
denied() {
    local what="$* is denied" before seen detail

    reach "$@" || { fail "$what" "control before: $word"; return; }
    before=$count
    ask in "$@"
    [ "$word" = EPERM ] || { fail "$what" "$word"; return; }
    [ "$usec" -lt 100000 ] || { fail "$what" "took $usec microseconds"; return; }
    counted "${allows:-0}" "${denials:-1}" || { fail "$what" "$detail"; return; }
    reach "$@" || { fail "$what" "control after: $word"; return; }
    seen=$((count - before - 1 - 2 * ${extra:-0}))
    [ -z "${control:-}" ] || seen=$((seen - 1))
    [ "$seen" = 0 ] || { fail "$what" "the listener saw $seen arrivals in between"; return; }
    if [ -n "$rule" ]; then
        explained deny "$@" || { fail "$what" "$detail"; return; }
    fi
    pass "$what"
}

# allowed PATH ADDR PORT [OPTION]...: a session's attempt reaches the listener as one outside does,
# and is counted as allowed (allows verdicts, 1).
allowed() {
    local what="$* is allowed" detail

    reach "$@" || { fail "$what" "control: $word"; return; }
    ask in "$@"
    [ "$word" = ok ] || { fail "$what" "$word"; return; }
    counted "${allows:-1}" 0 || { fail "$what" "$detail"; return; }
    if [ -n "$rule" ]; then
        explained allow "$@" || { fail "$what" "$detail"; return; }
    fi
    pass "$what"
}

# Each of a list of addresses, over each of $paths.
paths=(tcp udp udp-sendto)

# each ORACLE PORT ADDR...: `explain` is asked once for each address.
each() {
    local oracle=$1 port=$2 group=$rule addr path

    for addr in "${@:3}"; do
        local rule=$group

        for path in "${paths[@]}"; do
            "$oracle" "$path" "$addr" "$port"
            rule=
        done
    done
}

# all_denied PORT ADDR...
all_denied() {
    each denied "$@"
}

# all_allowed PORT ADDR...
all_allowed() {
    each allowed "$@"
}
