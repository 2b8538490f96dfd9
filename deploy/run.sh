#!/usr/bin/env bash
# Builds Tidemark and shows it at work: a server and two devices in one command.
#
#   deploy/run.sh [arguments of `tidemark demo`]
#   deploy/run.sh --database postgres://user@host/name
#   deploy/run.sh --help
#
# Installs the C libraries that are missing (Debian, Ubuntu), checks the Swift toolchain, builds the release
# binary and runs the demo. Nothing outside this folder is changed but those packages.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=deploy/lib/packages.sh
source "$top/deploy/lib/packages.sh"

if [[ ${1:-} == --help || ${1:-} == -h ]]; then
    usage "${BASH_SOURCE[0]}"
    exit 0
fi

cd "$top"
ensure_build_packages
require_swift

say "building the release binary (the first time takes some minutes)"
swift build -c release --product tidemark
binary=$(swift build -c release --show-bin-path)/tidemark

say "running the demo"
"$binary" demo "$@"

say "to serve on this machine, with tokens for development: $binary serve --dev"
say "to serve for real: deploy/README.md"
