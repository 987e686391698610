#pragma once
// The trace of one launch of a rung on the virtual GPU: counters, lines, accesses and the tile of
// C.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/backend.hpp"
#include "core/rung.hpp"
#include "select/cuda/tuned.hpp"
#include "tools/analysis/rung_trace/drawn_access.hpp"
#include "tools/analysis/rung_trace/tile_map.hpp"
#include "vgpu/lines.hpp"

namespace rung {

struct RungTrace {
  std::string why_not;  // the reason if there is no trace; all other members are empty in that case
  std::string problem;  // "f32 256x256x512"
  std::string device, code;
  std::string tile;  // the configuration if the rung has several tiles
  double flops = 0;
  vgpu::Counters counters;
  std::vector<vgpu::LineCounters> lines;
  std::vector<DrawnAccess> accesses;
  std::optional<TileMap> tiles;
  std::string steps;  // of the first launch (vgpu/step_recorder.hpp)

  /// FLOP per byte that warps and bulk copies request from global memory, in full sectors.
  double intensity() const;
};

/// Runs a small problem; for GEMM, with the tile chosen for `measured`, without split-K. Sets
/// why_not if the rung cannot be traced.
class RungTracer {
 public:
  explicit RungTracer(const DeviceOptions& options);

  RungTrace trace(const RungInfo& rung, Dtype dtype, const cuda::GemmSize& measured) const;

 private:
  DeviceOptions options_;
};

}  // namespace rung
