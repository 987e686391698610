#pragma once
// The trace of one launch of a rung on the virtual GPU: counters, lines, accesses and the tile of C.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/rung_trace/drawn_access.hpp"
#include "analysis/rung_trace/tile_map.hpp"
#include "backends/backend.hpp"
#include "backends/cuda/tuned.hpp"
#include "core/rung.hpp"
#include "vgpu/lines.hpp"

namespace rung {

struct RungTrace {
  std::string why_not;  // no trace; the rest is empty then
  std::string problem;  // "f32 256x256x512"
  std::string device, code;
  std::string tile;  // the configuration, for a rung with several tiles
  double flops = 0;
  vgpu::Counters counters;
  std::vector<vgpu::LineCounters> lines;
  std::vector<DrawnAccess> accesses;
  std::optional<TileMap> tiles;
  std::string steps;  // of the first launch (vgpu/step_recorder.hpp)

  /// FLOP per byte that warps and bulk copies request from global memory, in whole sectors.
  double intensity() const;
};

/// Runs a small problem; gemm with the tile of `measured`, without split-K. If it cannot be traced,
/// says why.
class RungTracer {
 public:
  explicit RungTracer(const DeviceOptions& options);

  RungTrace trace(const RungInfo& rung, Dtype dtype, const cuda::GemmSize& measured) const;

 private:
  DeviceOptions options_;
};

}  // namespace rung
