#!/usr/bin/env bash
# Shows the cost of waiting writers for another workspace: the 99th percentile of one writer's writes, alone and beside them.
#
#   Tests/Benchmarks/waiting.sh [writers of the crowd]      (default: 10000)
#   Tests/Benchmarks/waiting.sh --help
#
# TIDE names a 'tide' with its 'tidemark' beside it; without it the release binaries are built. ROUNDS (5) turns of SECONDS_EACH
# (8) seconds each. Starts a private PostgreSQL in a temporary folder, and a server on it.
#
# 1. All writers of the crowd wait: each has one write in progress, and another connection holds the row that is their workspace's
#    lock. None of their writes can proceed, so every delay of the neighbour is a cost of waiting. The limit is 1.2. An open
#    transaction keeps PostgreSQL from reusing the space of replaced rows, so one is open while the neighbour is alone, too.
# 2. The crowd writes as fast as it can, and the same with 256 writers: processors and disk are busy either way, so that the ratio
#    of the two is the cost of the number of writers.
set -euo pipefail

# shellcheck source=deploy/lib/benchmark.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../deploy/lib/benchmark.sh"
crowd=${1:-10000}
rounds=${ROUNDS:-5}
seconds=${SECONDS_EACH:-8}
ensure_packages curl jq
work=$(mktemp -d /tmp/tidemark-waiting.XXXXXX)
chmod 755 "$work"
server=""
writers=""
holder=""

end_one() {
    if [[ -n $1 ]]; then
        kill -"$2" "$1" 2>/dev/null || true
        wait "$1" 2>/dev/null || true
    fi
}
end_crowd() {
    end_one "$writers" TERM
    # A server that sleeps does not notice that its client has gone.
    [[ -z $holder ]] || run_sql -c "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%'" \
        >"$work/ended" 2>&1 || true
    end_one "$holder" TERM
    writers="" holder=""
}
tidy_up() {
    end_crowd
    end_one "$server" TERM
    stop_postgres
    rm -rf "$work"
}
trap tidy_up EXIT

find_release tidemark tide
start_postgres waiting
run_sql() { psql --quiet --no-psqlrc --tuples-only --no-align --host "$postgres_folder" --username tidemark waiting "$@"; }
head -c 48 /dev/urandom | base64 -w 0 >"$work/secret"
chmod 600 "$work/secret"
ulimit -n "$(ulimit -Hn)"
"$tidemark" serve --database "postgres://tidemark@/waiting?host=$postgres_folder&port=$POSTGRES_PORT" \
    --schema "$top/ClientSDK/ChatSchema/chat.schema.json" --secret-file "$work/secret" --listen 127.0.0.1:0 \
    --limit RATE=1000000 --limit BURST=10000000 --limit PUSHES=1000 >"$work/address" 2>"$work/server.log" &
server=$!
until grep -q 'http' "$work/address" 2>/dev/null; do
    kill -0 "$server" 2>/dev/null || refuse "the server ended: $(tail -n 3 "$work/server.log")"
    sleep 0.05
done
address=$(grep -o 'http://[0-9.:]*' "$work/address" | head -n 1)

# neighbour NAME: runs one writer in a workspace of its own; appends its 99th percentile in milliseconds to $work/NAME.
neighbour() {
    "$tide" bench writes --server "$address" --secret-file "$work/secret" --writers 1 --seconds "$seconds" --json \
        | tail -n 1 >"$work/answer"
    jq -r '"\(.p50_ms) \(.p99_ms)"' "$work/answer" >>"$work/$1"
}

# begin_crowd WRITERS: returns when all of them write.
begin_crowd() {
    local before
    before=$(run_sql -c 'SELECT count(*) FROM sync_workspace')
    "$tide" bench writes --server "$address" --secret-file "$work/secret" --writers "$1" --sharing 4 --seconds 600 >"$work/crowd.log" 2>&1 &
    writers=$!
    until [[ $(run_sql -c 'SELECT count(*) FROM sync_workspace') -gt $before ]]; do
        kill -0 "$writers" 2>/dev/null || refuse "the crowd ended: $(tail -n 3 "$work/crowd.log")"
        sleep 0.1
    done
    place=$(run_sql -c "SELECT max(workspace) FROM sync_workspace")
    # All have written twice.
    until [[ $(run_sql -c "SELECT count(*) FROM sync_client WHERE workspace = '$place' AND settled > 1") -ge $1 ]]; do
        kill -0 "$writers" 2>/dev/null || refuse "the crowd ended: $(tail -n 3 "$work/crowd.log")"
        sleep 0.2
    done
}

# open_transaction STATEMENT...: runs them in a transaction, and leaves it open.
open_transaction() {
    local statement statements=(-c BEGIN)
    for statement; do statements+=(-c "$statement"); done
    run_sql "${statements[@]}" -c 'SELECT pg_sleep(600)' >"$work/holder.log" 2>&1 &
    holder=$!
}

# hold: takes the lock of the crowd's workspace, and returns when all its writes wait.
hold() {
    open_transaction "SELECT FROM sync_workspace WHERE workspace = '$place' FOR UPDATE"
    local last="" now
    while true; do
        now=$(run_sql -c "SELECT max(seq) FROM sync_batch WHERE workspace = '$place'")
        [[ $now != "$last" ]] || break
        last=$now
        sleep 0.5
    done
}

middle() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
row() { printf '%-44s %10s %10s %8s\n' "$@"; }
# compare LABEL NAME BASE
compare() {
    local a b
    a=$(cut -d ' ' -f 2 "$work/$3" | middle) b=$(cut -d ' ' -f 2 "$work/$2" | middle)
    row "$1" "$(cut -d ' ' -f 1 "$work/$2" | middle)" "$b" "$(awk -v a="$a" -v b="$b" 'BEGIN { printf "%.2f", b / a }')"
}
row "one writer, ms (middle of $rounds)" p50 p99 ratio
say "$crowd writers that wait"
for ((round = 0; round < rounds; round++)); do
    open_transaction 'SELECT pg_current_xact_id()'
    neighbour alone
    end_crowd
    begin_crowd "$crowd"
    hold
    neighbour waiting
    end_crowd
done
compare "alone" alone alone
compare "beside $crowd that wait" waiting alone
say "$crowd writers that write"
for count in 256 "$crowd"; do
    begin_crowd "$count"
    for ((round = 0; round < rounds; round++)); do neighbour "beside-$count"; done
    end_crowd
done
compare "beside 256 that write" beside-256 beside-256
compare "beside $crowd that write" "beside-$crowd" beside-256
