#pragma once
// The kernel of a choice: its slot in a context's cache, and its name in the build.

#include <cstddef>
#include <string>
#include <string_view>

#include "backends/cuda/rungs.hpp"
#include "library/cuda/select.hpp"

namespace rung::cuda {

struct KernelName {
  std::size_t place;       // below kernel_places
  std::string_view id;     // of the rung, as in the catalog
  std::string_view entry;  // of the rung
  Dtype dtype;
  int tile;  // no_tile for a rung with a single size

  static constexpr int no_tile = -1;

  /// In the compiled module.
  std::string text() const {
    std::string name(entry);
    name.append("_").append(identifier(dtype));
    if (tile != no_tile) name.append("_").append(std::to_string(tile));
    return name;
  }
};

inline constexpr std::size_t most_tiles = 16;

/// Two more slots than the gemm ladder has rungs: for scaling, and for packing operands. The dot
/// rungs follow.
inline constexpr std::size_t gemm_places = (gemm_rungs.size() + 2) * most_tiles * all_dtypes.size();
inline constexpr std::size_t kernel_places = gemm_places + dot_rungs.size() * all_dtypes.size();

inline KernelName kernel_of(const CudaGemmChoice& choice, Dtype dtype) {
  const bool tiled = !tiles_of(*choice.rung, dtype).empty();
  const std::size_t tile = choice.index * most_tiles + static_cast<std::size_t>(choice.plan.tile);
  return {tile * all_dtypes.size() + static_cast<std::size_t>(dtype), choice.id, choice.rung->entry,
          dtype, tiled ? choice.plan.tile : KernelName::no_tile};
}

inline KernelName kernel_of(const CudaDotChoice& choice, Dtype dtype) {
  const std::size_t place = choice.index * all_dtypes.size() + static_cast<std::size_t>(dtype);
  return {gemm_places + place, choice.id, choice.rung->entry, dtype, KernelName::no_tile};
}

}  // namespace rung::cuda
