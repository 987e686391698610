#pragma once
// A whole call of a CUDA or Metal rung on vectors, dot product or sum, on the virtual GPU.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/kernel_trace.hpp"
#include "core/dtype.hpp"
#include "core/rung.hpp"
#include "vgpu/model/device.hpp"

namespace rung::analysis {

struct CallTrace {
  std::vector<KernelTrace> launches;  // in order
  std::string_view id, ptx;           // of the rung
  std::string code;                   // "PTX by clang 19.1.7"
  bool is_zeroed = false;             // zeroed before each call: one more launch
  double host_values = 0;             // values left to the CPU to add up
};

/// Contiguous vectors of n elements. `gpu` is as for --gpu; `code` is "clang", "nvcc" or empty.
/// `watched`: with the footprint of each launch, which takes a few times as long. Throws
/// std::invalid_argument, in one line, for arguments that the rung or the device does not support,
/// and KernelError if the rung has a hazard.
CallTrace trace_call(const RungInfo& rung, Dtype dtype, std::int64_t n, const std::string& gpu,
                     const std::string& code, bool watched = false);

/// The condition number 2 |x|.|y| / |x.y| of vectors whose terms cancel so much that a sum in the
/// type's own precision has no correct bit left, and one in twice that precision still half of
/// them.
double hard_condition(Dtype dtype);

/// How many leading bits of the result, out of the dtype's precision, are wrong for such vectors of
/// 4096 elements. Empty for sums, and for types without such data.
std::optional<double> wrong_bits(const RungInfo& rung, Dtype dtype, const std::string& gpu,
                                 const std::string& code);

/// Bits of a dtype's significand, including the leading one.
int precision_of(Dtype dtype);

}  // namespace rung::analysis
