#!/usr/bin/env bash
# Measures backup, verify and restore of a million records under writes, and shows that kill -9 leaves no partial result that is accepted.
#
#   Tests/Benchmarks/backup.sh [kills]      (default: 20)
#   Tests/Benchmarks/backup.sh --help
#
# TIDE names a 'tide' with its 'tidemark' beside it; without it the release binaries are built. Starts a private PostgreSQL in a
# temporary folder, which needs some 4 GB for a while.
#
# On each store a server is filled with a million records. 1,000 records a second are written: alone, beside 'tidemark backup', and
# beside 'tidemark restore' into another database; their delays are compared. Each backup is restored into the other kind of store as
# well. Then backups and restores are killed at random moments. The remains are refused by verify, restore and serve, and the next run
# to the same path succeeds.
set -euo pipefail

# shellcheck source=deploy/lib/benchmark.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../deploy/lib/benchmark.sh"
kills=${1:-20}
work=$(mktemp -d /tmp/tidemark-backups.XXXXXX)
server=""

tidy_up() {
    if [[ -n $server ]]; then kill -KILL "$server" 2>/dev/null || true; fi
    stop_postgres
    rm -rf "$work"
}
trap tidy_up EXIT

find_release tidemark tide
export TIDEMARK_LIMIT_RATE=1000000 TIDEMARK_LIMIT_BURST=1000000

start_postgres source
connection() { printf 'postgres://tidemark@/%s?host=%s&port=%s' "$1" "$postgres_folder" "$POSTGRES_PORT"; }

serve() { # DATABASE
    "$tidemark" serve --dev --database "$1" --listen 127.0.0.1:18996 >"$work/serve.log" 2>&1 &
    server=$!
    until grep -q listening "$work/serve.log"; do
        kill -0 "$server" 2>/dev/null || refuse "the server did not start: $(tail -n 3 "$work/serve.log")"
        sleep 0.1
    done
}

end_server() {
    kill "$server"
    wait "$server" 2>/dev/null || true
    server=""
}

paced() { # SECONDS
    "$tide" bench fanout --server http://127.0.0.1:18996 --dev --subscribers 1 --writers 10 --rate 1000 --seconds "$1" --json | tail -n 1
}

# records DATABASE: prints their number.
records() {
    "$tidemark" verify --database "$1" 2>/dev/null | grep -o '[0-9,]* records' | tr -dc 0-9 || true
}

# moment SECONDS: prints a random part of the length of the command to be killed.
moment() { awk -v seed="$RANDOM" -v most="$1" 'BEGIN { srand(seed); printf "%.2f", rand() * most }'; }

# refused WORDS COMMAND…: checks that the command fails with these words.
refused() {
    local words=$1 text
    shift
    if text=$("$@" 2>&1); then refuse "this went well, and should not: $*"; fi
    [[ $text == *"$words"* ]] || refuse "'$words' is not in: $text"
}

kill_backups() { # NAME DATABASE SECONDS
    local try whole=0
    for ((try = 1; try <= kills; try++)); do
        "$tidemark" backup "$work/$1-killed" --database "$2" >/dev/null 2>&1 &
        local backup=$!
        sleep "$(moment "$3")"
        kill -KILL "$backup" 2>/dev/null || true
        wait "$backup" 2>/dev/null || true
        if [[ -e $work/$1-killed ]]; then
            whole=$((whole + 1))
            "$tidemark" verify "$work/$1-killed" >/dev/null || refuse "a backup that had its name is not sound"
            rm -r "$work/$1-killed"
        elif [[ -e $work/$1-killed.partial ]]; then
            refused "was cut short" "$tidemark" verify "$work/$1-killed.partial"
        fi
    done
    "$tidemark" backup "$work/$1-killed" --database "$2" >/dev/null
    "$tidemark" verify "$work/$1-killed" >/dev/null
    [[ ! -e $work/$1-killed.partial ]] || refuse "a folder of a killed backup is left"
    say "$1: $kills backups killed, $whole of them after they were complete; the next one is intact"
}

kill_sqlite_restores() { # SECONDS
    local try whole=0 target=$work/new/killed.sqlite
    for ((try = 1; try <= kills; try++)); do
        "$tidemark" restore "$work/sqlite" --database "sqlite:$target" >/dev/null 2>&1 &
        local restore=$!
        sleep "$(moment "$1")"
        kill -KILL "$restore" 2>/dev/null || true
        wait "$restore" 2>/dev/null || true
        if [[ -e $target ]]; then
            whole=$((whole + 1))
            "$tidemark" verify --database "sqlite:$target" >/dev/null || refuse "a restored database is damaged"
            rm -r "$work/new"
        elif [[ -e $target.restoring ]]; then
            refused "a restore into $target is under way" \
                "$tidemark" serve --dev --database "sqlite:$target" --listen 127.0.0.1:18995
        fi
    done
    rm -f "$target" "$work/new/killed.blobs.sqlite"
    "$tidemark" restore "$work/sqlite" --database "sqlite:$target" >/dev/null
    "$tidemark" verify --database "sqlite:$target" >/dev/null
    say "sqlite: $kills restores killed, $whole of them after they were complete; the next one is intact"
}

kill_postgres_restores() { # SECONDS
    local try whole=0 text binaries
    binaries=$(postgres_binaries)
    for ((try = 1; try <= kills; try++)); do
        as_postgres "$binaries/createdb" --host="$postgres_folder" --username=tidemark "killed$try"
        "$tidemark" restore "$work/postgres" --database "$(connection "killed$try")" >/dev/null 2>&1 &
        local restore=$!
        sleep "$(moment "$1")"
        kill -KILL "$restore" 2>/dev/null || true
        wait "$restore" 2>/dev/null || true
        # pg_restore ends by itself, and has then restored everything or nothing.
        while text=$("$tidemark" restore "$work/postgres" --database "$(connection "killed$try")" 2>&1); do break; done
        while [[ $text == *"still writing into this database"* ]]; do
            refused "" "$tidemark" verify --database "$(connection "killed$try")"
            sleep 0.5
            text=$("$tidemark" restore "$work/postgres" --database "$(connection "killed$try")" 2>&1) || true
        done
        if [[ $text == *"has tables of Tidemark's"* ]]; then whole=$((whole + 1)); fi
        "$tidemark" verify --database "$(connection "killed$try")" >/dev/null || refuse "not sound after: $text"
        as_postgres "$binaries/dropdb" --host="$postgres_folder" --username=tidemark --force "killed$try"
    done
    say "postgres: $kills restores killed, $whole of them after they were complete; the next one continued, and is intact"
}

for store in sqlite postgres; do
    database=sqlite:$work/source/tidemark.sqlite
    if [[ $store == postgres ]]; then database=$(connection source); fi
    say "$store: filling"
    filled=0
    while ((filled < 1000000)); do
        "$tide" bench writes --database "$database" --writers 128 --in-flight 32 --seconds 28 >/dev/null
        filled=$(records "$database")
        filled=${filled:-0}
        say "$store: $filled records"
    done
    serve "$database"
    say "$store: 1,000 writes a second alone"
    paced 12
    paced 30 >"$work/load.log" &
    load=$!
    sleep 3
    say "$store: a backup beside them"
    time "$tidemark" backup "$work/$store" --database "$database" | tail -n 1
    wait "$load"
    say "$store: the writes meanwhile"
    cat "$work/load.log"
    say "$store: verify"
    time "$tidemark" verify "$work/$store" | tail -n 1
    paced 30 >"$work/load.log" &
    load=$!
    sleep 3
    say "$store: a restore beside them"
    target=sqlite:$work/restored/tidemark.sqlite
    if [[ $store == postgres ]]; then
        as_postgres "$(postgres_binaries)/createdb" --host="$postgres_folder" --username=tidemark restored
        target=$(connection restored)
    fi
    time "$tidemark" restore "$work/$store" --database "$target" | tail -n 3
    wait "$load"
    say "$store: the writes meanwhile"
    cat "$work/load.log"
    du -sm "$work/$store"
    say "$store: a restore into the other kind of store"
    other=sqlite:$work/grown/tidemark.sqlite
    if [[ $store == sqlite ]]; then
        as_postgres "$(postgres_binaries)/createdb" --host="$postgres_folder" --username=tidemark grown
        other=$(connection grown)
    fi
    time "$tidemark" restore "$work/$store" --database "$other" | tail -n 3
    kill_backups "$store" "$database" 10
    end_server
done
kill_sqlite_restores 6
kill_postgres_restores 9
