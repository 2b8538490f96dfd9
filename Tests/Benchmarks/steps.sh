#!/usr/bin/env bash
# Shows that no step of a migration is half done after a kill: kill -9 inside each step of both stores, at each call in turn.
#
#   Tests/Benchmarks/steps.sh [kills of each step]      (default: 20)
#   Tests/Benchmarks/steps.sh --help
#
# TIDEMARK names the program; without it the release binary is built. Starts a private PostgreSQL in a temporary folder.
#
# It begins with databases of the version before generations (Tests/Fixtures/Landed). Each step begins with the result of the steps
# before it. strace kills the process at the first call with which it sends to PostgreSQL, or writes the file, then at the
# second, and so on to the end of the step, and again from the first. After each kill the migration is run to its end, and every row is
# checked: the step took effect once, or not at all and then anew.
set -euo pipefail

# shellcheck source=deploy/lib/benchmark.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../deploy/lib/benchmark.sh"
kills=${1:-20}
ensure_packages strace sqlite3
work=$(mktemp -d /tmp/tidemark-steps.XXXXXX)
chmod 755 "$work"

tidy_up() {
    stop_postgres
    rm -rf "$work"
}
trap tidy_up EXIT

find_release tidemark
start_postgres steps
run_sql() { psql --quiet --no-psqlrc --tuples-only --no-align --host "$postgres_folder" --username tidemark "$@"; }
expect() { [[ $2 == "$3" ]] || refuse "$1: $2 instead of $3"; }

# The calls with which a migration changes something; and for each store how to name, copy, wait for, and count a database.
declare -A calls=([postgres]="sendto" [embedded]="pwrite64,fdatasync,fsync,ftruncate")
postgres_uri() { echo "postgres://tidemark@/$1?host=$postgres_folder&port=$POSTGRES_PORT"; }
postgres_copy() {
    # A statement of a killed process runs to its end.
    until [[ $(run_sql --dbname steps -c "SELECT count(*) FROM pg_stat_activity WHERE datname IN ('$1', '$2')") == 0 ]]; do sleep 0.02; done
    run_sql --dbname steps -c "DROP DATABASE IF EXISTS $2" -c "CREATE DATABASE $2 TEMPLATE $1" 2>/dev/null
}
postgres_rest() { until [[ $(run_sql --dbname steps -c "SELECT count(*) FROM pg_stat_activity WHERE datname = '$1'") == 0 ]]; do sleep 0.02; done; }
postgres_rows() {
    run_sql --dbname "$1" -c "SELECT (SELECT count(*) FROM sync_record), (SELECT count(*) FROM sync_batch), (SELECT count(*) FROM sync_client),
        (SELECT md5(string_agg(concat_ws(' ', id, seq, deleted, body), ',' ORDER BY id)) FROM sync_record)"
}
embedded_uri() { echo "$work/$1.sqlite"; }
embedded_copy() {
    rm -f "$work/$2.sqlite"*
    local suffix
    for suffix in "" -wal; do
        [[ ! -e $work/$1.sqlite$suffix ]] || cp "$work/$1.sqlite$suffix" "$work/$2.sqlite$suffix"
    done
}
embedded_rest() { :; }
embedded_rows() {
    expect "the file" "$(sqlite3 "$work/$1.sqlite" 'PRAGMA integrity_check')" ok >&2
    sqlite3 "$work/$1.sqlite" "SELECT (SELECT count(*) FROM sync_record), (SELECT count(*) FROM sync_batch), (SELECT count(*) FROM sync_client),
        (SELECT group_concat(line) FROM (SELECT id || ' ' || seq || deleted || coalesce(body, '') AS line FROM sync_record ORDER BY id))"
}

migrate() { "$tidemark" migrate --database "$("$1_uri" "$2")"; }

# next_step STORE DATABASE: prints the next step of a migration, which is not the first of the plan; empty without one.
next_step() {
    "$tidemark" migrate --plan --database "$("$1_uri" "$2")" | grep '^[0-9]' | grep --line-regexp --file - "$work/order" | head -n 1 || true
}

# killed_at STORE DATABASE N: runs a migration that is killed at its N-th call; false if it ended before.
killed_at() {
    # In a shell of its own, which prints no message about the kill.
    if (
        strace -f -qq -o "$work/calls" -e "trace=${calls[$1]}" -e "inject=${calls[$1]}:signal=KILL:when=$3" \
            "$tidemark" migrate --database "$("$1_uri" "$2")" >"$work/migrate.log" 2>&1
        exit
    ) 2>/dev/null; then
        return 1
    fi
    "$1_rest" "$2"
}

# end_after STORE STEP: continues with `before` until the step is done, and the next one is not.
end_after() {
    local following tries=0 line process
    following=$(grep --line-regexp --after-context 1 "$2" "$work/order" | sed -n 2p)
    until [[ $(next_step "$1" killed) == "$following" ]]; do
        ((tries++ < 200)) || refuse "no kill came between '$2' and '$following'"
        "$1_copy" before killed
        mkfifo "$work/said"
        "$tidemark" migrate --database "$("$1_uri" killed)" >"$work/said" 2>&1 &
        process=$!
        while read -r line; do
            if [[ $line == "$2: done" ]]; then kill -9 "$process" 2>/dev/null || true; fi
        done <"$work/said"
        wait "$process" 2>/dev/null || true
        rm "$work/said"
        "$1_rest" killed
    done
    "$1_copy" killed before
}

# sweep STORE: kills in all steps, beginning with the database `landed`.
sweep() {
    local store=$1 step rows at inside last steps=0
    rows=$("${store}_rows" landed)
    "${store}_copy" landed killed
    migrate "$store" killed >"$work/migrate.log"
    sed -n 's/: done$//p' "$work/migrate.log" >"$work/order"
    "${store}_copy" landed before
    while step=$(next_step "$store" before) && [[ -n $step ]]; do
        at=1 inside=0 last=0
        while ((inside < kills)); do
            "${store}_copy" before killed
            if killed_at "$store" killed "$at" && [[ $(next_step "$store" killed) == "$step" ]]; then
                inside=$((inside + 1)) last=$((at > last ? at : last)) at=$((at + 1))
                migrate "$store" killed >"$work/migrate.log" 2>&1 \
                    || { cat "$work/migrate.log"; refuse "'$step' could not go on after a kill"; }
                expect "rows after '$step' was killed at call $((at - 1))" "$("${store}_rows" killed)" "$rows"
            else
                # Beyond the step.
                ((last > 0)) || { cat "$work/migrate.log"; refuse "'$step' was over before the first call"; }
                at=1
            fi
        done
        say "  $store: $step: $inside kills, at $last calls of the run"
        steps=$((steps + 1))
        end_after "$store" "$step"
    done
    [[ $steps == $(wc -l <"$work/order") ]] || refuse "$steps steps of $(wc -l <"$work/order") were met"
    say "$store: $((steps * kills)) kills inside $steps steps; nothing lost, nothing half done"
}

run_sql --dbname steps -c 'CREATE DATABASE landed' >/dev/null
run_sql --dbname landed -f "$top/Tests/Fixtures/Landed/postgres.sql" >/dev/null
sweep postgres
gzip --decompress --stdout "$top/Tests/Fixtures/Landed/server.sqlite.gz" >"$work/landed.sqlite"
sweep embedded
