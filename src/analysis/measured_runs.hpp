#pragma once
// Measurements of `rung bench`, read from its JSON: times of rungs, and ceilings of GPUs.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.hpp"

namespace rung::analysis {

struct MeasuredRun {
  std::string rung;
  std::string dtype;
  std::int64_t m = 0, n = 0, k = 0;  // 1 if the op has no such extent
  std::string device;                // "gpu NVIDIA H200 (…)"
  double seconds = 0;                // median
  std::string source;                // file
};

/// The ceilings of GPUs of one name: the highest rates measured.
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
  /// The last one for that rung and problem whose device contains the name; null if there is none.
  const MeasuredRun* find(std::string_view rung, Dtype dtype, std::int64_t m, std::int64_t n,
                          std::int64_t k, std::string_view device) const;
  const MeasuredGpu* find_gpu(std::string_view name) const;
};

/// Throws json::ReadError, with the field, for anything that `rung bench` does not write.
Results parse_results(std::string_view text, const std::string& source);
/// Throws likewise, and if the file cannot be read.
Results read_results(const std::string& path);
/// The results that come with Rung: results/nvidia-h200/.
const Results& built_in_results();

}  // namespace rung::analysis
