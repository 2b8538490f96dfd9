# shellcheck shell=bash
# Checks, on Linux, that the code apps link needs no newer system than Package.swift states: the compiler reads the sources as for
# an iPhone and a Mac of that version. Sourced after apple.sh, never run. deploy/floor.md explains how, and what it cannot find.
set -euo pipefail

# Folder and module of each target that an app can link, imported ones first. Tests/Tidy compares the list with Package.swift.
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
)

# The same for the examples, which are apps for iPhones.
floor_apps=(
    "ClientSDK/Examples/Apple/Shared ClientSDK/Examples/Apple/Messenger Messenger"
    "ClientSDK/Examples/Apple/Shared ClientSDK/Examples/Apple/TaskBoard TaskBoard"
    "ClientSDK/Examples/Apple/Guides Guides"
)

# The server's targets, which need a newer Mac; their imports from the first list are checked with them.
floor_server_targets=(
    "Server/Edge TidemarkEdge"
    "Server/Identity TidemarkIdentity"
    "Server/Telemetry TidemarkTelemetry"
    "Server/Node TidemarkNode"
    "Server/Operations TidemarkOperations"
    "Server/EmbeddedStore TidemarkEmbeddedStore"
    "Server/Postgres TidemarkPostgres"
    "Server/PostgresStore TidemarkPostgresStore"
    "Server/API TidemarkAPI"
    "Server/Assembly TidemarkAssembly"
    "Server/CommandLine TidemarkCommandLine"
    "Server/Daemon TidemarkDaemon"
    "ClientSDK/Terminal TidemarkTerminal"
)

# check_floor: needs the results of `swift build`, and a minute or two of a core for each platform.
check_floor() {
    local work phones macs failed=""
    if [[ $(uname) != Linux ]]; then
        say "skipping the floor: the build has checked it"
        return 0
    fi
    phones=$(floor_version iOS)
    macs=$(floor_version macOS)
    say "checking that nothing newer than iOS $phones and macOS $macs is needed"
    work=$(mktemp -d)
    check_floor_of "$work/ios" "arm64-apple-ios$phones.0" arm64-apple-ios iphoneos \
        "${floor_targets[@]}" "${floor_apps[@]}" || failed="iOS $phones"
    check_floor_of "$work/macos" "arm64-apple-macosx$macs.0" arm64-apple-macos macosx \
        "${floor_targets[@]}" || failed="${failed:+$failed, }macOS $macs"
    rm -rf "$work"
    [[ -z $failed ]] || refuse "not for $failed: put what is newer under 'if #available' with a way for older systems beside it"
}

# check_server_floor: the same check for the server's targets on a Mac.
check_server_floor() {
    local work macs
    macs=$(sed -nE 's/.*isLinkedByApp \? \.v[0-9]+ : \.v([0-9]+).*/\1/p' Package.swift)
    say "checking that the server needs nothing newer than macOS $macs"
    work=$(mktemp -d)
    check_floor_of "$work" "arm64-apple-macosx$macs.0" arm64-apple-macos macosx \
        "${floor_targets[@]}" "${floor_server_targets[@]}" || macs=""
    rm -rf "$work"
    [[ -n $macs ]] || refuse "not for the server on a Mac: see above"
}

# list_floor: prints each system API that came with iOS 14 or later and is used in code that apps link, with its version and
# the files, as a Markdown table.
list_floor() {
    local work target
    work=$(mktemp -d)
    find_built
    make_floor_modules "$work" arm64-apple-ios13.0 arm64-apple-ios iphoneos
    floor_settings "$work" arm64-apple-ios13.0
    floor_settings+=(-experimental-allow-module-with-compiler-errors)
    floor_reads_as=13
    make_floor_stubs "$work"
    printf '| API | since iOS | in |\n|---|---|---|\n'
    for target in "${floor_targets[@]}" "${floor_apps[@]}"; do
        # shellcheck disable=SC2086 # words: module and folders
        compile_at_floor "$work" "${target##* }" ${target% *} || true
    done | sed -nE "s#^([^ :]+):[0-9:]+ error: (conformance of )?'([^']*)'.* is only available in iOS ([0-9.]+) or newer#\3\t\4\t\1#p" |
        sort -u | awk -F'\t' '
            { sub(/.*\//, "", $3); sub(/\.0$/, "", $2) }
            !(($1, $2, $3) in seen) { seen[$1, $2, $3]; files[$2 "\t" $1] = files[$2 "\t" $1] (files[$2 "\t" $1] ? ", " : "") $3 }
            END { for (key in files) { split(key, parts, "\t"); print parts[1] "\t| `" parts[2] "` | " parts[1] " | " files[key] " |" } }' |
        sort -t "$(printf '\t')" -k1,1Vr -k2 | cut -f 2
    rm -rf "$work"
}

# floor_version PLATFORM: prints the oldest version of the platform for apps, from Package.swift.
floor_version() { sed -nE "s/.*\.$1\((isLinkedByApp \? )?\.v([0-9]+).*/\2/p" Package.swift | head -n 1; }

# check_floor_of WORK TRIPLE NAME FOLDER TARGET…: NAME is Swift's name of a module's file for the triple, FOLDER the folder of
# Swift's own modules.
check_floor_of() {
    local work=$1 triple=$2 name=$3 folder=$4 target failed=""
    shift 4
    find_built
    make_floor_modules "$work" "$triple" "$name" "$folder" || return 1
    floor_settings "$work" "$triple"
    expect_floor_refusal "$work" "$triple" || return 1
    make_floor_stubs "$work" || return 1
    for target in "$@"; do
        # shellcheck disable=SC2086 # words: module and folders
        compile_at_floor "$work" "${target##* }" ${target% *} || failed=yes
    done
    [[ -z $failed ]]
}

# make_floor_modules WORK TRIPLE NAME FOLDER: copies the toolchain's modules and those of the dependencies, with another triple written
# into them. Their declarations state since which of Apple's systems they exist. The triple is text of a fixed length in the file:
# zeros after the version fill it up.
make_floor_modules() {
    local work=$1 name=$3 folder=$4 triple=$2 host resources module file
    host=$(swift -print-target-info | sed -nE 's/.*"unversionedTriple": "(.*)".*/\1/p')
    resources=$(swift -print-target-info | sed -nE 's/.*"runtimeResourcePath": "(.*)".*/\1/p')
    triple+=.
    while [[ ${#triple} -lt ${#host} ]]; do triple+=0; done
    mkdir -p "$work/resources/$folder" "$work/modules" "$work/out"
    ln -s "$resources"/* "$work/resources/"
    for module in "$resources"/linux/*.swiftmodule; do
        file=$module
        [[ ! -d $module ]] || file=$module/$host.swiftmodule
        [[ -e $file ]] || continue
        mkdir -p "$work/resources/$folder/$(basename "$module")"
        sed "s/$host/$triple/g" "$file" >"$work/resources/$folder/$(basename "$module")/$name.swiftmodule"
    done
    # shellcheck disable=SC2154 # set by apple.sh
    for file in "$built"/Modules/*.swiftmodule; do
        [[ $(basename "$file") != Tidemark* ]] || continue
        sed "s/$host/$triple/g" "$file" >"$work/modules/$(basename "$file")"
    done
    # The C library's module, which on Linux is in the folder of its headers.
    cat >"$work/headers.yaml" <<END
{"version": 0, "use-external-names": false, "roots": [{"name": "/usr/include", "type": "directory", "contents": [
    {"name": "module.modulemap", "type": "file", "external-contents": "$resources/linux/${host%%-*}/glibc.modulemap"},
    {"name": "SwiftGlibc.h", "type": "file", "external-contents": "$resources/linux/${host%%-*}/SwiftGlibc.h"}]}]}
END
}

# floor_settings WORK TRIPLE: sets the array of this name. C is read as for Linux, whose headers are available.
floor_settings() {
    local work=$1 triple=$2 host resources map
    host=$(swift -print-target-info | sed -nE 's/.*"unversionedTriple": "(.*)".*/\1/p')
    resources=$(swift -print-target-info | sed -nE 's/.*"runtimeResourcePath": "(.*)".*/\1/p')
    floor_settings=(
        -target "$triple" -clang-target "$host" -disable-target-os-checking -disable-objc-interop
        -resource-dir "$work/resources" -plugin-path "$resources/host/plugins" -module-cache-path "$work/cache"
        -Xcc -ivfsoverlay -Xcc "$work/headers.yaml" -I "$work/out" -I "$work/modules"
        -swift-version 6 -parse-as-library -suppress-warnings -package-name "$(package_name)"
    )
    while IFS= read -r map; do
        floor_settings+=(-Xcc "-fmodule-map-file=$map" -Xcc -I -Xcc "$(dirname "$map")")
    done < <(c_module_maps)
}

# expect_floor_refusal WORK TRIPLE: checks that too new API is found in each kind of module; otherwise the checks below prove nothing. Each line
# of the function but its last is too new; for macOS 15 the toolchain's Foundation and Synchronization have nothing that is.
expect_floor_refusal() {
    local work=$1 triple=$2 messages line last
    if [[ $triple == *macosx1[5-9]* || $triple == *macosx[2-9]* ]]; then
        cat >"$work/newer.swift" <<'END'
import Observation
@available(macOS 27, *) func ours() {}
func newer() async {
    let _: InlineArray<2, Int> = [1, 2]
    Task.immediate {}
    _ = Observations { 1 }
    ours()
    if #available(macOS 26, *) { _ = Observations { 1 } }
}
END
    else
        cat >"$work/newer.swift" <<'END'
import Foundation
import Observation
import Synchronization
@available(iOS 17, macOS 14, *) func ours() {}
func newer() async {
    await withDiscardingTaskGroup { _ in }
    Task(executorPreference: nil) {}
    withObservationTracking { } onChange: { }
    _ = Mutex(1)
    let _: any AsyncSequence<Int, Never> = AsyncStream<Int> { nil }
    _ = Calendar.RecurrenceRule.self
    ours()
    if #available(iOS 18, macOS 15, *) { _ = Mutex(1) }
}
END
    fi
    messages=$(swiftc -frontend -typecheck -module-name Newer "${floor_settings[@]}" "$work/newer.swift" 2>&1) || true
    line=$(awk '/^func newer/ { print NR }' "$work/newer.swift")
    last=$(awk '/if #available/ { print NR }' "$work/newer.swift")
    while ((++line < last)); do
        grep -qE "newer.swift:$line:.* error: .* is only available in (iOS|macOS) (1[4-9]|2[0-9])" <<<"$messages" && continue
        printf '%s\n' "$messages"
        say "the compiler does not find what is too new in line $line of that: see deploy/floor.md"
        return 1
    done
    if grep -q "newer.swift:$last:.* error:" <<<"$messages"; then
        say "the compiler does not see 'if #available': see deploy/floor.md"
        return 1
    fi
}

# make_floor_stubs WORK: like make_apple_stubs, at the floor: the stubs' declarations have the versions that they state.
make_floor_stubs() {
    local work=$1 name module
    # shellcheck disable=SC2154 # set by apple.sh
    for name in "${apple_stubs_first[@]}" $(basename -s .swift Tests/AppleStubs/*.swift); do
        module=$name
        [[ $name != Foundation ]] || module=AppleFoundation
        [[ ! -e $work/out/$module.swiftmodule ]] || continue
        if [[ $name == Foundation ]]; then
            cp "Tests/AppleStubs/$name.swift" "$work/$module.swift"
        else
            import_apple_foundation <"Tests/AppleStubs/$name.swift" >"$work/$module.swift"
        fi
        swiftc -frontend -emit-module -enable-library-evolution -module-name "$module" \
            "${floor_settings[@]}" -o "$work/out/$module.swiftmodule" "$work/$module.swift" || return 1
    done
}

# floor_reading: prints the source unchanged, or, for the list, as if every system had every API, so that all uses are listed.
floor_reads_as=""
floor_reading() {
    if [[ -z $floor_reads_as ]]; then
        cat
    else
        sed -E "s/@available\(iOS [^)]*\)//; s/#available\(iOS [^)]*\)/#available(iOS $floor_reads_as, *)/"
    fi
}

# compile_at_floor WORK MODULE FOLDER…: compiles a target with the sources that the package manager generates for it.
compile_at_floor() {
    local work=$1 module=$2 file feature
    local files=() features=()
    shift 2
    while IFS= read -r file; do
        mkdir -p "$work/source/$(dirname "$file")"
        import_apple_foundation <"$file" | floor_reading >"$work/source/$file"
        files+=("$work/source/$file")
    done < <(find "$@" -name '*.swift' | sort)
    while IFS= read -r file; do
        files+=("$file")
    done < <(find "$built/$module.build/DerivedSources" -name '*.swift' 2>/dev/null)
    while IFS= read -r feature; do
        features+=(-enable-upcoming-feature "$feature")
    done < <(sed -nE 's/.*\.enableUpcomingFeature\("(.*)"\).*/\1/p' Package.swift)
    swiftc -frontend -emit-module -module-name "$module" "${floor_settings[@]}" "${features[@]}" \
        -o "$work/out/$module.swiftmodule" "${files[@]}" 2>&1 | sed "s#$work/source/##; s/AppleFoundation/Foundation/g"
}
