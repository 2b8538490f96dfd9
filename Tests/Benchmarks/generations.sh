#!/usr/bin/env bash
# Shows that tables are migrated while they are used: two nodes of two versions on one PostgreSQL, and kill -9 inside long steps.
#
#   Tests/Benchmarks/generations.sh LANDED [messages]      (default: 4000)
#   Tests/Benchmarks/generations.sh --help
#
# LANDED is the program of the version before generations (Tests/Fixtures/Landed/make.sh says which). TIDE names a 'tide' with its
# 'tidemark' beside it; without it the release binaries are built. Starts a private PostgreSQL in a temporary folder.
#
# 1. 'tide demo' with two nodes, each start of which uses the other version, begins on tables of the landed version, kills
#    nodes on the way, and judges at the end; 'tidemark migrate' runs beside it repeatedly, and is killed each time.
# 2. On both stores the step that backfills rows of many clients is killed at random moments, twenty times or until it is complete.
#    Each time it continues at its last position. Then every row is checked. 'steps.sh' kills inside each of the steps.
set -euo pipefail

# shellcheck source=deploy/lib/benchmark.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../deploy/lib/benchmark.sh"

if [[ $# -eq 0 ]]; then
    usage "${BASH_SOURCE[0]}"
    exit 0
fi
landed=$(realpath "$1")
messages=${2:-4000}
kills=20
work=$(mktemp -d /tmp/tidemark-generations.XXXXXX)
chmod 755 "$work"

tidy_up() {
    stop_postgres
    rm -rf "$work"
}
trap tidy_up EXIT

find_release tidemark tide
# Copies, so that a concurrent build changes nothing.
mkdir "$work/bin"
cp "$tide" "$tidemark" "$work/bin"
tide=$work/bin/tide
tidemark=$work/bin/tidemark

start_postgres generations
run_sql() { psql --quiet --no-psqlrc --tuples-only --no-align --host "$postgres_folder" --username tidemark "$@"; }
uri() { echo "postgres://tidemark@/$1?host=$postgres_folder&port=$POSTGRES_PORT"; }
expect() { [[ $2 == "$3" ]] || refuse "$1: $2 instead of $3"; }

# 1. Nodes of both versions.
say "two nodes of two versions, $messages messages"
mkdir "$work/mixed"
cp "$tide" "$work/mixed/tide"
cat >"$work/mixed/tidemark" <<END
#!/usr/bin/env bash
set -euo pipefail
echo >>"$work/starts"
if (( \$(wc -l <"$work/starts") % 2 == 0 )); then exec "$tidemark" "\$@"; fi
# Its own schema of a chat: today's documents have keys that it does not know.
unset TIDEMARK_SCHEMA
words=()
while (( \$# )); do
    if [[ \$1 == --schema ]]; then shift 2; else words+=("\$1"); shift; fi
done
exec "$landed" "\${words[@]}"
END
chmod +x "$work/mixed/tidemark"
"$work/mixed/tide" demo --messages "$messages" --clients 8 --nodes 2 --kills 8 --seed 17 \
    --database "$(uri generations)" --folder "$work/demo" >"$work/demo.log" 2>&1 &
demo=$!
migrations=0
while kill -0 "$demo" 2>/dev/null; do
    "$tidemark" migrate --database "$(uri generations)" >"$work/migrate.log" 2>&1 &
    process=$!
    sleep "0.$((RANDOM % 4 + 1))"
    kill -9 "$process" 2>/dev/null || true
    wait "$process" 2>/dev/null || true
    migrations=$((migrations + 1))
done
wait "$demo" || { tail -40 "$work/demo.log"; refuse "the demo found something wrong"; }
grep -v ' written, ' "$work/demo.log"
say "starts of nodes: $(wc -l <"$work/starts"), every other one of the landed version; migrations begun and killed: $migrations"
expect "the fence" "$(run_sql --dbname generations -c 'SELECT generation, oldest FROM sync_fence')" "18|6"
expect "versions" "$(run_sql --dbname generations -c 'SELECT max(version) FROM sync_migration')" "6"

# 2. Kills. A database of the landed version with many clients.
clients=300000
say "kill -9 inside the step that fills in $clients clients, $kills times"
run_sql --dbname generations -c 'CREATE DATABASE template_landed' >/dev/null
run_sql --dbname template_landed -f "$top/Tests/Fixtures/Landed/postgres.sql" >/dev/null
run_sql --dbname template_landed -c "INSERT INTO sync_client (workspace, client, user_id, settled, acked, connection, registered)
    SELECT 'dev', gen_random_uuid(), 'user ' || n, 0, 0, 0, n FROM generate_series(1, $clients) AS n" -c 'ANALYZE' >/dev/null

# kill_inside DATABASE STEP: kills a migration a random time after the step has begun.
kill_inside() {
    "$tidemark" migrate --database "$1" >"$work/migrate.log" 2>&1 &
    local process=$!
    until grep -q "^$2" "$work/migrate.log"; do
        kill -0 "$process" 2>/dev/null || { cat "$work/migrate.log"; refuse "'$2' was over before it could be killed"; }
        sleep 0.01
    done
    sleep "0.$(printf '%03d' $((RANDOM % 400)))"
    kill -9 "$process" 2>/dev/null || refuse "'$2' was over before it was killed"
    wait "$process" 2>/dev/null || true
}

run_sql --dbname generations -c 'CREATE DATABASE killed TEMPLATE template_landed' >/dev/null
killed() { run_sql --dbname killed -c "$1"; }
before=0
for ((round = 0; round < kills; round++)); do
    [[ $(killed "SELECT to_regclass('sync_step') IS NULL") == t \
        || $(killed "SELECT count(*) FROM sync_step WHERE step = '8 clients from before' AND ended IS NOT NULL") == 0 ]] || break
    kill_inside "$(uri killed)" "8 clients from before"
    rows=$(killed "SELECT coalesce(max(rows), 0) FROM sync_step WHERE step = '8 clients from before'")
    (( rows >= before )) || refuse "the backfill went back from $before to $rows rows"
    before=$rows
done
say "  PostgreSQL: 8 clients from before: $round kills, at $before of $clients rows then"
"$tidemark" migrate --database "$(uri killed)" | tail -2
rows=$(run_sql --dbname template_landed -c 'SELECT count(*) FROM sync_client')
expect "clients" "$(killed 'SELECT count(*), count(*) FILTER (WHERE seen > registered) FROM sync_client')" "$rows|$rows"
expect "records" "$(killed 'SELECT count(*) FROM sync_record')" "$(run_sql --dbname template_landed -c 'SELECT count(*) FROM sync_record')"

file=$work/killed.sqlite
gzip --decompress --stdout "$top/Tests/Fixtures/Landed/server.sqlite.gz" >"$file"
sqlite3 "$file" "INSERT INTO sync_client (workspace, client, user, settled, acked, connection, registered)
    WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < $clients)
    SELECT 'dev', lower(hex(randomblob(16))), 'user ' || n, 0, 0, 0, n FROM n"
records=$(sqlite3 "$file" 'SELECT count(*) FROM sync_record')
rows=$(sqlite3 "$file" 'SELECT count(*) FROM sync_client')
for ((round = 0; round < kills; round++)); do
    [[ $(sqlite3 "$file" "SELECT count(*) FROM sqlite_master WHERE name = 'sync_step'") == 0 \
        || $(sqlite3 "$file" "SELECT count(*) FROM sync_step WHERE step = '5 clients from before' AND done") == 0 ]] || break
    kill_inside "$file" "5 clients from before"
done
before=$(sqlite3 "$file" "SELECT coalesce(max(rows), 0) FROM sync_step WHERE step = '5 clients from before'")
say "  SQLite: 5 clients from before: $round kills, at $before of $clients rows then"
"$tidemark" migrate --database "$file" | tail -2
expect "clients" "$(sqlite3 "$file" 'SELECT count(*), sum(seen > registered) FROM sync_client')" "$rows|$rows"
expect "records" "$(sqlite3 "$file" 'SELECT count(*) FROM sync_record')" "$records"
expect "the file" "$(sqlite3 "$file" 'PRAGMA integrity_check')" "ok"
say "nothing refused, nothing lost"
