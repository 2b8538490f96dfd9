# shellcheck shell=bash
# A private PostgreSQL cluster in a temporary folder: own files, own socket, no TCP. Sourced, never run.
set -euo pipefail

# shellcheck source=deploy/lib/packages.sh
source "$(dirname "${BASH_SOURCE[0]}")/packages.sh"

POSTGRES_PORT=5432              # names the socket file only: the cluster listens on no network address
POSTGRES_STOP_SECONDS=20
postgres_folder=""
postgres_pid=""

# postgres_binaries: prints the folder of initdb and postgres, newest first; fails when there is none.
postgres_binaries() {
    local folder
    for folder in $(printf '%s\n' /usr/lib/postgresql/*/bin | sort -rV) \
        /opt/homebrew/opt/postgresql*/bin /usr/local/opt/postgresql*/bin; do
        if [[ -x $folder/initdb ]]; then
            printf '%s\n' "$folder"
            return 0
        fi
    done
    command -v initdb >/dev/null && dirname "$(command -v initdb)"
}

ensure_postgres() {
    if postgres_binaries >/dev/null; then
        return 0
    fi
    command -v apt-get >/dev/null \
        || refuse "no PostgreSQL binaries (initdb) found; install PostgreSQL 15 or newer (macOS: 'brew install postgresql@15')"
    ensure_packages postgresql
    postgres_binaries >/dev/null || refuse "the package postgresql is installed, but initdb cannot be found"
}

# PostgreSQL refuses to run as root, so root becomes the user that its package made.
as_postgres() {
    if [[ $(id -u) -eq 0 ]]; then
        (cd / && runuser -u postgres -- "$@")
    else
        "$@"
    fi
}

# start_postgres DATABASE: starts a cluster, creates the database and sets `postgres_pid` and `postgres_folder`.
# The caller owns the cluster and must arrange for `stop_postgres` in a trap before it calls this.
start_postgres() {
    local database=$1 binaries
    ensure_postgres
    binaries=$(postgres_binaries)
    if [[ $(id -u) -eq 0 ]] && ! id postgres >/dev/null 2>&1; then
        refuse "PostgreSQL does not run as root and there is no user 'postgres'; run this as another user"
    fi
    # Directly under /tmp: the path of a Unix socket is at most 107 bytes, and TMPDIR can be long.
    postgres_folder=$(mktemp -d /tmp/tidemark-postgres.XXXXXX)
    if [[ $(id -u) -eq 0 ]]; then
        chown postgres "$postgres_folder"
    fi
    say "starting a private PostgreSQL in $postgres_folder"
    as_postgres "$binaries/initdb" --pgdata="$postgres_folder/data" --username=tidemark --auth=trust \
        --encoding=UTF8 --locale=C --no-sync >"$postgres_folder/initdb.log" \
        || refuse "initdb failed: $(tail -n 5 "$postgres_folder/initdb.log")"
    as_postgres tee -a "$postgres_folder/data/postgresql.conf" >/dev/null <<SETTINGS
# Trust is enough here: only the owner of this folder, and root, can reach the socket.
listen_addresses = ''
port = $POSTGRES_PORT
unix_socket_directories = '$postgres_folder'
unix_socket_permissions = 0700
fsync = on
synchronous_commit = on
shared_buffers = 128MB
max_connections = 300
max_wal_size = 512MB
SETTINGS
    as_postgres "$binaries/pg_ctl" start --wait --timeout=60 --silent \
        --pgdata="$postgres_folder/data" --log="$postgres_folder/server.log" >/dev/null \
        || refuse "PostgreSQL did not start: $(tail -n 5 "$postgres_folder/server.log")"
    postgres_pid=$(head -n 1 "$postgres_folder/data/postmaster.pid")
    as_postgres "$binaries/createdb" --host="$postgres_folder" --port="$POSTGRES_PORT" --username=tidemark "$database"
    say "PostgreSQL $("$binaries/postgres" --version | awk '{ print $3 }') runs as process $postgres_pid"
}

# postgres_connection DATABASE: prints the connection string, in libpq's keyword form.
postgres_connection() {
    printf 'host=%s port=%s user=tidemark dbname=%s' "$postgres_folder" "$POSTGRES_PORT" "$1"
}

# postgres_is_running: the pid file disappears with the server. Its process may stay as a zombie
# if nothing reaps orphans, as in some containers, so a check of the process alone would wait for ever.
postgres_is_running() {
    [[ -n $postgres_pid && -e $postgres_folder/data/postmaster.pid ]] && kill -0 "$postgres_pid" 2>/dev/null
}

# stop_postgres: stops the cluster by its process and deletes its folder. Safe to call at any moment, and twice.
stop_postgres() {
    local waited=0
    if [[ -z $postgres_pid && -f $postgres_folder/data/postmaster.pid ]]; then
        postgres_pid=$(head -n 1 "$postgres_folder/data/postmaster.pid")    # interrupted while it was starting
    fi
    if [[ -n $postgres_pid ]] && kill -INT "$postgres_pid" 2>/dev/null; then
        while postgres_is_running; do
            if ((waited >= POSTGRES_STOP_SECONDS * 10)); then
                kill -QUIT "$postgres_pid" 2>/dev/null || true
                break
            fi
            sleep 0.1
            waited=$((waited + 1))
        done
    fi
    postgres_pid=""
    if [[ -n $postgres_folder ]]; then
        rm -rf "$postgres_folder"
    fi
    postgres_folder=""
}
