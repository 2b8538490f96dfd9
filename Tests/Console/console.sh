#!/usr/bin/env bash
# Tests the console in a headless Chromium: what it shows, asks for and keeps out, on every page, in both themes, at two widths.
#
#   Tests/Console/console.sh [FOLDER for the screenshots]
#   Tests/Console/console.sh --pictures      takes the README's pictures of the console and of 'tide chat' (deploy/pictures)
#   Tests/Console/console.sh --help
#
# Not part of continuous integration, since a browser is 300 MB: run it when the page changes. Installs Chromium and Python's
# websocket client if they are missing (Debian), uses the system's Python, and needs a built `tidemark`; for the pictures also a
# `tide` beside it.
#   TIDEMARK   the program (default: .build/debug/tidemark)
#   DATABASE   an empty database of PostgreSQL, postgres://user@host/name (default: a SQLite file)
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=deploy/lib/packages.sh
source "$top/deploy/lib/packages.sh"

if [[ ${1:-} == --help || ${1:-} == -h ]]; then
    usage "${BASH_SOURCE[0]}"
    exit 0
fi
program=${TIDEMARK:-$top/.build/debug/tidemark}
[[ -x $program ]] || refuse "there is no $program: build it first"
if ! command -v chromium >/dev/null || ! /usr/bin/python3 -c 'import websocket' 2>/dev/null; then
    as_root apt-get install -y --no-install-recommends chromium python3-websocket fonts-dejavu-core
fi
# Python would keep compiled files beside the sources.
export PYTHONDONTWRITEBYTECODE=1
if [[ ${1:-} == --pictures ]]; then
    exec /usr/bin/python3 "$top/Tests/Console/pictures.py" "$program" "$(dirname "$program")/tide" "$top/deploy/pictures"
fi
folder=${1:-$(mktemp -d)}
mkdir -p "$folder"
exec /usr/bin/python3 "$top/Tests/Console/console.py" "$program" "$folder" "${DATABASE:-}"
