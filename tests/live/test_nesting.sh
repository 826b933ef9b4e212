#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Cgroups that a root session nests in its own, as many, as deep and with what names it likes: they are
# removed with it, killed and removed by unload, and no path is too long for that.
# Scripts of sessions have variables of their own:
# shellcheck disable=SC2016
PATH=/usr/sbin:/usr/bin:/sbin:/bin
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
lab_enter "$@"
need_tools python3 strace

# shellcheck disable=SC2154 # lab_enter sets dir and cgroup
restricted=$cgroup/restricted
policy=$(
    policy_file nesting <<'END'
default_class = "restricted"
class restricted {
    default = allow
    deny = { "198.51.100.0/24" }
}
END
)

# In a cgroup namespace of its own a session gets a cgroupfs that it may write to. CODE makes cgroups
# there, in the current directory, and may put this process into them.
nest='import os, sys, time
def down(name):
    os.mkdir(name)
    os.chdir(name)
def enter():
    with open("cgroup.procs", "w") as f: f.write("0")
exec(sys.argv[1])
print("nested", flush=True)
if len(sys.argv) > 2: time.sleep(600)'

nested() { # SESSION CODE [STAY]: prints "nested"
    cgnet_run --name "$1" -- unshare -UrmC sh -c \
        'mount -t cgroup2 none /mnt && cd /mnt && exec python3 -c "$@"' sh "$nest" "${@:2}"
}

deep='for i in range(60): down("%03d" % i * 66)'
dots='down(".hidden"); down("..."); down(" "); down("x\\y")'
wide='for i in range(200): os.makedirs("a%d/b" % i)'
threads='down("t")
open("cgroup.type", "w").write("threaded")
down("u")'

# What CODE makes is gone when CMD has ended.
ends() { # WHAT CODE
    local output

    output=$(nested ends "$2" 2>&1)
    if [ "$output" != nested ]; then
        fail "$1" "cannot be made: $output"
    elif [ -e "$restricted/ends" ]; then
        fail "$1" "left: $(find "$restricted/ends" -type d 2>&1 | wc -l) cgroups"
    else
        pass "$1: removed with the session"
    fi
}

# What CODE makes, with a process in it, is ended by unload. CMD... runs unload.
unloads() { # WHAT CODE CMD...
    local job i

    nested stays "$2" stay >"$dir/out" 2>&1 &
    job=$!
    for ((i = 0; i < 500; i++)); do
        grep -q nested "$dir/out" && break
        sleep 0.02
    done
    if ! grep -q nested "$dir/out"; then
        fail "$1" "cannot be made: $(cat "$dir/out")"
    elif "${@:3}" unload --force "${instance[@]}" >"$dir/unload" 2>&1 &&
        grep -qx 'ended 1 session' "$dir/unload" && ! [ -e "$restricted" ]; then
        pass "$1: ended by unload"
    else
        fail "$1" "unload: $(tail -1 "$dir/unload")"
    fi
    wait "$job" 2>/dev/null
    load "$policy"
}

load "$policy"
ends "60 cgroups below each other, with long names" "$deep"
ends "names that begin with a dot" "$dots"
ends "200 cgroups with one more in each" "$wide"
ends "threaded cgroups" "$threads"
unloads "a process below 60 cgroups" "$deep; enter()" "$build/cgnetd"
unloads "a process in a cgroup whose name begins with a dot" "$dots; enter()" "$build/cgnetd"
# A kernel without cgroup.kill (before 5.14) is played by refusing it to cgnetd.
no_kill=(strace -f -qq -o "$dir/strace" -e trace=openat -P "$restricted/cgroup.kill"
    -e inject=openat:error=ENOENT "$build/cgnetd")
unloads "a process below 60 cgroups, without cgroup.kill" "$deep; enter()" "${no_kill[@]}"
unloads "and behind 200 others" "$wide
os.chdir(\"a7/b\"); enter()" "${no_kill[@]}"
lab_finish
