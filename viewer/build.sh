#!/bin/sh
# build.sh OUTPUT NAME: installs what bundling needs, if it is not there yet, and bundles the page NAME into OUTPUT.
set -eu
output=$(realpath "$1")
folder=$(cd "$(dirname "$0")" && pwd)
sh "$folder/../tools/install_node_packages.sh" viewer > /dev/null
node "$folder/bundle.mjs" "$output" "$2" < /dev/null
