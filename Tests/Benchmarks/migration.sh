#!/usr/bin/env bash
# Measures each step of a migration in a small and in a large database, and the longest wait of a concurrent write.
#
#   Tests/Benchmarks/migration.sh [records of the large one]      (default: 10000000; the small one has 100000)
#   Tests/Benchmarks/migration.sh --help
#
# STORES names one of 'embedded' and 'postgres', or both (default). TIDEMARK names the program; without it the release binary is
# built. Starts a private PostgreSQL in a temporary folder, which needs about 6 GB for ten million records.
#
# Both begin with the tables of the version before generations (Tests/Fixtures/Landed), filled by SQL: one client for each hundred
# records. During a migration on PostgreSQL one record after the other is written, as by a node, and the longest write is noted.
# A step that adds tables and columns should take the same time in both; one that makes an index or backfills rows grows with the rows.
set -euo pipefail

# shellcheck source=deploy/lib/benchmark.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../deploy/lib/benchmark.sh"
small=100000
large=${1:-10000000}
read -ra stores <<<"${STORES:-embedded postgres}"
ensure_packages sqlite3
work=$(mktemp -d /tmp/tidemark-migration.XXXXXX)
chmod 755 "$work"

tidy_up() {
    stop_postgres
    rm -rf "$work"
}
trap tidy_up EXIT

find_release tidemark
start_postgres migration
run_sql() { psql --quiet --no-psqlrc --tuples-only --no-align --host "$postgres_folder" --username tidemark "$@"; }

# fill_postgres RECORDS
fill_postgres() {
    run_sql --dbname migration -c "CREATE DATABASE of_$1" >/dev/null
    run_sql --dbname "of_$1" -f "$top/Tests/Fixtures/Landed/postgres.sql" >/dev/null
    run_sql --dbname "of_$1" >/dev/null <<SQL
INSERT INTO sync_record (workspace, collection, id, scope, place, seq, born, deleted, author, created, updated, octets, body)
SELECT 'dev', 'messages', gen_random_uuid(), 'conversation ' || n % 10000, n % 10000, n + 1000, n + 1000, n % 1000 = 0, 'user', 0, 0, 120,
    CASE WHEN n % 1000 = 0 THEN NULL ELSE ('{"text":"' || repeat('x', 108) || '"}')::json END
FROM generate_series(1, $1) AS n;
INSERT INTO sync_client (workspace, client, user_id, settled, acked, connection, registered)
SELECT 'dev', gen_random_uuid(), 'user ' || n, 0, 0, 0, n FROM generate_series(1, $1 / 100) AS n;
VACUUM ANALYZE;
CHECKPOINT;
SQL
}

# fill_embedded RECORDS
fill_embedded() {
    gzip --decompress --stdout "$top/Tests/Fixtures/Landed/server.sqlite.gz" >"$work/$1.sqlite"
    sqlite3 "$work/$1.sqlite" >/dev/null <<SQL
PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; PRAGMA cache_size = -1000000;
BEGIN;
WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < $1)
INSERT INTO sync_record (id, collection, workspace, scope, place, seq, born, deleted, author, created, updated, body)
SELECT lower(hex(randomblob(16))), 'messages', 'dev', 'conversation ' || n % 10000, n % 10000 + 100, n + 1000, n + 1000, n % 1000 = 0, 'user', 0, 0,
    CASE WHEN n % 1000 = 0 THEN NULL ELSE '{"text":"' || printf('%.108c', 'x') || '"}' END
FROM c;
WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < $1 / 100)
INSERT INTO sync_client (workspace, client, user, settled, acked, connection, registered)
SELECT 'dev', lower(hex(randomblob(16))), 'user ' || n, 0, 0, 0, n FROM c;
COMMIT;
PRAGMA journal_mode = WAL;
SQL
    sync
}

# write_on DATABASE: writes one record after the other, as a node does, while $work/writing exists; milliseconds of each into $work/writes.
write_on() {
    local began
    while [[ -e $work/writing ]]; do
        began=$(date +%s%3N)
        run_sql --dbname "$1" -v ON_ERROR_STOP=1 >/dev/null <<'SQL'
BEGIN;
SELECT FROM sync_workspace WHERE workspace = 'dev' FOR UPDATE;
INSERT INTO sync_record (workspace, collection, id, scope, place, seq, born, deleted, author, created, updated, octets, body)
VALUES ('dev', 'messages', gen_random_uuid(), 'conversation 1', 1, 0, 0, false, 'user', 0, 0, 2, '{}');
UPDATE sync_client SET settled = settled + 1 WHERE workspace = 'dev' AND user_id = 'user 1';
COMMIT;
SQL
        echo $(($(date +%s%3N) - began))
    done >"$work/writes"
}

# migrated STORE RECORDS: writes each line with the milliseconds since the one before it into $work/STORE.RECORDS.
migrated() {
    local database=$work/$2.sqlite last now line writer=""
    if [[ $1 == postgres ]]; then
        database="postgres://tidemark@/of_$2?host=$postgres_folder&port=$POSTGRES_PORT"
        touch "$work/writing"
        write_on "of_$2" &
        writer=$!
        sleep 1
    fi
    last=$(date +%s%3N)
    "$tidemark" migrate --database "$database" | while read -r line; do
        now=$(date +%s%3N)
        printf '%s\t%s\n' "$((now - last))" "$line"
        last=$now
    done | awk -F '\t' '{ spent += $1 } / done$|: done$/ { sub(/: done$/, "", $2); print $2 "\t" spent; spent = 0 }' >"$work/$1.$2"
    if [[ -n $writer ]]; then
        rm "$work/writing"
        wait "$writer"
        awk '$1 > most { most = $1 } END { printf "the longest of %d writes meanwhile\t%d\n", NR, most }' "$work/writes" \
            >>"$work/$1.$2"
    fi
}

for store in "${stores[@]}"; do
    for records in "$small" "$large"; do
        say "$store: $records records"
        "fill_$store" "$records"
        migrated "$store" "$records"
    done
    printf '%-40s %12s %12s %8s\n' "$store, ms" "$small" "$large" ratio
    paste "$work/$store.$small" "$work/$store.$large" \
        | awk -F '\t' '{ sub(/of [0-9]+ writes/, "write", $1); printf "%-40s %12d %12d %8.2f\n", $1, $2, $4, $4 / ($2 > 0 ? $2 : 1) }'
done
