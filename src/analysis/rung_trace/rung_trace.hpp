#pragma once
// What one launch of a rung on the virtual GPU shows: counters, lines, accesses and the tile of C.

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
  std::string why_not;  // nothing was traced; the rest is empty then
  std::string problem;  // "f32 256x256x512"
  std::string device, code;
  std::string tile;  // the plan, for a rung of several tiles
  double flops = 0;
  vgpu::Counters counters;
  std::vector<vgpu::LineCounters> lines;
  std::vector<DrawnAccess> accesses;
  std::optional<TileMap> tiles;

  /// FLOP for each byte that warps and bulk copies ask global memory for, in whole sectors.
  double intensity() const;
};

/// Runs a small problem, as gemm with the tile that `measured` gets, k in one part. What cannot be
/// traced says why.
class RungTracer {
 public:
  explicit RungTracer(const DeviceOptions& options);

  RungTrace trace(const RungInfo& rung, Dtype dtype, const cuda::GemmSize& measured) const;

 private:
  DeviceOptions options_;
};

}  // namespace rung
