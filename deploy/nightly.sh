#!/usr/bin/env bash
# Runs the checks that take too long for each change, one after the other, and keeps their output.
#
#   deploy/nightly.sh [STEP…]        default: all of them
#   deploy/nightly.sh --help
#
#   coverage    lines of the client's repositories that its tests run (deploy/coverage.sh)
#   limits      the client's measurements in an optimised build, against the required limits (tide bench local --strict)
#   scopes      a device with 2,000 scopes and one with 10,000, over a real socket (tide bench scopes --strict)
#   simulate    the simulator, over ROUNDS seeds (default 2,000)
#   flights     faults that a killed device has recorded, replayed by another process, FLIGHTS seeds of each kind (default: 8)
#   drills      a standby that lacks the last commits is promoted under writers and devices, DRILLS times (default: 20), the server going on
#               and killed (Tests/Benchmarks/failover.sh)
#   floor       the server's targets, as for the oldest macOS that they support (deploy/floor.sh --server)
#   link        what an app that links the SDK resolves and builds (Tests/Benchmarks/link.sh)
#   release     tarball, image and Debian package, tested by running them (deploy/release.sh, deploy/release-check.sh)
#   container   the image's root without a container engine (deploy/container-check.sh)
#
# A step that fails does not stop the later ones. In the folder OUT (default: nightly) is a log of each, and RESULTS.md. The last
# two need root and Debian 12.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=deploy/lib/postgres.sh
source "$top/deploy/lib/postgres.sh"

STEPS=(coverage limits scopes simulate flights drills floor link release container)
out=${OUT:-$top/nightly}

tide() {
    swift build -c release --product tidemark
    swift build -c release --product tide
    "$(swift build -c release --show-bin-path)/tide" "$@"
}

# The debug build, as deploy/test.sh makes it.
build_tests() { swift build --build-tests --explicit-target-dependency-import-check error; }

step() {
    case $1 in
    coverage) deploy/coverage.sh ;;
    limits) tide bench local --strict ;;
    scopes)
        tide bench scopes --scopes 2000 --strict
        tide bench scopes --scopes 10000 --strict
        ;;
    simulate) ROUNDS=${ROUNDS:-2000} deploy/test.sh --filter '^SimulationTests\.' ;;
    flights) FLIGHTS=${FLIGHTS:-8} deploy/test.sh --filter '^EndToEndTests\.FlightProcessTests' ;;
    drills)
        ensure_postgres
        build_tests
        Tests/Benchmarks/failover.sh "${DRILLS:-20}"
        ;;
    floor)
        build_tests
        deploy/floor.sh --server
        ;;
    link) Tests/Benchmarks/link.sh ;;
    release) deploy/release.sh --out "$out/dist" ;;
    container) deploy/container-check.sh ;;
    *) refuse "there is no step $1; see --help" ;;
    esac
}

if [[ ${1:-} == --help || ${1:-} == -h ]]; then
    usage "${BASH_SOURCE[0]}"
    exit 0
fi
# Runs one step in a process of its own, which ends at the first failed line.
if [[ ${1:-} == --step ]]; then
    cd "$top"
    step "${2:?--step needs a name}"
    exit 0
fi

steps=("$@")
[[ $# -gt 0 ]] || steps=("${STEPS[@]}")
for name in "${steps[@]}"; do
    [[ " ${STEPS[*]} " == *" $name "* ]] || refuse "there is no step $name; see --help"
done
ensure_build_packages
require_swift
mkdir -p "$out"
{
    printf '# The last nightly run\n\n%s, %s, %s processors, %s\n\n' "$(date -u +'%Y-%m-%d %H:%M UTC')" \
        "$(git -C "$top" rev-parse --short HEAD)" "$(getconf _NPROCESSORS_ONLN)" "$(uname -sm)"
    printf '| step | outcome | seconds |\n|---|---|---|\n'
} >"$out/RESULTS.md"
failed=()
for name in "${steps[@]}"; do
    say "$name"
    began=$SECONDS outcome=passed
    OUT=$out "${BASH_SOURCE[0]}" --step "$name" >"$out/$name.log" 2>&1 || outcome=FAILED
    printf '| %s | %s | %s |\n' "$name" "$outcome" "$((SECONDS - began))" >>"$out/RESULTS.md"
    [[ $outcome == passed ]] || failed+=("$name")
    tail -n 3 "$out/$name.log"
done
cat "$out/RESULTS.md"
[[ ${#failed[@]} -eq 0 ]] || refuse "failed: ${failed[*]}; see $out"
