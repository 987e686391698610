#pragma once
// A whole call of a rung of CUDA or Metal on vectors, dot product or sum, on the virtual GPU.

#include <string>
#include <string_view>
#include <vector>

#include "analysis/kernel_trace.hpp"
#include "core/dtype.hpp"
#include "core/rung.hpp"
#include "vgpu/device.hpp"

namespace rung::analysis {

struct CallTrace {
  std::vector<KernelTrace> launches;  // in order
  std::string_view id, ptx;           // of the rung
  std::string code;                   // "PTX by clang 19.1.7"
};

/// Vectors of n elements that lie together. `gpu` is as --gpu takes it, `code` "clang", "nvcc" or
/// empty. Throws std::invalid_argument, in one line, for what the rung or the device does not
/// allow, and KernelError if the rung has a hazard.
CallTrace trace_call(const RungInfo& rung, Dtype dtype, std::int64_t n, const std::string& gpu,
                     const std::string& code);

}  // namespace rung::analysis
