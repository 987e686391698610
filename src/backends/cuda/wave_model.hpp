#pragma once
// Predicts the time of a launch of persistent blocks from its waves of tiles, to choose the tile
// and the splits of the last wave for shapes without measurements.

#include <optional>
#include <string>
#include <vector>

#include "backends/cuda/limits.hpp"
#include "core/dtype.hpp"
#include "device/cuda/entry/gemm_descriptor.hpp"

namespace rung::cuda {

/// Of one tile size; times in microseconds.
struct WaveTimes {
  int BM, BN, cluster;  // blocks
  double step;          // 128 bytes of k
  double tile;          // the rest of a tile
};

/// Which operands have rows that begin at odd multiples of 16 bytes: 128 bytes of such a row are in
/// five sectors of L2, not four.
struct OddRows {
  bool a = false, b = false;
};

/// The constants of a rung on one device, for all types: tensor cores multiply the same number of
/// bytes per second. Times in microseconds.
struct WaveModel {
  std::string rung;
  /// The share of a k-block's time that remains if all other SMs are idle: power and bandwidth are
  /// shared with fewer.
  double idle_share;
  double meeting;      // of blocks that share a tile (split-K)
  double part;         // the same, per block
  double shared_byte;  // of partial sums, written or read
  double byte;         // of operands and results, through device memory
  double odd_byte;     // of tiles of operands with odd rows, from L2
  double odd_result;   // of a tile's part of a row of C, if rows of C are not whole lines of L2
  std::vector<WaveTimes> tiles;
};

/// The splits of a tile's last wave with the shortest time, 1 unless k may be cut, and that time in
/// microseconds, except for the constant part; infinite for a tile that the model does not know.
struct WavePrediction {
  int splits;
  double microseconds;
};
WavePrediction predicted_splits(const WaveModel& model, const TileShape& tile, Dtype dtype,
                                const GemmSize& size, bool may_split, int multiprocessors,
                                const OddRows& odd_rows = {});

/// The configuration with the shortest predicted time, among those that the device can launch;
/// empty if there is none. m, n and k are at least 1.
std::optional<GemmConfig> predicted_config(const WaveModel& model, const GemmRung& rung,
                                           Dtype dtype, const GemmSize& size, const Limits& limits,
                                           const OddRows& odd_rows = {});

/// The predicted time of a configuration, in microseconds, except for the constant part; infinite
/// for a tile that the model does not know.
double predicted_microseconds(const WaveModel& model, const GemmRung& rung, Dtype dtype,
                              const GemmSize& size, const GemmConfig& config, const Limits& limits,
                              const OddRows& odd_rows = {});

}  // namespace rung::cuda
