#!/usr/bin/env bash
# Measures which lines of the client's repositories its tests run, and fails below the required share (S0.15: 90 %).
#
#   deploy/coverage.sh                 builds with counters in a folder of its own, runs the client's suites, and prints the result
#   deploy/coverage.sh --of FILE       prints it for an existing report of 'llvm-cov export'
#   deploy/coverage.sh --help
#
#   LEAST   per cent of the lines of each folder (default: 90)
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=deploy/lib/packages.sh
source "$top/deploy/lib/packages.sh"

FOLDERS=(ClientSDK/SDK/Repositories ClientSDK/Chat ClientSDK/RepairShop)
SUITES='^(SDKTests|ChatTests|RepairShopTests|TestKitTests|GuideTests)\.'
LEAST=${LEAST:-90}
report=""
case ${1:-} in
"") ;;
--of) report=${2:?--of needs a file} ;;
--help | -h) usage "${BASH_SOURCE[0]}" && exit 0 ;;
*) refuse "there is no option $1; see --help" ;;
esac
ensure_packages jq

cd "$top"
if [[ -z $report ]]; then
    ensure_build_packages
    require_swift
    # Counters are in every object: the usual build stays as it is.
    run=(swift test --enable-code-coverage --scratch-path .build/coverage --disable-xctest)
    say "building with counters, and running the client's suites"
    "${run[@]}" --filter "$SUITES" >&2
    report=$("${run[@]}" --show-codecov-path)
fi
[[ -s $report ]] || refuse "there is no report $report"

# per_cent FOLDER: prints the covered share of its files' lines, with one decimal.
per_cent() {
    jq --raw-output --arg folder "/$1/" '
        [.data[].files[] | select(.filename | contains($folder)) | .summary.lines]
        | if length == 0 then error("no file of \($folder) is in the report")
          else 1000 * (map(.covered) | add) / (map(.count) | add) | floor / 10 end' "$report"
}

missed=()
for folder in "${FOLDERS[@]}"; do
    share=$(per_cent "$folder")
    printf '%-30s %s %% of the lines\n' "$folder" "$share"
    awk -v share="$share" -v least="$LEAST" 'BEGIN { exit !(share < least) }' && missed+=("$folder")
done
[[ ${#missed[@]} -eq 0 ]] || refuse "less than $LEAST %: ${missed[*]}"
