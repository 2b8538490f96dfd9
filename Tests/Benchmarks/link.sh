#!/usr/bin/env bash
# Shows what linking the SDK costs an app: resolved packages, steps and time of a clean build, size.
#
#   Tests/Benchmarks/link.sh                    every variant: debug build, release build, stripped size
#   Tests/Benchmarks/link.sh --resolve          only the resolved packages
#   Tests/Benchmarks/link.sh --variant NAME     one of: all, store, socket
#   Tests/Benchmarks/link.sh --help
#
# A small app in a temporary folder depends on this repository by its path. `all` has the package's default traits and links
# the store, which is the result for an app without traits; `store` sets `traits: []`; `socket` sets
# `traits: ["NIOTransport"]` and links that transport too, as an app on Linux does. LINK.md beside this script gives the reasons.
set -euo pipefail

# shellcheck source=deploy/lib/benchmark.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../deploy/lib/benchmark.sh"

builds=yes
variants=(all store socket)
while [[ $# -gt 0 ]]; do
    case $1 in
        --resolve) builds="" ;;
        --variant)
            variants=("${2:?--variant needs a name}")
            shift
            ;;
        *) refuse "unknown argument: $1; see --help" ;;
    esac
    shift
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# app NAME TRAITS PRODUCT…: writes the app that links these products.
app() {
    local folder=$work/$1 traits=$2 product products=""
    shift 2
    mkdir -p "$folder/Sources/App"
    for product in "$@"; do products+=".product(name: \"$product\", package: \"tidemark\"), "; done
    cat >"$folder/Package.swift" <<MANIFEST
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "app", platforms: [.macOS(.v15), .iOS(.v18)],
    dependencies: [.package(name: "tidemark", path: "$top"$traits)],
    targets: [.executableTarget(name: "App", dependencies: [$products])])
MANIFEST
    cat >"$folder/Sources/App/main.swift" <<'SOURCE'
import Foundation
import Tidemark

struct Note: SyncModel {
    static let collection = "notes"
    var id = UUID()
    var text: String
}

let schema = try Schema(json: Array(FileHandle.standardInput.readDataToEndOfFile()))
let store = try SyncStore.inMemory(account: UserID("ann"), schema: schema)
try await store.repository(Note.self).create(Note(text: "hi"))
SOURCE
    if [[ $* == *NIOTransport* ]]; then
        cat >>"$folder/Sources/App/main.swift" <<'SOURCE'
try store.connect(to: "http://127.0.0.1:8080", transport: NIOTransport()) { "" }
SOURCE
        sed -i.bak '2a import TidemarkNIOTransport' "$folder/Sources/App/main.swift"
        rm "$folder/Sources/App/main.swift.bak"
    fi
}

# build FOLDER CONFIGURATION: makes a clean build; prints steps and seconds.
build() {
    local began=$SECONDS log=$1/$2.log steps
    if ! swift build --package-path "$1" --configuration "$2" >"$log" 2>&1; then
        tail -n 20 "$log" >&2
        refuse "the app does not build"
    fi
    steps=$(grep -oE '^\[[0-9]+/[0-9]+\]' "$log" | tail -n 1 | tr -d '[]' | cut -d / -f 2)
    printf '%s steps in %s s' "${steps:-0}" "$((SECONDS - began))"
}

measure() {
    local folder=$work/$1 pins debug release binary
    swift package --package-path "$folder" resolve >/dev/null 2>&1 || refuse "the packages of $1 do not resolve"
    pins=$(find "$folder/.build/checkouts" -mindepth 1 -maxdepth 1 -type d -printf '%f\n' | sort)
    printf '%s: %s packages beside tidemark: %s\n' "$1" "$(wc -l <<<"$pins")" "$(tr '\n' ' ' <<<"$pins")"
    if [[ -z $builds ]]; then return; fi
    debug=$(build "$folder" debug)
    printf '  debug: %s\n' "$debug"
    release=$(build "$folder" release)
    binary=$(swift build --package-path "$folder" --configuration release --show-bin-path)/App
    strip "$binary"
    printf '  release: %s; stripped %s bytes\n' "$release" "$(stat -c %s "$binary")"
}

for variant in "${variants[@]}"; do
    case $variant in
        all) app all "" Tidemark ;;
        store) app store ", traits: []" Tidemark ;;
        socket) app socket ', traits: ["NIOTransport"]' Tidemark TidemarkNIOTransport ;;
        *) refuse "unknown variant: $variant; see --help" ;;
    esac
    measure "$variant"
    rm -rf "${work:?}/$variant"
done
