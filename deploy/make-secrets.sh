#!/usr/bin/env bash
# Makes the secret files that compose.yaml mounts, once. Never replaces one that exists.
#
#   deploy/make-secrets.sh
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=deploy/lib/say.sh
source "$top/deploy/lib/say.sh"

if [[ ${1:-} == --help || ${1:-} == -h ]]; then
    usage "${BASH_SOURCE[0]}"
    exit 0
fi

# The users inside the containers must read the files, so the files are readable and the folder around them is not.
folder=$top/deploy/secrets
mkdir -p "$folder"
chmod 0700 "$folder"
for name in database_password token_secret; do
    if [[ -e $folder/$name ]]; then
        say "deploy/secrets/$name exists and stays"
        continue
    fi
    head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \n' >"$folder/$name"
    chmod 0444 "$folder/$name"
    say "deploy/secrets/$name is made"
done
