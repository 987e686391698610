#!/bin/sh
# Makes the published reports, docs/DEVICE/ with the pictures in docs/images/DEVICE, from the JSON
# in results/DEVICE: scripts/report_pages.sh [PROGRAM]. With --check before it, changes nothing: exits
# with 1 if they are not what the program makes, or with 77 if it brings rungs of another compiler,
# whose counters may differ.
set -eu
cd "$(dirname "$0")/.."
check=
if [ "${1:-}" = --check ]; then check=yes && shift; fi
rung=${1:-build/rung}
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT

compilers() {
  cat "$1"/*.html | grep -o 'PTX by [a-z]* [0-9.]*' | sort -u
}

for device in nvidia-h200; do
  pages=docs/$device
  pictures=docs/images/$device
  files=$(ls results/$device/*.json | grep -v /counters-)
  # Plans that this user has tuned must not show in what is published.
  XDG_CACHE_HOME=$made/none "$rung" report $files -o "$made/pages/" --pictures "$made/pictures"
  if [ -z "$check" ]; then
    mkdir -p "$pictures"
    rm -rf "$pictures"/*.svg "$pages"
    cp -r "$made/pages" "$pages"
    cp "$made/pictures"/*.svg "$pictures"
  elif [ "$(compilers "$pages")" != "$(compilers "$made/pages")" ]; then
    echo "skipped: $pages is of $(compilers "$pages" | tr '\n' ';')"
    exit 77
  elif ! diff -rq "$pages" "$made/pages" >/dev/null || ! diff -rq "$pictures" "$made/pictures" >/dev/null; then
    echo "report_pages: $pages, $pictures: not what results/ and the rungs give; run scripts/report_pages.sh" >&2
    exit 1
  fi
done
