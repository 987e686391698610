#pragma once
// The CUDA rungs, from their rungs.inc. The files of ladder/{gemm,dot}/cuda define the descriptors.

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "backends/rungs/named_rung.hpp"
#include "core/dtype.hpp"
#include "core/dtype_traits.hpp"
#include "device/cuda/entry/dot_descriptor.hpp"
#include "device/cuda/entry/gemm_descriptor.hpp"
#include "device/cuda/tile/k_major.hpp"

namespace rung {

#define RUNG(number, idea) KERNEL(number##_##idea)

#define KERNEL(slug) extern const cuda::GemmRung gemm_cuda_##slug;
#include "kernels/gemm/cuda/kernels.inc"
#include "ladder/gemm/cuda/rungs.inc"
#undef KERNEL
#define KERNEL(slug) extern const cuda::DotRung dot_cuda_##slug;
#include "kernels/dot/cuda/kernels.inc"
#include "ladder/dot/cuda/rungs.inc"
#undef KERNEL
#define KERNEL(slug) extern const cuda::DotRung sum_cuda_##slug;
#include "ladder/dot/cuda/sums.inc"
#undef KERNEL

namespace cuda {

/// Indices in `gemm_rungs`, such as GemmRungIndex::gemm_00_naive.
enum class GemmRungIndex : std::size_t {
#define KERNEL(slug) gemm_##slug,
#include "ladder/gemm/cuda/rungs.inc"
// The library's kernels follow the ladder.
#include "kernels/gemm/cuda/kernels.inc"
#undef KERNEL
};

using NamedGemmRung = NamedRung<GemmRung>;
using NamedDotRung = NamedRung<DotRung>;

inline constexpr auto gemm_rungs = std::to_array<NamedGemmRung>({
#define KERNEL(slug) {"gemm/cuda/" #slug, &gemm_cuda_##slug},
#include "ladder/gemm/cuda/rungs.inc"
// The library's kernels follow the ladder.
#include "kernels/gemm/cuda/kernels.inc"
#undef KERNEL
});

/// Returns null for an unknown id.
inline const GemmRung* find_gemm_rung(std::string_view id) { return find_rung(gemm_rungs, id); }

/// Indices in `dot_rungs`.
enum class DotRungIndex : std::size_t {
#define KERNEL(slug) dot_##slug,
#include "ladder/dot/cuda/rungs.inc"
// The library's kernels follow the ladder.
#include "kernels/dot/cuda/kernels.inc"
#undef KERNEL
};

/// The rungs of both ops, dot and sum.
inline constexpr auto dot_rungs = std::to_array<NamedDotRung>({
#define KERNEL(slug) {"dot/cuda/" #slug, &dot_cuda_##slug},
#include "ladder/dot/cuda/rungs.inc"
// The library's kernels follow the ladder.
#include "kernels/dot/cuda/kernels.inc"
#undef KERNEL
#define KERNEL(slug) {"sum/cuda/" #slug, &sum_cuda_##slug},
#include "ladder/dot/cuda/sums.inc"
#undef KERNEL
#undef RUNG
});

/// Returns null for an unknown id.
inline const NamedDotRung* find_dot_rung(std::string_view id) { return find_named(dot_rungs, id); }

/// The tile sizes of a rung for a type; empty if it has a single size.
inline std::span<const TileShape> tiles_of(const GemmRung& rung, Dtype dtype) {
  return visit(dtype,
               [&]<class In, class Out>(Elements<In, Out>) { return rung.tiles.of<In, Out>(); });
}

/// True if a rung multiplies a type.
inline bool has(const GemmRung& rung, Dtype dtype) {
  return visit(dtype, [&]<class In, class Out>(Elements<In, Out>) {
    return rung.launches.of<In, Out>() != nullptr;
  });
}

/// True if it multiplies two matrices as given; rungs for packed weights do not.
inline bool multiplies_operands(const GemmRung& rung) {
  return std::ranges::any_of(all_dtypes, [&](Dtype dtype) { return has(rung, dtype); });
}

/// True if tensor cores read a type from K-major operands only.
inline bool is_k_major_only(Dtype dtype) {
  return visit(dtype, []<class In, class Out>(Elements<In, Out>) { return requires_k_major<In>; });
}

/// The tiling of C by a rung; `tile` is an index into tiles_of().
inline Tiling tiling(const GemmRung& rung, Dtype dtype, int tile) {
  const auto tiles = tiles_of(rung, dtype);
  if (tiles.empty()) return rung.tiling;
  const TileShape& shape = tiles[static_cast<std::size_t>(tile)];
  return {shape.BM, shape.BN, shape.BK, shape.WM, shape.WN, shape.TM, shape.TN};
}

}  // namespace cuda
}  // namespace rung
