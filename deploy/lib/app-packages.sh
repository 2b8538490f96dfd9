# shellcheck shell=bash
# Checks, on Linux, the manifests of the app packages, which only Xcode opens, against a stub of the API that they import from it.
# Sourced, never run.
set -euo pipefail

# shellcheck source=deploy/lib/say.sh
source "$(dirname "${BASH_SOURCE[0]}")/say.sh"

check_app_packages() {
    local work api package failed=""
    api=$(dirname "$(dirname "$(readlink -f "$(command -v swiftc)")")")/lib/swift/pm/ManifestAPI
    if [[ ! -d $api ]]; then
        say "skipping the app packages: this toolchain has its manifests' module elsewhere"
        return 0
    fi
    say "checking the manifests of the app packages"
    work=$(mktemp -d)
    swiftc -emit-module -parse-as-library -swift-version 6 -module-name AppleProductTypes -I "$api" \
        -emit-module-path "$work/AppleProductTypes.swiftmodule" Tests/AppleStubs/Manifest/AppleProductTypes.swift
    for package in ClientSDK/Examples/Apple/*.swiftpm; do
        swiftc -typecheck -swift-version 6 -I "$api" -I "$work" -package-description-version 6.2.0 \
            "$package/Package.swift" || failed="${failed:+$failed, }$package"
        [[ -z $(find -L "$package" -type l) ]] || failed="${failed:+$failed, }$package (a link leads nowhere)"
    done
    rm -rf "$work"
    [[ -z $failed ]] || refuse "$failed would not open in Xcode: correct the errors above"
}
