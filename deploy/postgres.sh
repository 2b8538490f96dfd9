#!/usr/bin/env bash
# A private PostgreSQL for development, in the foreground, until Ctrl-C. Its files are deleted when it stops.
#
#   deploy/postgres.sh [database]      (default: tidemark)
#
# Prints how to connect. Needs no configuration and touches no existing cluster of the machine.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=deploy/lib/postgres.sh
source "$top/deploy/lib/postgres.sh"

if [[ ${1:-} == --help || ${1:-} == -h ]]; then
    usage "${BASH_SOURCE[0]}"
    exit 0
fi

database=${1:-tidemark}
trap stop_postgres EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

start_postgres "$database"
say "URI       postgres://tidemark@/$database?host=$postgres_folder&port=$POSTGRES_PORT"
say "psql      psql '$(postgres_connection "$database")'"
say "tests     export TIDEMARK_TEST_POSTGRES='$(postgres_connection "$database")'"
say "Ctrl-C stops it and deletes its files"
while postgres_is_running; do
    sleep 1
done
refuse "PostgreSQL ended by itself"
