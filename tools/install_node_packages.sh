#!/bin/sh
# install_node_packages.sh FOLDER…: `npm ci` where a folder's lock file has changed since the last time.
set -eu
cd "$(dirname "$0")/.."

for folder in "$@"; do
    [ -f "$folder/package-lock.json" ] || continue
    stamp="$folder/node_modules/.installed-lock.json"
    cmp -s "$folder/package-lock.json" "$stamp" && continue
    attempt=1
    until (cd "$folder" && npm ci --no-audit --no-fund < /dev/null); do
        [ "$attempt" -lt 3 ] || { echo "npm ci failed in $folder" >&2; exit 1; }
        attempt=$((attempt + 1))
        sleep 5
    done
    mkdir -p "$folder/node_modules"
    cp "$folder/package-lock.json" "$stamp"
done
