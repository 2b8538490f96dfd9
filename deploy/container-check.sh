#!/usr/bin/env bash
# Checks the assumptions of the image, without a container engine. Needs root, for chroot. Linux only.
#
#   deploy/container-check.sh [path of a release binary built with --static-swift-stdlib]
#
# Copies the binary and exactly the libraries that it needs into an empty folder, starts it there as an
# unprivileged user with /proc, and with nothing in its environment but the image's own variables, requests /healthz,
# and ends it with SIGTERM. Without a path it builds the binary as deploy/Dockerfile does.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=deploy/lib/binary.sh
source "$top/deploy/lib/binary.sh"

IMAGE_PACKAGES=(libjemalloc2 libpq5 libsqlite3-0)    # as in deploy/Dockerfile: the ones that hold libraries
SLIM_PACKAGES=(apt bash libc6 libgcc-s1 libstdc++6)  # what debian:bookworm-slim has before that, as far as it matters
START_SECONDS=30
STOP_SECONDS=30
tree=""
server=""

tidy_up() {
    if [[ -n $server ]] && kill -0 "$server" 2>/dev/null; then
        kill -KILL "$server" || true
    fi
    if [[ -n $tree ]]; then
        rm -rf "$tree"
    fi
}

check_libraries() {
    local binary=$1
    require_static "$binary"
    say "proved: it needs $(libraries "$binary" | wc -l) libraries, none of them Swift's"
}

# check_packages BINARY: checks that every library comes from a package that the image has, directly or as a dependency.
check_packages() {
    local known owner path
    if ! command -v apt-cache >/dev/null; then
        say "not proved: which packages hold the libraries (no apt here)"
        return
    fi
    known=$(apt-cache depends --recurse --installed --no-recommends --no-suggests --no-conflicts --no-breaks \
        --no-replaces --no-enhances "${IMAGE_PACKAGES[@]}" "${SLIM_PACKAGES[@]}" | sed -nE 's/^([a-z0-9].*)$/\1/p')
    while read -r path; do
        owner=$(owner "$path")
        grep -qx "$owner\(:.*\)\?" <<<"$known" \
            || refuse "$path comes from '${owner:-no package}', which the image does not have; add it to deploy/Dockerfile"
    done < <(libraries "$1")
    say "proved: every library comes with ${IMAGE_PACKAGES[*]} or with what Debian's slim image has"
}

# plant BINARY: makes the empty root with the binary, its libraries, a secret, a schema and a writable folder.
plant() {
    local path
    tree=$(mktemp -d /tmp/tidemark-container.XXXXXX)
    chmod 0755 "$tree"
    mkdir -p "$tree/usr/local/bin" "$tree/var/lib/tidemark" "$tree/run/secrets" "$tree/tmp" "$tree/proc"
    strip -o "$tree/usr/local/bin/tidemark" "$1"
    while read -r path; do
        mkdir -p "$tree$(dirname "$path")"
        cp -L "$path" "$tree$path"
    done < <(libraries "$1")
    head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \n' >"$tree/run/secrets/token_secret"
    chmod 0444 "$tree/run/secrets/token_secret"
    chmod 1777 "$tree/tmp"
    install -m 0444 "$top/ClientSDK/ChatSchema/chat.schema.json" "$tree/app.schema.json"
    chown "$IMAGE_USER:$IMAGE_USER" "$tree/var/lib/tidemark"
    say "the tree holds $(find "$tree" -type f | wc -l) files, $(du -sh "$tree" | cut -f1)," \
        "the binary $(du -h "$tree/usr/local/bin/tidemark" | cut -f1)"
}

# status_line PORT: prints the first line of the answer to the request of the image's health check.
status_line() {
    bash -c "exec 3<>/dev/tcp/127.0.0.1/$1 && printf 'GET /healthz HTTP/1.0\r\n\r\n' >&3 && head -n 1 <&3" 2>/dev/null
}

free_port() {
    local port
    for _ in $(seq 50); do
        port=$((20000 + RANDOM % 20000))
        if ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
            printf '%s\n' "$port"
            return
        fi
    done
    refuse "no free port found in 50 tries"
}

start() {
    local port=$1 answer="" tries
    # As in a container, /proc exists: Swift reads the command line from it. The mount ends with the process.
    # shellcheck disable=SC2016  # the inner shell expands them
    env -i TIDEMARK_LISTEN="127.0.0.1:$port" TIDEMARK_DATABASE=/var/lib/tidemark/tidemark.sqlite \
        TIDEMARK_SECRET_FILE=/run/secrets/token_secret TIDEMARK_SCHEMA=/app.schema.json \
        ALLOCATOR="$ALLOCATOR" \
        "$(command -v unshare)" --mount "$BASH" -c \
        '/bin/mount -t proc proc "$0/proc" && export LD_PRELOAD="$ALLOCATOR" MALLOC_CONF=background_thread:true \
            && exec "$1" --userspec="$2:$2" "$0" /usr/local/bin/tidemark serve' \
        "$tree" "$(command -v chroot)" "$IMAGE_USER" >"$tree/server.log" 2>&1 &
    server=$!
    for ((tries = 0; tries < START_SECONDS * 10; tries++)); do
        kill -0 "$server" 2>/dev/null || refuse "the server ended at once: $(tail -n 20 "$tree/server.log")"
        answer=$(status_line "$port" || true)
        [[ $answer != *" 200 "* ]] || break
        sleep 0.1
    done
    [[ $answer == *" 200 "* ]] || refuse "/healthz answered '${answer:-nothing}' for $START_SECONDS s: $(tail -n 20 "$tree/server.log")"
    say "proved: /healthz answers 200, with no file but those and as user $(awk '/^Uid/ { print $2 }' "/proc/$server/status")"
    grep -q "/$ALLOCATOR" "/proc/$server/maps" || refuse "the server does not allocate with $ALLOCATOR, as the image says"
    say "proved: it allocates with $ALLOCATOR"
}

stop() {
    local code=0 tries
    kill -TERM "$server"
    for ((tries = 0; tries < STOP_SECONDS * 10; tries++)); do
        kill -0 "$server" 2>/dev/null || break
        sleep 0.1
    done
    if kill -0 "$server" 2>/dev/null; then
        refuse "it still runs $STOP_SECONDS s after SIGTERM"
    fi
    wait "$server" || code=$?
    server=""
    [[ $code -eq 0 ]] || refuse "SIGTERM ended it with exit code $code: $(tail -n 20 "$tree/server.log")"
    say "proved: SIGTERM ends it with exit code 0"
}

if [[ ${1:-} == --help || ${1:-} == -h ]]; then
    usage "${BASH_SOURCE[0]}"
    exit 0
fi
[[ $(uname -s) == Linux ]] || refuse "this checks a Linux image; run it on Linux"
[[ $(id -u) -eq 0 ]] || refuse "chroot needs root; run this with sudo"
trap tidy_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

binary=$(release_binary "$top" "$@")
check_libraries "$binary"
check_packages "$binary"
plant "$binary"
port=$(free_port)
start "$port"
stop
say "not proved: that the image builds, its HEALTHCHECK as the engine runs it, compose.yaml, and PostgreSQL over TLS"
