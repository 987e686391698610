#!/bin/sh
# Random kernels by hand: run_long.sh RUNG RANDOM_KERNELS FIRST_SEED LAST_SEED [OPTIONS OF rung emu]
# STEPS=puns: kernels that pun types.
# 100 kernels of each seed, 70 runs of each kernel. Prints what was wrong, and the sum of runs.
rung=$1 generator=$2 seed=$3 last=$4
shift 4
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
runs=0 bad=0
while [ "$seed" -le "$last" ]; do
  "$generator" "$seed" 100 70 $STEPS >"$folder/kernels.cu"
  if "$rung" emu "$@" "$folder/kernels.cu" >"$folder/out" 2>"$folder/err"; then
    runs=$((runs + $(sed -n 's/^\([0-9]*\) runs, 0 wrong$/\1/p' "$folder/out")))
  else
    bad=$((bad + 1))
    echo "seed $seed:"
    cat "$folder/out"
    grep ' by thread \|error' "$folder/err" | cut -c 1-200 | sort | uniq -c | head -5
  fi
  seed=$((seed + 1))
  echo "so far: $runs runs right, $bad programs with faults" >&2
done
echo "$runs runs right, $bad programs with faults"
[ "$bad" = 0 ]
