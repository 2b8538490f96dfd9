# shellcheck shell=bash
# The Debian package. Sourced, never run.
set -euo pipefail

# shellcheck source=deploy/lib/binary.sh
source "$(dirname "${BASH_SOURCE[0]}")/binary.sh"

# manual BINARY FILE: makes a manual page from the program's own help.
manual() {
    COLUMNS=80 help2man --no-info --section 1 --name "a self-hosted, local-first sync server" \
        --version-option --version --output - "$1" | gzip -9n >"$2"
}

# make_deb TOP BINARY FILE ARCH VERSION
make_deb() {
    local top=$1 binary=$2 file=$3 arch=$4 version=$5 work depends size
    work=$(mktemp -d)
    local tree=$work/tree doc=$work/tree/usr/share/doc/tidemark
    chmod 0755 "$work"
    install -D -m 0755 "$binary" "$tree/usr/bin/tidemark"
    install -D -m 0644 "$top/deploy/package/tidemark.service" "$tree/lib/systemd/system/tidemark.service"
    # The unit for several servers: tidemark@one reads one.json.
    sed 's|/etc/tidemark/tidemark.json|/etc/tidemark/%i.json|; s|^Description=.*|&, %i|' "$top/deploy/package/tidemark.service" \
        >"$tree/lib/systemd/system/tidemark@.service"
    install -D -m 0644 "$top/deploy/package/tidemark.json" "$tree/etc/tidemark/tidemark.json"
    mkdir -p "$tree/usr/share/man/man1" "$tree/usr/share/lintian/overrides" "$tree/DEBIAN"
    manual "$binary" "$tree/usr/share/man/man1/tidemark.1.gz"
    install -D -m 0644 "$top/deploy/README.md" "$doc/README.md"
    install -m 0644 "$top"/deploy/{settings,tls,identity,backup,metrics,runbooks}.md "$doc/"
    install -m 0644 "$top/deploy/package/copyright" "$doc/copyright"
    install -m 0644 "$top/deploy/package/lintian-overrides" "$tree/usr/share/lintian/overrides/tidemark"
    printf 'tidemark (%s) stable; urgency=medium\n\n  * See deploy/CHANGELOG.md in the source.\n\n -- Tidemark <tidemark@localhost>  %s\n' \
        "$version" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$doc/changelog.gz"
    # The program's dependencies with their versions, as Debian's own packages state them.
    mkdir -p "$work/debian"
    printf 'Source: tidemark\n\nPackage: tidemark\nArchitecture: any\n' >"$work/debian/control"
    depends=$(cd "$work" && dpkg-shlibdeps -O -e"$tree/usr/bin/tidemark" 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
    size=$(du -sk "$tree" | cut -f1)
    cat >"$tree/DEBIAN/control" <<CONTROL
Package: tidemark
Version: $version
Architecture: $arch
Maintainer: Tidemark <tidemark@localhost>
Installed-Size: $size
Depends: $depends, libjemalloc2, ca-certificates
Recommends: postgresql-client
Section: net
Priority: optional
Description: self-hosted, local-first sync server
 Devices keep their own copy and write offline; the server orders their
 writes, merges them and delivers them to all users who may see them.
 Records are kept in SQLite or in PostgreSQL.
CONTROL
    printf '/etc/tidemark/tidemark.json\n' >"$tree/DEBIAN/conffiles"
    install -m 0755 "$top"/deploy/package/{postinst,prerm,postrm} "$tree/DEBIAN/"
    # The path that Debian's packages expect.
    sed -i '1s|.*|#!/bin/bash|' "$tree"/DEBIAN/{postinst,prerm,postrm}
    (cd "$tree" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
    chmod -R go-w "$tree"
    SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH dpkg-deb --root-owner-group -Zxz --build "$tree" "$file" >/dev/null
    rm -rf "$work"
}
