#!/usr/bin/env bash
# Checks everything: format, build, the code that only Apple's platforms compile, and every test against both stores.
#
#   deploy/test.sh                everything: what must be green before a change is merged
#   deploy/test.sh --filter X     the tests that match, such as PageTests or SDKTests; under a minute for one suite once it is built
#   deploy/test.sh --help
#
# Its first lines say how long it takes on this machine. Installs what is missing (Debian, Ubuntu) or names it (macOS, others), starts a
# private PostgreSQL in a temporary folder, and stops it at the end. With arguments, which are those of `swift test`, it builds and tests,
# and nothing else; PostgreSQL is started if a test that matches is in a module that names TIDEMARK_TEST_POSTGRES.
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
# shellcheck source=deploy/lib/pace.sh
source "$top/deploy/lib/pace.sh"

if [[ ${1:-} == --help || ${1:-} == -h ]]; then
    usage "${BASH_SOURCE[0]}"
    exit 0
fi

test_log=""
compilers=""
compilers_folder=""
tidy_up() {
    if [[ -n $compilers ]]; then
        kill -TERM -- "-$compilers" 2>/dev/null || true
        pause_other_systems CONT
    fi
    if [[ -n $compilers_folder ]]; then rm -rf "$compilers_folder"; fi
    stop_postgres
    rm -f "$test_log"
}

lint() {
    stage "checking the format"
    swift format lint --strict -r -p Package.swift Shared Server ClientSDK Tests
    if command -v shellcheck >/dev/null; then
        stage "checking the scripts"
        shellcheck -x .ci/run deploy/*.sh deploy/lib/*.sh deploy/package/p* Tests/Benchmarks/*.sh Tests/Console/*.sh
    else
        say "skipping the scripts: shellcheck is not installed"
    fi
    Tests/Benchmarks/chart.sh --check
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
    stage "building everything, the debug 'tidemark' that the end-to-end tests start included"
    # shellcheck disable=SC2086 # words
    swift build --build-tests --explicit-target-dependency-import-check error ${BUILD_OPTIONS:-} 2>&1 | build_progress
}

# Compiles the code of other systems, two compilers at a time.
check_other_systems() {
    local floor log
    find_built
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

# Starts that beside the tests, which leave a part of the cores idle: a test waits for a socket or for a disk. The compilers give way to
# them. They have a process group of their own, by which they are ended when a test fails.
begin_other_systems() {
    stage "compiling what other systems compile, beside the tests"
    compilers_folder=$(mktemp -d)
    set -m
    TMPDIR=$compilers_folder check_other_systems >"$compilers_folder/log" 2>&1 </dev/null &
    compilers=$!
    set +m
    # No more than 5: on a machine that others use as well, the compilers would wait for ever.
    renice -n 5 -g "$compilers" >/dev/null 2>&1 || say "the compilers cannot be made to give way: tests may take longer"
}

# pause_other_systems STOP|CONT: holds the compilers, or lets them go on. They may have ended.
pause_other_systems() { if [[ -n $compilers ]]; then kill -"$1" -- "-$compilers" 2>/dev/null || true; fi; }

await_other_systems() {
    local status=0
    stage "waiting for what other systems compile"
    wait "$compilers" || status=$?
    compilers=""
    cat "$compilers_folder/log"
    [[ $status -eq 0 ]] || refuse "other systems would not compile this: see above"
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
    stage "testing the SDK"
    run_tests --filter '^SDKTests\.'
    stage "testing the client's other suites"
    run_tests --filter "$client"
    stage "testing all suites but the next two"
    # Servers of these tests give a client seconds, which it would not get beside compilers.
    pause_other_systems STOP
    run_tests --skip '^SDKTests\.' --skip "$client" --skip '^SimulationTests\.' --skip '^EndToEndTests\.'
    pause_other_systems CONT
    stage "testing end to end, with real processes"
    # A bounded number at a time: a server waits 5 s for a client's first message, and the tests' own clients would be later.
    SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=8 run_tests --filter '^EndToEndTests\.'
    stage "simulating (ROUNDS=$ROUNDS)"
    run_tests --filter '^SimulationTests\.'
}

# Measured when nothing else runs.
measure_client() {
    stage "the client's times and sizes, within ten times what an optimised build keeps"
    swift run --skip-build tide bench local --messages 20000 --conversations 300 --rounds 20 --strict --slack 10
}

provide_postgres() {
    start_postgres tidemark_test
    TIDEMARK_TEST_POSTGRES=$(postgres_connection tidemark_test)
    export TIDEMARK_TEST_POSTGRES
}

# folder_of MODULE: prints the folder of a module of tests.
folder_of() { if [[ -d Tests/$1 ]]; then printf 'Tests/%s' "$1"; else printf 'Tests/%s' "${1%Tests}"; fi; }

# postgres_user ARGUMENT…: prints the module for which PostgreSQL is started; nothing if no test that the filters select is in a module
# whose files name TIDEMARK_TEST_POSTGRES. Other arguments than filters may select anything.
postgres_user() {
    local tests modules module filters=()
    while [[ $# -gt 0 ]]; do
        case $1 in
        --filter) filters+=(-e "${2:?--filter needs a value}") && shift ;;
        --filter=*) filters+=(-e "${1#--filter=}") ;;
        *) echo "'$1'" && return 0 ;;
        esac
        shift
    done
    tests=$(swift test list --skip-build --disable-xctest)
    # A filter that this grep does not know matches nothing here; `swift test` then says what it matches.
    modules=$(grep -E "${filters[@]}" <<<"$tests" | cut -d . -f 1 | sort -u) || { echo "an unknown filter" && return 0; }
    for module in $modules; do
        if grep -rqF TIDEMARK_TEST_POSTGRES "$(folder_of "$module")"; then
            echo "$module"
            return 0
        fi
    done
}

# Says first what follows, and how long it takes.
announce() {
    if [[ $# -gt 0 ]]; then
        say "building, and the tests that match; what is built already is not built again"
        return 0
    fi
    say "format and scripts, the build, every test on both stores, the simulator, and beside them what other systems compile:"
    say "$(gate_minutes "$(processors)" "$(memory_gib)"), most of it the build ($(processors) processors, $(memory_gib) GiB of memory)"
}

check_everything() {
    local fetching
    # Packages are fetched while the format is checked. A failure is repeated by the build, which says why.
    swift package resolve >/dev/null 2>&1 &
    fetching=$!
    lint
    wait "$fetching" || true
    build
    provide_postgres
    begin_other_systems
    run_all_tests
    await_other_systems
    measure_client
}

check_some() {
    local user
    build
    user=$(postgres_user "$@")
    if [[ -n $user ]]; then
        say "PostgreSQL is for $user"
        provide_postgres
    else
        say "no PostgreSQL: no module of these tests names one"
    fi
    run_tests "$@"
}

cd "$top"
export ROUNDS="${ROUNDS:-100}"
trap tidy_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

announce "$@"
require_swift
ensure_build_packages
test_log=$(mktemp)
if [[ $# -gt 0 ]]; then check_some "$@"; else check_everything; fi
stage "all checks passed"
