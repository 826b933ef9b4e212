# shellcheck shell=bash disable=SC2034,SC2154 # shared with the other files of the matrix
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Rows. One is written as
#
#     target 10.1.2.3 80
#     blocked ADDR-01 "a literal address" tcp 10.1.2.3 80
#
# and runs the attempt outside of the class (the control, which has to reach the target), inside, and
# outside again. In between nothing may have been sent to the target, or arrived anywhere.
#
# Variables that a row may set, before it or for it alone:
#   class, who      where the attempt is made: class of the session; root or user (uid 1000)
#   want            words that count as refused (patterns)
#   lacks           words of the control that mean that this kernel lacks the thing
#   reached_by      how the control shows that it reached the target: "answer" (its word is "ok"),
#                   "arrival" (a listener logged it), "packets" (they left), or another word, which
#                   says that the attempt worked, while a plain connect reaches the target
#   extra           arrivals that the attempt causes at allowed peers
#   ignore          "packets" or "arrivals" where the attempt may cause some that do no harm
#   layer           the layer that has to count the denial
#   instead         (array) another control than the attempt itself
#   plain           (array) where the plain connect goes, if not to the target
#   prepare, tidy   commands to be run before and after each attempt
#   ours            what else to say about the attempt

rows=()
word='' count='' from='' usec='' detail=''

row_defaults() {
    class=restricted
    who=root
    want="(setup-)?EPERM"
    extra=0
    ignore=
    lacks="setup-EPROTONOSUPPORT|setup-EAFNOSUPPORT|setup-ESOCKTNOSUPPORT|setup-ENOPROTOOPT|ENOSYS"
    reached_by=answer
    layer=
    instead=()
    plain=()
    prepare=
    tidy=
    answer='^[0-9]+$'
}

as_user=(setpriv --reuid=1000 --regid=1000 --clear-groups)
layer_names=(connect sendmsg create egress ingress unix sysctl)

# --- which rows ----------------------------------------------------------------------------------

select_rows() {
    selected=("$@")
}

begin_topic() {
    local name=${1##*/}

    name=${name%.sh}
    topic_name=${name#[0-9][0-9]-}
    row_defaults
}

is_selected() {
    local s

    [ ${#selected[@]} -gt 0 ] || return 0
    for s in "${selected[@]}"; do
        if [ "$s" = "$topic_name" ] || [[ $1 == "$s"* ]]; then
            return 0
        fi
    done
    return 1
}

# topic_is_selected: for what a topic prepares at some cost.
topic_is_selected() {
    local s

    [ ${#selected[@]} -gt 0 ] || return 0
    for s in "${selected[@]}"; do
        [ "$s" = "$topic_name" ] && return 0
        [[ $s == [A-Z]* ]] && grep -q "[a-z] ${s%%-*}-" "$matrix_dir/rows/"*"-$topic_name.sh" && return 0
    done
    return 1
}

# --- attempts ------------------------------------------------------------------------------------

target() {
    to_addr=$1
    to_port=$2
}

declare -A is_probe_path
probe_paths() {
    local path

    for path in $("$probe" 2>&1 | sed -n 's/^paths://p'); do
        is_probe_path[$path]=1
    done
}

# command_in WHERE COMMAND...: sets command to one that runs there as $who.
command_in() {
    local where=$1

    shift
    command=("$@")
    [ "$who" = root ] || command=("${as_user[@]}" -- "${command[@]}")
    [ "$where" = out ] ||
        command=("$build/cgnet-run" "${instance[@]}" --class "$class" -- "${command[@]}")
}

# launch COMMAND...: in a subshell; the agents' pipes are not for it, or they would never end.
launch() {
    local fd

    for fd in "${agent_in[@]}" "${agent_out[@]}"; do
        { exec {fd}>&-; } 2>/dev/null
    done
    exec "$@"
}

# agent WHERE PROGRAM: sets name to that of an agent there, which is started if it is not.
agent() {
    local where=$1 program=$2
    local command

    name=$program-$where-$who
    [ "$where" = out ] || name+=-$class
    [ -z "${agent_pid[$name]:-}" ] || return 0
    command_in "$where" "$bin/$program" --serve
    agent_start "$name" launch "${command[@]}"
}

# Ends the agents inside of a class: the next attempt is made by a session of its own.
leave_class() {
    local name

    for name in "${!agent_pid[@]}"; do
        case $name in
        *-in-*-"$1") agent_stop "$name" ;;
        esac
    done
}

# run_tool WHERE COMMAND...: sets word and detail from what a program says.
run_tool() {
    local where=$1 output status line
    local command

    shift
    command_in "$where" "$@"
    output=$(timeout 10 "${command[@]}" </dev/null 2>"$dir/tool.err")
    status=$?
    detail=
    word="exit-$status"
    while IFS= read -r line; do
        if [[ $line =~ ^([A-Za-z-]+)\ [0-9]+\ -\ ?([0-9]*)\ ?(.*)$ ]]; then
            word=${BASH_REMATCH[1]}
            detail=${BASH_REMATCH[3]#-}
        elif [[ $line =~ $answer ]]; then
            word=ok
        fi
    done <<<"$output"
    [ "$status" != 124 ] || word=timeout
    if [[ $word == exit-* ]]; then
        read -r line <"$dir/tool.err"
        detail=${line:0:120}
    fi
}

# attempt WHERE ORDER...: sets word, usec and detail.
attempt() {
    local where=$1 name

    shift
    [ -z "$prepare" ] || "$prepare" "$where"
    case $1 in
    run)
        shift
        run_tool "$where" "$@"
        usec=0
        ;;
    function)
        shift
        usec=0 detail=
        "$1" "$where" "${@:2}"
        ;;
    *)
        if [ -n "${is_probe_path[$1]:-}" ]; then
            agent "$where" probe
        else
            agent "$where" attack
        fi
        ask "$name" "$@"
        detail=
        [[ $usec == *" "* ]] && detail=${usec#* }
        [ "$detail" != - ] || detail=
        usec=${usec%% *}
        ;;
    esac
    [ -z "$tidy" ] || "$tidy" "$where"
}

# --- oracles -------------------------------------------------------------------------------------

# Sets packets, arrivals, denied (array by layer) and lost.
look() {
    local w=$word c=$count f=$from u=$usec

    ask watch "$to_addr" "$to_port" "$bpffs/$class/counters"
    packets=$word
    arrivals=$((count - settled))
    IFS=, read -r -a denied <<<"$from"
    lost=$usec
    word=$w count=$c from=$f usec=$u
}

# Returns when the listeners have logged what came before: each gets one more.
settle() {
    local w=$word c=$count f=$from u=$usec who=root name

    agent out probe
    ask "$name" udp-sendto "$public4" 54
    ask "$name" udp-sendto 127.9.9.9 54 bind=127.9.9.8
    settled=$((settled + 2))
    word=$w count=$c from=$f usec=$u
}
settled=0

plain_reach() {
    local w=$word u=$usec name ok

    local who=root
    agent out probe
    ask "$name" tcp "${plain[0]:-$to_addr}" "${plain[1]:-$to_port}"
    ok=$word
    word=$w usec=$u
    [ "$ok" = ok ]
}

# The control: the attempt outside of the class. Returns 1 if it did not reach the target, and sets
# word to why.
reach_target() {
    local packets0 arrivals0

    look
    packets0=$packets arrivals0=$arrivals
    if [ ${#instead[@]} -gt 0 ]; then
        attempt out "${instead[@]}"
    else
        attempt out "$@"
    fi
    [ "$reached_by" = answer ] || settle
    look
    case $reached_by in
    answer) [ "$word" = ok ] ;;
    arrival) [ "$arrivals" -gt "$arrivals0" ] ;;
    packets) [ "$packets" -gt "$packets0" ] && plain_reach ;;
    *) [ "$word" = "$reached_by" ] && plain_reach ;;
    esac
}

# Sets observed from the attempt inside, and wrong to why it is not a denial.
observe_denial() {
    local i by='' fast=''

    packets=$((packets - packets0)) arrivals=$((arrivals - arrivals0 - extra))
    for i in "${!layer_names[@]}"; do
        [ "${denied[$i]:-0}" = "${denied0[$i]:-0}" ] || by+="${by:+, }${layer_names[$i]}"
    done
    [ "$usec" -ge 100000 ] 2>/dev/null || fast=" at once"
    [[ $word == E* ]] || fast=
    observed="$word$fast${by:+, denied by $by}${detail:+ ($detail)}"
    wrong=
    if [ "$packets" != 0 ] && [[ $ignore != *packets* ]]; then
        wrong="OPEN: $packets packets were sent to $to_addr"
    elif [ "$arrivals" != 0 ] && [[ $ignore != *arrivals* ]]; then
        wrong="OPEN: $arrivals arrivals at a listener"
    elif [ "$word" = ok ]; then
        wrong="OPEN: it was answered"
    elif [ "$lost" != 0 ]; then
        wrong="the watch lost packets"
    elif ! [[ $word =~ ^($want)$ ]]; then
        wrong="not one of $want"
    elif [ -n "$layer" ] && [[ ",${by// /}," != *",$layer,"* ]]; then
        wrong="not counted by the layer $layer"
    fi
}

# --- rows ----------------------------------------------------------------------------------------

# row ID CLASS ATTACK ATTEMPT CONTROL OBSERVED WRONG
row() {
    local result=ok wrong=$7

    set -- "${@//$'\n'/ }"
    if [ "$2" = SKIPPED ] && [ "${CGNET_REQUIRE:-}" = all ]; then
        wrong="skipped, though everything is required"
    fi
    if [ -n "$wrong" ]; then
        result=FAIL
        failed=$((failed + 1))
    elif [ "$2" = SKIPPED ]; then
        result=skip
        skipped=$((skipped + 1))
    else
        passed=$((passed + 1))
    fi
    rows+=("$result" "${@:1:6}" "$wrong")
    [ -z "${CGNET_VERBOSE:-}" ] || printf '%4d s ' "$SECONDS"
    printf '%-4s %-9s %-18s %s: %s%s\n' "$result" "$2" "$1" "$3" "$6" "${wrong:+ -- $wrong}"
}

attempt_text() {
    local text="$*"

    text=${text#run }
    text=${text#function }
    REPLY="$class/$who: $text"
}

# unlike_denial: ends a row whose control does not work. Returns 1 if it does.
control_failed() {
    local id=$1 expected=$2 attack=$3 text=$4 when=$5

    if [[ $word =~ ^($lacks)$ ]]; then
        row "$id" SKIPPED "$attack" "$text" "-" "this kernel lacks it: outside ${word#setup-}" ""
    else
        row "$id" "$expected" "$attack" "$text" "did not reach $to_addr $when: $word ${detail:-}" \
            "-" "control $when: $word ${detail:-}"
    fi
}

control_text() {
    local text="outside it reaches $to_addr"

    case $reached_by in
    answer) text+=", which answers" ;;
    arrival) text+=", which logs it" ;;
    packets) text+="; so does a connect" ;;
    *) text="outside it ends with \"$reached_by\"; a connect reaches $to_addr" ;;
    esac
    [ ${#instead[@]} -eq 0 ] || text="instead, outside: ${instead[*]#function }: $text"
    REPLY="$text, before and after"
}

# blocked ID ATTACK ORDER...
blocked() {
    local id=$1 attack=$2 text observed wrong='' word='' count='' from='' usec='' detail=''
    local packets arrivals lost
    local packets0 arrivals0 denied denied0 REPLY

    shift 2
    is_selected "$id" || return 0
    attempt_text "$@"
    text=$REPLY
    if ! reach_target "$@"; then
        control_failed "$id" BLOCKED "$attack" "$text" before
        return
    fi
    agent_ready "$1"
    look
    packets0=$packets arrivals0=$arrivals denied0=("${denied[@]}")
    attempt in "$@"
    settle
    look
    observe_denial
    if ! reach_target "$@"; then
        control_failed "$id" BLOCKED "$attack" "$text" after
        return
    fi
    control_text
    row "$id" BLOCKED "$attack" "$text" "$REPLY" "$observed" "$wrong"
}

# Starts what the attempt inside needs, so that its start is not between the two looks.
agent_ready() {
    local name

    case $1 in
    run | function) ;;
    *)
        if [ -n "${is_probe_path[$1]:-}" ]; then
            agent in probe
        else
            agent in attack
        fi
        ;;
    esac
}

# works CLASS ID ATTACK ORDER...
works() {
    local expected=$1 id=$2 attack=$3 text observed wrong='' word='' count='' from='' usec=''
    local detail='' REPLY
    local packets arrivals lost packets0 arrivals0 denied denied0

    shift 3
    is_selected "$id" || return 0
    attempt_text "$@"
    text=$REPLY
    if ! reach_target "$@"; then
        control_failed "$id" "$expected" "$attack" "$text" before
        return
    fi
    agent_ready "$1"
    look
    packets0=$packets arrivals0=$arrivals
    attempt in "$@"
    settle
    look
    observed="$word${detail:+ ($detail)}"
    case $reached_by in
    answer) [ "$word" = ok ] || wrong="not answered" ;;
    arrival) [ "$arrivals" -gt "$arrivals0" ] || wrong="it did not arrive" ;;
    packets) [ "$packets" -gt "$packets0" ] || wrong="no packet was sent" ;;
    *) [ "$word" = "$reached_by" ] || wrong="not \"$reached_by\"" ;;
    esac
    if ! reach_target "$@"; then
        control_failed "$id" "$expected" "$attack" "$text" after
        return
    fi
    control_text
    row "$id" "$expected" "$attack" "$text" "$REPLY" "$observed" "$wrong"
}

# What is meant to work.
allowed() {
    works ALLOWED "$@"
}

# What is documented not to be a boundary.
delegated() {
    works DELEGATED "$@"
}

# skipped ID ATTACK REASON
unavailable() {
    is_selected "$1" || return 0
    row "$1" SKIPPED "$2" "-" "-" "$3" ""
}

# both ROW ID ATTACK ORDER...: two rows, as root and as an ordinary user.
both() {
    local row=$1 id=$2

    shift 2
    who=root "$row" "$id-root" "$@"
    who=user "$row" "$id-user" "$@"
}
