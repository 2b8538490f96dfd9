# shellcheck shell=bash
# The release's contents, as SPDX 2.3. Sourced, never run.
set -euo pipefail

# shellcheck source=deploy/lib/binary.sh
source "$(dirname "${BASH_SOURCE[0]}")/binary.sh"

# swift_packages TOP: prints identity, address and version of every package that the build resolved.
swift_packages() {
    (cd "$1" && swift package show-dependencies --format json 2>/dev/null) \
        | jq -c '[.. | objects | select(has("identity") and .version != "unspecified")
                  | {name: .identity, url, version}] | unique_by(.name)'
}

# debian_packages FILE…: prints the same for the Debian packages that contain these files.
debian_packages() {
    local path
    for path in "$@"; do owner "$path"; done | sort -u | while read -r name; do
        dpkg-query --show --showformat='{"name":"${Package}","version":"${Version}","arch":"${Architecture}","source":"${source:Package}"}\n' "$name"
    done | jq -cs .
}

# make_sbom TOP BINARY FILE VERSION LIBRARY…
make_sbom() {
    local top=$1 binary=$2 file=$3 version=$4
    jq -n --argjson swift "$(swift_packages "$top")" --argjson debian "$(debian_packages "${@:5}")" \
        --arg version "$version" --arg digest "$(sha256sum "$binary" | cut -d' ' -f1)" \
        --arg created "$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)" '
        def plain: gsub("[^A-Za-z0-9.-]"; "-");
        def package($id; $name; $version; $url; $purl):
            {SPDXID: $id, name: $name, versionInfo: $version, downloadLocation: $url, filesAnalyzed: false,
             licenseConcluded: "NOASSERTION", licenseDeclared: "NOASSERTION", copyrightText: "NOASSERTION",
             externalRefs: [{referenceCategory: "PACKAGE-MANAGER", referenceType: "purl", referenceLocator: $purl}]};
        [$swift[] | package("SPDXRef-Swift-" + (.name | plain); .name; .version; "git+" + .url + "@" + .version;
            "pkg:swift/" + (.url | sub("^https://"; "") | sub("[.]git$"; "")) + "@" + .version)] as $built
        | [$debian[] | package("SPDXRef-Debian-" + (.name | plain); .name; .version; "NOASSERTION";
            "pkg:deb/debian/" + .name + "@" + (.version | @uri) + "?arch=" + .arch + "&upstream=" + .source)] as $beside
        | {spdxVersion: "SPDX-2.3", dataLicense: "CC0-1.0", SPDXID: "SPDXRef-DOCUMENT", name: ("tidemark-" + $version),
           documentNamespace: ("https://spdx.org/spdxdocs/tidemark-" + $version + "-" + $digest),
           creationInfo: {created: $created, creators: ["Tool: tidemark-release"]},
           packages: ([{SPDXID: "SPDXRef-Tidemark", name: "tidemark", versionInfo: $version,
               downloadLocation: "NOASSERTION", filesAnalyzed: false, licenseConcluded: "Apache-2.0",
               licenseDeclared: "Apache-2.0", copyrightText: "NOASSERTION",
               checksums: [{algorithm: "SHA256", checksumValue: $digest}]}] + $built + $beside),
           relationships: ([{spdxElementId: "SPDXRef-DOCUMENT", relationshipType: "DESCRIBES",
               relatedSpdxElement: "SPDXRef-Tidemark"}]
               + [$built[] | {spdxElementId: "SPDXRef-Tidemark", relationshipType: "STATIC_LINK",
                   relatedSpdxElement: .SPDXID}]
               + [$beside[] | {spdxElementId: "SPDXRef-Tidemark", relationshipType: "DYNAMIC_LINK",
                   relatedSpdxElement: .SPDXID}])}' >"$file"
}
