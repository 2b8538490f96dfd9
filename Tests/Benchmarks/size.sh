#!/usr/bin/env bash
# Shows the cost of a large database: the same calls on a small one and on a large one, on both stores.
#
#   Tests/Benchmarks/size.sh [records of the large one]      (default: 10000000; the small one has 100000)
#   Tests/Benchmarks/size.sh --help
#
# STORES names one of 'embedded' and 'postgres', or both (default). TIDE names a 'tide' with its 'tidemark' beside it; without
# it the release binaries are built. Starts a private PostgreSQL in a temporary folder, which needs about 10 GB for ten
# million records.
#
# The tables are filled by SQL, as a server would leave them: one conversation for each 1000 records (1000 at least), ten
# records a batch, users with 1000 conversations each, 100 clients a user. The calls do not grow with the database:
# 'hello' of a user with 1000 conversations, one page, a catch-up of the last 10000 numbers, 200 writes one after the
# other. So a ratio much above 1 is a cost of size. Compaction has more to do in the large one and has a row of its own.
#
# Before each start the files are read once, in both sizes: a small database is in the system's memory since it was filled,
# a large one mostly is not, and the disk's time would look like a cost of size. On systems with /proc, the server's reads are
# counted as well (calls and processor time): unlike times they do not depend on other work of the machine. When the memory is cold,
# each page read from the file is one more read of the disk; the count of reads is the number of pages, the same cold and warm.
#
# Seen on SQLite with 100000 and 10000000 records (read calls; processor time of the server, ms; from memory):
#   start 152 and 152, 39 and 45; hello 39 and 42, 4.6 and 4.6; 21 pages 1306 and 1433, 48 and 60;
#   catch-up 2363 and 8815, 55 and 77 (with 3000000: 8791, 70).
# A catch-up of 1000 scopes reads a page of the index for each scope and window, where the index is larger than these pages: that
# of 100000 records is 250 pages. From 3000000 on it is the same.
# Seen on PostgreSQL with the same sizes, a build beside the large one: start 155 and 168, 73 and 78; hello 16 and 16, 6.0 and 4.6;
#   21 pages 239 and 235, 75 and 74; catch-up 49 and 47, 77 and 70; a page 6.0 and 6.6 ms, the catch-up 702 and 745 ms of time;
#   bytes a record 538 and 572; compaction 0.14 ms a deleted row, in both.
set -euo pipefail

# shellcheck source=deploy/lib/benchmark.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../deploy/lib/benchmark.sh"
small=100000
large=${1:-10000000}
read -ra stores <<<"${STORES:-embedded postgres}"
today=10000         # numbers of the catch-up
dead=10000          # tombstones older than the kept ones
ensure_packages curl jq sqlite3
work=$(mktemp -d /tmp/tidemark-size.XXXXXX)
chmod 755 "$work"
server=""

stop_server() {
    if [[ -n $server ]]; then
        kill -TERM "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
        server=""
    fi
}
tidy_up() {
    stop_server
    stop_postgres
    rm -rf "$work"
}
trap tidy_up EXIT

find_release tidemark tide
start_postgres size
schema=$top/ClientSDK/ChatSchema/chat.schema.json
head -c 48 /dev/urandom | base64 -w 0 >"$work/secret"
chmod 600 "$work/secret"
token=$("$tidemark" token --user bench --workspace size --secret-file "$work/secret")
old=$((($(date +%s) - 100 * 86400) * 1000))
recent=$((($(date +%s) - 86400) * 1000))

run_sql() { psql --quiet --no-psqlrc --tuples-only --no-align --host "$postgres_folder" --username tidemark "$@"; }
now_ms() { date +%s%3N; }

# scopes_of RECORDS
scopes_of() { echo $(($1 / 1000 > 1000 ? $1 / 1000 : 1000)); }

# Both dialects use the same names: `n` is a number of the order, `s` its conversation.
# record_columns DIALECT RECORDS: sets the parts of which the statements are made.
record_columns() {
    local dialect=$1 records=$2 scopes
    scopes=$(scopes_of "$records")
    local hex="lpad(to_hex(%s), 12, '0')" pad="repeat('x', 100)"
    if [[ $dialect == sqlite ]]; then
        hex="printf('%%012x', %s)" pad="'$(printf 'x%.0s' {1..100})'"
    fi
    scope_of_n="CASE WHEN n <= $scopes THEN n WHEN n > $records - $today THEN n % 1000 + 1 ELSE n % $scopes + 1 END"
    is_dead="(n > $scopes AND n <= $scopes + 2 * $dead AND n % 2 = 0)"
    # shellcheck disable=SC2059
    id_of_n="'01980000-0000-7000-8000-' || $(printf "$hex" n)"
    # shellcheck disable=SC2059
    id_of_s="'01980000-0000-7000-8000-' || $(printf "$hex" s)"
    body="CASE WHEN n <= $scopes
        THEN '{\"kind\":\"group\",\"name\":\"' || n || '\",\"participantIds\":[\"bench\"]}'
        ELSE '{\"conversationId\":\"' || $id_of_s || '\",\"sentAt\":' || (1700000000000 + n) || ',\"text\":\"' || $pad || '\"}' END"
    time_of_n="CASE WHEN n <= $records / 2 THEN $old ELSE $recent END"
}

# fill_postgres RECORDS FROM THROUGH
fill_postgres() {
    record_columns postgres "$1"
    run_sql size <<SQL
INSERT INTO sync_record (workspace, collection, id, scope, place, seq, born, deleted, author, created, updated, octets, body)
SELECT 'size', CASE WHEN n <= $(scopes_of "$1") THEN 'conversations' ELSE 'messages' END, ($id_of_n)::uuid, scope,
    hashtextextended(scope, salt), n, n, body IS NULL, 'bench', $time_of_n, $time_of_n, coalesce(octet_length(body), 0), body::json
FROM (
    SELECT n, $id_of_s AS scope, CASE WHEN $is_dead THEN NULL ELSE $body END AS body
    FROM (SELECT n, $scope_of_n AS s FROM generate_series($2, $3) AS n) AS numbers) AS rows
CROSS JOIN (SELECT salt FROM sync_workspace WHERE workspace = 'size') AS w;
INSERT INTO sync_batch (workspace, seq, low, nonce, time, epoch)
SELECT 'size', n, n - 9, hashint8extended(n, 7), $time_of_n, 1 FROM generate_series($2 + 9, $3, 10) AS n;
SQL
}

# people_postgres RECORDS: fills in members and clients.
people_postgres() {
    record_columns postgres "$1"
    run_sql size <<SQL
INSERT INTO sync_member (workspace, user_id, scope, role, since)
SELECT 'size', user_id, $id_of_s, 'member', s FROM (
    SELECT 'bench' AS user_id, s FROM generate_series(1, 1000) AS s
    UNION ALL SELECT 'user' || u, (u * 7 + s) % $(scopes_of "$1") + 1
    FROM generate_series(1, $1 / 10000) AS u, generate_series(1, 1000) AS s) AS m;
INSERT INTO sync_client (workspace, client, user_id, settled, acked, connection, registered, seen)
SELECT 'size', ('01990000-0000-7000-8000-' || lpad(to_hex(c), 12, '0'))::uuid, 'user' || (c % ($1 / 10000) + 1), 5, 5, 1,
    $recent, $recent
FROM generate_series(1, $1 / 100) AS c;
SQL
}

fill_embedded() {
    record_columns sqlite "$1"
    sqlite3 "$work/$1.sqlite" >"$work/sqlite.log" <<SQL
PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; PRAGMA cache_size = -1000000;
BEGIN;
INSERT OR IGNORE INTO sync_scope (place, workspace, scope)
WITH RECURSIVE c(s) AS (SELECT 1 UNION ALL SELECT s + 1 FROM c WHERE s < $(scopes_of "$1")) SELECT s, 'size', $id_of_s FROM c;
INSERT INTO sync_record (row, id, collection, workspace, scope, place, seq, born, deleted, author, created, updated, body)
WITH RECURSIVE c(n) AS (SELECT $2 UNION ALL SELECT n + 1 FROM c WHERE n < $3)
SELECT n, $id_of_n, CASE WHEN n <= $(scopes_of "$1") THEN 'conversations' ELSE 'messages' END, 'size', $id_of_s, s, n, n,
    $is_dead, 'bench', $time_of_n, $time_of_n, CASE WHEN $is_dead THEN NULL ELSE $body END
FROM (SELECT n, $scope_of_n AS s FROM c);
INSERT INTO sync_batch (workspace, seq, low, nonce, time, epoch)
WITH RECURSIVE c(n) AS (SELECT $2 + 9 UNION ALL SELECT n + 10 FROM c WHERE n + 10 <= $3)
SELECT 'size', n, n - 9, n * 7919, $time_of_n, 1 FROM c;
INSERT INTO sync_feed (place, seq, row) SELECT place, seq, row FROM sync_record WHERE row >= $2 ORDER BY place, seq;
INSERT INTO sync_page (place, collection, born, row)
SELECT place, collection, born, row FROM sync_record WHERE row >= $2 AND deleted = 0 ORDER BY place, collection, born;
UPDATE sync_filing SET through = $3;
COMMIT;
SQL
}

people_embedded() {
    record_columns sqlite "$1"
    sqlite3 "$work/$1.sqlite" <<SQL
BEGIN;
INSERT INTO sync_member (workspace, user, scope, role, since)
WITH RECURSIVE c(s) AS (SELECT 1 UNION ALL SELECT s + 1 FROM c WHERE s < 1000),
    u(u) AS (SELECT 1 UNION ALL SELECT u + 1 FROM u WHERE u < $1 / 10000)
SELECT 'size', person, $id_of_s, 'member', s FROM (
    SELECT 'bench' AS person, s FROM c UNION ALL SELECT 'user' || u, (u * 7 + s) % $(scopes_of "$1") + 1 FROM u, c);
INSERT INTO sync_client (workspace, client, user, settled, acked, connection, registered, seen)
WITH RECURSIVE c(c) AS (SELECT 1 UNION ALL SELECT c + 1 FROM c WHERE c < $1 / 100)
SELECT 'size', '01990000-0000-7000-8000-' || printf('%012x', c), 'user' || (c % ($1 / 10000) + 1), 5, 5, 1, $recent, $recent
FROM c;
COMMIT;
SQL
}

# serve DATABASE NAME: starts a server, notes the time until it is ready.
serve() {
    local began
    # Otherwise the line of the server before would be found.
    rm -f "$work/address"
    began=$(now_ms)
    "$tidemark" serve --database "$1" --schema "$schema" --secret-file "$work/secret" --listen 127.0.0.1:0 \
        --limit RATE=100000 --limit BURST=100000 >"$work/address" 2>"$work/server.log" &
    server=$!
    until grep -q 'http' "$work/address" 2>/dev/null; do
        kill -0 "$server" 2>/dev/null || refuse "the server ended: $(tail -n 3 "$work/server.log")"
        sleep 0.02
    done
    address=$(grep -o 'http://[0-9.:]*' "$work/address" | head -n 1)
    until curl -fs -o "$work/ready" "$address/readyz"; do sleep 0.02; done
    echo $(($(now_ms) - began)) >"$work/$2.start"
}

# warm STORE RECORDS: reads the files into the system's memory.
warm() {
    if [[ $1 == embedded ]]; then
        cat "$work/$2."* >/dev/null
    else
        cat "$postgres_folder"/data/base/*/* >/dev/null 2>&1 || true
    fi
}

# spent: prints the server's read calls and milliseconds of processor time so far; zeros on systems without /proc.
spent() {
    [[ -r /proc/$server/io ]] || { echo 0 0 && return; }
    echo "$(awk '/syscr/ { print $2 }' "/proc/$server/io")" \
        "$(cat "/proc/$server"/task/*/schedstat | awk '{ ns += $1 } END { printf "%.1f", ns / 1e6 }')"
}
# counted NAME KEY COMMAND...: writes the server's use for the command into $work/NAME.KEY-reads and -cpu.
counted() {
    local name=$1 key=$2 before after
    shift 2
    before=$(spent)
    "$@"
    after=$(spent)
    echo "$before $after" | awk '{ print $3 - $1 }' >"$work/$name.$key-reads"
    echo "$before $after" | awk '{ printf "%.1f", $4 - $2 }' >"$work/$name.$key-cpu"
}

# call PATH BODY-FILE: writes the answer into $work/answer; prints milliseconds.
call() {
    curl -fsS --compressed -o "$work/answer" -w '%{time_total}\n' -H "Authorization: Bearer $token" -d "@$2" "$address/v1/$1" \
        | awk '{ printf "%.1f\n", $1 * 1000 }'
}
middle() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# ask_hello NAME, ask_page NAME, ask_catchup NAME
ask_hello() {
    local index
    for index in 1 2 3 4 5 6 7; do
        call pull "$work/$1.hello"
    done | middle >"$work/$1.hello-ms"
    jq -e '.state == "ok"' "$work/answer" >/dev/null || refuse "hello: $(head -c 300 "$work/answer")"
}
ask_page() {
    local name=$1 index
    for index in {1..21}; do
        echo "{\"scope\":\"01980000-0000-7000-8000-$(printf '%012x' $((index * 40)))\",\"since\":$((index * 40)),\"coll\":\"messages\",\"limit\":50}" >"$work/page"
        call page "$work/page"
    done | middle >"$work/$name.page"
    [[ $(jq '.r | length' "$work/answer") -eq 50 ]] || refuse "page: $(head -c 300 "$work/answer")"
}
ask_catchup() {
    local name=$1 began cursor rows=0
    cp "$work/$name.away" "$work/pull"
    began=$(now_ms)
    while true; do
        call pull "$work/pull" >/dev/null
        rows=$((rows + $(jq '[.changes[].g[]?.r | length] | add // 0' "$work/answer")))
        [[ $(jq .more "$work/answer") == true ]] || break
        cursor=$(jq '.changes[-1].cur' "$work/answer")
        jq -c --argjson cur "$cursor" '.cursor = $cur' "$work/pull" >"$work/pull-next"
        mv "$work/pull-next" "$work/pull"
    done
    echo $(($(now_ms) - began)) >"$work/$name.catchup"
    [[ $rows -eq $today ]] || refuse "the catch-up brought $rows rows, not $today"
}

# ask NAME: makes the calls to the running server.
ask() {
    local name=$1 index
    counted "$name" hello ask_hello "$name"
    counted "$name" page ask_page "$name"
    counted "$name" catchup ask_catchup "$name"
    for index in {1..200}; do
        printf '{"client":"%s","conn":1,"first":%d,"acked":%d,"m":[{"id":"01a00000-0000-7000-8000-%012x","at":%d,"ops":[{"o":"put","c":"messages","i":"01b00000-0000-7000-8000-%012x","f":{"conversationId":"01980000-0000-7000-8000-%012x","sentAt":%d,"text":"x"}}]}]}' \
            "$client" "$index" $((index - 1)) "$index" "$recent" "$index" "$index" "$recent" >"$work/push"
        call push "$work/push"
    done | middle >"$work/$name.push"
    jq -e '.lmid == 200 and (.res[0][2] > 0)' "$work/answer" >/dev/null || refuse "push: $(cat "$work/answer")"
}

# measure STORE RECORDS
measure() {
    local store=$1 records=$2 name=$1-$2 database began
    case $store in
    postgres)
        run_sql postgres -c 'DROP DATABASE IF EXISTS size WITH (FORCE)' -c 'CREATE DATABASE size'
        database="postgres://tidemark@/size?host=$postgres_folder&port=$POSTGRES_PORT"
        ;;
    embedded) database="sqlite:$work/$records.sqlite" ;;
    esac
    say "$store, $records records: filling"
    # Makes the tables.
    serve "$database" "$name"
    stop_server
    if [[ $store == postgres ]]; then
        run_sql size -c "INSERT INTO sync_workspace (workspace) VALUES ('size')"
    else
        sqlite3 "$work/$records.sqlite" "INSERT INTO sync_workspace (workspace) VALUES ('size')"
    fi
    "people_$store" "$records"
    "fill_$store" "$records" 1 $((records - today))
    [[ $store == embedded ]] || run_sql size -c 'VACUUM ANALYZE'
    serve "$database" "$name"
    client=018f3a2b-0000-7000-8000-000000000001
    echo "{\"client\":\"$client\"}" >"$work/client"
    call clients "$work/client" >/dev/null
    echo "{\"client\":\"$client\",\"scopes\":[]}" >"$work/empty"
    call pull "$work/empty" >/dev/null
    # The cursor of a device that holds all of it.
    jq -c --arg client "$client" '{client: $client, cursor: .cur, scopes: [.new[] | [.[0], .[1]]]}' "$work/answer" >"$work/$name.away"
    stop_server
    "fill_$store" "$records" $((records - today + 1)) "$records"
    sync
    # Five starts; the middle one is used.
    for _ in 1 2 3 4 5; do
        stop_server
        warm "$store" "$records"
        serve "$database" "$name"
        read -r start_reads start_cpu <<<"$(spent)"
        echo "$start_reads" >"$work/$name.start-reads"
        echo "$start_cpu" >"$work/$name.start-cpu"
        cat "$work/$name.start"
    done >"$work/starts"
    middle <"$work/starts" >"$work/$name.start"
    call pull "$work/empty" >/dev/null
    jq -c --argjson cur "$(jq .cur "$work/answer")" '.cursor = $cur' "$work/$name.away" >"$work/$name.hello"
    ask "$name"
    stop_server
    bytes "$store" "$records" >"$work/$name.bytes"
    say "$store, $records records: compacting"
    began=$(now_ms)
    "$tidemark" compact --workspace size --database "$database" >"$work/$name.compacted" 2>&1 \
        || refuse "compact: $(tail -n 3 "$work/$name.compacted")"
    echo $(($(now_ms) - began)) >"$work/$name.compact"
    [[ $store == embedded ]] || run_sql size -c 'VACUUM'
    bytes "$store" "$records" >"$work/$name.bytes-after"
    began=$(now_ms)
    "$tidemark" migrate --database "$database" >"$work/migrate.log" 2>&1
    echo $(($(now_ms) - began)) >"$work/$name.migrate"
    rm -f "$work/$records.sqlite"*
}

bytes() {
    if [[ $1 == postgres ]]; then
        run_sql size -c 'SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = '"'r'"' AND relname LIKE '"'sync%'"
    else
        sqlite3 "$work/$2.sqlite" 'SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size'
    fi
}

for records in "$small" "$large"; do
    for store in "${stores[@]}"; do measure "$store" "$records"; done
done

row() { printf '%-52s %12s %12s %8s\n' "$@"; }
for store in "${stores[@]}"; do
    row "$store" "$small" "$large" ratio
    while IFS='|' read -r key label; do
        a=$(<"$work/$store-$small.$key") b=$(<"$work/$store-$large.$key")
        row "  $label" "$a" "$b" "$(awk -v a="$a" -v b="$b" 'BEGIN { printf "%.2f", b / (a > 0 ? a : 1) }')"
    done <<'KEYS'
start|start until ready, ms
hello-ms|hello of a user with 1000 scopes, ms
page|a page of 50, ms
catchup|catch-up of 10000 numbers, ms
start-reads|start: calls that read
start-cpu|start: processor time, ms
hello-reads|7 hellos: calls that read
hello-cpu|7 hellos: processor time, ms
page-reads|21 pages: calls that read
page-cpu|21 pages: processor time, ms
catchup-reads|catch-up: calls that read
catchup-cpu|catch-up: processor time, ms
push|a write, one after the other, ms
migrate|migrate where there is nothing to do, ms
compact|compaction, ms (grows with what is forgotten)
KEYS
    for when in bytes bytes-after; do
        a=$(awk -v n="$small" '{ printf "%.0f", $1 / n }' "$work/$store-$small.$when")
        b=$(awk -v n="$large" '{ printf "%.0f", $1 / n }' "$work/$store-$large.$when")
        row "  bytes a record, ${when/bytes-after/after compaction}" "$a" "$b" "$(awk -v a="$a" -v b="$b" 'BEGIN { printf "%.2f", b / a }')"
    done
    for records in "$small" "$large"; do sed "s/^/    $records: /" "$work/$store-$records.compacted"; done
done
