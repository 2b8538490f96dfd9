# shellcheck shell=bash
# Checks, on Linux, that what apps link needs no newer system than Package.swift says: the compiler reads the code as for an
# iPhone and a Mac of that version. The modules are the ones for Linux, whose declarations carry Apple's versions as well.
# Sourced after apple.sh, never run. deploy/FLOOR.md says what this finds and what it cannot.
set -euo pipefail

# Folders and module of each target that an app can link, what others import first. Tests/Tidy compares the list with Package.swift.
floor_targets=(
    "Shared/Lock TidemarkLock"
    "Shared/Model TidemarkModel"
    "Shared/Wire TidemarkWire"
    "Shared/SQLite TidemarkSQLite"
    "ClientSDK/Extension TidemarkExtension"
    "ClientSDK/SDK Tidemark"
    "ClientSDK/NIOTransport TidemarkNIOTransport"
    "ClientSDK/ChatSchema TidemarkChatSchema"
    "ClientSDK/Chat TidemarkChat"
    "ClientSDK/RepairShop TidemarkRepairShop"
    "Server/Store TidemarkStore"
    "Server/Sequencer TidemarkSequencer"
    "Server/Hub TidemarkHub"
    "ClientSDK/TestKit TidemarkTestKit"
    "ClientSDK/Examples/Apple/Shared ClientSDK/Examples/Apple/Messenger Messenger"
    "ClientSDK/Examples/Apple/Shared ClientSDK/Examples/Apple/TaskBoard TaskBoard"
    "ClientSDK/Examples/Apple/Guides Guides"
)

# check_floor: needs what `swift build` has built.
check_floor() {
    local version
    version=$(floor_version iOS) && check_floor_of "arm64-apple-ios$version.0" arm64-apple-ios iphoneos
    version=$(floor_version macOS) && check_floor_of "arm64-apple-macosx$version.0" arm64-apple-macos macosx
}

# floor_version PLATFORM: the oldest version of it that Package.swift supports.
floor_version() { sed -nE "s/.*\.$1\(\.v([0-9]+)\).*/\1/p" Package.swift | head -n 1; }
