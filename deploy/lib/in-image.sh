# shellcheck shell=bash
# Runs an unpacked image as a container would: its files read-only, as its user, without any capability and without a way to get one.
# Sourced, never run.
set -euo pipefail

# write_runner FILE ROOT USER ENVIRONMENT…: writes a program that acts as the image's 'tidemark'. It needs root. Each step replaces itself
# by the next, so that it ends as the server does and the server gets its signals. /tmp is the machine's, where tests keep their files.
write_runner() {
    local file=$1
    {
        printf '#!/usr/bin/env bash\n# Written by deploy/release-check.sh.\nset -euo pipefail\n'
        printf 'root=%q user=%q\n' "$2" "$3"
        printf 'settings=('
        printf ' %q' "${@:4}"
        printf ' )\n'
        cat <<'RUNNER'
# The caller's variables override the image's.
for name in $(compgen -e); do
    case $name in
    TIDEMARK_BINARY | TIDEMARK_TEST_*) ;;
    TIDEMARK_* | PG* | NOTIFY_SOCKET | WATCHDOG_* | COLUMNS) settings+=("$name=${!name}") ;;
    esac
done
exec env -i "${settings[@]}" "$(command -v setpriv)" --no-new-privs "$(command -v unshare)" --mount "$BASH" -c '
    PATH=/usr/sbin:/usr/bin:/sbin:/bin root=$0 user=$1
    shift
    mount --make-rprivate /
    mount --bind "$root" "$root"
    mount -o remount,bind,ro,nosuid,nodev "$root"
    mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
    mount --bind /tmp "$root/tmp"
    mount -t tmpfs -o "uid=$user,gid=$user,mode=700,size=1g" volume "$root/var/lib/tidemark"
    exec chroot --userspec="$user:$user" "$root" /usr/local/bin/tidemark "$@"' "$root" "$user" "$@"
RUNNER
    } >"$file"
    chmod 0755 "$file"
}
