# shellcheck shell=bash
# What the scripts of Tests/Benchmarks begin with. Sourced first, with a script's arguments; never run. Answers --help, and ends the script whole when
# it is interrupted: what it has in `tidy_up` is done then too, once it says `trap tidy_up EXIT`.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=deploy/lib/postgres.sh
source "$top/deploy/lib/postgres.sh"

if [[ ${1:-} == --help || ${1:-} == -h ]]; then
    usage "${BASH_SOURCE[1]}"
    exit 0
fi
trap 'exit 130' INT
trap 'exit 143' TERM

# find_release: sets `tide` and `tidemark` to release binaries: those that TIDE or TIDEMARK names, each beside the
# other, else they are built.
find_release() {
    tide=${TIDE:-}
    tidemark=${TIDEMARK:-}
    if [[ -n $tide$tidemark ]]; then
        tide=${tide:-$(dirname "$tidemark")/tide}
        tidemark=${tidemark:-$(dirname "$tide")/tidemark}
        return 0
    fi
    say "building the release binaries"
    swift build --package-path "$top" -c release --product tidemark
    swift build --package-path "$top" -c release --product tide
    tide=$(swift build --package-path "$top" -c release --show-bin-path)/tide
    tidemark=$(dirname "$tide")/tidemark
}
