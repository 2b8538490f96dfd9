#!/usr/bin/env bash
# Tests the files that deploy/release.sh has made, by running them.
#
#   deploy/release-check.sh [FOLDER]      default: dist
#
# The image is pushed to a registry on this machine and pulled again. It runs read-only, as its user and without capabilities, and
# passes the end-to-end tests from outside. The security of the package's unit is measured, and its program must notify a service manager.
# The manifests and the list of contents are checked against their schemas. Needs root and Debian 12; it installs what is missing.
#   FILTER   the tests that the image must pass (default: all end to end but those of KNOWN below); 'none' leaves them out
#   TESTS    a program that runs those of --filter and --skip (default: builds them, and 'swift test')
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=deploy/lib/binary.sh
source "$top/deploy/lib/binary.sh"
# shellcheck source=deploy/lib/in-image.sh
source "$top/deploy/lib/in-image.sh"

CHECK_PACKAGES=(docker-registry jq lintian python3-venv skopeo systemd umoci)
EXPOSURE_MAX=15        # of 'systemd-analyze security', times ten
START_SECONDS=30
# These tests give the server files that only root can read, files of the source, a working folder, or programs instead of
# PostgreSQL's.
KNOWN='BackupCommandTests|DoctorProcessTests|ExampleTests|FirstPageTests|MigrateCommandTests|RewoundCopyTests|SafeByBackupTests'
processes=()
work=""

tidy_up() {
    local process
    for process in "${processes[@]}"; do kill "$process" 2>/dev/null || true; done
    rm -rf "$work"
}

check_digests() {
    (cd "$out" && sha256sum --check --quiet SHA256SUMS) || refuse "a file does not match SHA256SUMS"
    tar --extract --gzip --file "$out/tidemark-$version-linux-$arch.tar.gz" --directory "$work"
    "$work/tidemark-$version-linux-$arch/tidemark" settings | diff - "$top/deploy/settings.md" \
        || refuse "the program in the tarball is not of this source"
    say "proved: the tarball's program runs, and its page of settings is this source's"
}

check_documents() {
    python3 -m venv "$work/venv"
    "$work/venv/bin/pip" --quiet install kubernetes-validate spdx-tools
    "$work/venv/bin/pyspdxtools" --infile "$out/tidemark-$version-$arch.spdx.json" \
        || refuse "the list of contents is not valid SPDX"
    say "proved: the list names $(jq '.packages | length' "$out/tidemark-$version-$arch.spdx.json") packages and is valid SPDX 2.3"
    "$work/venv/bin/kubernetes-validate" --strict --quiet "$top"/deploy/kubernetes/*.yaml \
        || refuse "a manifest does not match Kubernetes' schemas"
    say "proved: the manifests are valid, and contain nothing that Kubernetes does not know"
}

# told SOCKET: prints the messages to a service manager's socket, until STOPPING=1.
told() {
    python3 - "$1" <<'PYTHON'
import socket, sys
manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
manager.bind(sys.argv[1])
manager.settimeout(60)
print("bound", flush=True)
while True:
    words = manager.recv(4096).decode().strip()
    print(words, flush=True)
    if words == "STOPPING=1":
        break
PYTHON
}

# until_line FILE LINE: waits until the file has the line.
until_line() {
    local tries
    for ((tries = 0; tries < START_SECONDS * 10; tries++)); do
        grep -q "^$2" "$1" 2>/dev/null && return
        sleep 0.1
    done
    refuse "'$2' did not come within $START_SECONDS s: $(cat "$1")"
}

check_package() {
    local deb=$out/tidemark_${version}_$arch.deb tree=$work/deb unit server
    lintian --allow-root --fail-on error,warning "$deb" || refuse "lintian complains about $deb"
    dpkg-deb --extract "$deb" "$tree"
    unit=$tree/lib/systemd/system/tidemark.service
    systemd-analyze security --offline=true --threshold="$EXPOSURE_MAX" --no-pager "$unit" >"$work/security" \
        || refuse "the unit is exposed too much: $(tail -n 1 "$work/security")"
    say "proved: $(tail -n 1 "$work/security" | sed -E 's/^[^A-Za-z]+//')"
    mkdir "$work/state"
    head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \n' >"$work/state/token_secret"
    jq --arg state "$work/state" '.listen = "127.0.0.1:0" | .admin_listen = "127.0.0.1:0"
        | .database = $state + "/tidemark.sqlite" | .schema = $state + "/app.schema.json"' \
        "$tree/etc/tidemark/tidemark.json" >"$work/state/tidemark.json"
    "$tree/usr/bin/tidemark" schema sample >"$work/state/app.schema.json"
    told "$work/state/notify" >"$work/told" &
    processes+=($!)
    until_line "$work/told" bound
    env -i NOTIFY_SOCKET="$work/state/notify" WATCHDOG_USEC=1000000 TIDEMARK_SECRET_FILE="$work/state/token_secret" \
        "$tree/usr/bin/tidemark" serve --config "$work/state/tidemark.json" >"$work/package.log" 2>&1 &
    server=$!
    processes+=("$server")
    until_line "$work/told" WATCHDOG=1
    kill -TERM "$server"
    wait "$server" || refuse "the package's program ended with exit code $?"
    until_line "$work/told" STOPPING=1
    [[ $(sed -n 2p "$work/told") == READY=1 ]] || refuse "READY=1 was not sent first: $(cat "$work/told")"
    say "proved: the package's program reads the package's settings and sends READY, WATCHDOG and STOPPING"
}

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# carry_image: pushes the image to a registry, pulls it, and unpacks it in $work/bundle.
carry_image() {
    local port
    port=$(free_port)
    printf 'version: 0.1\nstorage: {filesystem: {rootdirectory: %s}}\nhttp: {addr: "127.0.0.1:%s"}\n' \
        "$work/registry" "$port" >"$work/registry.yml"
    docker-registry serve "$work/registry.yml" >"$work/registry.log" 2>&1 &
    processes+=($!)
    for _ in $(seq 100); do
        if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then break; fi
        sleep 0.1
    done
    skopeo --insecure-policy copy --quiet --all --dest-tls-verify=false "oci:$out/image:$version" \
        "docker://127.0.0.1:$port/tidemark:$version"
    skopeo --insecure-policy copy --quiet --src-tls-verify=false "docker://127.0.0.1:$port/tidemark:$version" \
        "oci:$work/pulled:$version"
    umoci unpack --image "$work/pulled:$version" "$work/bundle" 2>/dev/null
    say "proved: the index came back from a registry ($(skopeo --insecure-policy inspect --raw --tls-verify=false \
        "docker://127.0.0.1:$port/tidemark:$version" | jq -r '[.manifests[].platform.architecture] | join(", ")')):" \
        "$(du -sh "$work/pulled" | cut -f1), unpacked $(du -sh "$work/bundle/rootfs" | cut -f1)," \
        "$(find "$work/bundle/rootfs" -type f | wc -l) files"
}

# start_once RUNNER: checks that the image serves as a container would, and matches its description.
start_once() {
    local server line="" status
    "$work/bundle/rootfs/usr/local/bin/tidemark" token --dev --user ann >/dev/null
    TIDEMARK_LISTEN=127.0.0.1:0 TIDEMARK_DEV=1 "$1" serve >"$work/image.log" 2>&1 &
    server=$!
    processes+=("$server")
    until_line "$work/image.log" "tidemark listening"
    status=$(cat "/proc/$server/status")
    line=$(awk '/^(Uid|CapEff|CapPrm|CapInh|CapAmb|NoNewPrivs):/ { printf "%s %s  ", $1, $2 }' <<<"$status")
    [[ $line == "Uid: $IMAGE_USER  CapInh: 0000000000000000  CapPrm: 0000000000000000  CapEff: 0000000000000000  CapAmb: 0000000000000000  NoNewPrivs: 1  " ]] \
        || refuse "the image's server may do more than it should: $line"
    grep -q " / .*\bro\b" "/proc/$server/mountinfo" || refuse "the image's files can be written: $(cat "/proc/$server/mountinfo")"
    grep -q "/$ALLOCATOR" "/proc/$server/maps" || refuse "the server does not allocate with $ALLOCATOR, as the image says"
    kill -TERM "$server"
    wait "$server" || refuse "SIGTERM ended it with exit code $?: $(cat "$work/image.log")"
    say "proved: it serves from read-only files as user $IMAGE_USER, without capabilities, and SIGTERM ends it with exit code 0"
}

# pass_tests RUNNER: runs the end-to-end tests, which start it instead of the program that was built with them.
pass_tests() {
    local filter=${FILTER:-^EndToEndTests\\.} log=$work/tests.log
    [[ $filter != none ]] || { say "not proved: the end-to-end tests (FILTER=none)" && return; }
    say "running the end-to-end tests against the image"
    cd "$top"
    local run=(swift test --skip-build --disable-xctest)
    if [[ -n ${TESTS:-} ]]; then run=("$TESTS"); else swift build --build-tests >/dev/null; fi
    # Its user is not ours: both must be able to use the tests' files.
    umask 000
    TIDEMARK_BINARY=$1 "${run[@]}" --filter "$filter" --skip "$KNOWN" 2>&1 | tee "$log" \
        | grep -aE '^(✘|↳)|Fatal' || true
    umask 022
    grep -aqE 'Test run with [1-9][0-9]* tests? .*passed' "$log" || refuse "the image does not pass: $(tail -n 3 "$log")"
    say "proved: $(grep -aoE 'Test run with .*passed.*' "$log")"
}

if [[ ${1:-} == --help || ${1:-} == -h ]]; then
    usage "${BASH_SOURCE[0]}"
    exit 0
fi
[[ $(uname -s) == Linux && $(id -u) -eq 0 ]] || refuse "run this on Linux, with sudo: chroot and mounts need root"
out=$(cd "${1:-$top/dist}" && pwd)
ensure_packages "${CHECK_PACKAGES[@]}"
arch=$(dpkg --print-architecture)
work=$(mktemp -d /tmp/tidemark-release.XXXXXX)
chmod 0755 "$work"
trap tidy_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
version=$(basename "$out"/tidemark_*_"$arch".deb | cut -d_ -f2)

check_digests
check_documents
check_package
carry_image
mapfile -t variables < <(jq -r '.process.env[]' "$work/bundle/config.json")
write_runner "$work/tidemark" "$work/bundle/rootfs" "$(jq -r .process.user.uid "$work/bundle/config.json")" "${variables[@]}"
start_once "$work/tidemark"
# Tests themselves set a server's address and store.
mapfile -t variables < <(printf '%s\n' "${variables[@]}" | grep -v '^TIDEMARK_')
write_runner "$work/tested" "$work/bundle/rootfs" "$IMAGE_USER" "${variables[@]}"
pass_tests "$work/tested"
say "not proved: the image under a container engine, the manifests in a cluster, and other processors than $arch"
