#!/usr/bin/env bash
# Checks on Linux which of Apple's systems the sources need. Run it after `swift build` has built everything.
#
#   deploy/floor.sh            what apps link, for the oldest iOS and macOS that Package.swift supports; deploy/test.sh does it too
#   deploy/floor.sh --server   the server's targets, for macOS
#   deploy/floor.sh --list     the system's API in what apps link, with the version that brought it (deploy/floor.md)
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=deploy/lib/say.sh
source "$top/deploy/lib/say.sh"
# shellcheck source=deploy/lib/apple.sh
source "$top/deploy/lib/apple.sh"
# shellcheck source=deploy/lib/floor.sh
source "$top/deploy/lib/floor.sh"

cd "$top"
case ${1:-} in
    "") check_floor ;;
    --server) check_server_floor ;;
    --list) list_floor ;;
    *) usage "${BASH_SOURCE[0]}" ;;
esac
