#!/usr/bin/env bash
# Checks everything: format, build, the code that only Apple's platforms compile, and every test against both stores.
#
#   deploy/test.sh [arguments of `swift test`, such as --filter Merge]
#   deploy/test.sh --help
#
# Installs what is missing (Debian, Ubuntu) or names it (macOS, others), starts a private PostgreSQL in a temporary folder, and stops it at the end.
#   ROUNDS          seeded rounds of the simulator, about a second of one core each (default 100)
#   BUILD_OPTIONS   more options of `swift build`; the next build without them starts from the beginning
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=deploy/lib/postgres.sh
source "$top/deploy/lib/postgres.sh"
# shellcheck source=deploy/lib/apple.sh
source "$top/deploy/lib/apple.sh"
# shellcheck source=deploy/lib/floor.sh
source "$top/deploy/lib/floor.sh"
# shellcheck source=deploy/lib/app-packages.sh
source "$top/deploy/lib/app-packages.sh"

if [[ ${1:-} == --help || ${1:-} == -h ]]; then
    usage "${BASH_SOURCE[0]}"
    exit 0
fi

test_log=""
tidy_up() {
    stop_postgres
    rm -f "$test_log"
}

lint() {
    say "checking the format"
    swift format lint --strict -r -p Package.swift Shared Server ClientSDK Tests
    if command -v shellcheck >/dev/null; then
        say "checking the scripts"
        shellcheck -x .ci/run deploy/*.sh deploy/lib/*.sh deploy/package/p* Tests/Benchmarks/*.sh
    else
        say "skipping the scripts: shellcheck is not installed"
    fi
    command -v systemd-analyze >/dev/null || { say "skipping the package's unit: there is no systemd here" && return 0; }
    # Needs a systemd that can measure a file. The threshold is the allowed exposure, times ten.
    if systemd-analyze security --offline=true --threshold=15 --no-pager deploy/package/tidemark.service >/dev/null 2>&1; then
        say "the package's unit is confined"
    elif systemd-analyze security --help 2>/dev/null | grep -q -- --offline; then
        refuse "the package's unit is exposed too much: systemd-analyze security --offline=true deploy/package/tidemark.service"
    else
        say "skipping the package's unit: the systemd here cannot measure it"
    fi
}

# The build's exit code is used: its last line does not show that a target imports what it must not.
build() {
    say "building everything, the debug 'tidemark' that the end-to-end tests start included"
    # shellcheck disable=SC2086 # words
    swift build --build-tests --explicit-target-dependency-import-check error ${BUILD_OPTIONS:-}
}

# Compiles the code of other systems, two compilers at a time.
check_other_systems() {
    local floor log
    log=$(mktemp)
    check_floor >"$log" 2>&1 &
    floor=$!
    check_without_postgres
    check_app_packages
    check_apple_branches
    wait "$floor" || { cat "$log" && rm -f "$log" && refuse "what apps link needs a newer system than Package.swift says"; }
    cat "$log"
    rm -f "$log"
}

# Keeps the output, because a run that matched no test succeeds and proves nothing, and because failures among a
# thousand tests must be printed at the end, where people and machines look.
run_tests() {
    if ! swift test --skip-build --disable-xctest "$@" 2>&1 | tee "$test_log"; then
        say "what failed:"
        grep -aE '^(✘|↳)|[Ff]atal error|error:' "$test_log" | tail -n 200 || tail -n 50 "$test_log"
        refuse "tests failed"
    fi
    grep -aEq 'Test run with [1-9][0-9]* test' "$test_log" || refuse "no test ran; does the filter match one?"
}

# One after the other: the tests of one run begin at once, and those that wait for real sockets and files with a deadline
# would wait for the cores instead.
run_all_tests() {
    local client='^(ChatTests|GuideTests|NIOTransportTests|RepairShopTests|TestKitTests)\.'
    say "testing the SDK"
    run_tests --filter '^SDKTests\.'
    say "testing the client's other suites"
    run_tests --filter "$client"
    say "testing all suites but the next two"
    run_tests --skip '^SDKTests\.' --skip "$client" --skip '^SimulationTests\.' --skip '^EndToEndTests\.'
    say "testing end to end, with real processes"
    # A bounded number at a time: a server waits 5 s for a client's first message, and the tests' own clients would be later.
    SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=8 run_tests --filter '^EndToEndTests\.'
    say "the client's times and sizes, within ten times what an optimised build keeps"
    swift run --skip-build tide bench local --messages 20000 --conversations 300 --rounds 20 --strict --slack 10
    say "simulating (ROUNDS=$ROUNDS)"
    run_tests --filter '^SimulationTests\.'
}

cd "$top"
export ROUNDS="${ROUNDS:-100}"
trap tidy_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

require_swift
ensure_build_packages
lint
build
check_other_systems
start_postgres tidemark_test
TIDEMARK_TEST_POSTGRES=$(postgres_connection tidemark_test)
export TIDEMARK_TEST_POSTGRES
test_log=$(mktemp)
if [[ $# -gt 0 ]]; then run_tests "$@"; else run_all_tests; fi
say "all checks passed"
