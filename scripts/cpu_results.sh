#!/bin/sh
# Measures the CPU library against its peers on random shapes, on a machine that does nothing else:
# writes results/cpu-NAME/random-….json. Takes about eight minutes; RUNG_SHAPES sets the number of
# shapes for each of 36 files (default: 12).
#   scripts/cpu_results.sh NAME [build/rung]
set -eu

die() {
  echo "cpu_results: $*" >&2
  exit 1
}

[ $# -ge 1 ] || die "name the machine, such as amd-zen4-2-cores"
folder=results/cpu-$1
rung=${2:-build/rung}
shapes=${RUNG_SHAPES:-12}
[ -x "$rung" ] || die "'$rung' is not a program; build it first (make ladder)"
load=$(cut -d ' ' -f 1 /proc/loadavg 2>/dev/null || echo 0)
if [ "$(printf '%.0f' "$load")" -ge 1 ]; then
  echo "cpu_results: the load is $load: other work makes these times worthless" >&2
fi
mkdir -p "$folder"

# One file for each type, number of threads and largest size; the seeds were not used for fitting.
file=0
measure() { # dtype threads max_size seed
  file=$((file + 1))
  echo "cpu_results: file $file of 36: $1, $2 thread(s), up to $3, seed $4" >&2
  "$rung" bench gemm/cpu --random "$shapes" --seed "$4" --dtype "$1" --threads "$2" \
    --max-size "$3" --json "$folder/random-$1-$2t-$3-seed$4.json"
}
for dtype in f32 f64 bf16 i8; do
  for seed in 41 42 43; do
    measure "$dtype" 1 4096 "$seed"
    measure "$dtype" 2 4096 "$seed"
    measure "$dtype" 1 128 "$seed"
  done
done
