#pragma once
// The CUDA rungs, from their rungs.inc: descriptors that the files of kernels/{gemm,dot}/cuda
// define.

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "backends/named_rung.hpp"
#include "core/dtype.hpp"
#include "device/cuda/entry/dot_descriptor.hpp"
#include "device/cuda/entry/gemm_descriptor.hpp"
#include "device/cuda/tile/operand.cuh"

namespace rung {

#define RUNG(number, slug) extern const cuda::GemmRung gemm_cuda_##number##_##slug;
#include "gemm/cuda/rungs.inc"
#undef RUNG
#define RUNG(number, slug) extern const cuda::DotRung dot_cuda_##number##_##slug;
#include "dot/cuda/rungs.inc"
#undef RUNG
#define RUNG(number, slug) extern const cuda::DotRung sum_cuda_##number##_##slug;
#include "dot/cuda/sums.inc"
#undef RUNG

namespace cuda {

/// By position in `gemm_rungs`: GemmRungIndex::gemm_00_naive.
enum class GemmRungIndex : std::size_t {
#define RUNG(number, slug) gemm_##number##_##slug,
#include "gemm/cuda/rungs.inc"
#undef RUNG
};

using NamedGemmRung = NamedRung<GemmRung>;
using NamedDotRung = NamedRung<DotRung>;

inline constexpr auto gemm_rungs = std::to_array<NamedGemmRung>({
#define RUNG(number, slug) {"gemm/cuda/" #number "_" #slug, &gemm_cuda_##number##_##slug},
#include "gemm/cuda/rungs.inc"
#undef RUNG
});

/// Null for an unknown id.
inline const GemmRung* find_gemm_rung(std::string_view id) { return find_rung(gemm_rungs, id); }

/// Index in `dot_rungs`.
enum class DotRungIndex : std::size_t {
#define RUNG(number, slug) dot_##number##_##slug,
#include "dot/cuda/rungs.inc"
#undef RUNG
};

/// For both ops.
inline constexpr auto dot_rungs = std::to_array<NamedDotRung>({
#define RUNG(number, slug) {"dot/cuda/" #number "_" #slug, &dot_cuda_##number##_##slug},
#include "dot/cuda/rungs.inc"
#undef RUNG
#define RUNG(number, slug) {"sum/cuda/" #number "_" #slug, &sum_cuda_##number##_##slug},
#include "dot/cuda/sums.inc"
#undef RUNG
});

/// Null for an unknown id.
inline const NamedDotRung* find_dot_rung(std::string_view id) { return find_named(dot_rungs, id); }

/// The tile sizes for a type; empty for a rung with a single size.
inline std::span<const TileShape> tiles_of(const GemmRung& rung, Dtype dtype) {
  return visit(dtype,
               [&]<class In, class Out>(Elements<In, Out>) { return rung.tiles.of<In, Out>(); });
}

/// Whether a rung multiplies a type.
inline bool has(const GemmRung& rung, Dtype dtype) {
  return visit(dtype, [&]<class In, class Out>(Elements<In, Out>) {
    return rung.launches.of<In, Out>() != nullptr;
  });
}

/// Whether it multiplies two matrices as they are given; rungs of packed weights do not.
inline bool multiplies_operands(const GemmRung& rung) {
  return std::ranges::any_of(all_dtypes, [&](Dtype dtype) { return has(rung, dtype); });
}

/// Whether tensor cores read a type from K-major operands only.
inline bool is_k_major_only(Dtype dtype) {
  return visit(dtype, []<class In, class Out>(Elements<In, Out>) { return requires_k_major<In>; });
}

/// How a rung partitions C; `tile` is an index into tiles_of().
inline Tiling tiling(const GemmRung& rung, Dtype dtype, int tile) {
  const auto tiles = tiles_of(rung, dtype);
  if (tiles.empty()) return rung.tiling;
  const TileShape& shape = tiles[static_cast<std::size_t>(tile)];
  return {shape.BM, shape.BN, shape.BK, shape.WM, shape.WN, shape.TM, shape.TN};
}

}  // namespace cuda
}  // namespace rung
