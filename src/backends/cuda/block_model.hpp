#pragma once
// Predicts the time of a launch of independent blocks, several of which run on an SM at a time, to
// choose the tile and split-K for shapes without measurements.
//
// The blocks run in waves of as many as fit the device. In a wave with r blocks on an SM, one
// k-block of each takes max(latency, r * throughput): too few blocks wait for memory and for their
// own instructions, enough of them for the pipes. SMs do not share a last wave evenly: an SM that has
// finished its blocks early takes several of the new ones. What moves bytes takes time of its own, of
// which the longer part hides most of the other.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/cuda/limits.hpp"
#include "core/dtype.hpp"
#include "device/cuda/entry/gemm_descriptor.hpp"

namespace rung::cuda {

/// How the kernels of a rung copy operands.
enum class Copies {
  fast,          // GemmRung::fast_copies
  both_k_major,  // aligned rows of both operands lie along k
  b_k_major,     // those of B alone
  slow           // any others
};

/// Of one tile size; times in microseconds.
struct BlockTimes {
  int resident;                  // blocks that fit an SM
  double latency;                // of a k-block, if the block is alone on its SM
  double throughput;             // of a k-block, per block on the SM
  double overhead;               // of a tile: the first loads, and the epilogue
  std::array<double, 3> slower;  // factors of both for Copies beyond the fast ones, in their order
};

/// The constants of a rung for one type on one device, in microseconds and bytes per microsecond.
struct BlockModel {
  std::string rung;
  Dtype dtype;
  double launch;
  double memory;    // rate of operands and results
  double l2;        // rate of the tiles' loads
  double meeting;   // of blocks that share a tile (split-K)
  double part;      // the same, per block
  double exchange;  // rate of partial sums
  double copy;      // of an operand: its launch
  double packing;   // rate of what copies of operands read and write
  /// By how many blocks the busiest SM exceeds the mean in a last wave of few blocks after others; the
  /// fuller the wave, the less. 0: it has no more than the mean, rounded up.
  double excess = 0;
  std::vector<BlockTimes> tiles;
};

/// The configuration with the shortest predicted time, among those that the device can launch;
/// empty if there is none. m, n and k are at least 1.
std::optional<GemmConfig> predicted_config(const BlockModel& model, const GemmRung& rung,
                                           const GemmSize& size, Copies copies,
                                           const Limits& limits);

/// The predicted time of a configuration, in microseconds.
double predicted_microseconds(const BlockModel& model, const GemmRung& rung, const GemmSize& size,
                              Copies copies, const GemmConfig& config, const Limits& limits);

}  // namespace rung::cuda
