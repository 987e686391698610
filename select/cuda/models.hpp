#pragma once
// Models of the time of a launch, which choose the tile and split-K for shapes without measurements, and
// their constants as data: those in data/, and those that `rung tune --quick` fits on a device.
//
// BlockModel is for independent blocks; several run on an SM at a time. The blocks run in waves of as
// many as fit the device. In a wave with r blocks on an SM, one k-block of each takes max(latency, r *
// throughput): too few blocks wait for memory and for their own instructions, enough of them for the pipes.
// SMs do not share a last wave evenly: an SM that has finished its blocks early takes several of the new ones.
// Moving bytes takes time of its own. The longer of both times hides most of the other.
//
// WaveModel is for persistent blocks, and predicts the time from their waves of tiles.
//
// The traffic model (traffic.cpp) chooses among wgmma_tiles, ping_pong, wgmma_multicast and
// wgmma_cluster_split for operands of 16 bits: it counts what blocks and clusters read from L2.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.hpp"
#include "device/cuda/entry/gemm_descriptor.hpp"
#include "device/cuda/entry/limits.hpp"
#include "select/cuda/operands.hpp"

namespace rung::cuda {

/// Times of one tile size, in microseconds.
struct BlockTimes {
  int resident;       // blocks that fit an SM
  double latency;     // of a k-block, if the block is alone on its SM
  double throughput;  // of a k-block, per block on the SM
  double overhead;    // of a tile: the first loads, and the epilogue
  std::array<double, 3>
      slower;  // factors of a k-block's times for the Copies after `fast`, in their order
};

/// The constants of a rung for one type on one device, in microseconds and bytes per microsecond.
struct BlockModel {
  std::string rung;
  Dtype dtype;
  double launch;
  double memory;    // rate of operands and results
  double l2;        // rate of the tiles' loads
  double meeting;   // synchronizing the blocks that share a tile (split-K)
  double part;      // the same, per block
  double exchange;  // rate of partial sums
  double copy;      // launch of a copy of an operand
  double packing;   // rate of copies of operands: bytes read and written
  /// Blocks by which the busiest SM exceeds the mean in a nearly empty last wave after others. It is less the
  /// fuller the wave is. 0: the busiest SM has the mean, rounded up.
  double excess = 0;
  std::vector<BlockTimes> tiles;
};

/// The configuration with the shortest predicted time among those that the device can launch; empty if it can
/// launch none. m, n and k are at least 1.
std::optional<GemmConfig> predicted_config(const BlockModel& model, const GemmRung& rung,
                                           const GemmSize& size, Copies copies,
                                           const Limits& limits);

/// The predicted time of a configuration, in microseconds.
double predicted_microseconds(const BlockModel& model, const GemmRung& rung, const GemmSize& size,
                              Copies copies, const GemmConfig& config, const Limits& limits);

/// Times of one tile size, in microseconds.
struct WaveTimes {
  int BM, BN, cluster;  // blocks
  double step;          // of 128 bytes of k
  double tile;          // of the rest of a tile
};

/// The constants of a rung on one device, for all types: tensor cores multiply the same number of
/// bytes per second. Times in microseconds.
struct WaveModel {
  std::string rung;
  /// The share of a k-block's time that remains if all other SMs are idle and leave power and bandwidth.
  double idle_share;
  double meeting;      // synchronizing the blocks that share a tile (split-K)
  double part;         // the same, per block
  double shared_byte;  // of partial sums, written or read
  double byte;         // of operands and results, through device memory
  double odd_byte;     // of tiles of operands with odd rows, from L2
  double odd_result;   // of a tile's part of a row of C, if rows of C are not whole lines of L2
  std::vector<WaveTimes> tiles;
};

/// The fastest number of splits for the last wave (1 unless k may be cut), and the time of the launch without its
/// constant part. The time is infinite for a tile that the model does not have.
struct WavePrediction {
  int splits;
  double microseconds;
};
WavePrediction predicted_splits(const WaveModel& model, const TileShape& tile, Dtype dtype,
                                const GemmSize& size, bool may_split, int multiprocessors,
                                const OddRows& odd_rows = {});

/// The configuration with the shortest predicted time among those that the device can launch; empty if it can
/// launch none. m, n and k are at least 1.
std::optional<GemmConfig> predicted_config(const WaveModel& model, const GemmRung& rung,
                                           Dtype dtype, const GemmSize& size, const Limits& limits,
                                           const OddRows& odd_rows = {});

/// The predicted time of a configuration, in microseconds, without its constant part; infinite for a tile that
/// the model does not have.
double predicted_microseconds(const WaveModel& model, const GemmRung& rung, Dtype dtype,
                              const GemmSize& size, const GemmConfig& config, const Limits& limits,
                              const OddRows& odd_rows = {});

struct CostModels {
  std::vector<BlockModel> blocks;
  std::vector<WaveModel> waves;

  /// Null if no model is for the rung.
  const BlockModel* block_model(std::string_view rung, Dtype dtype) const;
  const WaveModel* wave_model(std::string_view rung) const;
};

/// A line 'launch RUNG DTYPE' has the constants of a BlockModel in their order; the last one may be missing. Lines
/// 'tile' after it have the constants of its BlockTimes, for tile 0 and so on. A line 'waves RUNG' has the
/// constants of a WaveModel, and lines 'tile' after it those of its WaveTimes. Lines that begin with # are
/// comments. Throws std::runtime_error with the line if it has another form.
CostModels parse_cost_models(std::string_view text);

/// The lines of a model.
std::string format_model(const BlockModel& model);
std::string format_model(const WaveModel& model);

/// True if the traffic model covers a call: operands of 16 bits, and results that TMA stores, without
/// beta.
bool has_traffic_model(const GemmCall& call);

/// The predicted time of a configuration of one of the four rungs, in microseconds; infinite for
/// other rungs and tiles.
double traffic_microseconds(const ConfiguredGemm& gemm, const GemmCall& call, const Limits& limits);

/// `chosen`, or the configuration of any of the four rungs that is expected to take less time.
ConfiguredGemm faster_by_traffic(const ConfiguredGemm& chosen, const GemmCall& call,
                                 const Limits& limits);

}  // namespace rung::cuda
