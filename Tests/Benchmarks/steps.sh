#!/usr/bin/env bash
# Shows that no step of a migration is half done after a kill: kill -9 inside each step of both stores, at each place in turn.
#
#   Tests/Benchmarks/steps.sh [kills of each step]      (default: 20)
#   Tests/Benchmarks/steps.sh --help
#
# TIDEMARK names the program; without it the release binary is built. Starts a private PostgreSQL in a temporary folder.
#
# It begins with databases of the version before generations (Tests/Fixtures/Landed). Each step is begun with what the steps before it
# left. The process is killed by strace at the first call with which it sends to PostgreSQL, or writes the file, then at the
# second, and so on to the end of the step, and again from the first. After each kill the migration is run to its end, and every row
# looked at: the step was made once, or not at all and then anew.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=deploy/lib/postgres.sh
source "$top/deploy/lib/postgres.sh"

if [[ ${1:-} == --help || ${1:-} == -h ]]; then
    usage "${BASH_SOURCE[0]}"
    exit 0
fi
kills=${1:-20}
ensure_packages strace sqlite3
work=$(mktemp -d /tmp/tidemark-steps.XXXXXX)
chmod 755 "$work"

tidy_up() {
    stop_postgres
    rm -rf "$work"
}
trap tidy_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

tidemark=${TIDEMARK:-}
if [[ -z $tidemark ]]; then
    cd "$top"
    say "building the release binary"
    swift build -c release --product tidemark
    tidemark=$(swift build -c release --show-bin-path)/tidemark
fi
start_postgres steps
run_sql() { psql --quiet --no-psqlrc --tuples-only --no-align --host "$postgres_folder" --username tidemark "$@"; }
expect() { [[ $2 == "$3" ]] || refuse "$1: $2 instead of $3"; }

# The two stores: `copy FROM TO`, what is counted in `rows`, and the calls by which a migration leaves something.
postgres_uri() { echo "postgres://tidemark@/$1?host=$postgres_folder&port=$POSTGRES_PORT"; }
postgres_calls=sendto
postgres_copy() {
    # What a killed process had begun goes on for as long as its statement takes.
    until [[ $(run_sql --dbname steps -c "SELECT count(*) FROM pg_stat_activity WHERE datname IN ('$1', '$2')") == 0 ]]; do sleep 0.02; done
    run_sql --dbname steps -c "DROP DATABASE IF EXISTS $2" -c "CREATE DATABASE $2 TEMPLATE $1" 2>/dev/null
}
postgres_rest() { until [[ $(run_sql --dbname steps -c "SELECT count(*) FROM pg_stat_activity WHERE datname = '$1'") == 0 ]]; do sleep 0.02; done; }
postgres_rows() {
    run_sql --dbname "$1" -c "SELECT (SELECT count(*) FROM sync_record), (SELECT count(*) FROM sync_batch), (SELECT count(*) FROM sync_client),
        (SELECT md5(string_agg(md5(r.local_id::text || r.seq), '' ORDER BY r.local_id)) FROM sync_record AS r)"
}
embedded_uri() { echo "$work/$1.sqlite"; }
embedded_calls=pwrite64,fdatasync,fsync,ftruncate
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
        (SELECT group_concat(line) FROM (SELECT local_id || seq AS line FROM sync_record ORDER BY local_id))"
}

# next_step STORE DATABASE: the step that a migration would make first; empty when the tables are up to date.
next_step() { "$tidemark" migrate --plan --database "$("$1_uri" "$2")" | grep -m 1 '^[0-9]' || true; }

# killed_at STORE DATABASE N: runs a migration that is killed at its N-th call; false when it came to its end before.
killed_at() {
    local calls="$1_calls" status=0
    strace -f -qq -o "$work/calls" -e "trace=${!calls}" -e "inject=${!calls}:signal=KILL:when=$3" \
        "$tidemark" migrate --database "$("$1_uri" "$2")" >"$work/migrate.log" 2>&1 || status=$?
    "$1_rest" "$2"
    [[ $status -ne 0 ]]
}

# sweep STORE: all steps, beginning with the database `landed`.
sweep() {
    local store=$1 step at inside first=1 all=0 steps=0
    "${store}_copy" landed before
    local rows
    rows=$("${store}_rows" landed)
    while step=$(next_step "$store" before) && [[ -n $step ]]; do
        at=$first inside=0
        local last=0
        while ((inside < kills)); do
            "${store}_copy" before killed
            if killed_at "$store" killed "$at" && [[ $(next_step "$store" killed) == "$step" ]]; then
                inside=$((inside + 1)) last=$at at=$((at + 1))
            else
                # Beyond the step: what is left of it begins the next one.
                ((last > 0)) || { cat "$work/migrate.log"; refuse "'$step' was over before its first call"; }
                "${store}_copy" killed after
                at=$first
                continue
            fi
            "$tidemark" migrate --database "$("${store}_uri" killed)" >"$work/migrate.log" 2>&1 \
                || { cat "$work/migrate.log"; refuse "'$step' could not go on after a kill"; }
            expect "rows after '$step' was killed at call $((at - 1))" "$("${store}_rows" killed)" "$rows"
        done
        say "  $store: $step: $inside kills at up to $last calls"
        all=$((all + inside)) steps=$((steps + 1))
        # On to the next step, from a kill right behind this one.
        "${store}_copy" before killed
        at=$last
        while killed_at "$store" killed "$at" && [[ $(next_step "$store" killed) == "$step" ]]; do
            at=$((at + 1))
            "${store}_copy" before killed
        done
        "${store}_copy" killed before
    done
    say "$store: $all kills inside $steps steps, nothing lost, nothing half made"
}

run_sql --dbname steps -c 'CREATE DATABASE landed' >/dev/null
run_sql --dbname landed -f "$top/Tests/Fixtures/Landed/postgres.sql" >/dev/null
sweep postgres
gzip --decompress --stdout "$top/Tests/Fixtures/Landed/server.sqlite.gz" >"$work/landed.sqlite"
sweep embedded
