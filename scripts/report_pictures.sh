#!/bin/sh
# Refreshes the pictures of `rung report` that pages show, docs/images/nvidia-h200/*.svg:
# scripts/report_pictures.sh [PROGRAM]. With --check first, writes nothing, and exits with 1 if a picture is stale.
# A roofline shows traffic that the virtual GPU counted, which depends on the compiler of the kernels. With another
# compiler, rooflines are left alone; a check of the others then exits with 77.
set -eu
cd "$(dirname "$0")/.."
compiler="PTX by nvcc 13.0.88" # of the rooflines in docs/images
check=
if [ "${1:-}" = --check ]; then check=yes && shift; fi
rung=${1:-build/rung}
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
export XDG_CACHE_HOME="$made/none" # without the user's own tuned configurations

results=results/nvidia-h200
"$rung" report $results/gemm-f32*.jsonl $results/random-*.jsonl --pictures "$made/pictures"
status=0
for picture in docs/images/nvidia-h200/*.svg; do
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
    echo "report_pictures: $picture: not what results/ and the rungs give; run scripts/report_pictures.sh" >&2
    exit 1
  fi
  cp "$new" "$picture"
done
[ -z "$check" ] || exit $status
