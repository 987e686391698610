#pragma once
// The fastest configuration (tile and number of splits) for a shape: as `rung tune` has measured it, or as a
// model predicts it.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/call.hpp"
#include "core/dtype.hpp"
#include "device/cuda/entry/gemm_descriptor.hpp"
#include "device/cuda/entry/limits.hpp"
#include "select/cuda/models.hpp"

namespace rung::cuda {

struct ConfiguredGemm;
struct GemmRung;

/// Empty if the configuration can be launched, otherwise the reason in a few words.
std::string why_not(const GemmRung& rung, Dtype dtype, const GemmSize& size,
                    const GemmConfig& config, const Limits& limits);

/// The configurations worth considering for a tile: first the one without split-K, then those whose splits occupy
/// more SMs. They split all tiles or, if `places` > 0 tiles are resident on the device at a time, the tiles after
/// its full waves, or after all full waves but one.
std::vector<GemmConfig> configs_of_tile(const GemmRung& rung, Dtype dtype, const GemmSize& size,
                                        int tile, int places, const Limits& limits);

/// The configurations to measure for a shape.
struct Configs {
  std::vector<GemmConfig> possible;
  std::map<std::string, int> refused;  // why_not(), and the number of configurations
};

/// configs_of_tile() of all tiles that can be launched; none for a rung with choices of its own. `model`, if any, is
/// that of the rung and type, and says how many blocks are resident.
Configs configs(const GemmRung& rung, Dtype dtype, const GemmSize& size, const Limits& limits,
                const BlockModel* model = nullptr);

/// The best configuration found for one shape.
struct TunedShape {
  std::string rung;  // "gemm/cuda/fma_tiles"
  Dtype dtype;
  GemmSize size;
  GemmConfig config;
};

/// One shape per line: rung, dtype, m, n, k, tile, splits and, if not 0, the number of whole tiles, separated by
/// blanks. Lines that begin with # are comments. Throws std::runtime_error with the line if it has another form.
std::vector<TunedShape> parse_tuned(std::string_view text);
std::string format_tuned(const TunedShape& tuned);
/// Replaces the line for the same rung, dtype and size in a text of such lines, or appends one. Comments and other
/// lines are kept. Throws as parse_tuned().
std::string merge_tuned(std::string_view text, const TunedShape& tuned);

/// The measured configurations for a device.
class TunedConfigs {
 public:
  TunedConfigs() = default;
  explicit TunedConfigs(std::vector<TunedShape> shapes, CostModels models = {});

  /// The user's cache for the device, then the data in data/, which are those of an H200 for every device. An
  /// unreadable cache counts as empty.
  static TunedConfigs of_device(std::string_view name);

  /// The configuration of the measured shape nearest to `size`, in the logarithms of m, n and k, among those that
  /// the device supports; without one, the first tile without split-K. Splits never exceed k-blocks. If the rung
  /// has a model, only shapes with the same number of tiles count as near, and the model chooses for all others.
  /// `copies` is copies_of() the operands, `odd_rows` is odd_rows_of() them.
  GemmConfig nearest(const GemmRung& rung, std::string_view id, Dtype dtype, const GemmSize& size,
                     const Limits& limits, Copies copies = Copies::fast,
                     const OddRows& odd_rows = {}) const;

  /// The configuration for a call whose pointers are the device's, or aligned like them: the rung's own choice, or
  /// else nearest(), with packed operands if a model expects that to pay off.
  GemmConfig best(const GemmRung& rung, std::string_view id, const GemmCall& call,
                  const Limits& limits) const;

  /// The rival with its configuration, if the wave models of both expect it to take less time than `gemm` as
  /// configured; else `gemm`. The rival's blocks must have several tiles: it overlaps the epilogue of one tile with
  /// the next.
  ConfiguredGemm faster(const ConfiguredGemm& gemm, ConfiguredGemm rival, const GemmCall& call,
                        const Limits& limits) const;

  const CostModels& models() const { return models_; }

 private:
  using Logs = std::array<double, 3>;  // logarithms of m, n and k
  struct Entry {
    TunedShape shape;
    Logs logs;
  };
  static Logs logs_of(const GemmSize& size);
  /// A configuration for packed operands, if it is expected to be faster including the copies.
  std::optional<GemmConfig> packed(const GemmRung& rung, std::string_view id, const GemmCall& call,
                                   const GemmConfig& in_place, const Limits& limits) const;
  std::span<const Entry> of(std::string_view id, Dtype dtype) const;

  std::vector<Entry> entries_;  // sorted by rung and dtype
  CostModels models_;
};

}  // namespace rung::cuda
