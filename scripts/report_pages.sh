#!/bin/sh
# Makes the reports of results/DEVICE in build/report/DEVICE/, and refreshes the pictures of them that pages
# show, docs/images/DEVICE/*.svg: scripts/report_pages.sh [PROGRAM]. With --check first, makes nothing, and
# exits with 1 if a picture is stale.
# A roofline shows traffic that the virtual GPU counted, which depends on the compiler of the kernels. With
# another compiler, rooflines are left alone; a check of the others then exits with 77.
set -eu
cd "$(dirname "$0")/.."
compiler="PTX by nvcc 13.0.88" # of the rooflines in docs/images
check=
if [ "${1:-}" = --check ]; then check=yes && shift; fi
rung=${1:-build/rung}
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
export XDG_CACHE_HOME="$made/none" # without the user's own tuned configurations

status=0
for device in nvidia-h200; do
  if [ -n "$check" ]; then
    # Only the files that the pictures in docs/images show.
    "$rung" report results/$device/gemm-f32*.jsonl results/$device/random-*.jsonl --pictures "$made/pictures"
  else
    "$rung" report results/$device/*.jsonl -o build/report/$device/ --pictures "$made/pictures"
  fi
  for picture in docs/images/$device/*.svg; do
    new=$made/pictures/$(basename "$picture")
    cmp -s "$new" "$picture" && continue
    case $picture in
      *-roofline.svg)
        if ! "$rung" trace gemm/cuda/00 --n 16 | grep -qF "$compiler"; then
          echo "skipped: $picture is of $compiler"
          status=77
          continue
        fi
        ;;
    esac
    if [ -n "$check" ]; then
      echo "report_pages: $picture: not what results/ and the rungs give; run scripts/report_pages.sh" >&2
      exit 1
    fi
    cp "$new" "$picture"
  done
done
[ -z "$check" ] || exit $status
