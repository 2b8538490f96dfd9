#!/usr/bin/env bash
# Makes all files of a release, without a container engine, and tests them: a tarball, an image, a Debian package, a list of
# their contents, and their digests.
#
#   deploy/release.sh [--binary PATH] [--out FOLDER] [--no-check]
#
#   --binary    built with 'swift build -c release --static-swift-stdlib --product tidemark'; built if it is not given
#   --out       default: dist
#   --no-check  leaves out deploy/release-check.sh
#
# It makes what its machine can run. Run it on another processor with the same --out, and the image's
# index has both. Linux only, Debian 12. SOURCE_DATE_EPOCH is the time in all files; default: that of the last commit.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=deploy/lib/image.sh
source "$top/deploy/lib/image.sh"
# shellcheck source=deploy/lib/debian.sh
source "$top/deploy/lib/debian.sh"
# shellcheck source=deploy/lib/sbom.sh
source "$top/deploy/lib/sbom.sh"

RELEASE_PACKAGES=(ca-certificates dpkg-dev help2man jq libjemalloc2 postgresql-client-15 tzdata umoci)
given="" out=$top/dist checks=yes
while [[ $# -gt 0 ]]; do
    case $1 in
    --binary) given=${2:?--binary needs a path} && shift ;;
    --out) out=${2:?--out needs a folder} && shift ;;
    --no-check) checks=no ;;
    --help | -h) usage "${BASH_SOURCE[0]}" && exit 0 ;;
    *) refuse "there is no option $1; see --help" ;;
    esac
    shift
done
[[ $(uname -s) == Linux ]] || refuse "an image and a Debian package are made on Linux"
ensure_packages "${RELEASE_PACKAGES[@]}"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$top" log -1 --format=%ct)}
export SOURCE_DATE_EPOCH

arch=$(dpkg --print-architecture)
built=$(release_binary "$top" "$given")
require_static "$built"
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The program has one name in all of them.
strip -o "$work/tidemark" "$built"
version=$("$work/tidemark" --version | sed -E 's/^tidemark ([^,]+),.*/\1/')

say "tarball"
folder=tidemark-$version-linux-$arch
mkdir -p "$work/$folder"
cp "$work/tidemark" "$top/LICENSE" "$top/deploy/CHANGELOG.md" "$top/deploy/settings.md" "$top/deploy/package/tidemark.service" "$work/$folder/"
tar --create --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --directory "$work" "$folder" \
    | gzip -9n >"$out/$folder.tar.gz"

say "image"
layout=$out/image
[[ -e $layout/index.json ]] || rm -rf "$layout"
if [[ -e $layout/index.json ]]; then umoci rm --image "$layout:$version-$arch" 2>/dev/null || rm -rf "$layout"; fi
[[ ! -e $layout/index.json ]] || mv "$layout" "$work/before"
make_image "$work/tidemark" "$layout" "$version-$arch" "$arch" "$version"
archs=("$arch")
if [[ -d $work/before ]]; then
    # Images that another machine has made for the same version.
    while read -r name; do
        umoci tag --image "$work/before:$name" "$name" >/dev/null
        cp -n "$work/before/blobs/sha256/"* "$layout/blobs/sha256/"
        jq --slurpfile before "$work/before/index.json" --arg tag "$name" '.manifests += [$before[0].manifests[]
            | select(.annotations["org.opencontainers.image.ref.name"] == $tag)]' "$layout/index.json" >"$work/index"
        mv "$work/index" "$layout/index.json"
        archs+=("${name##*-}")
    done < <(jq -r --arg v "$version-" '.manifests[].annotations["org.opencontainers.image.ref.name"]
        | select(startswith($v))' "$work/before/index.json")
fi
make_index "$layout" "$version" "${archs[@]}"

say "Debian package"
make_deb "$top" "$work/tidemark" "$out/tidemark_${version}_$arch.deb" "$arch" "$version"

say "what they are made of"
# shellcheck disable=SC2046  # one path a word
make_sbom "$top" "$work/tidemark" "$out/tidemark-$version-$arch.spdx.json" "$version" \
    $(libraries "$work/tidemark" "${IMAGE_PROGRAMS[@]}")

(cd "$out" && sha256sum ./*.tar.gz ./*.deb ./*.spdx.json >SHA256SUMS)
(cd "$out" && du -shc ./*.tar.gz ./*.deb ./*.spdx.json image)
[[ $checks == no ]] || "$top/deploy/release-check.sh" "$out"
