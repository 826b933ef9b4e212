# shellcheck shell=bash disable=SC2034,SC2154 # the engine's variables
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Unix sockets: unix = none closes them, unix = any leaves what is behind them to the operator.

class=sealed
layer=unix
target 10.1.2.3 80
if [ ! -e "$bpffs/sealed/connect_unix" ]; then
    unavailable UNIX-00 "unix = none" "no connect_unix hook (Linux 6.7)"
else
    both blocked UNIX-01 "a stream socket, by path" unix "$dir/shared/helper" stream
    both blocked UNIX-02 "a datagram socket, by path" unix "$dir/shared/dgram" dgram
    blocked UNIX-03 "a datagram socket, named in the send" unix-sendto "$dir/shared/dgram"
    blocked UNIX-04 "a packet socket, by path" unix "$dir/shared/seqpacket" seqpacket
    both blocked UNIX-05 "an abstract name" unix @matrix-helper stream
    blocked UNIX-06 "an abstract name, datagrams" unix-sendto @matrix-dgram
    blocked UNIX-07 "the beginning of an allowed name" unix @matrix-ope stream
    blocked UNIX-08 "an allowed name with more behind it" unix @matrix-openly stream
    blocked UNIX-09 "an allowed name and a NUL" unix @matrix-open+1 stream
    blocked UNIX-10 "an allowed name as a path" unix "$dir/shared/matrix-open" stream
    blocked UNIX-11 "a server of one's own" unix-own "$dir/shared/own" stream
    blocked UNIX-12 "a helper that connects for others" deputy 10.1.2.3 80 "$dir/shared/helper"
    blocked UNIX-13 "a helper that hands out sockets" scm 10.1.2.3 80 "$dir/shared/helper"
    layer=
    both allowed UNIX-14 "an allowed abstract name" unix @matrix-open stream
    allowed UNIX-15 "a socket pair" unix-pair
fi
layer=
class=restricted
both delegated UNIX-16 "a helper that connects for others (docker, D-Bus, ssh-agent alike)" \
    deputy 10.1.2.3 80 "$dir/shared/helper"
both delegated UNIX-17 "a helper that hands out sockets" scm 10.1.2.3 80 "$dir/shared/helper"
delegated UNIX-18 "a helper at an abstract name" deputy 10.1.2.3 80 @matrix-helper
allowed UNIX-19 "a server of one's own" unix-own "$dir/shared/own" stream

# --- daemons that run what they are told ---------------------------------------------------------
if command -v tmux >/dev/null; then
    tmux=(tmux -S "$dir/shared/tmux")
    if topic_is_selected; then
        launch env -i PATH="$PATH" TERM=xterm HOME=/ "${as_user[@]}" -- "${tmux[@]}" -f /dev/null \
            new-session -d &
        wait $!
    fi
    # tmux_try WHERE ADDR PORT: the server runs it and leaves its outcome in a file.
    tmux_try() {
        local command

        rm -f "$dir/shared/out"
        command_in "$1" "${tmux[@]}" run-shell "$bin/probe tcp $2 $3 >$dir/shared/out"
        timeout 5 "${command[@]}" >/dev/null 2>&1
        word=$(cat "$dir/shared/out" 2>/dev/null || echo refused)
    }
    who=user
    delegated UNIX-20 "tmux, whose server runs outside" function tmux_try 10.1.2.3 80
    class=sealed
    want="refused"
    layer=unix
    [ ! -e "$bpffs/sealed/connect_unix" ] ||
        blocked UNIX-21 "the same, with unix = none" function tmux_try 10.1.2.3 80
    want="(setup-)?EPERM"
    layer=
    class=restricted
    who=root
    topic_is_selected && "${tmux[@]}" kill-server 2>/dev/null
else
    unavailable UNIX-20 "tmux, whose server runs outside" "not installed"
fi
if [ -d /run/systemd/system ] && command -v systemd-run >/dev/null; then
    unavailable UNIX-22 "systemd-run" "a unit would run outside of the lab: see UNIX-16"
else
    unavailable UNIX-22 "systemd-run" "systemd does not run here: see UNIX-16"
fi
unavailable UNIX-23 "at and cron" "a job would run outside of the lab: they are root's files"
