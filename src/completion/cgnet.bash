# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Completion of cgnetd and cgnet-run for bash.

# The classes in force, for who may look.
_cgnet_classes() {
    local dir=/sys/fs/bpf/cgnet i class

    for ((i = 1; i < COMP_CWORD - 1; i++)); do
        [[ ${COMP_WORDS[i]} == --bpffs ]] || continue
        dir=${COMP_WORDS[i + 1]}
        [[ $dir != = ]] || dir=${COMP_WORDS[i + 2]}
    done
    for class in "$dir"/[a-z]*/; do
        class=${class%/}
        [[ ! -d $class ]] || echo "${class##*/}"
    done
}

# What lives, as CLASS/SESSION.
_cgnet_sessions() {
    cgnetd sessions 2>/dev/null | awk 'NR > 1 {print $1 "/" $2}'
}

# _cgnet_words WORD...: those that begin with what stands at the cursor.
_cgnet_words() {
    mapfile -t COMPREPLY < <(compgen -W "$*" -- "$_cgnet_current")
}

_cgnet_files() {
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen "$1" -- "$_cgnet_current")
}

# Sets _cgnet_current, and _cgnet_option to the option that it is the value of; both are the
# caller's. The "=" of --option=value is a word of its own.
_cgnet_look() {
    local n=$COMP_CWORD

    _cgnet_current=${COMP_WORDS[n]}
    _cgnet_option=${COMP_WORDS[n - 1]}
    if [[ $_cgnet_current == = ]]; then
        _cgnet_current=
    elif [[ $_cgnet_option == = ]]; then
        _cgnet_option=${COMP_WORDS[n - 2]}
    fi
}

# The value of an option. Fails if it is not one that takes a value.
_cgnet_value() {
    case $1 in
    --bpffs | --run-dir) _cgnet_files -d ;;
    --policy) _cgnet_files -f ;;
    --class) _cgnet_words "$(_cgnet_classes)" ;;
    --metrics-file) _cgnet_files -f ;;
    --log-events) _cgnet_words "stderr syslog" ;;
    --cgroup | --count | --for | --name | --keep-fd) COMPREPLY=() ;;
    *) return 1 ;;
    esac
}

_cgnetd() {
    local _cgnet_current _cgnet_option command='' operands=0 i word
    local always="--bpffs --cgroup --run-dir --help --usage --version"
    local -A options=(
        [check]=""
        [load]="--force"
        [unload]="--force"
        [status]="--json"
        [learn]="--class --for"
        [metrics]=""
        [events]="--json --class --count"
        [serve]="--log-events --metrics-file"
        [allow]="--class --for --keep"
        [deny]="--class --for --keep"
        [rules]="--class --json"
        [forget]=""
        [sessions]="--json"
        [kill]=""
        [explain]="--json --policy"
        [doctor]="--json"
    )

    _cgnet_look
    _cgnet_value "$_cgnet_option" && return
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        case $word in
        --bpffs | --cgroup | --run-dir | --policy | --class | --count | --for | --log-events | --metrics-file)
            i=$((i + 1))
            [[ ${COMP_WORDS[i]} != = ]] || i=$((i + 1))
            ;;
        -*) ;;
        *)
            [[ -z $command ]] || operands=$((operands + 1))
            command=${command:-$word}
            ;;
        esac
    done
    if [[ $_cgnet_current == -* ]]; then
        _cgnet_words "$always ${command:+${options[$command]-}}"
        return
    fi
    case $command in
    '') _cgnet_words "${!options[@]}" ;;
    check | load | serve) _cgnet_files -f ;;
    kill) ((operands)) || _cgnet_words "$(_cgnet_sessions)" ;;
    explain) ((operands)) || _cgnet_words "$(_cgnet_classes)" ;;
    esac
}

_cgnet_run() {
    local _cgnet_current _cgnet_option dashes='' i

    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        --class | --name | --keep-fd | --bpffs | --cgroup | --run-dir)
            i=$((i + 1))
            [[ ${COMP_WORDS[i]} != = ]] || i=$((i + 1))
            ;;
        --)
            dashes=yes
            i=$((i + 1))
            break
            ;;
        -*) ;;
        *) break ;;
        esac
    done
    if ((i < COMP_CWORD)); then
        # CMD's own words.
        if declare -F _command_offset >/dev/null; then
            _command_offset "$i"
        else
            compopt -o default 2>/dev/null
        fi
        return
    fi
    _cgnet_look
    if [[ -z $dashes ]]; then
        _cgnet_value "$_cgnet_option" && return
        if [[ $_cgnet_current == -* ]]; then
            _cgnet_words "--class --name --keep-fd --quiet --bpffs --cgroup --run-dir" \
                "--help --usage --version --"
            return
        fi
    fi
    mapfile -t COMPREPLY < <(compgen -c -- "$_cgnet_current")
}

complete -F _cgnetd cgnetd
complete -F _cgnet_run cgnet-run
