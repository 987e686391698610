#pragma once
// The rungs that the library uses on NVIDIA GPUs. This is data; change it by measurement (`rung
// bench --device gpu` prints the library's choice beside every rung). The last rule of gemm, and of
// each mode of dot, must match everything; a test checks it.

#include "device/cuda/cost/few_or_short.hpp"
#include "device/cuda/cost/split.hpp"
#include "device/cuda/tile/batch_tile_times.hpp"
#include "select/cuda/rules.hpp"

namespace rung::tuned {

inline constexpr Dtypes f32_and_i32 = Dtypes::of(Dtype::f32, Dtype::i32);
inline constexpr Dtypes f32_and_tf32 = Dtypes::of(Dtype::f32, Dtype::tf32);
inline constexpr Dtypes of_16_bits =
    Dtypes::of(Dtype::bf16, Dtype::f16, Dtype::bf16_bf16, Dtype::f16_f16);
inline constexpr Dtypes of_16_bits_and_tf32 =
    Dtypes::of(Dtype::bf16, Dtype::f16, Dtype::bf16_bf16, Dtype::f16_f16, Dtype::tf32);
inline constexpr Dtypes any_operands =
    Dtypes::of(Dtype::bf16, Dtype::f16, Dtype::bf16_bf16, Dtype::f16_f16, Dtype::tf32, Dtype::i8);
inline constexpr Dtypes float8_types = Dtypes::of(Dtype::e4m3, Dtype::e5m2);

inline constexpr CudaGemmRule cuda_gemm_rules[] = {
    // Below k = 1024, sums of terms of one sign have larger errors than a chain of FMAs. From 1024
    // on, a cost model decides whether splitting is faster (docs/notes/cuda-kernels.md).
    {.dtypes = Dtypes::of(Dtype::f32),
     .compute_mode = ComputeMode::split,
     .min_arch = 90,
     .max_arch = 90,
     .min_k = 1024,
     .pays = splitting_pays,
     .use = cuda::GemmRungIndex::gemm_split_f16},
    // Only sm_80: on sm_86 and sm_89, products of float16 with float sums run at most four times as
    // fast as products of float, on many GPUs only twice. Three of them take too long there.
    {.dtypes = Dtypes::of(Dtype::f32),
     .compute_mode = ComputeMode::split,
     .min_arch = 80,
     .max_arch = 80,
     .min_k = 1024,
     .pays = splitting_pays,
     .use = cuda::GemmRungIndex::gemm_split_f16_mma},
    // A cost model, which counts whole waves of 128x256 tiles, decides whether residues are faster
    // (docs/notes/cuda-kernels.md).
    {.dtypes = Dtypes::of(Dtype::f64),
     .compute_mode = ComputeMode::split,
     .min_arch = 90,
     .max_arch = 90,
     .min_m = 4096,
     .min_n = 4096,
     .min_k = 2048,
     .pays = residues_pay,
     .use = cuda::GemmRungIndex::gemm_residues},
    // One kernel for all shapes, so that the bits of a result do not depend on the shape.
    {.dtypes = Dtypes::of(Dtype::f32),
     .compute_mode = ComputeMode::reproducible,
     .min_arch = 90,
     .max_arch = 90,
     .use = cuda::GemmRungIndex::gemm_digits},
    // Products by a vector, or with a few rows or columns.
    {.dtypes = Dtypes::of(Dtype::f64),
     .min_arch = 80,
     .max_short = 2,
     .use = cuda::GemmRungIndex::gemm_skinny},
    {.dtypes = Dtypes::of(Dtype::f32),
     .min_arch = 80,
     .max_short = 4,
     .use = cuda::GemmRungIndex::gemm_skinny},
    {.dtypes = Dtypes::of(Dtype::f32),
     .min_arch = 80,
     .max_short = 8,
     .pays = two_groups_of_rows_pay,
     .use = cuda::GemmRungIndex::gemm_skinny},
    {.dtypes = of_16_bits_and_tf32,
     .min_arch = 80,
     .max_short = 1,
     .use = cuda::GemmRungIndex::gemm_skinny},
    {.dtypes = any_operands,
     .min_arch = 80,
     .min_k = 128,
     .max_short = 16,
     .pays = fragments_from_memory_pay,
     .use = cuda::GemmRungIndex::gemm_skinny_mma},
    {.dtypes = any_operands,
     .min_arch = 80,
     .max_short = 6,
     .max_alignment = 8,
     .use = cuda::GemmRungIndex::gemm_skinny},
    // Short k: writing C takes longer than multiplying. From k = 9 on, small products need smaller
    // tiles. TMA stores aligned rows of 16-bit elements faster.
    {.dtypes = Dtypes::of(Dtype::f32, Dtype::i32, Dtype::f64),
     .min_arch = 80,
     .min_m = 32,
     .min_n = 128,
     .max_k = 8,
     .use = cuda::GemmRungIndex::gemm_short_k},
    {.dtypes = Dtypes::of(Dtype::f32, Dtype::i32, Dtype::f64),
     .min_arch = 80,
     .min_m = 32,
     .min_n = 128,
     .max_k = 16,
     .pays = has_large_c,
     .use = cuda::GemmRungIndex::gemm_short_k},
    {.dtypes = any_operands,
     .min_arch = 80,
     .min_m = 32,
     .min_n = 128,
     .max_k = 16,
     .pays = has_unaligned_rows,
     .use = cuda::GemmRungIndex::gemm_short_k},
    {.dtypes = Dtypes::of(Dtype::bf16, Dtype::f16, Dtype::tf32, Dtype::i8),
     .min_arch = 80,
     .min_n = 128,
     .max_k = 8,
     .pays = has_large_c,
     .use = cuda::GemmRungIndex::gemm_short_k},
    {.dtypes = f32_and_i32,
     .min_arch = 80,
     .min_m = 32,
     .min_n = 64,
     .max_k = 32,
     .use = cuda::GemmRungIndex::gemm_rank_k},
    {.dtypes = f32_and_i32,
     .min_arch = 80,
     .min_m = 32,
     .min_n = 64,
     .max_k = 64,
     .pays = has_unaligned_rows,
     .use = cuda::GemmRungIndex::gemm_rank_k},
    {.dtypes = Dtypes::of(Dtype::f64),
     .min_arch = 90,
     .max_arch = 90,
     .use = cuda::GemmRungIndex::gemm_mma_f64_warp_specialized},
    {.dtypes = Dtypes::of(Dtype::f64), .min_arch = 80, .use = cuda::GemmRungIndex::gemm_mma_f64},
    {.dtypes = f32_and_i32, .min_arch = 80, .use = cuda::GemmRungIndex::gemm_fma_tiles},
    // Small products whose operands TMA cannot read: packing would take longer than multiplying.
    {.dtypes = any_operands,
     .min_arch = 80,
     .max_k = 128,
     .max_alignment = 8,
     .pays = loading_elements_pays,
     .use = cuda::GemmRungIndex::gemm_any_operands},
    {.dtypes = any_operands,
     .min_arch = 80,
     .max_short = 64,
     .max_alignment = 8,
     .pays = loading_long_operand_pays,
     .use = cuda::GemmRungIndex::gemm_any_operands},
    {.dtypes = any_operands,
     .min_arch = 80,
     .max_work = 1.2e8,
     .max_alignment = 8,
     .use = cuda::GemmRungIndex::gemm_any_operands},
    {.dtypes = any_operands | float8_types,
     .min_arch = 90,
     .max_arch = 90,
     .use = cuda::GemmRungIndex::gemm_wgmma_tiles},
    {.dtypes = of_16_bits, .min_arch = 80, .use = cuda::GemmRungIndex::gemm_22_stages},
    {.dtypes = any_operands, .min_arch = 80, .use = cuda::GemmRungIndex::gemm_any_operands},
    // GPUs without cp.async. This rung adds no types to those of the rules above.
    {.use = cuda::GemmRungIndex::gemm_08_double_buffer},
};

/// If the rules select `of`, wave models decide between it and the first `use`, and the model of
/// traffic.cpp between these, wgmma_multicast and wgmma_cluster_split.
inline constexpr CudaRival cuda_rivals[] = {
    {.dtypes = of_16_bits,
     .of = cuda::GemmRungIndex::gemm_wgmma_tiles,
     .use = cuda::GemmRungIndex::gemm_ping_pong},
    {.dtypes = of_16_bits,
     .of = cuda::GemmRungIndex::gemm_wgmma_tiles,
     .use = cuda::GemmRungIndex::gemm_wgmma_multicast},
    {.dtypes = of_16_bits,
     .of = cuda::GemmRungIndex::gemm_wgmma_tiles,
     .use = cuda::GemmRungIndex::gemm_wgmma_cluster_split},
};

// A product with more than max_work fills the GPU by itself: the kernels for single products are
// faster. Kernels of f32 also multiply tf32 operands, without rounding them: for up to 16 rows or
// columns, where memory is the bottleneck, and for up to 96 if operands would have to be packed.
inline constexpr CudaBatchRule cuda_batch_rules[] = {
    {.dtypes = Dtypes::of(Dtype::tf32),
     .min_arch = 90,
     .max_arch = 90,
     .min_short = 17,
     .max_work = 1.4e8,
     .is_mapped = true,
     .is_k_major = true,
     .use = cuda::GemmRungIndex::gemm_batched_wgmma},
    {.dtypes = Dtypes::of(Dtype::tf32),
     .min_arch = 90,
     .max_arch = 90,
     .min_short = 97,
     .max_work = 1.4e8,
     .is_packed = true,
     .use = cuda::GemmRungIndex::gemm_batched_wgmma},
    {.dtypes = f32_and_tf32,
     .min_arch = 90,
     .max_arch = 90,
     .min_short = 33,
     .max_work = 1.4e8,
     .is_mapped = true,
     .pays = cuda::batched_fma_pays,
     .use = cuda::GemmRungIndex::gemm_batched_fma},
    {.dtypes = f32_and_tf32,
     .min_arch = 80,
     .min_short = 65,
     .max_work = 1.4e8,
     .use = cuda::GemmRungIndex::gemm_batched_tiles},
    {.dtypes = Dtypes::of(Dtype::f64),
     .min_arch = 90,
     .min_short = 17,
     .max_work = 1.4e8,
     .use = cuda::GemmRungIndex::gemm_batched_mma_f64},
    {.dtypes = Dtypes::of(Dtype::f32, Dtype::tf32, Dtype::f64, Dtype::i32),
     .min_arch = 80,
     .max_work = 1.4e8,
     .use = cuda::GemmRungIndex::gemm_small_matrices},
    {.dtypes = of_16_bits,
     .min_arch = 90,
     .max_arch = 90,
     .min_short = 33,
     .max_work = 1.4e8,
     .is_mapped = true,
     .use = cuda::GemmRungIndex::gemm_batched_wgmma},
    {.dtypes = of_16_bits,
     .min_arch = 80,
     .max_work = 1.4e8,
     .use = cuda::GemmRungIndex::gemm_small_mma},
    // For these types, wgmma reads only K-major tiles. Other operands are packed first, for
    // all products at once.
    {.dtypes = Dtypes::of(Dtype::i8) | float8_types,
     .min_arch = 90,
     .max_arch = 90,
     .max_work = 1.4e8,
     .is_packed = true,
     .use = cuda::GemmRungIndex::gemm_batched_wgmma},
};

// If gemm/cuda/grouped cannot run, kernels of f32 multiply tf32 operands, without rounding them.
inline constexpr CudaGroupRule cuda_group_rules[] = {
    {.dtypes = any_operands | float8_types,
     .min_arch = 90,
     .max_arch = 90,
     .is_invariant = true,
     .use = cuda::GemmRungIndex::gemm_grouped},
    {.dtypes = of_16_bits, .min_arch = 80, .use = cuda::GemmRungIndex::gemm_small_mma, .tile = 2},
    {.dtypes = f32_and_tf32,
     .min_arch = 80,
     .max_rows = 32,
     .is_invariant = true,
     .use = cuda::GemmRungIndex::gemm_small_matrices,
     .tile = 5},
    {.dtypes = f32_and_tf32,
     .min_arch = 80,
     .is_invariant = true,
     .use = cuda::GemmRungIndex::gemm_batched_tiles},
    {.dtypes = Dtypes::of(Dtype::f64),
     .min_arch = 90,
     .max_rows = 32,
     .use = cuda::GemmRungIndex::gemm_batched_mma_f64},
    {.dtypes = Dtypes::of(Dtype::f64),
     .min_arch = 90,
     .use = cuda::GemmRungIndex::gemm_batched_mma_f64,
     .tile = 1},
    {.dtypes = Dtypes::of(Dtype::f64),
     .min_arch = 80,
     .use = cuda::GemmRungIndex::gemm_small_matrices,
     .tile = 2},
    {.dtypes = Dtypes::of(Dtype::i32),
     .min_arch = 80,
     .is_invariant = true,
     .use = cuda::GemmRungIndex::gemm_small_matrices},
};

/// Products whose A and B have scales for blocks of elements.
inline constexpr CudaBatchRule cuda_block_scale_rules[] = {
    {.dtypes = Dtypes::of(Dtype::e4m3),
     .min_arch = 90,
     .max_arch = 90,
     .use = cuda::GemmRungIndex::gemm_block_scaled},
};

/// Products of a bfloat16 and a float operand, if a cost model expects this kernel to be faster.
inline constexpr CudaBatchRule cuda_mixed_rules[] = {
    {.dtypes = Dtypes::of(Dtype::bf16),
     .min_arch = 90,
     .max_arch = 90,
     .use = cuda::GemmRungIndex::gemm_split_bf16},
};

/// Weight-only products: elements of A have 16 bits, weights 4 or 8.
inline constexpr CudaGemmRule cuda_weight_only_rules[] = {
    {.min_arch = 90,
     .max_arch = 90,
     .min_m = 33,
     .min_k = 1,
     .use = cuda::GemmRungIndex::gemm_weight_only_wgmma},
    {.min_arch = 80, .max_m = 1, .min_k = 1, .use = cuda::GemmRungIndex::gemm_weight_stream},
    {.min_arch = 90,
     .max_arch = 90,
     .max_m = 16,
     .min_k = 1,
     .use = cuda::GemmRungIndex::gemm_weight_only_wgmma},
    {.min_arch = 80, .use = cuda::GemmRungIndex::gemm_weight_only},
};

/// Mode batch_invariant. Without split-K, every tile size of these kernels adds the terms of an
/// element in the same order, k by k or instruction by instruction. For 16-bit elements, products
/// with few rows or with k > 4096 use other kernels, which keep that order (cost/invariant.hpp).
inline constexpr CudaBatchRule cuda_invariant_rules[] = {
    {.dtypes = Dtypes::of(Dtype::f32), .min_arch = 80, .use = cuda::GemmRungIndex::gemm_fma_tiles},
    {.dtypes = Dtypes::of(Dtype::f64),
     .min_arch = 90,
     .max_arch = 90,
     .use = cuda::GemmRungIndex::gemm_mma_f64_warp_specialized},
    {.dtypes = Dtypes::of(Dtype::f64), .min_arch = 80, .use = cuda::GemmRungIndex::gemm_mma_f64},
    {.dtypes = of_16_bits_and_tf32 | float8_types,
     .min_arch = 90,
     .max_arch = 90,
     .use = cuda::GemmRungIndex::gemm_wgmma_tiles},
};

inline constexpr CudaDotRule cuda_dot_rules[] = {
    {.use = cuda::DotRungIndex::dot_10_one_launch},
    {.mode = DotMode::compensated, .use = cuda::DotRungIndex::dot_compensated},
    {.mode = DotMode::reproducible, .use = cuda::DotRungIndex::dot_reproducible},
};

}  // namespace rung::tuned
