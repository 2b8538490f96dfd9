# shellcheck shell=bash
# Type-checks, on Linux, what is compiled on Apple's platforms only: against stubs of Apple's modules, which hold the
# declarations that this repository uses (Tests/AppleStubs). Sourced, never run. It says nothing about what such code does.
set -euo pipefail

# Folder and module of each target that has such branches. Tests/Tidy compares the list with the code.
apple_targets=(
    "ClientSDK/Extension TidemarkExtension"
    "ClientSDK/SDK Tidemark"
    "Server/EmbeddedStore TidemarkEmbeddedStore"
    "Server/Operations TidemarkOperations"
)

# check_apple_branches: needs what `swift build` has built; takes about half a minute.
check_apple_branches() {
    local work modules target failed=""
    say "type-checking what Apple's platforms alone compile"
    work=$(mktemp -d)
    modules=$(swift build --show-bin-path)/Modules
    make_apple_stubs "$work"
    for target in "${apple_targets[@]}"; do
        # shellcheck disable=SC2086 # two words: folder and module
        type_check_for_apple "$work" "$modules" $target || failed="${failed:+$failed, }${target% *}"
    done
    rm -rf "$work"
    [[ -z $failed ]] || refuse "$failed would not compile on Apple's platforms: mend what is named above, or the stub in\
 Tests/AppleStubs where Apple's own declaration is another"
}

# Foundation has more on Apple's platforms than elsewhere. A module cannot be added to, so the stub has a name of its own,
# gives Foundation on, and is imported instead of it.
import_apple_foundation() {
    sed -E 's/^((public|package|internal) )?import Foundation$/\1import AppleFoundation/'
}

make_apple_stubs() {
    local work=$1 stub name
    for stub in Tests/AppleStubs/Foundation.swift Tests/AppleStubs/*.swift; do
        name=$(basename "$stub" .swift)
        if [[ $name == Foundation ]]; then
            name=AppleFoundation
            [[ ! -e $work/$name.swiftmodule ]] || continue
            cp "$stub" "$work/$name.swift"
        else
            import_apple_foundation <"$stub" >"$work/$name.swift"
        fi
        # As Apple's are: with library evolution a switch over an enum has to expect cases to come.
        swiftc -emit-module -parse-as-library -enable-library-evolution -suppress-warnings -swift-version 6 \
            -module-name "$name" -I "$work" -emit-module-path "$work/$name.swiftmodule" "$work/$name.swift"
    done
}

# What `swift build` calls the package, which comes from the name of this folder: declarations for the package alone are
# seen under no other.
package_name() {
    sed -nE 's/.*"-module-name","TidemarkModel",.*"-package-name","([^"]*)".*/\1/p' .build/debug.yaml | head -n 1
}

# type_check_for_apple WORK MODULES FOLDER MODULE: with the settings of Package.swift.
type_check_for_apple() {
    local work=$1 modules=$2 folder=$3 module=$4 file feature map
    local files=() settings=()
    while IFS= read -r file; do
        mkdir -p "$work/source/$(dirname "$file")"
        import_apple_foundation <"$file" >"$work/source/$file"
        files+=("$work/source/$file")
    done < <(find "$folder" -name '*.swift' | sort)
    while IFS= read -r feature; do
        settings+=(-enable-upcoming-feature "$feature")
    done < <(sed -nE 's/.*\.enableUpcomingFeature\("(.*)"\).*/\1/p' Package.swift)
    while IFS= read -r map; do
        settings+=(-Xcc "-fmodule-map-file=$map" -Xcc -I -Xcc "$(dirname "$map")")
    done < <(find .build/checkouts/*/Sources Server -name module.modulemap)
    swiftc -typecheck -parse-as-library -swift-version 6 -package-name "$(package_name)" -module-name "$module" \
        -warnings-as-errors -Werror ExplicitSendable "${settings[@]}" -I "$work" -I "$modules" \
        -module-cache-path "$work/cache" "${files[@]}" 2>&1 | sed "s#$work/source/##; s/AppleFoundation/Foundation/g"
}
