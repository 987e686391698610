#pragma once
// The fastest configuration (tile and number of splits) for a shape, as measured by `rung tune` and
// stored as data.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/cost_models.hpp"
#include "backends/cuda/limits.hpp"
#include "core/call.hpp"
#include "core/dtype.hpp"
#include "device/cuda/entry/gemm_descriptor.hpp"

namespace rung::cuda {

struct ConfiguredGemm;

/// Empty if the configuration can be launched, otherwise the reason in a few words.
std::string why_not(const GemmRung& rung, Dtype dtype, const GemmSize& size,
                    const GemmConfig& config, const Limits& limits);

/// The configurations worth considering for a tile, without split-K first: with as many splits as
/// bring more blocks to the device's SMs, of all tiles or, if the device has room for `places` > 0
/// of them at a time, of those after its full waves or after all but one.
std::vector<GemmConfig> configs_of_tile(const GemmRung& rung, Dtype dtype, const GemmSize& size,
                                        int tile, int places, const Limits& limits);

/// The configurations to measure for a shape.
struct Configs {
  std::vector<GemmConfig> possible;
  std::map<std::string, int> refused;  // why_not(), and for how many
};

/// configs_of_tile() of all tiles that can be launched; none for a rung that chooses itself. A model of the rung and type, if there is
/// one, knows how many tiles the device has room for.
Configs configs(const GemmRung& rung, Dtype dtype, const GemmSize& size, const Limits& limits,
                const BlockModel* model = nullptr);

/// The best configuration found for one shape.
struct TunedShape {
  std::string rung;  // "gemm/cuda/11_split_k"
  Dtype dtype;
  GemmSize size;
  GemmConfig config;
};

/// One shape per line: rung, dtype, m, n, k, tile, splits, separated by blanks, and the number of
/// whole tiles if there are any. Lines that begin with # are comments. Throws std::runtime_error with the line if it has another form.
std::vector<TunedShape> parse_tuned(std::string_view text);
std::string format_tuned(const TunedShape& tuned);
/// A text of such lines in which the line for the same rung, dtype and size is replaced, or a new
/// one appended. Comments and other lines are kept. Throws as parse_tuned().
std::string merge_tuned(std::string_view text, const TunedShape& tuned);

/// The measurements for a device.
class TunedConfigs {
 public:
  TunedConfigs() = default;
  explicit TunedConfigs(std::vector<TunedShape> shapes, CostModels models = {});

  /// The user's cache for the device, then the data that come with Rung, which for an untuned
  /// device are those of an H200. An unreadable cache counts as empty.
  static TunedConfigs of_device(std::string_view name);

  /// The configuration of the shape nearest to `size`, in the logarithms of m, n and k, among those
  /// that the device supports; if there is none, the first tile without split-K. There are never
  /// more splits than k-blocks. If the times of the rung's tiles are known (wave_model.hpp,
  /// block_model.hpp), only shapes with the same number of tiles count as near, and a model chooses
  /// for all others. `copies`: copies_of() the operands; `odd_rows`: odd_rows_of() them.
  GemmConfig nearest(const GemmRung& rung, std::string_view id, Dtype dtype, const GemmSize& size,
                     const Limits& limits, Copies copies = Copies::fast,
                     const OddRows& odd_rows = {}) const;

  /// The configuration for a call, whose pointers are those of the device or aligned alike: what
  /// the rung itself chooses, else nearest(), with packed operands where a model expects that to pay.
  GemmConfig best(const GemmRung& rung, std::string_view id, const GemmCall& call,
                  const Limits& limits) const;

  /// The rival with its configuration, if it is expected to take less time than `gemm`, as configured,
  /// by the wave models of both; else `gemm`. The rival's blocks must have several tiles: it hides what
  /// one tile costs behind another.
  ConfiguredGemm faster(const ConfiguredGemm& gemm, ConfiguredGemm rival, const GemmCall& call,
                        const Limits& limits) const;

  const CostModels& models() const { return models_; }

 private:
  using Logs = std::array<double, 3>;  // of m, n and k
  struct Entry {
    TunedShape shape;
    Logs logs;
  };
  static Logs logs_of(const GemmSize& size);
  /// A configuration for packed operands, if it is expected to be faster, with the copies.
  std::optional<GemmConfig> packed(const GemmRung& rung, std::string_view id, const GemmCall& call,
                                   const GemmConfig& in_place, const Limits& limits) const;
  std::span<const Entry> of(std::string_view id, Dtype dtype) const;

  std::vector<Entry> entries_;  // by rung and dtype
  CostModels models_;
};

}  // namespace rung::cuda
