# shellcheck shell=bash disable=SC2154 # shared with the other files of the matrix
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The matrix as Markdown and TAP. rows holds eight fields a row: result, id, class, attack, attempt,
# control, observed, what is wrong.

row_fields=8

cell() {
    REPLY=${1//|/\\|}
    REPLY=${REPLY//</&lt;}
}

# What a reader elsewhere sees: no paths and numbers of this run.
plain() {
    sed -E -e "s#$bpffs#BPFFS#g; s#$cgroup#CGROUP#g; s#$cgroup_mount#CGROUP2#g; s#$bin/##g" \
        -e "s#$dir#DIR#g; s#$build/##g; s#$CGNET_LAB#LAB#g; s#/proc/[0-9]{2,}#/proc/PID#g" \
        -e "s/\\b($deputy_pid_root|$deputy_pid_user)\\b/PID/g; s/[[:cntrl:]]/ /g" \
        -e "s/\\b($deputy_buffer_root|$deputy_buffer_user)\\b/BUFFER/g"
}

# count_rows CLASS RESULT
count_rows() {
    local i n=0

    for ((i = 0; i < ${#rows[@]}; i += row_fields)); do
        if [ "${rows[i + 2]}" = "$1" ] && [ "${rows[i]}" = "$2" ]; then
            n=$((n + 1))
        fi
    done
    echo "$n"
}

# Of the classes that have them all between them.
layers_in_force() {
    local i hook text=

    for i in "${layer_names[@]}"; do
        case $i in
        connect | sendmsg) hook=${i}4 ;;
        unix) hook=connect_unix ;;
        *) hook=$i ;;
        esac
        for class in inbound sealed; do
            [ ! -e "$bpffs/$class/$hook" ] || { text+="${text:+, }$i"; break; }
        done
    done
    echo "$text"
}

confinement() {
    cgnetd doctor --json 2>/dev/null |
        grep -o '"name":"confinement","state":"[^"]*","detail":"[^"]*"' | sed 's/.*"detail":"//; s/"$//'
}

write_markdown() {
    local i class field

    echo "Kernel: Linux $(uname -r | cut -d- -f1), $(uname -m)"
    echo
    echo "Layers in force: $layers. Confinement: $(confinement)."
    echo
    echo "| class | rows | as expected | failed |"
    echo "| --- | --- | --- | --- |"
    for class in BLOCKED ALLOWED DELEGATED; do
        i=$(count_rows "$class" ok)
        field=$(count_rows "$class" FAIL)
        echo "| $class | $((i + field)) | $i | $field |"
    done
    i=$(count_rows SKIPPED skip)
    field=$(count_rows SKIPPED FAIL)
    echo "| SKIPPED | $((i + field)) | | $field |"
    echo
    echo "| id | class | attack | attempt (class/user: ...) | control | observed |"
    echo "| --- | --- | --- | --- | --- | --- |"
    for ((i = 0; i < ${#rows[@]}; i += row_fields)); do
        printf '|'
        for field in "${rows[@]:i + 1:5}" "${rows[i + 6]}${rows[i + 7]:+ **FAILED: ${rows[i + 7]}**}"; do
            cell "$field"
            printf ' %s |' "$REPLY"
        done
        echo
    done
}

write_tap() {
    local i n=0 word

    echo "TAP version 13"
    echo "1..$((${#rows[@]} / row_fields))"
    for ((i = 0; i < ${#rows[@]}; i += row_fields)); do
        n=$((n + 1))
        word=ok
        [ "${rows[i]}" != FAIL ] || word="not ok"
        printf '%s %d - %s %s: %s' "$word" "$n" "${rows[i + 1]}" "${rows[i + 2]}" "${rows[i + 3]//#/}"
        [ "${rows[i]}" != skip ] || printf ' # SKIP %s' "${rows[i + 6]}"
        echo
        [ "${rows[i]}" != FAIL ] || echo "# ${rows[i + 6]}: ${rows[i + 7]}"
    done
}

# matrix_finish [TOPIC]...: the last row, the reports if all rows ran, and the closing line.
matrix_finish() {
    local left layers observed

    layers=$(layers_in_force)
    stop_sessions
    left=$(clean_up)
    observed=${left:-nothing is left}
    if is_selected END-01; then
        row END-01 ALLOWED "unload takes everything down, whatever the sessions did" \
            "outside: cgnetd unload" "the rows above" "${observed:0:300}" "${left:+something is left}"
    fi
    if [ $# -eq 0 ]; then
        write_markdown | plain >"$build/matrix.md"
        write_tap | plain >"$build/matrix.tap"
    fi
    finish
}
