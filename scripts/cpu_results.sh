#!/bin/sh
# Measures the CPU library and its ladder against the peers, on a machine that does nothing else, and
# writes JSON Lines into results/cpu-NAME/. Takes about ten minutes with two cores; scripts/readme_tables.py
# then fills the tables.
#   scripts/cpu_results.sh NAME [build/rung]
# RUNG_SHAPES: shapes of each random draw (default: 24). RUNG_SCALE: time per measurement, as a multiple
# of the default; 0.01 tries the script. RUNG_THREADS: the larger number of threads (default: 2).
set -eu

die() {
  echo "cpu_results: $*" >&2
  exit 1
}

[ $# -ge 1 ] || die "name the machine, such as amd-zen4-2-cores"
folder=results/cpu-$1
rung=${2:-build/rung}
shapes=${RUNG_SHAPES:-24}
scale=${RUNG_SCALE:-1}
many=${RUNG_THREADS:-2}
[ -x "$rung" ] || die "'$rung' is not a program; build it first (make ladder)"
load=$(cut -d ' ' -f 1 /proc/loadavg 2>/dev/null || echo 0)
if [ "$(printf '%.0f' "$load")" -ge 1 ]; then
  echo "cpu_results: the load is $load: other work makes these times worthless" >&2
fi
mkdir -p "$folder"
trap 'rm -f "$folder"/*.part "$folder"/*.part.jsonl' EXIT

# A file replaces the one of an earlier run only when it is whole. It names libraries by paths from ~.
measure() { # file seconds arguments of bench…
  file=$1
  seconds=$(awk "BEGIN { print $2 * $scale }")
  shift 2
  echo "cpu_results: $(date +%T) $file" >&2
  "$rung" bench "$@" --seconds "$seconds" --json "$folder/$file.part.jsonl" \
    >"$folder/$file.log.part" 2>&1 ||
    die "$file: $(tail -n 1 "$folder/$file.log.part")"
  sed -i "s|\"$HOME/|\"~/|g" "$folder/$file.part.jsonl"
  mv "$folder/$file.part.jsonl" "$folder/$file.jsonl"
}

# Random shapes; these seeds were not used for fitting. Their runs are in one file.
draw() { # dtype threads max_size
  draw=random-$1-$2t-$3
  for seed in 461 462 463; do
    measure "$draw-seed$seed" 0.03 gemm/cpu --random "$shapes" --seed $seed --dtype "$1" --threads "$2" \
      --max-size "$3"
  done
  cat "$folder/$draw"-seed*.jsonl >"$folder/$draw.jsonl"
  rm "$folder/$draw"-seed*.jsonl
}
for dtype in f32 f64 bf16 i8; do
  draw $dtype 1 4096
  draw $dtype "$many" 4096
  draw $dtype 1 128
done

# The ladder, at one size that all rungs finish in time, and the library at many.
sizes=64,128,256,512,1024,2048,4096,16x4096x4096,4096x16x4096,4096x4096x16,1x4096x4096,64x64x65536
for threads in 1 "$many"; do
  for dtype in f32 f64; do
    on="--dtype $dtype --threads $threads"
    # shellcheck disable=SC2086  # words of $on
    measure "ladder-$dtype-${threads}t" 0.3 gemm/cpu --sizes 512 $on
    # shellcheck disable=SC2086
    measure "gemm-$dtype-${threads}t" 0.6 gemm/cpu/just_in_time --sizes $sizes $on
    # shellcheck disable=SC2086
    measure "dot-$dtype-${threads}t" 0.1 dot/cpu --sizes 1e3,1e4,1e5,1e6,1e7 $on
  done
done

# Matrix times vector, beside the rate of reading. AMX, beside oneDNN.
sides=1x8192x8192,8192x1x8192,1x4096x4096
for dtype in f32 f64; do
  measure "gemv-$dtype-1t" 0.3 gemm/cpu/narrow --sizes $sides --dtype $dtype --threads 1
done
for dtype in bf16 i8; do
  measure "gemm-$dtype-1t" 0.3 gemm/cpu/amx --sizes 256,512,1024,2048,4096 --dtype $dtype --threads 1
done
