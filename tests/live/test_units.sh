#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The systemd units as they are installed, under a systemd of their own: PID 1 of a container whose
# root is an overlay of this one. The service works under the unit's restrictions, and sessions live
# through whatever becomes of it.

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
need_tools systemctl setpriv make scdoc
if [ ! -x /lib/systemd/systemd ]; then
    skip "$(basename "$0")" "no systemd"
    finish
fi
lab_enter "$@"

mkdir "$dir/units"
mount -t tmpfs tmpfs "$dir/units"
mkdir "$dir/units/report" "$dir/units/install"
what="make install"
if ! output=$(make -s -C "$root_dir" install DESTDIR="$dir/units/install" PREFIX=/usr 2>&1 >/dev/null); then
    fail "$what" "$output"
    lab_finish
fi
pass "$what"
install -m 0755 "$build/cgnetd" "$dir/units/install/usr/sbin/"
install -m 0755 "$build/cgnet-run" "$dir/units/install/usr/bin/"
timeout 120 unshare --mount --pid --fork --kill-child --uts --ipc --cgroup -- \
    "$live_dir/units.sh" container "$dir/units" >"$dir/container" 2>&1
while read -r word what; do
    case $word in
    ok) pass "$what" ;;
    bad) fail "${what%%: *}" "${what#*: }" ;;
    end) pass "all was tried" && ended=1 ;;
    esac
done <"$dir/units/report/out"
if [ -z "${ended:-}" ]; then
    fail "all was tried" "$(tail -n 3 "$dir/container" "$dir/units/report/out" "$dir/units/report/service" 2>&1)"
fi
umount "$dir/units"

lab_finish
