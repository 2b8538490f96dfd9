# shellcheck shell=bash
# The common beginning of the scripts of Tests/Benchmarks. Sourced first, with a script's arguments; never run. Answers --help, and makes
# an interrupted script exit, so that its trap for EXIT runs.
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

# find_release PRODUCT…: sets `tide` and `tidemark` to release binaries: those that TIDE or TIDEMARK names (if only one
# is set, the other is beside it), else the named products are built.
find_release() {
    tide=${TIDE:-}
    tidemark=${TIDEMARK:-}
    if [[ -n $tide$tidemark ]]; then
        tide=${tide:-$(dirname "$tidemark")/tide}
        tidemark=${tidemark:-$(dirname "$tide")/tidemark}
        return 0
    fi
    local product folder
    for product in "$@"; do
        say "building $product, optimised"
        swift build --package-path "$top" -c release --product "$product"
    done
    folder=$(swift build --package-path "$top" -c release --show-bin-path)
    tide=$folder/tide
    tidemark=$folder/tidemark
}
