#pragma once
// Which tile and how many parts of k are fastest for a shape: measured by `rung tune`, kept as
// data.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/call.hpp"
#include "device/cuda/descriptor.hpp"

namespace rung::cuda {

/// The best that was found for one shape.
struct TunedShape {
  std::string rung;  // "gemm/cuda/11_split_k"
  Dtype dtype;
  std::int64_t m, n, k;
  Configuration best;
};

/// One shape a line: rung, dtype, m, n, k, tile, splits, with blanks between them. Lines that begin
/// with # are comments. Throws std::runtime_error for a line that is none of these, naming it.
std::vector<TunedShape> parse_tuned(std::string_view text);
std::string format_tuned(const TunedShape& tuned);

/// What was measured on this device, by its driver's name: what this user's cache has, then what
/// comes with Rung, which for a device that nobody tuned is that of an H200.
std::vector<TunedShape> tuned_for(std::string_view device);

/// Where `rung tune` keeps its results for a device: rung/tuned/<device>.txt in $XDG_CACHE_HOME or
/// ~/.cache; empty where there is neither.
std::string tuned_path(std::string_view device);

/// What a device allows.
struct Limits {
  std::int64_t shared_bytes;  // of a block
  int multiprocessors;
};

/// That of the measured shape nearest to the call, as far as tiles fit the device: near in the
/// logarithm of each extent. The first tile in one part where nothing was measured.
Configuration configure(const GemmRung& rung, std::string_view id, const GemmCall& call,
                        const std::vector<TunedShape>& tuned, const Limits& limits);

/// Every configuration that is worth measuring for a call: each tile that fits the device, in one
/// part and in as many as bring more blocks to its multiprocessors.
std::vector<Configuration> configurations(const GemmRung& rung, const GemmCall& call,
                                          const Limits& limits);

/// Empty if the configuration can be launched, else why not.
std::string why_not(const GemmRung& rung, const GemmCall& call, const Configuration& configuration,
                    const Limits& limits);

}  // namespace rung::cuda
