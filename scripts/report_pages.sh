#!/bin/sh
# Makes the published reports, docs/DEVICE.html with the pictures in docs/images/DEVICE, from the JSON
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
  grep -o 'PTX by [a-z]* [0-9.]*' "$1" | sort -u
}

for device in nvidia-h200; do
  page=docs/$device.html
  pictures=docs/images/$device
  files=$(ls results/$device/*.json | grep -v /counters-)
  # Plans that this user has tuned must not show in what is published.
  XDG_CACHE_HOME=$made/none "$rung" report $files -o "$made/page.html" --pictures "$made/pictures"
  if [ -z "$check" ]; then
    mkdir -p "$pictures"
    rm -f "$pictures"/*.svg
    cp "$made/page.html" "$page"
    cp "$made/pictures"/*.svg "$pictures"
  elif [ "$(compilers "$page")" != "$(compilers "$made/page.html")" ]; then
    echo "skipped: $page is of $(compilers "$page" | tr '\n' ';')"
    exit 77
  elif ! cmp -s "$page" "$made/page.html" || ! diff -rq "$pictures" "$made/pictures" >/dev/null; then
    echo "report_pages: $page, $pictures: not what results/ and the rungs give; run scripts/report_pages.sh" >&2
    exit 1
  fi
done
