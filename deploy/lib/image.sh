# shellcheck shell=bash
# The image, made without a container engine: two layers, no shell, nothing that the server does not open. Sourced, never run.
set -euo pipefail

# shellcheck source=deploy/lib/binary.sh
source "$(dirname "${BASH_SOURCE[0]}")/binary.sh"

IMAGE_PROGRAMS=(/usr/lib/postgresql/15/bin/pg_dump /usr/lib/postgresql/15/bin/pg_restore)   # for 'tidemark backup'
IMAGE_DATA=(/etc/ssl/certs/ca-certificates.crt /usr/share/zoneinfo/UTC)

# layer FOLDER FILE: makes the folder a layer, with the same bytes each time.
layer() {
    tar --create --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=gnu \
        --file "$2" --directory "$1" .
}

# system_tree FOLDER BINARY: makes the layer under the binary: libraries, PostgreSQL's programs, certificates, the user.
system_tree() {
    local tree=$1 path
    mkdir -p "$tree"/{etc,tmp,proc,dev,run/secrets,var/lib/tidemark,usr/share/doc}
    for path in "${IMAGE_PROGRAMS[@]}" "${IMAGE_DATA[@]}" $(libraries "$2" "${IMAGE_PROGRAMS[@]}"); do
        [[ -r $path ]] || refuse "$path is missing: apt-get install ca-certificates libjemalloc2 postgresql-client-15 tzdata"
        mkdir -p "$tree$(dirname "$path")"
        cp -L "$path" "$tree$path"
    done
    # The package of each library, for scanners of known vulnerabilities; and its licence.
    for path in $(libraries "$2" "${IMAGE_PROGRAMS[@]}"); do owner "$path"; done | sort -u | while read -r path; do
        mkdir -p "$tree/usr/share/doc/$path"
        cp -L "/usr/share/doc/$path/copyright" "$tree/usr/share/doc/$path/"
        mkdir -p "$tree/var/lib/dpkg/status.d"
        dpkg-query --status "$path" >"$tree/var/lib/dpkg/status.d/$path"
    done
    printf 'root:x:0:0::/root:/sbin/nologin\ntidemark:x:%s:%s::/var/lib/tidemark:/sbin/nologin\n' \
        "$IMAGE_USER" "$IMAGE_USER" >"$tree/etc/passwd"
    printf 'root:x:0:\ntidemark:x:%s:\n' "$IMAGE_USER" >"$tree/etc/group"
    printf 'hosts: files dns\n' >"$tree/etc/nsswitch.conf"
    grep -E '^(ID|VERSION_ID|VERSION_CODENAME|PRETTY_NAME)=' /etc/os-release >"$tree/etc/os-release"
    chmod 1777 "$tree/tmp"
    chmod -R u+rwX,go+rX,go-w "$tree"
    chmod 1777 "$tree/tmp"
}

# make_image BINARY LAYOUT TAG ARCH VERSION: makes an OCI layout with one image.
make_image() {
    local binary=$1 layout=$2 tag=$3 arch=$4 version=$5 work
    work=$(mktemp -d)
    umoci init --layout "$layout"
    umoci new --image "$layout:$tag"
    system_tree "$work/system" "$binary"
    # The volume's folder belongs to the user; everything else to root.
    layer "$work/system" "$work/system.tar"
    mkdir -p "$work/owned/var/lib/tidemark" "$work/program/usr/local/bin"
    tar --append --mtime="@$SOURCE_DATE_EPOCH" --owner="$IMAGE_USER" --group="$IMAGE_USER" --numeric-owner \
        --file "$work/system.tar" --directory "$work/owned" ./var/lib/tidemark
    install -m 0755 "$binary" "$work/program/usr/local/bin/tidemark"
    layer "$work/program" "$work/program.tar"
    umoci raw add-layer --image "$layout:$tag" --history.created_by "libraries of Debian" "$work/system.tar"
    umoci raw add-layer --image "$layout:$tag" --history.created_by "tidemark $version" "$work/program.tar"
    umoci config --image "$layout:$tag" --os linux --architecture "$arch" \
        --created "$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)" \
        --config.user "$IMAGE_USER:$IMAGE_USER" --config.workingdir /var/lib/tidemark \
        --config.volume /var/lib/tidemark --config.exposedports 8080/tcp --config.stopsignal SIGTERM \
        --config.env TIDEMARK_LISTEN=0.0.0.0:8080 --config.env TIDEMARK_DATABASE=/var/lib/tidemark/tidemark.sqlite \
        --config.env "LD_PRELOAD=$ALLOCATOR" --config.env MALLOC_CONF=background_thread:true \
        --config.env PATH=/usr/local/bin:/usr/lib/postgresql/15/bin \
        --config.entrypoint tidemark --config.cmd serve \
        --config.label "org.opencontainers.image.title=tidemark" \
        --config.label "org.opencontainers.image.version=$version" \
        --config.label "org.opencontainers.image.licenses=Apache-2.0"
    umoci gc --layout "$layout"
    rm -rf "$work"
}

# blob LAYOUT: stores its input as a blob; prints its digest and its size.
blob() {
    local file digest
    file=$(mktemp)
    cat >"$file"
    digest=$(sha256sum "$file" | cut -d' ' -f1)
    install -m 0644 "$file" "$1/blobs/sha256/$digest"
    printf 'sha256:%s %s\n' "$digest" "$(stat -c %s "$file")"
    rm -f "$file"
}

# make_index LAYOUT TAG ARCH…: makes one name for the images TAG-ARCH of all processors.
make_index() {
    local layout=$1 tag=$2 arch entries="[]" manifest digest size
    for arch in "${@:3}"; do
        manifest=$(jq --arg tag "$tag-$arch" --arg arch "$arch" \
            '.manifests[] | select(.annotations["org.opencontainers.image.ref.name"] == $tag)
             | {mediaType, digest, size, platform: {os: "linux", architecture: $arch}}' "$layout/index.json")
        entries=$(jq --argjson entry "$manifest" '. + [$entry]' <<<"$entries")
    done
    read -r digest size < <(jq -cn --argjson entries "$entries" \
        '{schemaVersion: 2, mediaType: "application/vnd.oci.image.index.v1+json", manifests: $entries}' | blob "$layout")
    jq --arg tag "$tag" --arg digest "$digest" --argjson size "$size" \
        '.manifests |= (map(select(.annotations["org.opencontainers.image.ref.name"] != $tag))
         + [{mediaType: "application/vnd.oci.image.index.v1+json", digest: $digest, size: $size,
             annotations: {"org.opencontainers.image.ref.name": $tag}}])' "$layout/index.json" >"$layout/index.new"
    mv "$layout/index.new" "$layout/index.json"
}
