# shellcheck shell=bash
# The pace of a long script: how long it will take on this machine, where it is, and a build's progress. Sourced, never run.
set -euo pipefail

# shellcheck source=deploy/lib/say.sh
source "$(dirname "${BASH_SOURCE[0]}")/say.sh"

# Runs of deploy/test.sh without arguments, from a clean clone: processors, GiB of memory, minutes. Add a row for a machine that
# differs in its processors.
gate_runs="
2 23 26
"

processors() { getconf _NPROCESSORS_ONLN; }

# memory_gib: prints the machine's memory in GiB, rounded down; nothing where it is unknown.
memory_gib() {
    if [[ -r /proc/meminfo ]]; then
        awk '/^MemTotal:/ { printf "%d", $2 / 1048576 }' /proc/meminfo
    else
        sysctl -n hw.memsize 2>/dev/null | awk '{ printf "%d", $1 / 1073741824 }'
    fi
}

# gate_minutes PROCESSORS GIB: prints how long the gate takes on such a machine, and where that is known from. On other processors
# than the nearest row's, a fifth of the time stays as it is (deadlines, disks, the last step of a build) and the rest scales.
gate_minutes() {
    awk -v cores="$1" -v memory="${2:-0}" '
        NF == 3 {
            distance = $1 > cores ? $1 - cores : cores - $1
            if (!found || distance < least) { found = 1; least = distance; c = $1; m = $2; minutes = $3 }
        }
        END {
            if (c == cores) printf "about %d minutes from a clean clone", minutes
            else printf "%d minutes or so from a clean clone, reckoned from %d minutes with %d processors", minutes * (0.2 + 0.8 * c / cores) + 0.5, minutes, c
            if (memory + 0 > 0 && memory < m / 2) printf "; it was measured with %d GiB, and swapping takes longer", m
        }' <<<"$gate_runs"
}

# stage TEXT…: a progress line with the time since the script began.
stage() {
    say "$(printf '%d:%02d' $((SECONDS / 60)) $((SECONDS % 60))) $*"
}

# build_progress: passes a build's output on, but of SwiftPM's lines [n/m] at most one in PROGRESS_SECONDS.
build_progress() {
    local line next=0 pattern='^\[([0-9]+)/([0-9]+)\]'
    while IFS= read -r line || [[ -n $line ]]; do
        if [[ ! $line =~ $pattern ]]; then
            printf '%s\n' "$line"
        elif ((SECONDS >= next)); then
            stage "building: step ${BASH_REMATCH[1]} of ${BASH_REMATCH[2]}"
            next=$((SECONDS + ${PROGRESS_SECONDS:-30}))
        fi
    done
}
