#!/usr/bin/env bash
# Makes the databases beside this script with a server and a device of the landed version (commit 4cd0227), to be kept.
#
# usage: make.sh TIDEMARK POSTGRES
#   TIDEMARK  the program of that commit: git worktree add ../landed 4cd0227, and there swift build --product tidemark
#   POSTGRES  the URI of an empty PostgreSQL database; pg_dump must be in the PATH
#
# Their times are those of the run; everything else is defined below.
set -euo pipefail

tidemark=$(realpath "$1")
postgres=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
server=""
trap '[[ -z $server ]] || kill "$server"; rm -r "$work"' EXIT
cd "$work"

room=0198f000-0000-7000-8000-000000000001
ann=0198f000-0000-7000-8000-0000000000a1
bob=0198f000-0000-7000-8000-0000000000b1

# start DATABASE: serves it on a port of the system's choice.
start() {
    rm -f log
    "$tidemark" serve --dev --database "$1" --listen 127.0.0.1:0 >log 2>errors &
    server=$!
    until grep -q listening log; do sleep 0.1; done
    url=$(sed -n 's/.*listening on \(http[^ ]*\).*/\1/p' log)
}

# SIGTERM: afterwards an SQLite file is complete.
stop() {
    kill "$server"
    wait "$server" || true
    server=""
}

# call USER METHOD PATH BODY [WORKSPACE]
call() {
    local token
    token=$("$tidemark" token --dev --user "$1" --workspace "${5:-dev}")
    curl --silent --show-error --fail-with-body --request "$2" --header "Authorization: Bearer $token" --data-binary "$4" "$url$3"
    echo
}

# id NUMBER: prints the id of a transaction or record.
id() { printf '0198f000-0000-7000-8000-%012d' "$1"; }

message() {
    printf '{"id":"%s","at":1760000000000,"ops":[{"o":"put","c":"messages","i":"%s","f":{"conversationId":"%s","sentAt":%d,"text":"message %d"}}]}' \
        "$(id $((1000 + $1)))" "$(id $((100 + $1)))" "$room" "$1" "$1"
}

# fill: the same for both stores.
fill() {
    call ann POST /v1/clients "{\"client\":\"$ann\"}"
    call bob POST /v1/clients "{\"client\":\"$bob\"}"
    # 1 a conversation, 2 to 7 messages.
    local all
    all="{\"id\":\"$(id 1000)\",\"at\":1760000000000,\"ops\":[{\"o\":\"put\",\"c\":\"conversations\",\"i\":\"$room\",\"f\":{\"kind\":\"group\",\"name\":\"landed\",\"participantIds\":[\"ann\",\"bob\",\"cid\"]}}]}"
    for number in 1 2 3 4 5 6; do all+=",$(message $number)"; done
    call ann POST /v1/push "{\"client\":\"$ann\",\"conn\":1,\"first\":1,\"acked\":0,\"m\":[$all]}"
    # A value that bob had not seen is overwritten: the ledger.
    call bob POST /v1/push "{\"client\":\"$bob\",\"conn\":1,\"first\":1,\"acked\":0,\"m\":[{\"id\":\"$(id 2001)\",\"at\":1760000000001,\"ops\":[{\"o\":\"patch\",\"c\":\"conversations\",\"i\":\"$room\",\"set\":{\"name\":\"renamed\"},\"was\":{\"name\":1}}]}]}"
    # 8 a tombstone, 9 one member less, 10 a refused transaction; none of them is acknowledged.
    call ann POST /v1/push "{\"client\":\"$ann\",\"conn\":1,\"first\":8,\"acked\":7,\"m\":[
        {\"id\":\"$(id 1008)\",\"at\":1760000000002,\"ops\":[{\"o\":\"del\",\"c\":\"messages\",\"i\":\"$(id 103)\"}]},
        {\"id\":\"$(id 1009)\",\"at\":1760000000003,\"ops\":[{\"o\":\"patch\",\"c\":\"conversations\",\"i\":\"$room\",\"rem\":{\"participantIds\":[\"cid\"]}}]},
        {\"id\":\"$(id 1010)\",\"at\":1760000000004,\"ops\":[{\"o\":\"del\",\"c\":\"messages\",\"i\":\"$(id 999)\"}]}]}"
    # A blob, and an independent workspace.
    call ann PUT "/v1/blobs/$(sha256sum blob | cut -d ' ' -f 1)?scope=$room" @blob
    call zoe POST /v1/clients "{\"client\":\"$ann\"}" other
    call zoe POST /v1/push "{\"client\":\"$ann\",\"conn\":1,\"first\":1,\"acked\":0,\"m\":[{\"id\":\"$(id 1)\",\"at\":1760000000000,\"ops\":[{\"o\":\"put\",\"c\":\"users\",\"i\":\"$(id 5)\",\"f\":{\"displayName\":\"Zoe\"}}]}]}" other
}

seq 1 3000 >blob

start "sqlite:$work/server.sqlite"
fill
# A device: the records it received, and its writes after the server's end.
printf 'first\nsecond\n' | "$tidemark" chat --dev --user bob --conversation ann --database device.sqlite --server "$url" >/dev/null
printf 'hello\n' | "$tidemark" chat --dev --user bob --conversation renamed --database device.sqlite --server "$url" >/dev/null
stop
printf 'while away\nstill away\n' \
    | "$tidemark" chat --dev --user bob --conversation renamed --database device.sqlite --server "$url" --patience 1s >/dev/null || true

start "$postgres"
fill
stop
pg_dump --inserts --no-owner --no-privileges "$postgres" | grep -v -e '^--' -e '^SET ' -e '^SELECT pg_catalog' -e '^\\' -e '^$' \
    | sed -e 's/public\.//g' >postgres.sql

# Small files: pages that were freed on the way are removed.
for file in server.sqlite server.blobs.sqlite device.sqlite; do
    [[ ! -e $file-wal ]] || sqlite3 "$file" 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
    sqlite3 "$file" VACUUM
    gzip --best --no-name --stdout "$file" >"$here/$file.gz"
done
cp postgres.sql "$here"
ls -l "$here"
