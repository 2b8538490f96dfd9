# shellcheck shell=bash
# The release binary and the libraries that it needs. Sourced, never run.
set -euo pipefail

# shellcheck source=deploy/lib/packages.sh
source "$(dirname "${BASH_SOURCE[0]}")/packages.sh"

# shellcheck disable=SC2034  # for the script that sources this
IMAGE_USER=10001             # as in deploy/Dockerfile
ALLOCATOR=libjemalloc.so.2   # as in deploy/Dockerfile: loaded before the binary; why: deploy/allocator.md

# release_binary TOP [PATH]: prints the path of the binary, which it builds if none is given.
release_binary() {
    if [[ $# -gt 1 && -n $2 ]]; then
        realpath "$2"
        return
    fi
    cd "$1"
    swift build -c release --static-swift-stdlib --product tidemark >&2
    printf '%s/tidemark\n' "$(swift build -c release --static-swift-stdlib --show-bin-path)"
}

# libraries FILE…: prints the paths of everything that the loader opens for these programs, the loader included.
libraries() {
    local file
    for file in "$@"; do
        LD_PRELOAD=$ALLOCATOR ldd "$file" 2>/dev/null | awk '/=> \// { print $3 } $1 ~ /^\// { print $1 }'
    done | sort -u
}

# owner PATH: prints the Debian package of a file.
owner() {
    # /lib is a link to /usr/lib on some systems, and dpkg knows only one of the two names: a miss is no failure.
    dpkg-query --search "$1" "/usr$1" "$(realpath "$1")" 2>/dev/null | head -n 1 | cut -d: -f1 || true
}

# require_static BINARY: ends the script unless the binary contains Swift itself.
require_static() {
    if ldd "$1" | grep -q 'not found'; then
        refuse "a library is missing here: $(ldd "$1" | grep 'not found')"
    fi
    if ldd "$1" | grep -Eqi 'swift|Foundation|dispatch|BlocksRuntime'; then
        refuse "the binary needs Swift's libraries; build it with --static-swift-stdlib"
    fi
}
