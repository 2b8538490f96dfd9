# shellcheck shell=bash
# Progress lines and refusals, in one form for every script here. Sourced, never run.
set -euo pipefail

# say TEXT…: one progress line.
say() {
    printf '==> %s\n' "$*"
}

# refuse TEXT…: says what is wrong and what to do, then ends the script.
refuse() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# usage FILE: prints the comment block at the top of a script, which is its help text.
usage() {
    awk 'NR > 1 && !/^#/ { exit } NR > 1 { sub(/^# ?/, ""); print }' "$1"
}
