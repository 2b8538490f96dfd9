#!/usr/bin/env bash
# Promotes a standby that lacks the last commits, under 20 writers and 8 devices, repeatedly, and prints the findings of each round.
#
#   Tests/Benchmarks/failover.sh [rounds [goes-on|killed]]      (default: 20 of each: the server keeps running, or is killed and started)
#   Tests/Benchmarks/failover.sh --help
#
# Starts a PostgreSQL and an asynchronous standby in a temporary folder, and runs FailoverTests on them, which must be built
# ('swift build --build-tests'). TIDEMARK_BINARY names another 'tidemark' than the one of that build; TIDEMARK_DURABLE, such as
# 'replicas=1', is passed to it. A round: the standby stops receiving, the primary is killed some time later, the standby is
# promoted, and the old primary becomes its standby. FAILOVER.md beside this script has the results.
#
#   Tests/Benchmarks/failover.sh step NAME FOLDER
#
# is called by the test: 'hole' ends receiving, 'fail' kills the primary, 'stand' prints the last number in the standby,
# 'promote' makes it the primary, 'rebuild' copies it to the other one.
set -euo pipefail

# shellcheck source=deploy/lib/benchmark.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../deploy/lib/benchmark.sh"

folder=""
binaries=$(postgres_binaries)

primary() { cat "$folder/primary"; }
standby() { if [[ $(primary) == a ]]; then echo b; else echo a; fi; }

# on NAME SQL: prints one value.
on() { as_postgres "$binaries/psql" -X -q -A -t -h "$folder/$1" -U tidemark tidemark -c "$2"; }

# until_true NAME SQL: waits until the answer is 't', half a minute at most.
until_true() {
    local try
    for ((try = 0; try < 600; try++)); do
        if [[ $(on "$1" "$2") == t ]]; then return 0; fi
        sleep 0.05
    done
    refuse "this did not become true on $1: $2"
}

launch() { # NAME
    as_postgres "$binaries/pg_ctl" start --wait --timeout=60 --silent --pgdata="$folder/$1/data" \
        --log="$folder/$1/server.log" --options="-k $folder/$1" >/dev/null \
        || refuse "$1 did not start: $(tail -n 5 "$folder/$1/server.log")"
}

copy() { # FROM TO
    as_postgres rm -rf "$folder/$2/data"
    as_postgres "$binaries/pg_basebackup" --host="$folder/$1" --username=tidemark --pgdata="$folder/$2/data" \
        --write-recovery-conf --wal-method=stream --checkpoint=fast --no-sync
    launch "$2"
    until_true "$1" "SELECT count(*) = 1 FROM pg_stat_replication WHERE state = 'streaming'"
}

end_pair() {
    local name
    for name in a b; do
        if [[ -e $folder/$name/data/postmaster.pid ]]; then
            as_postgres "$binaries/pg_ctl" stop --mode=immediate --silent --pgdata="$folder/$name/data" >/dev/null || true
        fi
    done
    rm -rf "$folder"
}

if [[ ${1:-} == step ]]; then
    folder=$3
    case $2 in
    hole)
        on "$(standby)" "ALTER SYSTEM SET primary_conninfo = ''"
        on "$(standby)" "SELECT pg_reload_conf()" >/dev/null
        until_true "$(standby)" "SELECT count(*) = 0 FROM pg_stat_wal_receiver"
        ;;
    fail) as_postgres "$binaries/pg_ctl" stop --mode=immediate --silent --pgdata="$folder/$(primary)/data" ;;
    stand)
        until_true "$(standby)" "SELECT pg_last_wal_receive_lsn() <= pg_last_wal_replay_lsn()"
        on "$(standby)" "SELECT coalesce(max(seq), 0) FROM sync_batch WHERE workspace = 'tests'"
        ;;
    promote)
        as_postgres "$binaries/pg_ctl" promote --wait --silent --pgdata="$folder/$(standby)/data"
        standby >"$folder/primary.new"
        mv "$folder/primary.new" "$folder/primary"
        ;;
    rebuild) copy "$(primary)" "$(standby)" ;;
    *) refuse "no step '$2'" ;;
    esac
    exit 0
fi

rounds=${1:-20}
# Straight under /tmp: the path of a Unix socket is at most 107 bytes.
folder=$(mktemp -d /tmp/tidemark-pair.XXXXXX)
trap end_pair EXIT
chmod 755 "$folder"
for name in a b; do
    mkdir "$folder/$name"
    if [[ $(id -u) -eq 0 ]]; then chown postgres "$folder/$name"; fi
done
say "starting a PostgreSQL and its standby in $folder"
as_postgres "$binaries/initdb" --pgdata="$folder/a/data" --username=tidemark --auth=trust --encoding=UTF8 --locale=C --no-sync \
    >"$folder/initdb.log"
as_postgres tee -a "$folder/a/data/postgresql.conf" >/dev/null <<SETTINGS
listen_addresses = ''
shared_buffers = 128MB
max_connections = 100
wal_keep_size = 256MB
SETTINGS
echo a >"$folder/primary"
launch a
as_postgres "$binaries/createdb" --host="$folder/a" --username=tidemark tidemark
copy a b
cd "$top"
TIDEMARK_FAILOVER="$folder" TIDEMARK_FAILOVER_ROUNDS="$rounds" TIDEMARK_FAILOVER_SERVER="${2:-both}" \
    swift test --skip-build --disable-xctest --ignore-lock --filter '^EndToEndTests\.FailoverTests/'
