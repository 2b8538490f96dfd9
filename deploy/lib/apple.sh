# shellcheck shell=bash
# Compiles, on Linux, the code that is compiled on Apple's platforms only, as far as the compiler can check it: against
# stubs of Apple's modules, which contain the declarations that this repository uses (Tests/AppleStubs). Sourced, never run. It
# cannot check how such code behaves.
set -euo pipefail

# Folders and module of each target that has such branches, imports such a module, or uses a part of the C library that
# differs there (Tests/AppleStubs/Darwin.swift); imported ones first. Tests/Tidy compares the list with the code.
apple_targets=(
    "Shared/Lock TidemarkLock"
    "ClientSDK/Extension TidemarkExtension"
    "ClientSDK/SDK Tidemark"
    "Server/Store TidemarkStore"
    "Server/EmbeddedStore TidemarkEmbeddedStore"
    "Server/Operations TidemarkOperations"
    "Server/Postgres TidemarkPostgres"
    "Server/Telemetry TidemarkTelemetry"
    "Server/Assembly TidemarkAssembly"
    "ClientSDK/Terminal TidemarkTerminal"
    "ClientSDK/Examples/Apple/Shared ClientSDK/Examples/Apple/Messenger Messenger"
    "ClientSDK/Examples/Apple/Shared ClientSDK/Examples/Apple/TaskBoard TaskBoard"
    "ClientSDK/Examples/Apple/Guides Guides"
    "Tests/PostgresTests PostgresTests"
    "Tests/ServerTests ServerTests"
    "Tests/StoreContract StoreContractTests"
)

# Stubs that other stubs import, in this order; the others need none.
apple_stubs_first=(Darwin Foundation Combine UIKit SwiftUI)

# find_built: sets `built` to the folder of the build's products, once: asking takes half a second, and dozens of compilers need it.
built=""
find_built() { [[ -n $built ]] || built=$(swift build --show-bin-path); }

# check_apple_branches: needs the results of `swift build`; takes some minutes of one core. On a Mac the build itself has done it.
check_apple_branches() {
    local work modules target failed=""
    if [[ $(uname -s) == Darwin ]]; then
        say "skipping the stubs of Apple's modules: this system has the modules themselves"
        return 0
    fi
    say "compiling what Apple's platforms alone compile"
    work=$(mktemp -d)
    find_built
    modules=$built/Modules
    make_apple_stubs "$work"
    for target in "${apple_targets[@]}"; do
        # shellcheck disable=SC2086 # words: module and folders
        compile_for_apple "$work" "$modules" "${target##* }" ${target% *} || failed="${failed:+$failed, }${target##* }"
    done
    if [[ -n $failed ]]; then
        rm -rf "$work"
        refuse "$failed would not compile on Apple's platforms: correct the errors above, or the stub in Tests/AppleStubs where\
 Apple's own declaration is another"
    fi
    render_guides "$work" "$modules" "$work/guides" || failed=guides
    rm -rf "$work"
    [[ -z $failed ]] || refuse "the guides have warnings: correct them"
}

# render_guides WORK MODULES OUT: renders the SDK's guides and reference with DocC, from the module that was compiled for
# Apple's platforms, since it has everything that the guides name; fails on a warning.
render_guides() {
    local work=$1 modules=$2 out=$3 triple map
    local maps=()
    if ! command -v docc >/dev/null; then
        say "skipping the guides: this toolchain has no docc"
        return 0
    fi
    say "rendering the guides"
    triple=$(swift -print-target-info | sed -nE 's/.*"unversionedTriple": "(.*)".*/\1/p')
    while IFS= read -r map; do
        maps+=(-Xcc "-fmodule-map-file=$map" -Xcc -I -Xcc "$(dirname "$map")")
    done < <(c_module_maps)
    mkdir -p "$work/symbols"
    swift symbolgraph-extract -module-name Tidemark -target "$triple" -I "$work" -I "$modules" "${maps[@]}" \
        -minimum-access-level public -output-dir "$work/symbols" || return 1
    docc convert ClientSDK/SDK/Tidemark.docc --additional-symbol-graph-dir "$work/symbols" \
        --fallback-display-name Tidemark --fallback-bundle-identifier Tidemark --output-path "$out" \
        --warnings-as-errors 2>&1 | sed "s#$work/source/##"
}

# C module maps: those of the sources, and those that the package manager has written for targets without one.
c_module_maps() {
    find_built
    find .build/checkouts/*/Sources Server -name module.modulemap
    find "$built"/*.build -maxdepth 1 -name module.modulemap
}

# Foundation has more on Apple's platforms than elsewhere. A module cannot be extended, so the stub has a name of its own,
# exports Foundation, and is imported instead of it.
import_apple_foundation() {
    sed -E 's/^((public|package|internal) )?import Foundation$/\1import AppleFoundation/'
}

make_apple_stubs() {
    local work=$1 stub name module
    for name in "${apple_stubs_first[@]}" $(basename -s .swift Tests/AppleStubs/*.swift); do
        stub=Tests/AppleStubs/$name.swift
        module=$name
        [[ $name != Foundation ]] || module=AppleFoundation
        [[ ! -e $work/$module.swiftmodule ]] || continue
        if [[ $name == Foundation ]]; then
            cp "$stub" "$work/$module.swift"
        else
            import_apple_foundation <"$stub" >"$work/$module.swift"
        fi
        # Like Apple's modules: with library evolution, a switch over an enum must expect future cases.
        swiftc -emit-module -parse-as-library -enable-library-evolution -suppress-warnings -swift-version 6 \
            -module-name "$module" -I "$work" -emit-module-path "$work/$module.swiftmodule" "$work/$module.swift"
    done
}

# The package's name for `swift build`, which is derived from the name of this folder: declarations with package access are
# visible under no other.
package_name() {
    sed -nE 's/.*"-module-name","TidemarkModel",.*"-package-name","([^"]*)".*/\1/p' .build/debug.yaml | head -n 1
}

# compile_for_apple WORK MODULES MODULE FOLDER...: compiles with the settings of Package.swift, up to the passes that find values
# which may not cross isolation domains; a check of the types alone does not. The module is kept for its importers.
compile_for_apple() {
    local work=$1 modules=$2 module=$3 file
    local files=()
    shift 3
    while IFS= read -r file; do
        mkdir -p "$work/source/$(dirname "$file")"
        import_apple_foundation <"$file" >"$work/source/$file"
        files+=("$work/source/$file")
    done < <(find "$@" -name '*.swift' | sort)
    compile_sources "$work" "$modules" "$module" PostgreSQL -I "$work" "${files[@]}" 2>&1 \
        | sed "s#$work/source/##; s/AppleFoundation/Foundation/g"
}

# check_without_postgres: compiles the one target that differs without the trait PostgreSQL, as that build does.
check_without_postgres() {
    local work file files=()
    [[ $(uname -s) != Darwin ]] || return 0
    say "compiling what a program without PostgreSQL has instead"
    work=$(mktemp -d)
    find_built
    while IFS= read -r file; do files+=("$file"); done < <(find Server/Assembly -name '*.swift' | sort)
    compile_sources "$work" "$built/Modules" TidemarkAssembly "" "${files[@]}" \
        || { rm -rf "$work" && refuse "TidemarkAssembly would not compile without the trait PostgreSQL"; }
    rm -rf "$work"
}

# compile_sources WORK MODULES MODULE TRAITS OPTION-OR-FILE...: makes WORK/MODULE.swiftmodule, with the sources that the package manager
# has generated for the target.
compile_sources() {
    local work=$1 modules=$2 module=$3 traits=$4 feature map trait file
    local settings=()
    shift 4
    for trait in $traits; do settings+=(-D "$trait"); done
    while IFS= read -r feature; do
        settings+=(-enable-upcoming-feature "$feature")
    done < <(sed -nE 's/.*\.enableUpcomingFeature\("(.*)"\).*/\1/p' Package.swift)
    while IFS= read -r map; do
        settings+=(-Xcc "-fmodule-map-file=$map" -Xcc -I -Xcc "$(dirname "$map")")
    done < <(c_module_maps)
    while IFS= read -r file; do
        settings+=("$file")
    done < <(find "${modules%/Modules}/$module.build/DerivedSources" -name '*.swift' 2>/dev/null)
    swiftc -emit-module -whole-module-optimization -parse-as-library -enable-testing -swift-version 6 \
        -package-name "$(package_name)" -module-name "$module" -emit-module-path "$work/$module.swiftmodule" \
        -warnings-as-errors -Werror ExplicitSendable "${settings[@]}" "$@" -I "$modules" \
        -module-cache-path "$work/cache"
}
