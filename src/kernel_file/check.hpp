#pragma once
// Verifies a kernel in a file of the user's by the rules of a rung: the same cases, bounds and
// guards, and on the virtual GPU no hazards.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.hpp"
#include "kernel_file/kernel_file.hpp"

namespace rung {

struct CheckOptions {
  DeviceOptions device;
  bool on_gpu = false;  // otherwise on the virtual GPU
  int threads = 1;
  struct Size {
    std::int64_t m, n, k;
  };
  std::vector<Size> sizes;  // besides the standard cases; a dot product has n
  int random = 0;           // as many random problems
  std::uint64_t seed = 1;
  /// Called with the fraction that is done.
  std::function<void(double done)> progress;
};

/// The same mistake of a kernel at the same lines, over all cases.
struct KernelHazard {
  std::string kind;     // "shared-memory race"
  std::string message;  // of the first one, in one line
  std::string problem;  // where that was: "f32 nn 7x11x13"
  std::uint64_t count = 0;
  int cases = 0;  // in how many
};

struct CheckReport {
  std::string device;  // "virtual NVIDIA H200 (…)"
  std::string code;    // "PTX for sm_90a by clang++-19"
  std::vector<KernelHazard> hazards;
  int cases = 0;
  int wrong = 0;
  double max_error_ratio = 0;  // of a case that is right: error over its bound
  std::string message;         // the plainest wrong case, with its worst element
  std::vector<std::string>
      of_wrong;  // what each wrong case has, but not each case: "rows of A with gaps"
  std::vector<std::string> left_out;  // what the signature cannot express, so that no case has it

  bool right() const { return wrong == 0 && hazards.empty() && cases > 0; }
};

/// Throws KernelFileError, emu::MissingTool and emu::CompileError, and std::runtime_error if the
/// device is absent.
CheckReport check_kernel(const KernelFile& file, const CheckOptions& options);

}  // namespace rung
