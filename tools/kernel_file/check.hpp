#pragma once
// Verifies a kernel in a user's file in the same way as a rung: the same cases, error bounds and
// guard bands, and, on the virtual GPU, hazard detection.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.hpp"
#include "tools/kernel_file/kernel_file.hpp"

namespace rung {

struct CheckOptions {
  DeviceOptions device;
  bool on_gpu = false;  // otherwise on the virtual GPU
  int threads = 1;
  struct Size {
    std::int64_t m, n, k;
  };
  std::vector<Size> sizes;  // in addition to the standard cases; only n for a dot product
  int random = 0;           // number of random problems
  std::uint64_t seed = 1;
  /// Called with the fraction completed.
  std::function<void(double done)> progress;
};

/// A hazard of a kernel at the same source lines, over all cases.
struct KernelHazard {
  std::string kind;     // "shared-memory race"
  std::string message;  // of the first occurrence, one line
  std::string where;    // its source lines
  std::string problem;  // of the first occurrence: "f32 nn 7x11x13"
  std::uint64_t count = 0;
  int cases = 0;  // the number of cases that have it
};

struct CheckReport {
  std::string device;  // "virtual NVIDIA H200 (…)"
  std::string code;    // "PTX for sm_90a by clang++-19"
  std::vector<KernelHazard> hazards;
  int cases = 0;
  int wrong = 0;
  std::optional<std::uint64_t> launches;  // in all cases; known only on the virtual GPU
  double max_error_ratio = 0;             // of correct cases: error divided by its bound
  std::uint64_t digest = 0;               // of the results of all cases
  std::string message;                    // the simplest failing case and its worst element
  std::vector<std::string>
      common_to_wrong;  // features of all failing cases, but not of all cases: "rows of A with gaps"
  std::vector<std::string> left_out;  // features that the signature cannot express, not tested

  /// A function that launches no kernel fails, because it has computed on the host.
  bool right() const { return wrong == 0 && hazards.empty() && cases > 0 && launches != 0u; }
};

/// Throws KernelFileError, emu::MissingTool or emu::CompileError, or std::runtime_error if the
/// device is not available.
CheckReport check_kernel(const KernelFile& file, const CheckOptions& options);

}  // namespace rung
