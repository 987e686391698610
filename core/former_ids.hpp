#pragma once
// The ids that rungs had before the library's kernels left the ladder. Version 0.1 still accepts them.

#include <string_view>

namespace rung {

struct FormerId {
  std::string_view former, id;
};

inline constexpr FormerId former_ids[] = {
    {"gemm/cuda/25_warp_roles", "gemm/cuda/25_warp_specialized"},
    {"gemm/cuda/32_f16x3", "gemm/cuda/split_f16"},
    {"gemm/cuda/33_digits", "gemm/cuda/digits"},
    {"gemm/cuda/34_f16x3_mma", "gemm/cuda/split_f16_mma"},
    {"gemm/cuda/35_bf16x3", "gemm/cuda/split_bf16"},
    {"gemm/cuda/36_ping_pong", "gemm/cuda/ping_pong"},
    {"gemm/cuda/40_mma_f64", "gemm/cuda/mma_f64"},
    {"gemm/cuda/41_mma_f64_warp_roles", "gemm/cuda/mma_f64_warp_specialized"},
    {"gemm/cuda/42_residues", "gemm/cuda/residues"},
    {"gemm/cuda/50_skinny", "gemm/cuda/skinny"},
    {"gemm/cuda/51_any_operands", "gemm/cuda/any_operands"},
    {"gemm/cuda/52_rank_k", "gemm/cuda/rank_k"},
    {"gemm/cuda/53_short_k", "gemm/cuda/short_k"},
    {"gemm/cuda/54_skinny_mma", "gemm/cuda/skinny_mma"},
    {"gemm/cuda/60_small_matrices", "gemm/cuda/small_matrices"},
    {"gemm/cuda/61_small_mma", "gemm/cuda/small_mma"},
    {"gemm/cuda/62_batched_tiles", "gemm/cuda/batched_tiles"},
    {"gemm/cuda/63_grouped", "gemm/cuda/grouped"},
    {"gemm/cuda/64_batched_wgmma", "gemm/cuda/batched_wgmma"},
    {"gemm/cuda/65_batched_fma", "gemm/cuda/batched_fma"},
    {"gemm/cuda/66_batched_mma_f64", "gemm/cuda/batched_mma_f64"},
    {"gemm/cuda/70_block_scales", "gemm/cuda/block_scaled"},
    {"gemm/cuda/71_weight_only", "gemm/cuda/weight_only"},
    {"gemm/cuda/72_weight_only_wgmma", "gemm/cuda/weight_only_wgmma"},
    {"gemm/cuda/73_weight_stream", "gemm/cuda/weight_stream"},
    {"gemm/cpu/09_dot_products", "gemm/cpu/dot_products"},
    {"gemm/cpu/10_amx_tiles", "gemm/cpu/amx"},
    {"gemm/cpu/11_masked_edges", "gemm/cpu/masked_edges"},
    {"gemm/cpu/12_just_in_time", "gemm/cpu/just_in_time"},
    {"gemm/cpu/13_narrow", "gemm/cpu/narrow"},
    {"gemm/cpu/14_widened", "gemm/cpu/widened"},
    {"dot/cuda/11_compensated", "dot/cuda/compensated"},
    {"dot/cuda/12_reproducible", "dot/cuda/reproducible"},
    {"dot/cpu/04_compensated", "dot/cpu/compensated"},
    {"dot/cpu/06_reproducible", "dot/cpu/reproducible"},
};

/// Today's id of a rung; the same text if it is not a former id.
constexpr std::string_view current_id(std::string_view id) {
  for (const FormerId& known : former_ids) {
    if (known.former == id) return known.id;
  }
  return id;
}

}  // namespace rung
