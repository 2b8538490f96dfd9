#!/usr/bin/env bash
# Tests the console in a headless Chromium: what it shows, asks for and keeps out, on every page, in both themes, at two widths.
#
#   Tests/Console/console.sh [FOLDER for the screenshots]
#
# Not part of continuous integration, since a browser is 300 MB: run it when the page changes. Installs Chromium and Python's
# websocket client if they are missing (Debian), uses the system's Python, and needs a built `tidemark`.
#   TIDEMARK   the program (default: .build/debug/tidemark)
#   DATABASE   an empty database of PostgreSQL, postgres://user@host/name (default: a SQLite file)
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=${1:-$(mktemp -d)}
program=${TIDEMARK:-$top/.build/debug/tidemark}
[[ -x $program ]] || { echo "there is no $program: build it first" >&2; exit 1; }
if ! command -v chromium >/dev/null || ! /usr/bin/python3 -c 'import websocket' 2>/dev/null; then
    apt-get install -y --no-install-recommends chromium python3-websocket fonts-dejavu-core
fi
mkdir -p "$folder"
exec /usr/bin/python3 "$top/Tests/Console/console.py" "$program" "$folder" "${DATABASE:-}"
