# shellcheck shell=bash
# What must be on the machine before Tidemark builds: C libraries and a Swift toolchain. Sourced, never run.
set -euo pipefail

# shellcheck source=deploy/lib/say.sh
source "$(dirname "${BASH_SOURCE[0]}")/say.sh"

SWIFT_MAJOR_MIN=6
SWIFT_MINOR_MIN=2
BUILD_PACKAGES=(libpq-dev libsqlite3-dev)

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

# ensure_packages NAME…: installs the Debian packages that are missing, and asks the network only then.
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

# ensure_build_packages: the C libraries that the server and the SDK link.
ensure_build_packages() {
    if command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
        ensure_packages "${BUILD_PACKAGES[@]}"
        return 0
    fi
    local libraries=(libpq sqlite3)
    if command -v pkg-config >/dev/null && pkg-config --exists "${libraries[@]}"; then
        return 0
    fi
    case "$(uname -s)" in
    Darwin)
        refuse "libpq is not found. Install it with 'brew install pkgconf libpq sqlite', then" \
            "export PKG_CONFIG_PATH=\"\$(brew --prefix libpq)/lib/pkgconfig:\$(brew --prefix sqlite)/lib/pkgconfig\""
        ;;
    *)
        refuse "this system has no apt. Install the development files of libpq and of SQLite 3" \
            "(Fedora: 'dnf install libpq-devel sqlite-devel'; Arch: 'pacman -S postgresql-libs sqlite')" \
            "and pkg-config, then run this again"
        ;;
    esac
}

# require_swift: ends the script unless a new enough Swift is on PATH.
require_swift() {
    local wanted="$SWIFT_MAJOR_MIN.$SWIFT_MINOR_MIN" version
    command -v swift >/dev/null \
        || refuse "swift is not on PATH; install Swift $wanted or newer from https://www.swift.org/install"
    version=$(swift --version 2>/dev/null | sed -nE 's/.*Swift version ([0-9]+\.[0-9]+).*/\1/p' | head -n 1)
    [[ -n $version ]] || refuse "'swift --version' names no version; is the toolchain complete?"
    if ((${version%%.*} < SWIFT_MAJOR_MIN)) \
        || ((${version%%.*} == SWIFT_MAJOR_MIN && ${version##*.} < SWIFT_MINOR_MIN)); then
        refuse "Swift $version is too old: Tidemark needs $wanted or newer (https://www.swift.org/install)"
    fi
    say "Swift $version"
}
