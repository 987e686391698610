#pragma once
// The kernels of the CUDA rungs: their names in a compiled module, and their indices in a
// KernelTable.

#include <cstddef>
#include <string>
#include <string_view>

#include "backends/rungs/cuda.hpp"

namespace rung {

extern const cuda::GemmRung gemm_cuda_library_scale;
extern const cuda::GemmRung gemm_cuda_library_pack_operand;
extern const cuda::GemmRung gemm_cuda_library_split_operand;
extern const cuda::GemmRung gemm_cuda_library_split_digits;
extern const cuda::GemmRung gemm_cuda_library_split_residues;
extern const cuda::GemmRung gemm_cuda_library_apply_epilogue;
extern const cuda::GemmRung gemm_cuda_library_fused_epilogue;
extern const cuda::GemmRung gemm_cuda_library_mixed_operand;
extern const cuda::GemmRung gemm_cuda_library_pack_weights;
extern const cuda::GemmRung gemm_cuda_library_tile_signal_gemm;
extern const cuda::GemmRung gemm_cuda_library_few_rows;
extern const cuda::GemmRung gemm_cuda_library_summed_parts;
extern const cuda::GemmRung gemm_cuda_library_quantize_operand;

namespace cuda {

/// A gemm rung with its configuration for a problem.
struct ConfiguredGemm {
  std::size_t index;    // in gemm_rungs; kernels off the ladder follow
  std::string_view id;  // as in the catalog
  const GemmRung* rung;
  GemmConfig config = {};
};

/// Computes C = beta * C.
inline constexpr ConfiguredGemm scale = {gemm_rungs.size(), "gemm/cuda/scale",
                                         &gemm_cuda_library_scale};
/// Packs an operand that TMA cannot read in place. Its parameter is a PackOperand.
inline constexpr ConfiguredGemm pack_operand = {gemm_rungs.size() + 1, "gemm/cuda/pack_operand",
                                                &gemm_cuda_library_pack_operand};
/// Splits float operands into halves. Its parameter is a SplitOperands.
inline constexpr ConfiguredGemm split_operand = {gemm_rungs.size() + 2, "gemm/cuda/split_operand",
                                                 &gemm_cuda_library_split_operand};
/// Splits a K-major float operand into digits. Its parameter is a SplitDigits.
inline constexpr ConfiguredGemm split_digits = {gemm_rungs.size() + 3, "gemm/cuda/split_digits",
                                                &gemm_cuda_library_split_digits};
/// Splits a double operand into residues. Its parameter is a SplitResidues.
inline constexpr ConfiguredGemm split_residues = {gemm_rungs.size() + 4, "gemm/cuda/split_residues",
                                                  &gemm_cuda_library_split_residues};
/// Applies an epilogue to stored sums. Its parameter is an ApplyEpilogue.
inline constexpr ConfiguredGemm apply_epilogue = {gemm_rungs.size() + 5, "gemm/cuda/apply_epilogue",
                                                  &gemm_cuda_library_apply_epilogue};
/// A product with a fused epilogue. Its parameter is a FusedArgs.
inline constexpr ConfiguredGemm fused_epilogue = {gemm_rungs.size() + 6, "gemm/cuda/fused_epilogue",
                                                  &gemm_cuda_library_fused_epilogue};
/// Prepares an operand of a mixed-type product. Its parameter is a SplitParts for f32 and a Widen
/// for bf16.
inline constexpr ConfiguredGemm mixed_operand = {gemm_rungs.size() + 7, "gemm/cuda/mixed_operand",
                                                 &gemm_cuda_library_mixed_operand};
/// Packs quantized weights, for Dtype::i8. Its parameter is a PackWeights.
inline constexpr ConfiguredGemm pack_weights_kernel = {
    gemm_rungs.size() + 8, "gemm/cuda/pack_weights", &gemm_cuda_library_pack_weights};
/// A product in row parts with signals: other GPUs provide inputs and receive finished parts. Its
/// parameter is a TileSignalArgs.
inline constexpr ConfiguredGemm tile_signal_gemm = {
    gemm_rungs.size() + 9, "gemm/cuda/tile_signal_gemm", &gemm_cuda_library_tile_signal_gemm};
/// A product of few rows in mode batch_invariant: few_rows_accepts().
inline constexpr ConfiguredGemm few_rows = {gemm_rungs.size() + 10, "gemm/cuda/few_rows",
                                            &gemm_cuda_library_few_rows};
/// A product in mode batch_invariant whose k is cut into parts.
inline constexpr ConfiguredGemm summed_parts = {gemm_rungs.size() + 11, "gemm/cuda/summed_parts",
                                                &gemm_cuda_library_summed_parts};
/// Rounds a bfloat16 operand to a block format. Its parameter is a QuantizeOperand.
inline constexpr ConfiguredGemm quantize_operand = {
    gemm_rungs.size() + 12, "gemm/cuda/quantize_operand", &gemm_cuda_library_quantize_operand};
inline constexpr std::size_t gemm_kernels_off_ladder = 13;

/// The rung with an id, which must be in gemm_rungs or name a kernel of mode batch_invariant.
inline ConfiguredGemm configured_gemm(std::string_view id, const GemmConfig& config = {}) {
  for (ConfiguredGemm kernel : {few_rows, summed_parts}) {
    if (id != kernel.id) continue;
    kernel.config = config;
    return kernel;
  }
  const NamedGemmRung* const named = find_named(gemm_rungs, id);
  return {static_cast<std::size_t>(named - gemm_rungs.data()), named->id, named->rung, config};
}

/// A kernel: a rung for one type and, if the rung has several tiles, one tile.
struct KernelName {
  std::size_t index;       // unique, below kernel_count
  std::string_view id;     // of the rung, as in the catalog
  std::string_view entry;  // of the rung
  Dtype dtype;
  int tile = no_tile;

  static constexpr int no_tile = -1;

  /// The name in the compiled module: "gemm_cuda_10_tuned_tiles_f32_1".
  std::string text() const;
};

inline constexpr std::size_t gemm_kernel_count =
    (gemm_rungs.size() + gemm_kernels_off_ladder) * max_tiles * all_dtypes.size();
inline constexpr std::size_t kernel_count =
    gemm_kernel_count + dot_rungs.size() * all_dtypes.size();

inline KernelName kernel_of(const ConfiguredGemm& gemm, Dtype dtype) {
  const auto tile = static_cast<std::size_t>(gemm.config.tile);
  const std::size_t index =
      (gemm.index * max_tiles + tile) * all_dtypes.size() + static_cast<std::size_t>(dtype);
  const bool is_tiled = !tiles_of(*gemm.rung, dtype).empty();
  return {index, gemm.id, gemm.rung->entry, dtype,
          is_tiled ? gemm.config.tile : KernelName::no_tile};
}

/// The kernel of dot_rungs[rung].
inline KernelName kernel_of_dot(std::size_t rung, Dtype dtype) {
  const std::size_t index = rung * all_dtypes.size() + static_cast<std::size_t>(dtype);
  const NamedDotRung& named = dot_rungs[rung];
  return {gemm_kernel_count + index, named.id, named.rung->entry, dtype};
}

}  // namespace cuda
}  // namespace rung
