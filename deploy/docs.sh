#!/usr/bin/env bash
# Renders the SDK's guides and reference with DocC, for a browser; fails on a warning.
#
#   deploy/docs.sh [FOLDER]      (default .build/guides)
#   deploy/docs.sh --help
#
# To read them, run a web server on the folder, such as `python3 -m http.server --directory FOLDER`, and open /documentation/tidemark.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=deploy/lib/packages.sh
source "$top/deploy/lib/packages.sh"
# shellcheck source=deploy/lib/apple.sh
source "$top/deploy/lib/apple.sh"

if [[ ${1:-} == --help || ${1:-} == -h ]]; then
    usage "${BASH_SOURCE[0]}"
    exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

out=${1:-$top/.build/guides}
[[ $out == /* ]] || out=$PWD/$out
cd "$top"
require_swift
command -v docc >/dev/null || refuse "this toolchain has no docc"
swift build --target Tidemark
modules=$(swift build --show-bin-path)/Modules
make_apple_stubs "$work"
compile_for_apple "$work" "$modules" Tidemark ClientSDK/SDK
render_guides "$work" "$modules" "$out"
say "the guides are in $out"
