#!/bin/sh
# demo.sh BUILD: make a flame graph page from a small recording that comes with the sources.
set -eu
cd "$(dirname "$0")/.."
build=$1
recording=examples/word_counts.jfr.gz
page=$build/demo.html

if [ ! -f "$recording" ] || ! "$build/sparkflame" flame --help > /dev/null 2>&1; then
    echo "there is no demo yet: sparkflame cannot draw"
    exit 1
fi
"$build/sparkflame" flame "$recording" --title "sparkflame demo" -o "$page"
echo "A flame graph of a small recording (see examples/README.md):"
echo "    file://$(cd "$build" && pwd)/demo.html"
