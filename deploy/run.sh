#!/usr/bin/env bash
# Builds Tidemark and shows it at work: a server and two devices in one command.
#
#   deploy/run.sh [arguments of `tide demo`]
#   deploy/run.sh --database postgres://user@host/name
#   deploy/run.sh --help
#
# Installs the C libraries that are missing (Debian, Ubuntu) or names them (macOS, others), checks the Swift toolchain, builds
# the release binaries and runs the demo. Nothing outside this folder is changed but those packages.
#   TRAITS   traits of the package instead of all; TRAITS=Server builds without PostgreSQL, and needs no libpq
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=deploy/lib/packages.sh
source "$top/deploy/lib/packages.sh"

if [[ ${1:-} == --help || ${1:-} == -h ]]; then
    usage "${BASH_SOURCE[0]}"
    exit 0
fi

cd "$top"
require_swift
ensure_build_packages
options=(-c release)
[[ -z ${TRAITS-} ]] || options+=(--traits "$TRAITS")

say "building the release binaries (the first time takes some minutes)"
swift build "${options[@]}" --product tidemark
swift build "${options[@]}" --product tide
built=$(swift build "${options[@]}" --show-bin-path)

say "running the demo"
"$built/tide" demo "$@"

say "to serve on this machine, with tokens for development: $built/tidemark serve --dev"
say "to serve for real: deploy/README.md"
