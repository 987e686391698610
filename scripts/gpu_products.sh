#!/bin/sh
# Measures what surrounds a product on a GPU: batches, groups, epilogues, block scales, packed weights
# and batch invariance, each beside its peers. Writes results/NAME/products/*.jsonl, from which
# scripts/readme_tables.py makes tables. Takes about three minutes; RUNG_SECONDS sets the time of each
# measurement (default: 0.05).
#   scripts/gpu_products.sh NAME [build/rung [FOLDER]]
set -eu

die() {
  echo "gpu_products: $*" >&2
  exit 1
}

[ $# -ge 1 ] || die "name the machine, such as nvidia-h200"
rung=${2:-build/rung}
folder=${3:-results/$1/products}
[ -x "$rung" ] || die "'$rung' is not a program; build it first (make ladder)"
mkdir -p "$folder"
failed=
seconds=${RUNG_SECONDS:-0.05}
bf16="--dtype bf16-bf16 --layout nt"

measure() { # file, then arguments of rung bench
  file=$1
  shift
  echo "gpu_products: $file" >&2
  # A kernel that hangs must not cost the files of the others.
  status=0
  timeout 60 "$rung" bench "$@" --device gpu --seconds "$seconds" --json "$folder/$file.jsonl" || status=$?
  # 3: a rung was skipped. Groups are calls of the library, which was measured.
  [ $status = 0 ] || [ $status = 3 ] || failed="$failed $file"
}

# Strided batches with at least 1 GFLOP in a call, and operands beyond the L2 cache.
sizes=16,32,48,64,96,128,192,256
measure batched-f32 gemm/cuda/small_matrices --sizes $sizes --vs cublas \
  --batch 128173,21845,9709,5461,2427,1365,606,341
measure batched-bf16 gemm/cuda/small_mma --dtype bf16-bf16 --sizes $sizes --vs cublas \
  --batch 174762,43690,19418,10922,4854,2730,1213,682

sizes=32,64,112,128,256
for type in tf32:330 i8:661 e4m3:661; do
  # As many of 256 x 256 x 256, and as many bytes of the others.
  largest=${type#*:}
  vs=cublas
  [ "${type%:*}" = e4m3 ] && vs=cublaslt
  measure "batched-${type%:*}" gemm/cuda/batched_wgmma --dtype "${type%:*}" --layout nt --sizes $sizes --vs $vs \
    --batch $((largest * 64)),$((largest * 16)),$((largest * 5)),$((largest * 4)),$largest
done
measure batched-f64 gemm/cuda/batched_mma_f64 --dtype f64 --sizes $sizes --vs cublas --batch 10560,2640,825,660,165

# More time, because a first estimate of cuBLAS's grouped call is far too long.
groups="gemm/cuda/grouped --groups 128 --sizes 1536x2048 $bf16 --vs cublas"
given=$seconds
seconds=0.25
measure groups-uniform $groups --tokens 65536
measure groups-zipf $groups --tokens 65536 --skew zipf
for type in f32 f64 tf32; do
  measure groups-$type gemm/cuda/grouped --groups 32 --tokens 16384 --sizes 1024x1024 --skew zipf \
    --dtype $type --layout nt --vs cublas
done
measure groups-block-scales gemm/cuda/block_scaled --groups 128 --tokens 65536 --sizes 1536x2048 \
  --dtype e4m3 --layout nt --scales block
seconds=$given

# Drawn once, log-uniformly, for this purpose; the last one is that of the bar for bias and gelu.
sizes=4480x896x704,2944x576x4544,2240x3264x8064,9024x1664x5632,5056x8640x384,4096
for parts in bias bias,relu bias,gelu bias,gelu,aux bias,residual; do
  measure "epilogue-$(echo $parts | tr , -)" gemm/cuda/wgmma_tiles --epilogue $parts $bf16 --sizes $sizes \
    --vs cublaslt
done

# The shapes of DeepGEMM's table, and a square.
measure block-scales gemm/cuda/block_scaled --scales block --dtype e4m3 --layout nt --vs cublaslt --sizes \
  64x2112x7168,64x7168x16384,128x7168x16384,4096x2112x7168,4096x24576x1536,4096x7168x16384,8192

# Few rows of A by weights that no cache holds; then many rows.
for bits in int4 int8; do
  measure weights-$bits gemm/cuda/wgmma_tiles --weights $bits $bf16 --vs cublas --sizes \
    1x28672x8192,16x28672x8192,64x28672x8192,256x8192x8192,1024x8192x8192
done

measure batch-invariant gemm/cuda/wgmma_tiles --math batch_invariant $bf16 --vs none --sizes \
  1x4096x4096,16x4096x4096,64x4096x4096,1024x4096x4096,4096,1x2112x7168,64x2112x7168,1024x2112x7168

[ -z "$failed" ] || die "not measured or wrong:$failed"
