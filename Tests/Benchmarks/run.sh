#!/usr/bin/env bash
# Measures this machine: pgbench and every benchmark of Tidemark in one run, with their ratios in one table.
#
#   Tests/Benchmarks/run.sh [seconds of each measurement]             (default: 8)
#   Tests/Benchmarks/run.sh --keep [seconds of each measurement]      writes the tables into SERVER.md and LOCAL.md, and draws them
#   Tests/Benchmarks/run.sh --help
#
# Builds the release binaries (TIDE names a 'tide' that exists, with its 'tidemark' beside it), starts a private PostgreSQL in a temporary folder and stops
# it at the end. pgbench inserts single rows on 32 connections, prepared, on the same cluster: a bare row with one key, and
# a row of the table in which Tidemark stores records, with its indexes. A machine's speed changes within seconds: bare
# rows, and writes that each wait for one answer on both stores, are measured in turns, five times. Each time is compared with the
# bare rows right before it, and the median is used. A first turn, which makes the cluster's log files, is ignored.
set -euo pipefail

# shellcheck source=deploy/lib/benchmark.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../deploy/lib/benchmark.sh"
keep=""
if [[ ${1:-} == --keep ]]; then
    keep=yes
    shift
fi
seconds=${1:-8}
results=$(mktemp -d)

tidy_up() {
    stop_postgres
    rm -rf "$results"
}
trap tidy_up EXIT

find_release tidemark tide

start_postgres tidemark_bench
postgres="postgres://tidemark@/tidemark_bench?host=$postgres_folder&port=$POSTGRES_PORT"

on_postgres() { as_postgres psql -X -q -h "$postgres_folder" -p "$POSTGRES_PORT" -U tidemark "$@"; }

# Waits until the disk is idle, so that a measurement does not affect the next one.
settle() {
    on_postgres postgres -c CHECKPOINT
    sync
}

new_database() {
    on_postgres postgres -c 'DROP DATABASE tidemark_bench WITH (FORCE)' -c 'CREATE DATABASE tidemark_bench'
}

# measure NAME ARGUMENTS…: runs one benchmark on a new database and keeps its JSON line; a failed one is a gap in
# the table.
measure() {
    local name=$1
    shift
    new_database
    settle
    say "bench $*"
    if [[ $(id -u) -eq 0 ]]; then
        chmod 755 "$results"
    fi
    if "$tide" bench "$@" --json >"$results/$name.log" 2>&1; then
        tail -n 1 "$results/$name.log" >"$results/$name.json"
    else
        tail -n 3 "$results/$name.log" >&2
    fi
}

# figure NAME KEY: prints one number of a benchmark's JSON line, or a dash.
figure() {
    if [[ -s $results/$1.json ]]; then
        grep -o "\"$2\":[-0-9.e+]*" "$results/$1.json" | head -n 1 | cut -d : -f 2 | awk '{ printf "%.3f", $1 }'
    else
        printf '%s' -
    fi
}

# stolen NAME: prints the share that the host gave to other machines meanwhile; above a few percent milliseconds mean little.
stolen() {
    local percent
    percent=$(figure "$1" stolen_percent)
    if [[ $percent != - ]]; then
        printf ' (%.0f %% stolen)' "$percent"
    fi
}

row() { printf '%-50s %14s   %s\n' "$1" "$2" "${3:-}"; }

# pgbench TABLE INSERT: makes the table and prints the rows that were inserted and committed a second, one by one.
pgbench() {
    printf '%s\n' "$2" >"$results/insert.sql"
    chmod -R a+rX "$results"
    on_postgres tidemark_bench -c "$1"
    settle
    as_postgres "$(postgres_binaries)/pgbench" -n -M prepared -c 32 -j 2 -T "$seconds" -f "$results/insert.sql" \
        -h "$postgres_folder" -p "$POSTGRES_PORT" -U tidemark tidemark_bench | awk '/^tps/ { print $3 }'
}

# middle VALUE…: the median of an odd number of values; a dash when one is missing.
middle() {
    printf '%s\n' "$@" | sort -g | awk '/^-?$/ { gap = 1 } { v[NR] = $1 } END { print gap ? "-" : v[(NR + 1) / 2] }'
}

# ratio VALUE OTHER: prints VALUE divided by OTHER.
ratio() { awk -v w="$1" -v b="$2" 'BEGIN { if (w !~ /[0-9]/ || b + 0 == 0) print "-"; else printf "%.2f", w / b }'; }

# bare_rows: runs pgbench with a bare row; writes its commits a second into a file, since it also prints its progress.
bare_rows() {
    new_database
    say "pgbench: a bare row, 32 connections, prepared, $seconds s"
    pgbench 'CREATE TABLE bench_row (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text NOT NULL)' \
        "INSERT INTO bench_row (body) VALUES (repeat('x', 200));" >"$results/bare"
}

turns="1 2 3 4 5"
bare_rows
measure warm-up writes --in-flight 1 --database "$postgres" --seconds "$seconds"
each_bare=()
each_writes=()
each_ratio=()
each_embedded=()
for turn in $turns; do
    bare_rows
    each_bare+=("$(<"$results/bare")")
    measure "writes-postgres-1-$turn" writes --in-flight 1 --database "$postgres" --seconds "$seconds"
    each_writes+=("$(figure "writes-postgres-1-$turn" writes_per_s)")
    each_ratio+=("$(ratio "${each_writes[turn - 1]}" "${each_bare[turn - 1]}")")
    measure "writes-embedded-1-$turn" writes --in-flight 1 --seconds "$seconds"
    each_embedded+=("$(figure "writes-embedded-1-$turn" writes_per_s)")
done
bare_tps=$(middle "${each_bare[@]}")

for in_flight in 4 10; do
    measure writes-embedded-$in_flight writes --in-flight $in_flight --seconds "$seconds"
    measure writes-postgres-$in_flight writes --in-flight $in_flight --database "$postgres" --seconds "$seconds"
done
# The tables are those of the last measurement.
say "pgbench: a record's row, 32 connections, prepared, $seconds s"
record_tps=$(pgbench 'CREATE SEQUENCE bench_seq; CREATE TABLE bench_record (LIKE sync_record INCLUDING ALL)' \
    "\\set scope random(1, 256)
    INSERT INTO bench_record (
        workspace, collection, id, scope, place, seq, born, deleted, author, created, updated, octets, body
    ) SELECT 'bench', 'messages', lpad(to_hex(n), 32, '0')::uuid, s, hashtextextended(s, 0), n, n, false, 'bench-writer',
        0, 0, 190, ('{\"text\":\"' || repeat('x', 179) || '\"}')::json
    FROM nextval('bench_seq') AS n, concat('0198c0de-0000-7000-8000-000000000', :scope::int) AS s;")
measure fanout-embedded fanout --seconds "$seconds"
measure fanout-postgres fanout --seconds "$seconds" --database "$postgres"
measure rate-postgres fanout --subscribers 100 --rate 1000 --seconds "$seconds" --database "$postgres"
measure rate-embedded fanout --subscribers 100 --rate 1000 --seconds "$seconds"
measure catchup-embedded catchup
measure catchup-postgres catchup --database "$postgres"
measure catchup-four catchup --clients 4
measure idle idle --connections 5000
measure sdk sdk
measure local local
measure live live

# turns_of NAME: prints the median latencies of its turns, and the host's share of each.
turns_of() {
    local turn p50=() p99=() took=""
    for turn in $turns; do
        p50+=("$(figure "$1-$turn" p50_ms)")
        p99+=("$(figure "$1-$turn" p99_ms)")
        took+="$(figure "$1-$turn" stolen_percent | cut -d . -f 1) "
    done
    row "  p50 ms / p99 ms" "$(middle "${p50[@]}") / $(middle "${p99[@]}")" "(${took}% stolen)"
}

server_table() {
    row "figure" "here" "aim"
    row "pgbench INSERT commits/s, bare rows" "$bare_tps" "of ${each_bare[*]}"
    row "pgbench INSERT commits/s, rows of records" "$record_tps"
    local name writes in_flight store
    writes=$(middle "${each_writes[@]}")
    row "writes/s, 256 writers, 1 in flight, PostgreSQL" "$writes" "of ${each_writes[*]}"
    row "  x bare rows right before" "$(middle "${each_ratio[@]}")" "1.0, of ${each_ratio[*]}"
    row "  x rows of records" "$(ratio "$writes" "$record_tps")"
    turns_of writes-postgres-1
    row "writes/s, 256 writers, 1 in flight, embedded" "$(middle "${each_embedded[@]}")" "20000, of ${each_embedded[*]}"
    turns_of writes-embedded-1
    for in_flight in 4 10; do
        name=writes-postgres-$in_flight
        writes=$(figure $name writes_per_s)
        row "writes/s, 256 writers, $in_flight in flight, PostgreSQL" "$writes" "$(stolen $name)"
        row "  x bare rows" "$(ratio "$writes" "$bare_tps")" "1.0"
        row "  x rows of records" "$(ratio "$writes" "$record_tps")"
        row "  p50 ms / p99 ms" "$(figure $name p50_ms) / $(figure $name p99_ms)"
        name=writes-embedded-$in_flight
        row "writes/s, 256 writers, $in_flight in flight, embedded" "$(figure $name writes_per_s)" "20000$(stolen $name)"
        row "  p50 ms / p99 ms" "$(figure $name p50_ms) / $(figure $name p99_ms)"
    done
    row "deliveries/s, 500 subscribers, embedded" "$(figure fanout-embedded deliveries_per_s)" "250000"
    row "deliveries/s, 500 subscribers, PostgreSQL" "$(figure fanout-postgres deliveries_per_s)" "250000"
    for store in postgres embedded; do
        row "stamp to delivered p99 ms, 100 at 1000/s, $store" "$(figure rate-$store p99_ms)" "10$(stolen rate-$store)"
        row "  from the writer's push" "$(figure rate-$store write_p99_ms)"
    done
    row "catch-up records/s, embedded, server restarted" "$(figure catchup-embedded records_per_s)" "100000"
    row "catch-up records/s, embedded, server warm" "$(figure catchup-embedded warm_records_per_s)" "100000"
    row "catch-up records/s, PostgreSQL" "$(figure catchup-postgres records_per_s)" "100000"
    row "catch-up records/s, embedded, 4 clients" "$(figure catchup-four records_per_s)" "100000"
    row "bytes an idle connection" "$(figure idle bytes_per_connection)" "25600"
    row "SDK local write p99 ms" "$(figure sdk p99_ms)" "5"
    row "SDK records/s applied" "$(figure sdk applied_records_per_s)" "40000"
}

# client_table NAME: the table of a benchmark that prints one, without its name and its JSON line.
client_table() { if [[ -s $results/$1.log ]]; then sed -e 1d -e '$d' "$results/$1.log"; fi; }

# keep_in PAGE: replaces the page's block of text by the input, and the line that says when and where it was measured.
keep_in() {
    local page=$top/Tests/Benchmarks/$1 model
    model=$(sed -nE 's/^model name\s*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)
    cat >"$results/block"
    awk -v block="$results/block" -v kept="**Kept.** $(date -u +%Y-%m-%d), $(getconf _NPROCESSORS_ONLN) cores (${model:-unknown}), $(uname -s)." '
        /^\*\*Kept\.\*\*/ { print kept; next }
        /^```text$/ { print; while ((getline line < block) > 0) print line; within = 1; next }
        /^```$/ { within = 0 }
        !within' "$page" >"$results/page"
    cp "$results/page" "$page"
}

server_table | tee "$results/server"
printf '\nThe client on its file, beside SQLite alone on the same file:\n'
client_table local
printf '\nA device that shows messages while they come, beside SQLite alone with the same rows at the same rate:\n'
client_table live
if [[ -n $keep ]]; then
    keep_in SERVER.md <"$results/server"
    client_table local | keep_in LOCAL.md
    "$top/Tests/Benchmarks/chart.sh"
fi
