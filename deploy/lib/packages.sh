# shellcheck shell=bash
# The requirements for building Tidemark: C libraries and a Swift toolchain. Sourced, never run.
set -euo pipefail

# shellcheck source=deploy/lib/say.sh
source "$(dirname "${BASH_SOURCE[0]}")/say.sh"

SWIFT_MAJOR_MIN=6
SWIFT_MINOR_MIN=2

as_root() {
    if [[ $(id -u) -eq 0 ]]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        refuse "installing packages needs root and there is no sudo; run as root: $*"
    fi
}

package_is_installed() {
    [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# ensure_packages NAME…: installs the missing Debian packages, and uses the network only then.
ensure_packages() {
    local missing=() name
    for name in "$@"; do
        package_is_installed "$name" || missing+=("$name")
    done
    if [[ ${#missing[@]} -eq 0 ]]; then
        return 0
    fi
    say "installing ${missing[*]}"
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

# builds_postgres: whether the package is built with PostgreSQL; if TRAITS does not contain it, no libpq is needed.
builds_postgres() { [[ ${TRAITS-PostgreSQL} == *PostgreSQL* ]]; }

# ensure_build_packages: installs the C libraries that the server and the SDK link.
ensure_build_packages() {
    local packages=(libsqlite3-dev) libraries=(sqlite3)
    if builds_postgres; then
        packages+=(libpq-dev)
        libraries+=(libpq)
    fi
    if [[ $(uname -s) == Darwin ]]; then
        require_mac_libraries
        return 0
    fi
    if command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
        ensure_packages "${packages[@]}"
        return 0
    fi
    if command -v pkg-config >/dev/null && pkg-config --exists "${libraries[@]}"; then
        return 0
    fi
    refuse "this system has no apt. Install the development files of ${libraries[*]}" \
        "(Fedora: 'dnf install libpq-devel sqlite-devel'; Arch: 'pacman -S postgresql-libs sqlite')" \
        "and pkg-config, then run this again"
}

# require_mac_libraries: on a Mac, where the scripts install nothing: names everything that is missing, and how to get it.
# SQLite is macOS's own.
require_mac_libraries() {
    local prefix folder
    builds_postgres || return 0
    command -v brew >/dev/null \
        || refuse "libpq comes by Homebrew, which is not here: install it from https://brew.sh, then 'brew install pkgconf libpq'." \
            "Or build without PostgreSQL: TRAITS=Server deploy/run.sh"
    prefix=$(brew --prefix)
    # Homebrew keeps libpq, and the libraries that it needs, out of the search path.
    for folder in "$prefix"/opt/libpq/lib/pkgconfig "$prefix"/opt/openssl@*/lib/pkgconfig; do
        if [[ -d $folder ]]; then PKG_CONFIG_PATH="$folder${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"; fi
    done
    export PKG_CONFIG_PATH="${PKG_CONFIG_PATH:-}"
    pkg-config --cflags libpq >/dev/null 2>&1 \
        || refuse "libpq is not found. Install it with 'brew install pkgconf libpq'." \
            "Or build without PostgreSQL: TRAITS=Server deploy/run.sh"
}

# require_swift: ends the script unless a new enough Swift is on PATH.
require_swift() {
    local wanted="$SWIFT_MAJOR_MIN.$SWIFT_MINOR_MIN" version from="https://www.swift.org/install"
    [[ $(uname -s) != Darwin ]] || from="the App Store with Xcode 26, then 'sudo xcode-select --switch /Applications/Xcode.app'"
    command -v swift >/dev/null || refuse "swift is not on PATH; install Swift $wanted or newer from $from"
    version=$(swift --version 2>/dev/null | sed -nE 's/.*Swift version ([0-9]+\.[0-9]+).*/\1/p' | head -n 1)
    [[ -n $version ]] || refuse "'swift --version' names no version; is the toolchain complete?"
    if ((${version%%.*} < SWIFT_MAJOR_MIN)) \
        || ((${version%%.*} == SWIFT_MAJOR_MIN && ${version##*.} < SWIFT_MINOR_MIN)); then
        refuse "Swift $version is too old: Tidemark needs $wanted or newer, from $from"
    fi
    say "Swift $version"
}
