#pragma once
// Which tile and how many parts of k are fastest for a shape: measured by `rung tune`, kept as
// data.

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.hpp"
#include "device/cuda/entry/gemm_descriptor.hpp"

namespace rung::cuda {

struct GemmSize {
  std::int64_t m, n, k;
};

/// What a device allows.
struct Limits {
  std::int64_t shared_bytes;  // of a block
  int multiprocessors;
};

/// Empty if the plan can be launched, else why not, in a few words.
std::string why_not(const GemmRung& rung, Dtype dtype, const GemmSize& size, const GemmPlan& plan,
                    const Limits& limits);

/// What there is to measure for a shape.
struct Plans {
  std::vector<GemmPlan> possible;
  std::map<std::string, int> refused;  // why_not(), and of how many
};

/// Every plan that is worth measuring: each tile, with k in one part and in as many as bring more
/// blocks to the device's multiprocessors.
Plans plans(const GemmRung& rung, Dtype dtype, const GemmSize& size, const Limits& limits);

/// The best plan that was found for one shape.
struct TunedShape {
  std::string rung;  // "gemm/cuda/11_split_k"
  Dtype dtype;
  GemmSize size;
  GemmPlan plan;
};

/// One shape a line: rung, dtype, m, n, k, tile, splits, with blanks between them. Lines that begin
/// with # are comments. Throws std::runtime_error for a line that is none of these, naming it.
std::vector<TunedShape> parse_tuned(std::string_view text);
std::string format_tuned(const TunedShape& tuned);
/// A text of such lines with that of the same rung, dtype and size replaced, or a new one at its
/// end; comments and all others stay as they are. Throws as parse_tuned().
std::string merge_tuned(std::string_view text, const TunedShape& tuned);

/// Where `rung tune` keeps its results for a device, by its driver's name: rung/tuned/<device>.txt
/// in $XDG_CACHE_HOME or ~/.cache; empty where there is neither.
std::string tuned_path(std::string_view device);

/// What was measured on a device.
class TunedPlans {
 public:
  TunedPlans() = default;
  explicit TunedPlans(std::vector<TunedShape> shapes);

  /// What this user's cache has for the device, then what comes with Rung, which for a device that
  /// nobody tuned is that of an H200. A cache that cannot be read counts as none.
  static TunedPlans of_device(std::string_view name);

  /// That of the shape nearest to `size`, in the logarithms of m, n and k, whose plan fits the
  /// device; the first tile, with k in one part, where there is none. k is never in more parts than
  /// it has tiles. Where the times of the rung's tiles are known (wave_model.hpp), only shapes of
  /// as many tiles are near enough, and a model chooses for all others.
  GemmPlan nearest(const GemmRung& rung, std::string_view id, Dtype dtype, const GemmSize& size,
                   const Limits& limits) const;

 private:
  using Logs = std::array<double, 3>;  // of m, n and k
  struct Entry {
    TunedShape shape;
    Logs logs;
  };
  static Logs logs_of(const GemmSize& size);
  std::span<const Entry> of(std::string_view id, Dtype dtype) const;

  std::vector<Entry> entries_;  // by rung and dtype
};

}  // namespace rung::cuda
