#pragma once
// Measurements by `rung bench`, read from its JSON: times of rungs, and ceilings of GPUs.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/element_types.hpp"

namespace rung::analysis {

struct MeasuredRun {
  std::string rung;
  std::string dtype;
  std::int64_t m = 0, n = 0, k = 0;  // 1 if the operation does not have this extent
  std::string device;                // "gpu NVIDIA H200 (…)"
  double seconds = 0;                // median
  std::string source;                // file
};

/// The ceilings of GPUs with this name: the highest rates measured.
struct MeasuredGpu {
  std::string name;                            // "NVIDIA H200"
  std::map<std::string, double> multiply_add;  // FLOP/s, by dtype
  double memory_read = 0;                      // bytes per second
  std::string source;                          // file, of memory_read
};

struct Results {
  std::vector<MeasuredRun> runs;
  std::vector<MeasuredGpu> gpus;

  void add(const Results& other);
  /// The last run of the rung and problem on a device whose name contains `device`; null if not
  /// found.
  const MeasuredRun* find(std::string_view rung, Dtype dtype, std::int64_t m, std::int64_t n,
                          std::int64_t k, std::string_view device) const;
  const MeasuredGpu* find_gpu(std::string_view name) const;
};

/// Throws json::ReadError, naming the field, if the text is not output of `rung bench`.
Results parse_results(std::string_view text, const std::string& source);
/// Throws like parse_results(), and if the file cannot be read.
Results read_results(const std::string& path);
/// The results embedded in Rung: results/nvidia-h200/.
const Results& built_in_results();

}  // namespace rung::analysis
