#pragma once
// Chooses among wgmma_tiles, ping_pong and wgmma_multicast for 16-bit results, by a time model that
// counts what blocks and clusters read from L2.

#include <string_view>

#include "backends/rungs/kernel_name.hpp"
#include "core/call.hpp"
#include "device/cuda/entry/limits.hpp"

namespace rung::cuda {

/// True if the model covers a call: results of 16 bits that TMA stores, without beta.
bool has_traffic_model(const GemmCall& call);

/// The results of a cluster in a tile of one of the three rungs, as the model counts them; 0 for
/// other rungs and tiles.
int traffic_tile_area(std::string_view rung, int tile);

/// The predicted time of a configuration of one of the three rungs, in microseconds; infinite for
/// other rungs and tiles.
double traffic_microseconds(const ConfiguredGemm& gemm, const GemmCall& call, const Limits& limits);

/// `chosen`, or the configuration of any of the three rungs that is expected to take at least 3 %
/// less time. On shapes that the model was not fitted to, a smaller gain is chance
/// (docs/notes/cuda-kernels.md).
ConfiguredGemm faster_by_traffic(const ConfiguredGemm& chosen, const GemmCall& call,
                                 const Limits& limits);

}  // namespace rung::cuda
