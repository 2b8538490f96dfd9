#!/usr/bin/env bash
# Plays the demo on three servers behind a haproxy with TLS, while servers are killed; then tries a pooler before the database.
#
#   Tests/Benchmarks/nodes.sh [arguments of `tide demo`, such as --messages 20000 --kills 20]
#   Tests/Benchmarks/nodes.sh --help
#
# Starts PostgreSQL and haproxy in a temporary folder. Devices know only the proxy's address: a kill ends a connection, and the
# next one leads to a server that is ready. Exit status 0 only if nothing was lost or duplicated.
#   DATABASE   postgres://…: another one, such as the coordinator of a Citus (deploy/citus.md); no pooler is tried then
#   BUILD      release (default) or debug: which 'tide' and 'tidemark', built before
#   NODES      default: 3
# NODES.md beside this script has the results.
set -euo pipefail

# shellcheck source=deploy/lib/benchmark.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../deploy/lib/benchmark.sh"

nodes=${NODES:-3}
built=$top/.build/${BUILD:-release}
folder=""
processes=()

tidy_up() {
    local process
    for process in "${processes[@]}"; do kill "$process" 2>/dev/null || true; done
    stop_postgres
    if [[ -n $folder ]]; then rm -rf "$folder"; fi
}

# free_ports COUNT: prints the first of COUNT consecutive free ports.
free_ports() {
    local first port
    for _ in $(seq 50); do
        first=$((20000 + RANDOM % 20000))
        for ((port = first; port < first + $1; port++)); do
            if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then continue 2; fi
        done
        printf '%s\n' "$first"
        return
    done
    refuse "no free ports found in 50 tries"
}

# until_open PORT: waits until the port accepts connections.
until_open() {
    for _ in $(seq 100); do
        if (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then return; fi
        sleep 0.1
    done
    refuse "nobody listens on port $1"
}

# recipe: prints the proxy's sections in deploy/README.md, without the servers.
recipe() {
    local lines
    lines=$(sed -n '/^cat >> \/etc\/haproxy\/haproxy.cfg <<END$/,/^END$/p' "$top/deploy/README.md" | sed '1d;$d;/^    server /d')
    [[ $lines == *"timeout check"*on-marked-down* ]] || refuse "deploy/README.md has no recipe for haproxy"
    printf '%s\n' "$lines"
}

start_proxy() { # PORT FIRST
    local node
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost -days 2 \
        -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout "$folder/key.pem" -out "$folder/chain.pem" 2>/dev/null
    cat "$folder/chain.pem" "$folder/key.pem" >"$folder/site.pem"
    {
        cat <<HAPROXY
global
    maxconn 4096
defaults
    mode http
    timeout connect 2s
    retries 3
HAPROXY
        recipe | sed "s|bind :8443 ssl crt /etc/haproxy/site.pem|bind 127.0.0.1:$1 ssl crt $folder/site.pem|"
        for ((node = 0; node < nodes; node++)); do printf '    server node-%s 127.0.0.1:%s\n' $((node + 1)) $(($2 + node)); done
    } >"$folder/haproxy.cfg"
    haproxy -c -q -f "$folder/haproxy.cfg" || refuse "haproxy does not take $folder/haproxy.cfg"
    haproxy -f "$folder/haproxy.cfg" >"$folder/haproxy.log" 2>&1 &
    processes+=($!)
    until_open "$1"
}

# pool MODE PORT: starts a PgBouncer before the database.
pool() {
    printf '[databases]\ntidemark = host=%s port=%s user=tidemark\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %s\nauth_type = any\npool_mode = %s\nunix_socket_dir =\n' \
        "$postgres_folder" "$POSTGRES_PORT" "$2" "$1" >"$folder/$1.ini"
    as_postgres pgbouncer "$folder/$1.ini" >"$folder/$1.log" 2>&1 &
    processes+=($!)
    until_open "$2"
}

try_poolers() {
    local port answer=0
    port=$(free_ports 2)
    pool transaction "$port"
    timeout 30 "$built/tidemark" serve --dev --listen 127.0.0.1:0 --database "postgres://tidemark@127.0.0.1:$port/tidemark" \
        >"$folder/refused.log" 2>&1 || answer=$?
    if [[ $answer -ne 1 ]] || ! grep -q "PgBouncer.* in transaction mode" "$folder/refused.log"; then
        refuse "PgBouncer in transaction mode is not refused by name (exit status $answer): $(cat "$folder/refused.log")"
    fi
    say "refused: $(grep -m 1 PgBouncer "$folder/refused.log")"
    pool session $((port + 1))
    "$built/tidemark" serve --dev --listen 127.0.0.1:0 --database "postgres://tidemark@127.0.0.1:$((port + 1))/tidemark" \
        >"$folder/taken.log" 2>&1 &
    processes+=($!)
    for _ in $(seq 100); do
        if grep -q '^tidemark listening' "$folder/taken.log"; then break; fi
        sleep 0.1
    done
    grep -q '^tidemark listening' "$folder/taken.log" || refuse "PgBouncer in session mode: $(cat "$folder/taken.log")"
    say "accepted: PgBouncer in session mode"
}

trap tidy_up EXIT
[[ -x $built/tide && -x $built/tidemark ]] || refuse "build 'tide' and 'tidemark' first: swift build -c ${BUILD:-release}"
ensure_packages haproxy openssl pgbouncer
folder=$(mktemp -d /tmp/tidemark-nodes.XXXXXX)
chmod 0755 "$folder"
database=${DATABASE:-}
if [[ -z $database ]]; then
    start_postgres tidemark
    database="postgres://tidemark@/tidemark?host=$postgres_folder&port=$POSTGRES_PORT"
fi
port=$(free_ports $((nodes + 1)))
start_proxy "$port" $((port + 1))
"$built/tide" demo --database "$database" --nodes "$nodes" --first-port $((port + 1)) \
    --through "https://localhost:$port" --trust "$folder/chain.pem" "$@"
if [[ -z ${DATABASE:-} ]]; then try_poolers; fi
