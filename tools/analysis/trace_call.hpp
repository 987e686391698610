#pragma once
// Traces a complete call of a CUDA or Metal rung on vectors (dot product or sum) on the virtual
// GPU.

#include <string>
#include <string_view>
#include <vector>

#include "core/element_types.hpp"
#include "core/rung.hpp"
#include "tools/analysis/kernel_trace.hpp"
#include "vgpu/model/device.hpp"

namespace rung::analysis {

struct CallTrace {
  std::vector<KernelTrace> launches;  // in order
  std::string_view id, ptx;           // of the rung
  std::string code;                   // "PTX by clang 19.1.7"
  bool is_zeroed = false;             // a separate launch zeroes the result before each call
  double host_values = 0;             // number of values added by the CPU
};

/// Traces a call with contiguous vectors of n elements. `gpu`: as --gpu; `code`: "clang", "nvcc" or
/// empty; `watched`: also records the footprint of each launch, which takes a few times as long.
/// Throws std::invalid_argument with a one-line message if the rung or the device does not support
/// the arguments, and KernelError if the rung has a hazard.
CallTrace trace_call(const RungInfo& rung, Dtype dtype, std::int64_t n, const std::string& gpu,
                     const std::string& code, bool watched = false);

}  // namespace rung::analysis
