# shellcheck shell=bash disable=SC2034,SC2154 # shared with the tests
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests in which processes inside and outside of a class hold sockets and talk (talker.py). One
# sources this file and ends with
#
#     run_parts PART... -- "$@"
#
# which runs its parts (functions), or those that the command line names. For each there are a
# talker "w" in the world and "h" on the host; a part starts those in sessions itself.

PATH=/usr/sbin:/usr/bin:/sbin:/bin
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
lab_enter "$@"
need_tools python3

talker=$live_dir/talker.py
talkers=(w h a b c l r n)

# policy NAME RULES OPTIONS: class "tried", everything open but for RULES (after 10/8 and fd00::/8).
policy() {
    policy_file "$1" <<END
default_class = "tried"
class tried {
    default = allow
    deny = { "10.0.0.0/8", "fd00::/8", "192.168.50.0/24" $2 }
    $3
}
END
}

# session NAME [CLASS]: a talker in a session of its own.
session() {
    agent_stop "$1"
    agent_start "$1" cgnet_run --class "${2:-tried}" -- python3 "$talker"
}

# says WORDS NAME ORDER...: the talker's order comes to one of these words (a|b). What is to be
# silent is waited for less long than what is to come.
says() {
    local expected=$1 wait=3

    shift
    [ "$expected" != silent ] || wait=0.4
    ask "$1" "$wait" "${@:2}"
    if [[ $word =~ ^($expected)$ ]]; then
        pass "$* comes to $word"
    else
        fail "$* comes to $expected" "$word"
    fi
}

# reaches NAME SOCKET KIND ADDR PORT: an answer comes.
reaches() {
    says ok "$1" sendto "${@:2}"
    says ok "$1" recv "$2"
}

# Over IPv6 the kernel does not tell the sender of a ping.
loses() {
    says "EPERM|ok" "$1" sendto "${@:2}"
    says silent "$1" recv "$2"
}

run_parts() {
    local parts=() part i

    while [ "$1" != -- ]; do
        parts+=("$1")
        shift
    done
    shift
    [ $# = 0 ] || parts=("$@")
    for part in "${parts[@]}"; do
        agent_start w in_world python3 "$talker"
        agent_start h python3 "$talker"
        $part
        # The last first: each holds the orders of those before it open.
        for ((i = ${#talkers[@]} - 1; i >= 0; i--)); do agent_stop "${talkers[i]}"; done
        [ ! -e "$bpffs" ] || check "$part: unload" cgnetd unload
    done
    lab_finish
}
