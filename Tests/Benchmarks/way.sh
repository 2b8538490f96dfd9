#!/usr/bin/env bash
# Lists the files that each push runs through, from the socket of its writer to that of one reader, with lines and targets.
#
#   Tests/Benchmarks/way.sh [embedded|postgres]      (default: embedded)
#   Tests/Benchmarks/way.sh --help
#
# COVERED names a 'tidemark' that was built with --enable-code-coverage; without it one is built, in a folder of its own, which takes
# ten minutes. TIDE names a 'tide'. Two servers get pushes of one message each, one of them a thousand more; a file is listed if one
# of its functions ran as many times more. So code that runs once a connection, or once a second, is not listed, nor are files of types alone.
set -euo pipefail

# shellcheck source=deploy/lib/benchmark.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../deploy/lib/benchmark.sh"
store=${1:-embedded}
ensure_packages jq
work=$(mktemp -d /tmp/tidemark-way.XXXXXX)
chmod 755 "$work"
server=""

tidy_up() {
    [[ -z $server ]] || kill "$server" 2>/dev/null || true
    stop_postgres
    rm -rf "$work"
}
trap tidy_up EXIT

cd "$top"
covered=${COVERED:-}
if [[ -z $covered ]]; then
    say "building tidemark with counters"
    swift build --product tidemark --enable-code-coverage --scratch-path "$work/build"
    covered=$work/build/debug/tidemark
fi
tide=${TIDE:-}
if [[ -z $tide ]]; then
    swift build --product tide
    tide=$(swift build --show-bin-path)/tide
fi
tools=$(dirname "$(realpath "$(command -v swift)")")
case $store in
    embedded) ;;
    postgres) start_postgres way ;;
    *) refuse "no such store: $store; embedded or postgres" ;;
esac

# counted NAME SECONDS: makes a hundred pushes a second for that long, and writes the counts of the functions into $work/NAME.
counted() {
    local database=sqlite:$work/$1.sqlite
    if [[ $store == postgres ]]; then
        as_postgres createdb -h "$postgres_folder" -p "$POSTGRES_PORT" -U tidemark "way_$1"
        database="postgres://tidemark@/way_$1?host=$postgres_folder&port=$POSTGRES_PORT"
    fi
    LLVM_PROFILE_FILE=$work/$1.raw "$covered" serve --dev --listen 127.0.0.1:0 --database "$database" >"$work/address" 2>"$work/log" &
    server=$!
    until grep -q 'http' "$work/address"; do
        kill -0 "$server" 2>/dev/null || refuse "the server ended: $(tail -n 3 "$work/log")"
        sleep 0.05
    done
    "$tide" bench fanout --dev --server "$(grep -o 'http://[0-9.:]*' "$work/address" | head -n 1)" \
        --subscribers 1 --writers 1 --rate 100 --seconds "$2" >"$work/bench" || { cat "$work/bench"; refuse "the pushes failed"; }
    kill "$server"
    wait "$server" || true
    server=""
    "$tools/llvm-profdata" merge -sparse "$work/$1.raw" -o "$work/$1.profile"
    "$tools/llvm-cov" export "$covered" -instr-profile="$work/$1.profile" \
        | jq -r '.data[0].functions[] | [.count, .filenames[0], .name] | @tsv' | grep -v /checkouts/ >"$work/$1"
}

counted few 2
counted many 12
awk -F '\t' 'NR == FNR { few[$2 $3] += $1; next } { many[$2 "\t" $3] += $1 }
    END { for (key in many) { split(key, name, "\t"); if (many[key] - few[name[1] name[2]] >= 950) print name[1] } }' \
    "$work/few" "$work/many" | grep -oE '(Server|Shared)/.*' | sort | uniq -c >"$work/files"
while read -r functions file; do
    printf '%5d lines %4d functions  %s\n' "$(wc -l <"$file")" "$functions" "$file"
done <"$work/files"
awk '{ split($2, part, "/"); target[part[1] "/" part[2]] } END { print NR " files in " length(target) " targets" }' "$work/files"
